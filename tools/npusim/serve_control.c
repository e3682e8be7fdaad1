// SPDX-License-Identifier: MIT
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "serve_control.h"

/* A number of 32 bits, decimal or with 0x. */
static bool parse_number(const char *text, u32 *number)
{
	unsigned long long value;
	char *end;

	if (!isdigit((unsigned char)*text))
		return false;
	errno = 0;
	value = strtoull(text, &end, 0);
	if (errno || *end || value > UINT32_MAX)
		return false;
	*number = (u32)value;
	return true;
}

static void do_fault(struct serve_device *dev, char **word, char *answer, size_t size)
{
	u32 kind = word[1] ? serve_fault_find(word[1]) : NVDLA_PCI_FAULT_COUNT, arg = 0;

	if (kind == NVDLA_PCI_FAULT_COUNT) {
		snprintf(answer, size, "error: no fault '%s'\n", word[1] ? word[1] : "");
	} else if (word[2] && !parse_number(word[2], &arg)) {
		snprintf(answer, size, "error: '%s' is no number\n", word[2]);
	} else {
		serve_device_fault(dev, kind, arg);
		snprintf(answer, size, "ok\n");
	}
}

static void do_reset(struct serve_device *dev, char **word, char *answer, size_t size)
{
	serve_device_reset(dev);
	snprintf(answer, size, "ok\n");
}

static void do_status(struct serve_device *dev, char **word, char *answer, size_t size)
{
	struct serve_counters c;

	serve_npu_counters(dev->npu, &c);
	snprintf(answer, size,
		 "ok fault=%s status=0x%x tasks=%u interrupts=%u reg_writes=%u resets=%u "
		 "stray_dma=%u dma_errors=%u cycles=%llu idle_cycles=%llu\n",
		 serve_fault_name(serve_fault_kind(&dev->fault)),
		 dev->status | serve_npu_status(dev->npu), c.tasks, serve_irq_sent(&dev->irq),
		 c.reg_writes, c.resets, c.stray_dma, c.dma_errors, (unsigned long long)c.cycles,
		 (unsigned long long)c.idle_cycles);
}

static void do_diagnosis(struct serve_device *dev, char **word, char *answer, size_t size)
{
	char text[SERVE_CONTROL_LINE / 2];

	serve_npu_diagnosis(dev->npu, text, sizeof(text));
	snprintf(answer, size, "ok %s\n", text);
}

static const struct {
	const char *name;
	u32 words; /* most that it takes, with its name */
	void (*run)(struct serve_device *dev, char **word, char *answer, size_t size);
} commands[] = {
	{ "fault", 3, do_fault },
	{ "reset", 1, do_reset },
	{ "status", 1, do_status },
	{ "diagnosis", 1, do_diagnosis },
};

#define MAX_WORDS 3

/* Returns the number of words, at most one more than fits. */
static u32 split(char *line, char *word[MAX_WORDS + 1])
{
	char *rest = NULL, *w;
	u32 n = 0;

	memset(word, 0, (MAX_WORDS + 1) * sizeof(word[0]));
	for (w = strtok_r(line, " \t\r", &rest); w && n <= MAX_WORDS;
	     w = strtok_r(NULL, " \t\r", &rest))
		word[n++] = w;
	return n;
}

void serve_control_command(struct serve_device *dev, char *line, char *answer, size_t size)
{
	char *word[MAX_WORDS + 1];
	u32 i, n = split(line, word);

	for (i = 0; n && i < ARRAY_SIZE(commands); i++) {
		if (strcmp(word[0], commands[i].name))
			continue;
		if (n <= commands[i].words)
			commands[i].run(dev, word, answer, size);
		else
			snprintf(answer, size, "error: too many words\n");
		return;
	}
	snprintf(answer, size, "error: commands are: fault KIND [ARG], reset, status, diagnosis\n");
}

/* An answer that does not fit into the socket is not waited for: nobody reads it. */
static bool answer_line(struct serve_client *client, struct serve_device *dev)
{
	char answer[SERVE_CONTROL_LINE];
	size_t len;

	serve_control_command(dev, client->line, answer, sizeof(answer));
	len = strlen(answer);
	return send(client->fd, answer, len, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)len;
}

bool serve_control_receive(struct serve_client *client, struct serve_device *dev)
{
	ssize_t got = recv(client->fd, client->line + client->used,
			   sizeof(client->line) - client->used, MSG_DONTWAIT);
	char *end;

	if (got < 0)
		return errno == EAGAIN || errno == EINTR;
	if (!got)
		return false;
	client->used += (size_t)got;
	while ((end = memchr(client->line, '\n', client->used))) {
		size_t taken = (size_t)(end + 1 - client->line);

		*end = '\0';
		if (!answer_line(client, dev))
			return false;
		client->used -= taken;
		memmove(client->line, client->line + taken, client->used);
	}
	/* A line that does not fit is no command. */
	return client->used < sizeof(client->line);
}
