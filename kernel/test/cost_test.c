// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * cost_test.c - the instructions of a send and of a write of 4 KiB, one by one: reading
 * /sys/kernel/debug/kofi_test/cost steps the processor through them by its trap flag, and names the
 * functions in their sequence, each with the number of its instructions there.
 *
 * Each is counted SAMPLES times, and the one of the fewest instructions is shown: what is preempted counts
 * the scheduler, too.
 *
 * "call" is what the caller runs, from the call to its return.  "work" is the provider's work item
 * that the call queues, from its first instruction to the second time that it enters the socket:
 * with the header, which is stepped over, and with the payload.
 */
#include <linux/delay.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/net.h>
#include <linux/slab.h>
#include <asm/debugreg.h>

#include "test.h"

#define STEPS	16384
#define SAMPLES	5
#define LEN	4096
#define CAPS	(FI_MSG | FI_RMA)

/* The recording; one at a time. */
static struct {
	unsigned long	*ip;
	unsigned int	cnt;
	bool		on;
	bool		armed;		/* the next work item is recorded */
	unsigned long	over;		/* stepped over until here, or 0 */
	unsigned int	sockets;	/* entered */
	unsigned long	*least;		/* the shortest recording of a series */
	unsigned int	least_cnt;	/* 0: none yet */
} rec;

static bool is_socket(unsigned long ip)
{
	return ip == (unsigned long)kernel_sendmsg || ip == (unsigned long)sock_sendmsg;
}

/* One instruction; false: it was the last one. */
static bool record(const struct pt_regs *regs)
{
	if (rec.over) {
		if (regs->ip == rec.over)
			rec.over = 0;
		else
			return true;
	}
	if (is_socket(regs->ip)) {
		rec.over = *(unsigned long *)regs->sp;
		return ++rec.sockets < 2;
	}
	if (rec.cnt == STEPS)
		return false;
	rec.ip[rec.cnt++] = regs->ip;
	return true;
}

/* Runs in the trap: nothing may be locked here. */
static int on_trap(struct notifier_block *nb, unsigned long val, void *data)
{
	struct die_args *args = data;
	unsigned long *dr6 = (unsigned long *)args->err;

	if (val != DIE_DEBUG || user_mode(args->regs) || !(*dr6 & DR_STEP))
		return NOTIFY_DONE;
	if (!READ_ONCE(rec.on) || !record(args->regs)) {
		WRITE_ONCE(rec.on, false);
		args->regs->flags &= ~X86_EFLAGS_TF;
	}
	*dr6 &= ~DR_STEP;
	return NOTIFY_STOP;
}

static struct notifier_block trap = { .notifier_call = on_trap };

static int on_work(struct kprobe *probe, struct pt_regs *regs)
{
	if (xchg(&rec.armed, false)) {
		WRITE_ONCE(rec.on, true);
		regs->flags |= X86_EFLAGS_TF;
	}
	return 0;
}

/* ---- what is measured ---- */

struct call {
	struct fid_ep	*ep;
	void		*buf;
	fi_addr_t	peer;
	uint64_t	addr;
	uint64_t	key;
};

static noinline ssize_t call_send(const struct call *c)
{
	return fi_send(c->ep, c->buf, LEN, NULL, c->peer, NULL);
}

static noinline ssize_t call_write(const struct call *c)
{
	return fi_write(c->ep, c->buf, LEN, NULL, c->peer, c->addr, c->key, NULL);
}

typedef ssize_t (*call_fn)(const struct call *c);

static void begin(void)
{
	rec.cnt = 0;
	rec.over = 0;
	rec.sockets = 0;
}

/* What is new in the first calls is not counted. */
static ssize_t step_none(call_fn fn, const struct call *c)
{
	begin();
	return fn(c);
}

static noinline ssize_t step_call(call_fn fn, const struct call *c)
{
	ssize_t ret;

	begin();
	preempt_disable();
	rec.on = true;
	asm volatile("pushf; orq %0, (%%rsp); popf" : : "i" (X86_EFLAGS_TF) : "cc", "memory");
	ret = fn(c);
	asm volatile("pushf; andq %0, (%%rsp); popf" : : "i" (~X86_EFLAGS_TF) : "cc", "memory");
	rec.on = false;
	preempt_enable();
	return ret;
}

static ssize_t step_work(call_fn fn, const struct call *c)
{
	begin();
	rec.armed = true;
	return fn(c);
}

