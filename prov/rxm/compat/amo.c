/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Atomics in the compatible format.  Each request is answered once, also one without a result, so a
 * packet of ours is done when its response is here.  Those of the peer are the engine's to do; it
 * answers with a number of ours, behind which the peer's is kept.
 */
#include <rdma/fi_errno.h>
#include <stdlib.h>

#include "rxm/compat.h"
#include "engine/api.h"
#include "engine/atomic.h"
#include "foreign/op.h"
#include "foreign/rxmf/translate.h"

/* ---- ours ------------------------------------------------------------------------------------ */

int rxm_compat_atomic(struct rxm_conn *conn, struct eng_pkt *pkt, const struct wire_msg *msg)
{
	struct rxmf_packet out;
	const char *why = rxmf_translate_atomic(msg, pkt->len, conn->compat->limit, &out);
	int ret;

	if (why)
		return rxm_compat_refuse(conn, pkt, why);
	ret = rxm_compat_send(conn, &out, pkt->iov, pkt->iov_cnt, 0);
	if (ret)
		return ret;
	pkt->link_priv = msg->id;
	list_add_tail(&pkt->node, &conn->compat->amos);
	return 0;
}

static struct eng_pkt *amo_find(struct rxm_compat *compat, uint64_t id)
{
	struct eng_pkt *pkt;

	list_for_each_entry(pkt, &compat->amos, node)
		if (pkt->link_priv == id)
			return pkt;
	return NULL;
}

static uint64_t amo_elements(const struct wire_msg *msg)
{
	uint64_t sum = 0;
	unsigned i;

	for (i = 0; i < msg->rma_cnt; i++)
		sum += msg->rma[i].len;
	return sum;
}

static void give_result(struct rxm_conn *conn, uint32_t id, const struct rxmf_packet *pkt)
{
	struct wire_msg msg = foreign_data(id, 0, pkt->payload_len);
	struct eng_rx rx = { .data = pkt->payload, .avail = pkt->payload_len };

	rxm_compat_tell(conn, &msg, &rx);
}

const char *rxm_compat_on_response(struct rxm_conn *conn, const struct rxmf_packet *pkt)
{
	struct eng_pkt *asked = amo_find(conn->compat, pkt->msg_id);
	struct wire_msg msg;
	size_t result = 0;

	if (!asked || wire_parse(asked->hdr, asked->hdr_len, asked->len, &msg))
		return "the response to an unknown atomic";
	if (!pkt->err && msg.amo.kind != WIRE_AMO_BASE)
		result = amo_elements(&msg) * eng_atomic_size((enum fi_datatype) msg.amo.type);
	if (pkt->payload_len != result)
		return "the result of an atomic with a wrong length";
	list_del(&asked->node);
	if (pkt->err)	/* first: what wants no acknowledgement is complete with done() */
		rxm_compat_nack(conn, (int) pkt->err, msg.id);
	asked->done(asked, 0);
	if (pkt->err)
		return NULL;
	if (result)
		give_result(conn, msg.id, pkt);
	else if (msg.flags & WIRE_F_DELIVERED)
		rxm_compat_ack(conn, WIRE_F_DELIVERED, msg.id);
	return NULL;
}

/* ---- the peer's ------------------------------------------------------------------------------- */

/* One that is not answered. */
struct rxm_serve {
	struct list node;
	uint32_t id;			/* for the engine */
	struct rxmf_packet response;	/* but for its status and result */
};

static struct rxmf_packet response_to(const struct rxmf_packet *pkt, int err)
{
	return (struct rxmf_packet) {
		.type = RXMF_PACKET_ATOMIC_RESPONSE, .op = pkt->op, .msg_id = pkt->msg_id,
		.datatype = pkt->datatype, .amo = pkt->amo, .err = (uint32_t) err,
	};
}

/* amo_check - what the engine would take as a mistake of this library.
 * Returns 0, or an error (positive) for the response.
 */
static int amo_check(const struct rxmf_packet *pkt)
{
	static const enum eng_atomic_form form[WIRE_AMO_KINDS] = {
		[WIRE_AMO_BASE] = ENG_ATOMIC_BASE, [WIRE_AMO_FETCH] = ENG_ATOMIC_FETCH,
		[WIRE_AMO_COMPARE] = ENG_ATOMIC_COMPARE,
	};
	size_t size = eng_atomic_size((enum fi_datatype) pkt->datatype);
	uint64_t cnt = 0;
	unsigned i;

	if (!size || eng_atomic_valid(form[rxmf_translate_kind(pkt->op)],
				      (enum fi_datatype) pkt->datatype, (enum fi_op) pkt->amo))
		return FI_EOPNOTSUPP;
	for (i = 0; i < pkt->segs; i++)
		cnt += pkt->seg[i].len;		/* the sum was checked */
	if (!cnt)
		return FI_EINVAL;
	return cnt > ENG_ATOMIC_MAX / size ? FI_EMSGSIZE : 0;
}

static struct rxm_serve *serve_new(struct rxm_compat *compat, const struct rxmf_packet *pkt)
{
	struct rxm_serve *serve = malloc(sizeof(*serve));

	if (!serve)
		return NULL;
	serve->id = ++compat->last_serve ? compat->last_serve : ++compat->last_serve;
	serve->response = response_to(pkt, 0);
	list_add_tail(&serve->node, &compat->serves);
	return serve;
}

const char *rxm_compat_on_atomic(struct rxm_conn *conn, const struct rxmf_packet *pkt, uint32_t *id_p)
{
	int err = amo_check(pkt);
	struct rxmf_packet response = response_to(pkt, err);
	struct rxm_serve *serve;

	*id_p = 0;
	if (err) {
		rxm_compat_owe(conn, &response);
		return NULL;
	}
	if (!rxmf_packet_operands(pkt, eng_atomic_size((enum fi_datatype) pkt->datatype)))
		return "an atomic with operands of a wrong length";
	serve = serve_new(conn->compat, pkt);
	if (!serve)
		return "an atomic for which there is no memory";
	*id_p = serve->id;
	return NULL;
}

static struct rxm_serve *serve_find(struct rxm_compat *compat, uint32_t id)
{
	struct rxm_serve *serve;

	list_for_each_entry(serve, &compat->serves, node)
		if (serve->id == id)
			return serve;
	return NULL;
}

/* status_of - other implementations have one for all that is wrong with a key. */
static uint32_t status_of(uint32_t err)
{
	return err == FI_ENOKEY || err == FI_EINVAL ? FI_EACCES : err;
}

int rxm_compat_answer(struct rxm_conn *conn, struct eng_pkt *pkt, const struct wire_msg *msg)
{
	struct rxm_serve *serve = serve_find(conn->compat, msg->id);
	int ret;

	if (!serve)
		return 1;
	serve->response.err = msg->op == WIRE_NACK ? status_of(msg->err) : 0;
	serve->response.payload_len = pkt->len;
	ret = rxm_compat_send(conn, &serve->response, pkt->iov, pkt->iov_cnt, 0);
	if (ret)
		return ret;
	list_del(&serve->node);
	free(serve);
	return 1;
}

void rxm_compat_drop_serves(struct rxm_compat *compat)
{
	struct list *node;

	while ((node = list_pop(&compat->serves)))
		free(container_of(node, struct rxm_serve, node));
}
