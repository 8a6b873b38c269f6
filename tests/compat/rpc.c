/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * rpc - remote procedure calls as storage services make them: a request is a message into a
 * multi-receive buffer, names memory of the client and what is in it; the server reads that memory,
 * checks it, writes something else there, and answers by a message.  Where there are no multi-receive
 * buffers, each request has a receive.
 *
 *   rpc PROVIDER msg|rdm server DIRECTORY CLIENTS
 *   rpc PROVIDER msg|rdm client DIRECTORY NUMBER CALLS
 *
 * Over rdm the answer is a tagged message, and the server learns the address of a client from its
 * request.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>

#include "meet.h"

#define CLIENTS_MAX 8
#define BULK_MAX ((size_t) 8 << 20)
#define WINDOW 4			/* calls of a client in flight */
#define POOL 16384			/* bytes of a multi-receive buffer */
#define TIMEOUT_MS 120000

struct request {
	uint64_t id, client, len, addr, key, seed;
	bool last;			/* the client ends */
	uint64_t name_len;
	uint8_t name[64];		/* of the client's endpoint, over rdm */
};

struct answer {
	uint64_t id, seed;		/* of what is there now */
	int64_t wrong;			/* the first byte that was, or -1 */
};

struct link {				/* to a client or to the server */
	struct fid_ep *ep;
	fi_addr_t addr;
	unsigned served;
};

/* A call: at its server, or at its client. */
struct call {
	struct fi_context2 ctx;		/* first: completions name it */
	enum { FREE, READING, WRITING, ANSWERING, ASKING } state;
	struct link *link;
	struct request request;
	struct answer answer;
	uint8_t *bulk;
	struct fid_mr *mr;
	bool asked, answered;		/* at the client */
};

struct pool {				/* a multi-receive buffer */
	struct fi_context2 ctx;
	struct fid_ep *ep;
	uint8_t data[POOL];
	struct fid_mr *mr;
};

static bool rdm, multi;		/* @multi: the provider has multi-receive buffers */
static const char *dir;
static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_av *av;
static struct fid_cq *cq;
static struct fid_eq *eq;
static struct fid_pep *pep;
static struct link links[CLIENTS_MAX];
static struct call calls[CLIENTS_MAX * WINDOW];
static struct pool pools[CLIENTS_MAX * 2];
static unsigned pool_cnt;
static uint64_t next_key = 1;

/* RETRY - CALL until there is room for it; completions wait meanwhile. */
#define RETRY(call) do {							\
	uint64_t until_ = meet_now_ms() + TIMEOUT_MS;				\
	long ret_;								\
	while ((ret_ = (long) (call)) == -FI_EAGAIN && meet_now_ms() < until_)	\
		fi_cq_read(cq, NULL, 0);					\
	meet_must(#call, ret_);							\
} while (0)

/* ---- objects ------------------------------------------------------------------------------------------- */

static struct fid_mr *memory(void *buf, size_t len, uint64_t access)
{
	struct fid_mr *mr = NULL;

	meet_must("fi_mr_reg", fi_mr_reg(domain, buf, len, access, 0, next_key++, 0, &mr, NULL));
	return mr;
}

static void open_domain(const char *provider)
{
	uint64_t caps = FI_MSG | FI_RMA | (rdm ? FI_TAGGED : 0);
	enum fi_ep_type type = rdm ? FI_EP_RDM : FI_EP_MSG;
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA, .size = 1024 };
	struct fi_av_attr av_attr = { .type = FI_AV_TABLE };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };

	info = meet_info(provider, type, caps | FI_MULTI_RECV);
	multi = info != NULL;
	if (!multi)
		info = meet_info(provider, type, caps);
	meet_must("fi_getinfo", info ? 0 : -FI_ENODATA);
	meet_must("fi_fabric", fi_fabric(info->fabric_attr, &fabric, NULL));
	meet_must("fi_domain", fi_domain(fabric, info, &domain, NULL));
	meet_must("fi_cq_open", fi_cq_open(domain, &cq_attr, &cq, NULL));
	if (rdm)
		meet_must("fi_av_open", fi_av_open(domain, &av_attr, &av, NULL));
	else
		meet_must("fi_eq_open", fi_eq_open(fabric, &eq_attr, &eq, NULL));
}

