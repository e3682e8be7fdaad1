// SPDX-License-Identifier: MIT
/* Virtual time: the queue of events and what happens at each. */
#include <stdarg.h>
#include <stdio.h>

#include "sim_state.h"

void sim_event_add(struct npusim *sim, u64 when, enum sim_event_kind kind, u32 arg,
		   const struct sim_task_stats *stats)
{
	struct sim_event *e;

	if (sim->events == SIM_EVENTS_MAX)
		return;
	e = &sim->event[sim->events++];
	e->when = max(when, sim->now);
	e->order = sim->event_order++;
	e->kind = kind;
	e->arg = arg;
	if (stats)
		e->stats = *stats;
	else
		e->stats.count = 0;
	memset(&e->writes, 0, sizeof(e->writes));
}

void sim_event_add_end(struct npusim *sim, u64 when, enum sim_unit_id unit,
		       const struct sim_task_stats *stats)
{
	if (sim->events == SIM_EVENTS_MAX) {
		sim_writes_commit(sim, &sim->writes);
		return;
	}
	sim_event_add(sim, when, SIM_EVENT_DONE, unit, stats);
	sim->event[sim->events - 1].writes = sim->writes;
	memset(&sim->writes, 0, sizeof(sim->writes));
	sim->hold_writes = false;
}

void sim_events_clear(struct npusim *sim)
{
	while (sim->events)
		sim_writes_drop(&sim->event[--sim->events].writes);
	sim_writes_drop(&sim->writes);
	sim->hold_writes = false;
}

/* The index of the next event; events must not be empty. */
static u32 next_event(const struct npusim *sim)
{
	u32 best = 0, i;

	for (i = 1; i < sim->events; i++) {
		const struct sim_event *a = &sim->event[i], *b = &sim->event[best];

		if (a->when < b->when || (a->when == b->when && a->order < b->order))
			best = i;
	}
	return best;
}

static void unit_done(struct npusim *sim, enum sim_unit_id id, const struct sim_task_stats *stats)
{
	struct sim_unit *u = &sim->unit[id];
	u32 i;

	for (i = 0; i < stats->count; i++)
		sim->reg[u->consumer][stats->stat[i].reg / 4] = stats->stat[i].value;
	u->enabled[u->consumer] = false;
	u->consumer ^= 1;
	u->busy = false;
	u->since = sim->now;
	switch (id) {
	case SIM_SDP:
		sim->counters.sdp_tasks++;
		break;
	case SIM_PDP:
		sim->counters.pdp_tasks++;
		break;
	case SIM_CDP:
		sim->counters.cdp_tasks++;
		break;
	case SIM_CACC:
		sim->counters.conv_tasks++;
		break;
	default:
		break;
	}
}

static void happen(struct npusim *sim, struct sim_event *e)
{
	switch (e->kind) {
	case SIM_EVENT_INTR:
		sim_glb_raise(&sim->glb, e->arg);
		if (sim->event_fn)
			sim->event_fn(sim->event_context, e->arg, sim->now);
		break;
	case SIM_EVENT_DONE:
		sim_writes_commit(sim, &e->writes);
		unit_done(sim, (enum sim_unit_id)e->arg, &e->stats);
		break;
	case SIM_EVENT_WAKE:
		break;
	}
}

static void take_event(struct npusim *sim, u32 i)
{
	struct sim_event e = sim->event[i];

	sim->event[i] = sim->event[--sim->events];
	sim->now = max(sim->now, e.when);
	happen(sim, &e);
}

/*
 * Let the earliest event happen, if it is not after @until, and the interrupts that come with it:
 * who looks on learns of them before the next operation is computed.
 */
static bool one_event(struct npusim *sim, u64 until)
{
	u32 i;

	if (!sim->events)
		return false;
	i = next_event(sim);
	if (sim->event[i].when > until)
		return false;
	take_event(sim, i);
	while (sim->events) {
		i = next_event(sim);
		if (sim->event[i].when > sim->now || sim->event[i].kind != SIM_EVENT_INTR)
			break;
		take_event(sim, i);
	}
	sim_step(sim);
	return true;
}

void sim_advance(struct npusim *sim, u64 until)
{
	while (one_event(sim, until))
		;
	sim->now = max(sim->now, until);
}

void sim_step(struct npusim *sim)
{
	bool moved;

	do {
		moved = sim_conv_step(sim);
		moved |= sim_post_step(sim);
	} while (moved);
}

void npusim_run(struct npusim *sim, u64 cycles)
{
	u64 until;

	if (check_add_overflow(sim->now, cycles, &until))
		until = SIM_NEVER - 1;
	sim_advance(sim, until);
}

bool npusim_step(struct npusim *sim)
{
	return one_event(sim, SIM_NEVER);
}

bool npusim_wait(struct npusim *sim)
{
	while (!npusim_irq(sim))
		if (!one_event(sim, SIM_NEVER))
			return false;
	return true;
}

bool npusim_idle(const struct npusim *sim)
{
	return sim->events == 0;
}

u64 npusim_now(const struct npusim *sim)
{
	return sim->now;
}

void npusim_set_event_hook(struct npusim *sim, npusim_event_fn fn, void *context)
{
	sim->event_fn = fn;
	sim->event_context = context;
}

int sim_hang(struct npusim *sim, const char *unit, const char *fmt, ...)
{
	va_list args;
	u32 i;

	for (i = 0; i < SIM_UNITS; i++)
		if (strcmp(sim_unit_info[i].name, unit) == 0)
			break;
	if (i == SIM_UNITS)
		i = SIM_SDP;
	va_start(args, fmt);
	vsnprintf(sim->hang[i], sizeof(sim->hang[i]), fmt, args);
	va_end(args);
	return SIM_HANG;
}

/* Append to the diagnosis, cut at its size. */
static void __attribute__((format(printf, 3, 4)))
say(struct npusim *sim, size_t *used, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(sim->diagnosis + *used, sizeof(sim->diagnosis) - *used, fmt, args);
	va_end(args);
	if (n > 0)
		*used = min(*used + (size_t)n, sizeof(sim->diagnosis) - 1);
}

static void say_unit(struct npusim *sim, size_t *used, u32 id)
{
	const struct sim_unit *u = &sim->unit[id];
	const char *name = sim_unit_info[id].name;
	const char *gap = *used ? "; " : "";

	if (u->enabled[u->consumer])
		say(sim, used, "%s%s group %u %s", gap, name, u->consumer,
		    sim->hang[id][0] ? sim->hang[id] : "waits for its partners");
	else if (u->enabled[!u->consumer])
		say(sim, used, "%s%s group %u waits for its turn: the consumer pointer is %u", gap,
		    name, !u->consumer, u->consumer);
}

const char *npusim_diagnosis(struct npusim *sim)
{
	const struct npusim_fault *f = &sim->fault;
	size_t used = 0;
	u32 i;

	sim->diagnosis[0] = '\0';
	if (f->error)
		say(sim, &used, "DMA %s of %s group %u at 0x%llx, %llu bytes: %s",
		    f->write ? "write" : "read", npusim_engine_name(f->engine), f->group,
		    (unsigned long long)f->address, (unsigned long long)f->length,
		    f->error == -EACCES ? "outside of the granted ranges" : strerror(-f->error));
	if (npusim_idle(sim))
		for (i = 0; i < SIM_UNITS; i++)
			say_unit(sim, &used, i);
	return sim->diagnosis;
}
