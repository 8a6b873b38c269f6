/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * An end by librdmacm and libibverbs alone, as its manual pages have it.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <rdma/rdma_cma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "interop.h"

#define PORT 7471
#define DEPTH 16

static struct rdma_event_channel *channel;
static struct rdma_cm_id *listener, *id;
static struct ibv_pd *pd;
static struct ibv_cq *cq;
static struct ibv_mr *mr;
static struct memory *mem;
static struct ibv_wc arrived[RECVS];
static unsigned arrived_cnt;

static int wrong(const char *what)
{
	fprintf(stderr, "rdmacm: %s: %s\n", what, strerror(errno));
	return -1;
}

static int event(enum rdma_cm_event_type want, struct rdma_cm_id **id_p)
{
	struct pollfd pfd = { .fd = channel->fd, .events = POLLIN };
	struct rdma_cm_event *ev;
	enum rdma_cm_event_type got;

	if (poll(&pfd, 1, WAIT_S * 1000) != 1 || rdma_get_cm_event(channel, &ev))
		return wrong(rdma_event_str(want));
	got = ev->event;
	/* Of our end, behind a length; the accepting end gets none with the last event. */
	if (ev->param.conn.private_data_len && memcmp(ev->param.conn.private_data, "\4ours", 5)) {
		fprintf(stderr, "rdmacm: %s has other private data\n", rdma_event_str(got));
		rdma_ack_cm_event(ev);
		return -1;
	}
	if (id_p)
		*id_p = ev->id;
	rdma_ack_cm_event(ev);
	if (got == want)
		return 0;
	fprintf(stderr, "rdmacm: %s in place of %s\n", rdma_event_str(got), rdma_event_str(want));
	return -1;
}

static int post_recv(unsigned i)
{
	struct ibv_sge sge = { (uintptr_t) mem->in[i], MSG_MAX, mr->lkey };
	struct ibv_recv_wr wr = { .wr_id = i, .sg_list = &sge, .num_sge = 1 }, *bad;

	return ibv_post_recv(id->qp, &wr, &bad) ? wrong("ibv_post_recv") : 0;
}

