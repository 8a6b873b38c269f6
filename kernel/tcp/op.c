// SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
/* Copyright (c) 2026 the libfabric authors. */
/*
 * op.c - operations of ours and answers to the peer: each ends when the last of its parts has.
 */
#include <linux/slab.h>

#include "tcp.h"

#define ANSWERS_MAX	TCP_TX_SIZE_MAX	/* of one peer, not sent yet */

/* ---- operations ---- */

void tcp_op_part(struct tcp_op *op, int err)
{
	if (err)
		cmpxchg(&op->err, 0, err);
	if (atomic_dec_and_test(&op->parts))
		kofi_tx_done(&op->op, op->err);
}

static void op_dropped(struct ubuf_info *ubuf)
{
	tcp_op_part(container_of(ubuf, struct tcp_op, ubuf), 0);
}
KOFI_UBUF_RELEASE(op_ubuf, op_dropped);

void tcp_op_lend(struct tcp_op *op)
{
	kofi_ubuf_init(&op->ubuf, &op_ubuf);
	atomic_inc(&op->parts);
}

void tcp_op_lent(struct tcp_op *op)
{
	kofi_ubuf_put(&op->ubuf, op_ubuf);
}

/* ---- answers ---- */

static void answer_free(struct tcp_answer *answer)
{
	struct tcp_conn *conn = answer->conn;
	int i;

	spin_lock_bh(&conn->lock);
	list_del(&answer->held);
	spin_unlock_bh(&conn->lock);
	for (i = 0; i < answer->ranges; i++)
		kofi_mr_put(answer->part[i].mr);
	kfree(answer->buf);
	kfree(answer);
	tcp_conn_put(conn);
}

void tcp_answer_part(struct tcp_answer *answer)
{
	if (atomic_dec_and_test(&answer->parts))
		answer_free(answer);
}

static void answer_dropped(struct ubuf_info *ubuf)
{
	tcp_answer_part(container_of(ubuf, struct tcp_answer, ubuf));
}
KOFI_UBUF_RELEASE(answer_ubuf, answer_dropped);

void tcp_answer_lend(struct tcp_answer *answer)
{
	kofi_ubuf_init(&answer->ubuf, &answer_ubuf);
	atomic_inc(&answer->parts);
}

void tcp_answer_lent(struct tcp_answer *answer)
{
	kofi_ubuf_put(&answer->ubuf, answer_ubuf);
}

int tcp_answer_add(struct tcp_conn *conn, struct tcp_answer *answer)
{
	if (conn->answer_cnt == ANSWERS_MAX)
		return -FI_EPROTO;
	conn->answer_cnt++;
	kref_get(&conn->ref);
	answer->conn = conn;
	atomic_set(&answer->parts, 1);
	list_add_tail(&answer->node, &conn->answers);
	spin_lock_bh(&conn->lock);
	list_add_tail(&answer->held, &conn->holds);
	spin_unlock_bh(&conn->lock);
	return 0;
}
