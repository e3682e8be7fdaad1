// SPDX-License-Identifier: MIT
#include <fcntl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "serve_irq.h"

int serve_irq_init(struct serve_irq *irq, struct serve_fault *fault)
{
	u32 i;

	memset(irq, 0, sizeof(*irq));
	irq->fault = fault;
	for (i = 0; i < ARRAY_SIZE(irq->eventfd); i++)
		irq->eventfd[i] = -1;
	irq->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	if (irq->timer < 0)
		return -errno;
	pthread_mutex_init(&irq->lock, NULL);
	return 0;
}

void serve_irq_fini(struct serve_irq *irq)
{
	serve_irq_disconnect(irq);
	close(irq->timer);
	pthread_mutex_destroy(&irq->lock);
}

void serve_irq_enable(struct serve_irq *irq, bool enabled)
{
	pthread_mutex_lock(&irq->lock);
	irq->enabled = enabled;
	pthread_mutex_unlock(&irq->lock);
}

void serve_irq_connect(struct serve_irq *irq, u32 index, int fd)
{
	/* The file is the peer's: should it be one whose writes wait, ours must not. */
	if (fd >= 0)
		fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
	pthread_mutex_lock(&irq->lock);
	if (irq->eventfd[index] >= 0)
		close(irq->eventfd[index]);
	irq->eventfd[index] = fd;
	pthread_mutex_unlock(&irq->lock);
}

void serve_irq_disconnect(struct serve_irq *irq)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(irq->eventfd); i++)
		serve_irq_connect(irq, i, -1);
}

/* To wherever it goes: the peer connects the kind that the guest has enabled. */
static void send_now(struct serve_irq *irq)
{
	const u64 one = 1;
	u32 i;

	if (!irq->enabled || serve_fault_is(irq->fault, NVDLA_PCI_FAULT_DEAD, NULL))
		return;
	for (i = 0; i < ARRAY_SIZE(irq->eventfd); i++)
		if (irq->eventfd[i] >= 0 &&
		    write(irq->eventfd[i], &one, sizeof(one)) == sizeof(one))
			irq->sent++;
}

static void start_timer(struct serve_irq *irq, u32 milliseconds)
{
	struct itimerspec when = {
		.it_value = { milliseconds / 1000, milliseconds % 1000 * 1000000l + 1 },
	};

	timerfd_settime(irq->timer, 0, &when, NULL);
}

void serve_irq_send(struct serve_irq *irq)
{
	u32 milliseconds;

	pthread_mutex_lock(&irq->lock);
	if (serve_fault_take(irq->fault, NVDLA_PCI_FAULT_LATE, &milliseconds))
		start_timer(irq, milliseconds);
	else if (!serve_fault_take(irq->fault, NVDLA_PCI_FAULT_LOST, NULL))
		send_now(irq);
	pthread_mutex_unlock(&irq->lock);
}

void serve_irq_inject(struct serve_irq *irq)
{
	pthread_mutex_lock(&irq->lock);
	send_now(irq);
	pthread_mutex_unlock(&irq->lock);
}

void serve_irq_timer(struct serve_irq *irq)
{
	u64 times;

	if (read(irq->timer, &times, sizeof(times)) == sizeof(times))
		serve_irq_inject(irq);
}

u32 serve_irq_sent(struct serve_irq *irq)
{
	u32 sent;

	pthread_mutex_lock(&irq->lock);
	sent = irq->sent;
	pthread_mutex_unlock(&irq->lock);
	return sent;
}