static void open_endpoint(struct fi_info *from, struct fid_ep **ep_p)
{
	size_t least = sizeof(struct request);

	meet_must("fi_endpoint", fi_endpoint(domain, from, ep_p, NULL));
	meet_must("fi_ep_bind", fi_ep_bind(*ep_p, rdm ? &av->fid : &eq->fid, 0));
	meet_must("fi_ep_bind cq", fi_ep_bind(*ep_p, &cq->fid, FI_TRANSMIT | FI_RECV));
	if (multi)
		meet_must("FI_OPT_MIN_MULTI_RECV", fi_setopt(&(*ep_p)->fid, FI_OPT_ENDPOINT,
							     FI_OPT_MIN_MULTI_RECV, &least, sizeof(least)));
	meet_must("fi_enable", fi_enable(*ep_p));
}

static uint32_t event(struct fi_eq_cm_entry *entry_p)
{
	uint64_t until = meet_now_ms() + TIMEOUT_MS;
	struct fi_eq_err_entry err = { 0 };
	uint32_t got = 0;
	ssize_t n;

	do {
		fi_cq_read(cq, NULL, 0);
		n = fi_eq_sread(eq, &got, entry_p, sizeof(*entry_p), 100, 0);
	} while (n == -FI_EAGAIN && meet_now_ms() < until);
	if (n == -FI_EAVAIL) {
		fi_eq_readerr(eq, &err, 0);
		meet_must("a connection", -err.err);
	}
	if (n < 0)
		meet_must("an event", (long) n);
	return got;
}

/* ---- the server ------------------------------------------------------------------------------------------ */

static void pool_post(struct pool *pool)
{
	struct iovec iov = { pool->data, POOL };
	void *desc = fi_mr_desc(pool->mr);
	struct fi_msg msg = { .msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = FI_ADDR_UNSPEC,
			      .context = pool };

	RETRY(fi_recvmsg(pool->ep, &msg, (multi ? FI_MULTI_RECV : 0) | FI_COMPLETION));
}

static void add_pools(struct fid_ep *ep)
{
	unsigned i;

	for (i = 0; i < 2; i++) {
		struct pool *pool = &pools[pool_cnt++];

		pool->ep = ep;
		pool->mr = memory(pool->data, POOL, FI_RECV);
		pool_post(pool);
	}
}

static void accept_client(struct link *link, struct fi_info *request)
{
	open_endpoint(request, &link->ep);
	fi_freeinfo(request);
	add_pools(link->ep);
	meet_must("fi_accept", fi_accept(link->ep, NULL, 0));
}

/* One may be accepted while the other is not connected yet. */
static void accept_clients(unsigned clients)
{
	unsigned accepted = 0, connected = 0;
	struct fi_eq_cm_entry entry;

	while (connected < clients)
		switch (event(&entry)) {
		case FI_CONNREQ:
			accept_client(&links[accepted++], entry.info);
			break;
		case FI_CONNECTED:
			connected++;
			break;
		default:
			meet_must("a connection", -FI_EOTHER);
		}
}

static void listen_for(unsigned clients)
{
	uint8_t name[72] = { 0 };
	size_t len = 64;
	uint64_t name_len;

	if (rdm) {
		open_endpoint(info, &links[0].ep);
		add_pools(links[0].ep);
		meet_must("fi_getname", fi_getname(&links[0].ep->fid, name + 8, &len));
	} else {
		meet_must("fi_passive_ep", fi_passive_ep(fabric, info, &pep, NULL));
		meet_must("fi_pep_bind", fi_pep_bind(pep, &eq->fid, 0));
		meet_must("fi_listen", fi_listen(pep));
		meet_must("fi_getname", fi_getname(&pep->fid, name + 8, &len));
	}
	name_len = len;
	memcpy(name, &name_len, 8);
	meet_publish(dir, "server", name, sizeof(name));
	if (!rdm)
		accept_clients(clients);
}

static struct link *link_of(const struct request *request, struct fid_ep *ep)
{
	struct link *link = links;

	if (!rdm) {
		while (link->ep != ep)
			link++;
		return link;
	}
	if (request->client >= CLIENTS_MAX)
		meet_must("the number of a client", -FI_EINVAL);
	link = &links[request->client];
	if (!link->served++ && fi_av_insert(av, request->name, 1, &link->addr, 0, NULL) != 1)
		meet_must("fi_av_insert", -FI_EINVAL);
	link->ep = ep;
	return link;
}

/* Returns true if the client has no more. */
static bool on_request(struct fid_ep *ep, const struct request *request)
{
	struct link *link = link_of(request, ep);
	struct call *call = calls;

	if (request->last)
		return true;
	while (call < calls + CLIENTS_MAX * WINDOW && call->state != FREE)
		call++;
	if (call == calls + CLIENTS_MAX * WINDOW || request->len > BULK_MAX)
		meet_must("a request", -FI_EINVAL);
	*call = (struct call) { .state = READING, .link = link, .request = *request };
	call->bulk = malloc(request->len);
	call->mr = memory(call->bulk, request->len, FI_READ | FI_WRITE);
	RETRY(fi_read(ep, call->bulk, request->len, fi_mr_desc(call->mr), link->addr, request->addr,
		      request->key, call));
	return false;
}

