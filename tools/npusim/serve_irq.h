/* SPDX-License-Identifier: MIT */
/* Message signalled interrupts: where they go, and the faults that befall them. */
#ifndef SERVE_IRQ_H
#define SERVE_IRQ_H

#include <pthread.h>

#include "serve_fault.h"
#include "vfio_user.h"

/**
 * struct serve_irq - the one message of the device
 * @eventfd: where it goes, for each of VFIO_PCI_NUM_IRQS; -1: nowhere
 * @timer: a timerfd that expires when a late message is due: then call serve_irq_timer()
 * @enabled: the function is powered and may master the bus
 * @sent: messages sent
 */
struct serve_irq {
	pthread_mutex_t lock;
	struct serve_fault *fault;
	int eventfd[VFIO_PCI_NUM_IRQS];
	int timer;
	bool enabled;
	u32 sent;
};

/* Returns 0 or a negative errno. */
int serve_irq_init(struct serve_irq *irq, struct serve_fault *fault);
void serve_irq_fini(struct serve_irq *irq);

void serve_irq_enable(struct serve_irq *irq, bool enabled);

/* Takes @fd over; the one before is closed. */
void serve_irq_connect(struct serve_irq *irq, u32 index, int fd);
void serve_irq_disconnect(struct serve_irq *irq);

/* The device sends its message: arrives unless a fault is armed. */
void serve_irq_send(struct serve_irq *irq);

/* One that nobody sent: arrives whatever is armed. */
void serve_irq_inject(struct serve_irq *irq);
void serve_irq_timer(struct serve_irq *irq);

u32 serve_irq_sent(struct serve_irq *irq);

#endif /* SERVE_IRQ_H */