/* What was recorded, if it came to its end and is shorter than all before it. */
static void keep_least(bool ended)
{
	if (!ended || !rec.cnt || (rec.least_cnt && rec.cnt >= rec.least_cnt))
		return;
	swap(rec.ip, rec.least);
	rec.least_cnt = rec.cnt;
}

/* Functions in their sequence. */
static void show(struct seq_file *seq, const char *what, const char *where)
{
	char name[KSYM_SYMBOL_LEN], last[KSYM_SYMBOL_LEN] = "";
	unsigned int i, run = 0;

	for (i = 0; i < rec.least_cnt; i++) {
		snprintf(name, sizeof(name), "%ps", (void *)rec.least[i]);
		if (run && strcmp(name, last)) {
			seq_printf(seq, "%s %s %u %s\n", what, where, run, last);
			run = 0;
		}
		strscpy(last, name, sizeof(last));
		run++;
	}
	if (run)
		seq_printf(seq, "%s %s %u %s\n", what, where, run, last);
}

static int settle(struct pair *p, call_fn fn, int ret)
{
	struct fi_cq_tagged_entry e;

	if (!ret)
		ret = wait_comp(p->a.tx, &e);
	if (!ret && fn == call_send)
		ret = wait_comp(p->b.rx, &e);
	msleep(50);
	return ret;
}

typedef ssize_t (*step_fn)(call_fn fn, const struct call *c);

/* One after another, each by "step": as it is, or recorded. */
static int transfer(struct pair *p, step_fn step, call_fn fn, const struct call *c, void *sink)
{
	int i, ret = 0;

	rec.least_cnt = 0;
	for (i = 0; i < SAMPLES && !ret; i++) {
		if (fn == call_send)
			ret = fi_recv(p->b.ep, sink, LEN, NULL, FI_ADDR_UNSPEC, NULL);
		if (!ret)
			ret = step(fn, c);
		ret = settle(p, fn, ret);
		rec.on = false;
		keep_least(step != step_work || rec.sockets == 2);
	}
	return ret;
}

static int measure(struct seq_file *seq, struct pair *p, const char *what, call_fn fn,
		   const struct call *c, void *sink, bool work)
{
	int ret = transfer(p, step_none, fn, c, sink);

	if (!ret)
		ret = transfer(p, step_call, fn, c, sink);
	if (!ret)
		show(seq, what, "call");
	if (!ret && work)
		ret = transfer(p, step_work, fn, c, sink);
	if (!ret && work)
		show(seq, what, "work");
	return ret;
}

int test_cost(struct test *t, struct seq_file *seq)
{
	struct kprobe probe = { .symbol_name = "kofi_tcp:tcp_serve", .pre_handler = on_work };
	void *near = (void *)__get_free_page(GFP_KERNEL), *far = (void *)__get_free_page(GFP_KERNEL);
	struct region r = {};
	struct pair p;
	struct call c;
	bool work;
	int ret;

	rec.ip = kvcalloc(STEPS, sizeof(*rec.ip), GFP_KERNEL);
	rec.least = kvcalloc(STEPS, sizeof(*rec.least), GFP_KERNEL);
	ret = pair_open(t, &p, FI_EP_MSG, CAPS);
	if (!ret)
		ret = rec.ip && rec.least && near && far ? 0 : -FI_ENOMEM;
	if (!ret)
		ret = region_open(&p.b, far, LEN, FI_REMOTE_WRITE, &r);
	if (ret)
		goto out;
	c = (struct call){ .ep = p.a.ep, .buf = near, .peer = p.a.peer, .addr = r.addr,
			   .key = fi_mr_key(r.mr) };
	register_die_notifier(&trap);
	work = !strcmp(t->args.prov, "tcp") && !register_kprobe(&probe);
	ret = measure(seq, &p, "send", call_send, &c, far, work);
	if (!ret)
		ret = measure(seq, &p, "write", call_write, &c, far, work);
	if (work)
		unregister_kprobe(&probe);
	unregister_die_notifier(&trap);
out:
	if (r.mr)
		fi_close(&r.mr->fid);
	pair_close(&p);
	free_page((unsigned long)near);
	free_page((unsigned long)far);
	kvfree(rec.ip);
	kvfree(rec.least);
	rec.ip = NULL;
	rec.least = NULL;
	return ret;
}
