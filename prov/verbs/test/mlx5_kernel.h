/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * mlx5_kernel.h - a kernel for libmlx5, for tests: one device whose driver answers the
 * library's commands in this process.  The library itself is the real one, and so are the
 * queues that it makes.
 *
 * The test program takes the place of a few calls of libc (open, write, ioctl, ...), for all
 * libraries of the process: link it with -rdynamic.
 */
#ifndef VRB_MLX5_KERNEL_H
#define VRB_MLX5_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#define KERNEL_MAX 8192
#define KERNEL_KEY 0x1234u	/* of every region */
#define KERNEL_CLOCK_KHZ 250000u	/* of the device */
#define KERNEL_QPN 0x100u	/* of the first queue pair */

struct kernel_cq {
	char *buf;
	volatile uint32_t *dbrec;
	uint32_t cnt, stride;
};

struct kernel_qp {
	uint32_t qpn, uidx, qkey;
	volatile uint32_t *dbrec;
	char *rq, *sq;
	uint32_t rq_cnt, rq_stride, sq_cnt;
	uint32_t cq;			/* index in kernel_cqs */
	int srq;			/* in kernel_srqs, or -1 */
	/* Of extended reliable connections: */
	unsigned kind;			/* enum ibv_qp_type */
	unsigned state;			/* enum ibv_qp_state */
	uint32_t dest, rq_psn, sq_psn;	/* where it leads, and its first packets' numbers */
	uint32_t xrcd;			/* its domain's index, if it receives */
	int real;			/* index of the one that was opened; its own, if made */
	unsigned users;			/* handles that there are of it; 0: it is no more */
};

struct kernel_srq {
	char *buf;
	volatile uint32_t *dbrec;
	uint32_t cnt, stride;
	uint32_t srqn, uidx, cq, xrcd;	/* of an extended reliable connection's, as above */
	bool gone;
};

/* What the library has created, by handle; entries stay when an object is destroyed. */
extern struct kernel_cq kernel_cqs[KERNEL_MAX];
extern struct kernel_qp kernel_qps[KERNEL_MAX];
extern struct kernel_srq kernel_srqs[KERNEL_MAX];
extern unsigned kernel_cq_cnt, kernel_qp_cnt, kernel_srq_cnt;
extern _Atomic unsigned kernel_ahs;		/* address handles that there are */
extern unsigned kernel_xrcds;			/* domains of extended reliable connections */

/* kernel_alive - queue pairs of this kind that there are, however often opened. */
unsigned kernel_alive(unsigned kind);

/* kernel_boot - before the first call of libibverbs.  Errors: the system's, negated. */
int kernel_boot(void);

/* kernel_say - raise an asynchronous event: enum ibv_event_type, and the number of the port.
 * kernel_mute - close the descriptor of events, as when the device is removed.
 */
void kernel_say(uint32_t what, uint32_t about);
void kernel_mute(void);

/* kernel_halt - take away what kernel_boot() left in the file system. */
void kernel_halt(void);

#endif
