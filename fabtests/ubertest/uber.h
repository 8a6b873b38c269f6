/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * Combinations from a configuration file.  A file is a list of sets in braces;
 * each key of a set has one value or several, and a set stands for every
 * combination of them that makes sense.  The client reads the file and tells
 * the server each combination over the control connection.
 */
#ifndef FABTESTS_UBER_H
#define FABTESTS_UBER_H

#include "common/ft.h"

#define UBER_DATA	0x1234567ULL	/* remote CQ data of every operation that carries some */
#define UBER_DATA_LEN	4

enum uber_type { TYPE_UNIT, TYPE_LATENCY, TYPE_BANDWIDTH };
enum uber_class { CLASS_MSG, CLASS_TAGGED, CLASS_RMA, CLASS_ATOMIC };
enum uber_comp { COMP_QUEUE, COMP_CNTR, COMP_ALL };
#define FLAG_QUICK	1

enum uber_func {
	FUNC_SEND, FUNC_SENDV, FUNC_SENDMSG, FUNC_INJECT, FUNC_SENDDATA, FUNC_INJECTDATA,
	FUNC_WRITE, FUNC_WRITEV, FUNC_WRITEMSG, FUNC_WRITEDATA, FUNC_INJECT_WRITE,
	FUNC_INJECT_WRITEDATA, FUNC_READ, FUNC_READV, FUNC_READMSG,
	FUNC_ATOMIC, FUNC_ATOMICV, FUNC_ATOMICMSG, FUNC_INJECT_ATOMIC,
	FUNC_FETCH, FUNC_FETCHV, FUNC_FETCHMSG, FUNC_COMPARE, FUNC_COMPAREV, FUNC_COMPAREMSG,
};

/* Keys of the file, in the order in which combinations turn (the last one first). */
enum uber_key {
	KEY_EP_TYPE, KEY_AV_TYPE, KEY_MR_MODE, KEY_PROGRESS, KEY_THREADING, KEY_EQ_WAIT,
	KEY_CQ_WAIT, KEY_CNTR_WAIT, KEY_COMP, KEY_CLASS, KEY_CAPS, KEY_MODE, KEY_TX_BIND,
	KEY_RX_BIND, KEY_TX_OP, KEY_RX_OP, KEY_MSG_FLAGS, KEY_TEST_FLAGS, KEY_TYPE, KEY_FUNC,
	KEY_OP, KEY_DATATYPE, KEY_CNT
};

/* One combination, and all that the server needs to know of it. */
struct uber_case {
	char prov[64];			/* "": any */
	uint64_t v[KEY_CNT];
	uint64_t given;			/* bit per key that the file names */
	uint32_t number;		/* 1 up; 0 ends the run */
	uint32_t size_cnt;
	uint64_t sizes[FT_MAX_SIZES];
	int32_t iters, window;
};

/* A combination at work. */
struct uber {
	struct ft ft;
	struct ft_test test;		/* what ft_begin's callers write by hand */
	struct ft_waits waits;
	struct uber_case c;
	uint64_t tx_ops;		/* operations posted, for the counter */
	uint64_t rx_ops;
	struct fi_context2 *ctx;	/* one for each operation of a window */
	char reason[128];		/* why it is not offered */
};

/* ---- words.c ---- */

struct uber_word {
	const char *text;
	uint64_t value;
};

/* uber_key_find - the key of this name; -1: none, KEY_CNT: the provider's name. */
int uber_key_find(const char *name);
/* uber_key_value - what @word means as a value of @key; false: nothing. */
bool uber_key_value(enum uber_key key, const char *word, uint64_t *value_p);
/* uber_key_ors - whether the words of one value are flags that go together. */
bool uber_key_ors(enum uber_key key);
const char *uber_key_name(enum uber_key key);
/* uber_say - one line that names a combination. */
void uber_say(const struct uber_case *c, char *line, size_t len);

/* ---- config.c ---- */

/* uber_read - all combinations of the file, in one array; the caller frees it.
 * A mistake in the file ends the program with its line.
 */
struct uber_case *uber_read(struct ft *ft, const char *path, uint32_t *cnt_p);

/* ---- post.c ---- */

enum uber_class uber_class_of(enum uber_func func);
bool uber_injects(enum uber_func func);
/* uber_with_data - the operation brings UBER_DATA to the target's queue. */
bool uber_with_data(const struct uber_case *c);
/* uber_tx_shows, uber_rx_shows - the operation leaves an entry in its queue. */
bool uber_tx_shows(const struct uber_case *c);
bool uber_rx_shows(const struct uber_case *c);
/* uber_post - one operation of the case: ft.tx to or from the peer's ft.rx. */
void uber_post(struct uber *u, size_t len, struct fi_context2 *ctx);
/* uber_post_rx - the receive that goes with it. */
void uber_post_rx(struct uber *u, size_t len, struct fi_context2 *ctx);

/* ---- calc.c: what atomic operations have to come to ---- */

size_t uber_size(enum fi_datatype type);
/* uber_set - cells of small numbers that depend on @seed. */
void uber_set(enum fi_datatype type, void *p, size_t cnt, unsigned int seed);
/* uber_calc - @target becomes what @op makes of it. */
void uber_calc(enum fi_datatype type, enum fi_op op, void *target, const void *arg,
	       const void *compare, size_t cnt);
bool uber_same(enum fi_datatype type, const void *a, const void *b, size_t cnt);

/* ---- run.c ---- */

/* uber_run - carry the combination out with the peer, over an open endpoint. */
void uber_run(struct uber *u);

#endif