static int make_queue_pair(void)
{
	struct ibv_qp_init_attr attr = {
		.cap = { .max_send_wr = DEPTH, .max_recv_wr = DEPTH, .max_send_sge = 1,
			 .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	unsigned i;
	int ret = 0;

	pd = ibv_alloc_pd(id->verbs);
	cq = ibv_create_cq(id->verbs, 2 * DEPTH, NULL, NULL, 0);
	if (!pd || !cq)
		return wrong("protection domain or completion queue");
	attr.send_cq = attr.recv_cq = cq;
	mr = ibv_reg_mr(pd, mem, sizeof(*mem), IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ |
			IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC);
	if (!mr || rdma_create_qp(id, pd, &attr))
		return wrong("memory or queue pair");
	for (i = 0; i < RECVS && !ret; i++)
		ret = post_recv(i);
	return ret;
}

static struct rdma_conn_param param(void)
{
	return (struct rdma_conn_param) {
		.responder_resources = 4, .initiator_depth = 4, .retry_count = 7,
		.rnr_retry_count = 7, .private_data = "\5plain", .private_data_len = 6,
	};
}

static int call(struct sockaddr_in *local, const char *peer)
{
	struct sockaddr_in to = { .sin_family = AF_INET, .sin_port = htons(PORT) };
	struct rdma_conn_param conn = param();

	inet_pton(AF_INET, peer, &to.sin_addr);
	if (rdma_create_id(channel, &id, NULL, RDMA_PS_TCP) ||
	    rdma_resolve_addr(id, (struct sockaddr *) local, (struct sockaddr *) &to, 5000))
		return wrong("rdma_resolve_addr");
	if (event(RDMA_CM_EVENT_ADDR_RESOLVED, NULL))
		return -1;
	if (rdma_resolve_route(id, 5000))
		return wrong("rdma_resolve_route");
	if (event(RDMA_CM_EVENT_ROUTE_RESOLVED, NULL) || make_queue_pair())
		return -1;
	if (rdma_connect(id, &conn))
		return wrong("rdma_connect");
	return event(RDMA_CM_EVENT_ESTABLISHED, NULL);
}

static int be_called(struct sockaddr_in *local)
{
	struct rdma_conn_param conn = param();

	local->sin_port = htons(PORT);
	if (rdma_create_id(channel, &listener, NULL, RDMA_PS_TCP) ||
	    rdma_bind_addr(listener, (struct sockaddr *) local) || rdma_listen(listener, 1))
		return wrong("rdma_listen");
	printf("listening\n");
	fflush(stdout);
	if (event(RDMA_CM_EVENT_CONNECT_REQUEST, &id) || make_queue_pair())
		return -1;
	if (rdma_accept(id, &conn))
		return wrong("rdma_accept");
	return event(RDMA_CM_EVENT_ESTABLISHED, NULL);
}

static int cm_open(struct memory *memory, const char *local, const char *peer)
{
	struct sockaddr_in from = { .sin_family = AF_INET };

	mem = memory;
	inet_pton(AF_INET, local, &from.sin_addr);
	channel = rdma_create_event_channel();
	if (!channel)
		return wrong("rdma_create_event_channel");
	return peer ? call(&from, peer) : be_called(&from);
}

/* Takes completions until one of the kind that is wanted; receives are kept. */
static int wait_for(bool recv)
{
	time_t end = time(NULL) + WAIT_S;
	struct ibv_wc wc;
	int got;

	while (!recv || !arrived_cnt) {
		got = ibv_poll_cq(cq, 1, &wc);
		if (got < 0 || time(NULL) > end)
			return wrong("no completion");
		if (!got)
			continue;
		if (wc.status) {
			fprintf(stderr, "rdmacm: %s\n", ibv_wc_status_str(wc.status));
			return -1;
		}
		if (!(wc.opcode & IBV_WC_RECV))
			return 0;
		arrived[arrived_cnt++] = wc;
	}
	return 0;
}

static int post(struct ibv_send_wr *wr, void *buf, size_t len)
{
	struct ibv_sge sge = { (uintptr_t) buf, (uint32_t) len, mr->lkey };
	struct ibv_send_wr *bad;

	wr->sg_list = &sge;
	wr->num_sge = 1;
	wr->send_flags = IBV_SEND_SIGNALED;
	return ibv_post_send(id->qp, wr, &bad) ? wrong("ibv_post_send") : wait_for(false);
}

static int cm_send(size_t len, const uint32_t *imm)
{
	struct ibv_send_wr wr = { .opcode = imm ? IBV_WR_SEND_WITH_IMM : IBV_WR_SEND };

	wr.imm_data = imm ? htonl(*imm) : 0;
	return post(&wr, mem->out, len);
}

static int cm_recv(unsigned *i_p, size_t *len_p, bool *has_imm_p, uint32_t *imm_p)
{
	if (wait_for(true))
		return -1;
	*i_p = (unsigned) arrived[0].wr_id;
	*len_p = arrived[0].byte_len;
	*has_imm_p = arrived[0].wc_flags & IBV_WC_WITH_IMM;
	*imm_p = ntohl(arrived[0].imm_data);
	memmove(arrived, arrived + 1, --arrived_cnt * sizeof(arrived[0]));
	return 0;
}

static int rma(enum ibv_wr_opcode opcode, uint64_t addr, uint32_t key, size_t len)
{
	struct ibv_send_wr wr = { .opcode = opcode };

	wr.wr.rdma.remote_addr = addr;
	wr.wr.rdma.rkey = key;
	return post(&wr, mem->out, len);
}

static int cm_write(uint64_t addr, uint32_t key, size_t len)
{
	return rma(IBV_WR_RDMA_WRITE, addr, key, len);
}

static int cm_read(uint64_t addr, uint32_t key, size_t len)
{
	return rma(IBV_WR_RDMA_READ, addr, key, len);
}

static int cm_add(uint64_t addr, uint32_t key, uint64_t value)
{
	struct ibv_send_wr wr = { .opcode = IBV_WR_ATOMIC_FETCH_AND_ADD };

	wr.wr.atomic.remote_addr = addr;
	wr.wr.atomic.rkey = key;
	wr.wr.atomic.compare_add = value;
	return post(&wr, &mem->old, sizeof(mem->old));
}

static uint32_t cm_key(void)
{
	return mr->rkey;
}

static int cm_close(bool first)
{
	if (first && rdma_disconnect(id))
		return wrong("rdma_disconnect");
	if (event(RDMA_CM_EVENT_DISCONNECTED, NULL))
		return -1;
	rdma_destroy_qp(id);
	ibv_dereg_mr(mr);
	ibv_destroy_cq(cq);
	ibv_dealloc_pd(pd);
	rdma_destroy_id(id);
	if (listener)
		rdma_destroy_id(listener);
	rdma_destroy_event_channel(channel);
	return 0;
}

const struct end_ops end_rdmacm = {
	.open = cm_open, .send = cm_send, .recv = cm_recv, .post = post_recv,
	.write = cm_write, .read = cm_read, .add = cm_add, .key = cm_key, .close = cm_close,
};