static void write_back(struct call *call)
{
	const struct request *request = &call->request;
	struct iovec iov = { call->bulk, request->len };
	struct fi_rma_iov rma = { request->addr, request->len, request->key };
	void *desc = fi_mr_desc(call->mr);
	struct fi_msg_rma msg = {
		.msg_iov = &iov, .desc = &desc, .iov_count = 1, .addr = call->link->addr,
		.rma_iov = &rma, .rma_iov_count = 1, .context = call,
	};

	call->answer = (struct answer) {
		.id = request->id, .seed = meet_mix(request->seed),
		.wrong = meet_check(call->bulk, request->len, request->seed),
	};
	meet_fill(call->bulk, request->len, call->answer.seed);
	call->state = WRITING;
	RETRY(fi_writemsg(call->link->ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE));
}

static void answer(struct call *call)
{
	struct link *link = call->link;

	fi_close(&call->mr->fid);
	free(call->bulk);
	call->mr = memory(&call->answer, sizeof(call->answer), FI_SEND);
	call->state = ANSWERING;
	if (rdm)
		RETRY(fi_tsend(link->ep, &call->answer, sizeof(call->answer), fi_mr_desc(call->mr),
			       link->addr, call->answer.id, call));
	else
		RETRY(fi_send(link->ep, &call->answer, sizeof(call->answer), fi_mr_desc(call->mr), 0,
			      call));
}

static void server_step(struct call *call)
{
	switch (call->state) {
	case READING:
		write_back(call);
		break;
	case WRITING:
		answer(call);
		break;
	default:
		fi_close(&call->mr->fid);
		call->state = FREE;
	}
}

static struct pool *pool_of(void *context)
{
	struct pool *pool = context;

	return pool >= pools && pool < pools + CLIENTS_MAX * 2 ? pool : NULL;
}

/* Returns 1 if a client ended. */
static unsigned server_completion(const struct fi_cq_data_entry *entry)
{
	struct pool *pool = pool_of(entry->op_context);
	struct request request;
	unsigned ended = 0;

	if (!pool) {
		server_step(entry->op_context);
		return 0;
	}
	if (entry->flags & FI_RECV) {
		if (entry->len != sizeof(request))
			meet_must("the length of a request", -FI_EINVAL);
		memcpy(&request, multi ? entry->buf : pool->data, sizeof(request));
		ended = on_request(pool->ep, &request);
	}
	if (entry->flags & FI_MULTI_RECV || !multi)
		pool_post(pool);
	return ended;
}

/* ---- the client --------------------------------------------------------------------------------------------- */

static void find_server(struct link *link)
{
	uint64_t until = meet_now_ms() + TIMEOUT_MS, len;
	struct fi_eq_cm_entry entry;
	uint8_t name[72];

	while (meet_look(dir, "server", name, sizeof(name))) {
		if (meet_now_ms() > until)
			meet_must("the server", -FI_ETIMEDOUT);
		usleep(10000);
	}
	memcpy(&len, name, 8);
	open_endpoint(info, &link->ep);
	if (rdm) {
		if (fi_av_insert(av, name + 8, 1, &link->addr, 0, NULL) != 1)
			meet_must("fi_av_insert", -FI_EINVAL);
		return;
	}
	meet_must("fi_connect", fi_connect(link->ep, name + 8, NULL, 0));
	if (event(&entry) != FI_CONNECTED)
		meet_must("FI_CONNECTED", -FI_EOTHER);
}

static void send_request(struct link *link, struct call *call)
{
	size_t len = sizeof(call->request.name);

	call->link = link;
	if (rdm)
		meet_must("fi_getname", fi_getname(&link->ep->fid, call->request.name, &len));
	call->request.name_len = len;
	RETRY(fi_send(link->ep, &call->request, sizeof(call->request), NULL, link->addr, call));
}

/* Where answers are received: over msg the answer to any call is in the oldest. */
static struct room {
	struct fi_context2 ctx;		/* first: completions name it */
	struct answer answer;
	bool posted;
} rooms[WINDOW];

static void post_room(struct link *link, uint64_t id)
{
	struct room *room = rooms;

	while (room->posted)		/* as many as calls */
		room++;
	room->posted = true;
	if (rdm)
		RETRY(fi_trecv(link->ep, &room->answer, sizeof(room->answer), NULL, FI_ADDR_UNSPEC, id, 0,
			       room));
	else
		RETRY(fi_recv(link->ep, &room->answer, sizeof(room->answer), NULL, 0, room));
}

static void ask(struct link *link, struct call *call, unsigned number, uint64_t id)
{
	size_t len = meet_size(meet_mix(id << 8 | number), BULK_MAX);

	*call = (struct call) {
		.state = ASKING,
		.request = { .id = id, .client = number, .len = len, .seed = meet_mix(id + 1000 * number) },
	};
	call->bulk = malloc(len);
	meet_fill(call->bulk, len, call->request.seed);
	call->mr = memory(call->bulk, len, FI_REMOTE_READ | FI_REMOTE_WRITE);
	call->request.key = fi_mr_key(call->mr);
	if (info->domain_attr->mr_mode & FI_MR_VIRT_ADDR)
		call->request.addr = (uint64_t) (uintptr_t) call->bulk;
	post_room(link, id);
	send_request(link, call);
}

static void on_answer(const struct answer *answer)
{
	struct call *call = calls;

	while (call < calls + WINDOW && (call->state != ASKING || call->request.id != answer->id))
		call++;
	if (call == calls + WINDOW)
		meet_must("the answer to a call", -FI_EINVAL);
	if (answer->wrong >= 0) {
		printf("failed: the server read a wrong byte %lld\n", (long long) answer->wrong);
		exit(1);
	}
	if (meet_check(call->bulk, call->request.len, answer->seed) >= 0)
		meet_must("what the server wrote", -FI_EIO);
	call->answered = true;
}

/* Returns 1 if a call is over. */
static unsigned client_completion(const struct fi_cq_data_entry *entry)
{
	struct room *room = entry->op_context;
	struct call *call = entry->op_context;
	unsigned i, ended = 0;

	if (room >= rooms && room < rooms + WINDOW) {
		on_answer(&room->answer);
		room->posted = false;
	} else {
		call->asked = true;
	}
	for (i = 0; i < WINDOW; i++) {
		call = &calls[i];
		if (call->state != ASKING || !call->asked || !call->answered)
			continue;
		meet_must("fi_close mr", fi_close(&call->mr->fid));
		free(call->bulk);
		call->state = FREE;
		ended++;
	}
	return ended;
}

/* ---- both ------------------------------------------------------------------------------------------------------ */

static unsigned poll_once(unsigned (*completion)(const struct fi_cq_data_entry *))
{
	static uint64_t last;
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_data_entry entry;
	ssize_t n = fi_cq_read(cq, &entry, 1);

	if (!last)
		last = meet_now_ms();
	if (n == -FI_EAVAIL) {
		fi_cq_readerr(cq, &err, 0);
		meet_must("an operation", -err.err);
	}
	if (n == 1) {
		last = meet_now_ms();
		return completion(&entry);
	}
	if (meet_now_ms() > last + TIMEOUT_MS)
		meet_must("a completion", -FI_ETIMEDOUT);
	usleep(20);
	return 0;
}

static bool all_free(void)
{
	unsigned i;

	for (i = 0; i < CLIENTS_MAX * WINDOW; i++)
		if (calls[i].state != FREE)
			return false;
	return true;
}

static void serve(unsigned clients)
{
	unsigned ended = 0;

	listen_for(clients);
	while (ended < clients || !all_free())
		ended += poll_once(server_completion);
	/* the clients close first */
	meet_publish(dir, "ended", "", 1);
}

static void call_all(unsigned number, unsigned cnt)
{
	struct call *call;
	unsigned begun = 0, ended = 0;
	char byte;

	find_server(&links[0]);
	while (ended < cnt) {
		for (call = calls; call < calls + WINDOW && begun < cnt; call++)
			if (call->state == FREE)
				ask(&links[0], call, number, begun++);
		ended += poll_once(client_completion);
	}
	calls[0] = (struct call) { .state = ANSWERING, .request = { .client = number, .last = true } };
	send_request(&links[0], &calls[0]);
	while (!calls[0].asked)
		poll_once(client_completion);
	while (meet_look(dir, "ended", &byte, 1)) {
		fi_cq_read(cq, NULL, 0);
		usleep(1000);
	}
}

int main(int argc, char **argv)
{
	bool server = argc > 3 && !strcmp(argv[3], "server");

	if (argc < (server ? 6 : 7))
		return 2;
	rdm = !strcmp(argv[2], "rdm");
	dir = argv[4];
	open_domain(argv[1]);
	if (server)
		serve((unsigned) atoi(argv[5]));
	else
		call_all((unsigned) atoi(argv[5]), (unsigned) atoi(argv[6]));
	printf("ok\n");
	return 0;
}
