/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * XRC endpoints on the real libmlx5, as mlx5_ep_test has others, in the world of
 * mlx5_xrc_world.h.  All of it runs by the extended interface, then ("post") by the older one,
 * and then ("auto") with connections that make progress by a thread of the library.
 * XRC_REQUESTS=1000000 makes it long.  Skips without libmlx5.
 */
#include "mlx5_xrc_world.h"

#define SKIP 77

struct fi_provider *fi_verbs_ini(void);

static bool by_itself;		/* connections */

/* ---- cases ---------------------------------------------------------------------- */

static struct fi_info *ask(enum fi_ep_type type, uint32_t protocol, const char *domain)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;

	hints->ep_attr->type = type;
	hints->ep_attr->protocol = protocol;
	hints->mode = FI_RX_CQ_DATA;
	hints->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				      FI_MR_PROV_KEY;
	hints->domain_attr->control_progress = hints->domain_attr->data_progress =
		by_itself ? FI_PROGRESS_AUTO : FI_PROGRESS_MANUAL;
	if (domain)
		hints->domain_attr->name = strdup(domain);
	if (vrb_getinfo(FI_VERSION(2, 6), "127.0.0.1", NULL, FI_SOURCE, hints, &info))
		info = NULL;
	fi_freeinfo(hints);
	return info;
}

static void is_offered(const struct fi_info *info, uint32_t protocol, const char *domain)
{
	assert_non_null(info);
	assert_int_equal(info->ep_attr->protocol, protocol);
	assert_string_equal(info->domain_attr->name, domain);
	assert_int_equal(info->ep_attr->rx_ctx_cnt,
			 protocol == FI_PROTO_RDMA_CM_IB_XRC ? FI_SHARED_CONTEXT : 1);
}

static void offers(void **state)
{
	struct fi_info *info = ask(FI_EP_MSG, 0, NULL), *again;

	is_offered(info, FI_PROTO_RDMA_CM_IB_RC, "mlx5_0");
	is_offered(info->next, FI_PROTO_RDMA_CM_IB_XRC, "mlx5_0-xrc");
	assert_null(info->next->next);
	/* The offers can be used as hints. */
	assert_int_equal(vrb_getinfo(FI_VERSION(2, 6), NULL, NULL, 0, info->next, &again), 0);
	is_offered(again, FI_PROTO_RDMA_CM_IB_XRC, "mlx5_0-xrc");
	fi_freeinfo(again);
	fi_freeinfo(info);

	vrb_conf.prefer_xrc = 1;
	info = ask(FI_EP_MSG, 0, NULL);
	is_offered(info, FI_PROTO_RDMA_CM_IB_XRC, "mlx5_0-xrc");
	is_offered(info->next, FI_PROTO_RDMA_CM_IB_RC, "mlx5_0");
	fi_freeinfo(info);
	vrb_conf.prefer_xrc = 0;

	info = ask(FI_EP_MSG, FI_PROTO_RDMA_CM_IB_XRC, NULL);
	is_offered(info, FI_PROTO_RDMA_CM_IB_XRC, "mlx5_0-xrc");
	assert_null(info->next);
	fi_freeinfo(info);
	info = ask(FI_EP_MSG, 0, "mlx5_0");
	is_offered(info, FI_PROTO_RDMA_CM_IB_RC, "mlx5_0");
	assert_null(info->next);
	fi_freeinfo(info);
	info = ask(FI_EP_UNSPEC, 0, NULL);
	assert_int_equal(info->next->next->ep_attr->type, FI_EP_DGRAM);
	fi_freeinfo(info);

	/* A library that is too old. */
	__typeof__(vrb_cm.establish) establish = vrb_cm.establish;
	vrb_cm.establish = NULL;
	assert_null(ask(FI_EP_MSG, FI_PROTO_RDMA_CM_IB_XRC, NULL));
	vrb_cm.establish = establish;
}

static void needs_shared_receives(void **state)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_DATA };
	struct fi_info *rc = ask(FI_EP_MSG, FI_PROTO_RDMA_CM_IB_RC, NULL);
	struct fid_ep *ep;
	struct fid_cq *cq;
	size_t room = 0, len = sizeof(room);
	struct link l;

	assert_int_equal(fi_endpoint(p[0].domain, p[0].info, &ep, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &p[0].eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &p[0].cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_enable(ep), -FI_EOPBADSTATE);
	assert_int_equal(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &room, &len), 0);
	assert_int_equal(room, VRB_CM_DATA - VRB_HANDSHAKE_SIZE);
	close_ep(ep);

	/* And the same queue for all of them. */
	connect_link(&l, &p[0], &p[2]);
	assert_int_equal(fi_cq_open(p[0].domain, &attr, &cq, NULL), 0);
	assert_int_equal(fi_endpoint(p[0].domain, p[0].info, &ep, NULL), 0);
	assert_int_equal(fi_ep_bind(ep, &p[0].eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(ep, &p[0].cq->fid, FI_TRANSMIT), 0);
	assert_int_equal(fi_ep_bind(ep, &cq->fid, FI_RECV), 0);
	assert_int_equal(fi_ep_bind(ep, &p[0].srx->fid, 0), 0);
	assert_int_equal(fi_enable(ep), -FI_EINVAL);
	assert_int_equal(fi_send(ep, NULL, 0, NULL, 0, NULL), -FI_EOPBADSTATE);
	close_ep(ep);
	assert_int_equal(fi_close(&cq->fid), 0);
	close_link(&l);
	assert_int_equal(fi_endpoint(p[0].domain, rc, &ep, NULL), -FI_EINVAL);
	fi_freeinfo(rc);
}

static void first_message(void **state)
{
	struct link l;

	call(&l, &p[0], &p[2]);
	assert_int_equal(fi_enable(l.a), 0);
	assert_int_equal(fi_send(l.a, p[0].mem, 1, NULL, 0, NULL), -FI_ENOTCONN);
	answer(&l);
	is_connected(&p[0], l.a, "me");
	is_connected(&p[2], l.b, "");
	both_ways(&l, 1);
	assert_int_equal(kernel_alive(IBV_QPT_XRC_SEND), 2);
	assert_int_equal(kernel_alive(IBV_QPT_XRC_RECV), 2);
	close_link(&l);
	no_events(&p[0]);
}

static void rejected(struct link *l, int err, const char *data)
{
	struct fi_eq_err_entry e = { 0 };
	union told told;
	char buf[64] = "";

	wait_for(l->from, 0, &told);
	e.err_data = buf;
	e.err_data_size = sizeof(buf);
	assert_true(fi_eq_readerr(l->from->eq, &e, 0) > 0);
	assert_int_equal(e.err, err);
	assert_ptr_equal(e.fid, &l->a->fid);
	assert_memory_equal(buf, data, strlen(data));
}

static void refusal(void **state)
{
	char long_data[VRB_CM_DATA];
	struct sockaddr_in silent_port;
	union told told;
	struct link l;
	int tries;

	call(&l, &p[0], &p[2]);
	wait_for(&p[2], FI_CONNREQ, &told);
	assert_int_equal(fi_reject(p[2].pep, told.entry.info->handle, "no", 2), 0);
	fi_freeinfo(told.entry.info);
	rejected(&l, FI_ECONNREFUSED, "no");
	/* the automatic thread destroys the queue pair after it has reported the refusal */
	for (tries = 0; kernel_alive(IBV_QPT_XRC_SEND) && tries < 5000; tries++)
		usleep(1000);
	assert_int_equal(kernel_alive(IBV_QPT_XRC_SEND), 0);
	close_ep(l.a);

	/* A request without an answer, and its end. */
	call(&l, &p[0], &p[2]);
	wait_for(&p[2], FI_CONNREQ, &told);
	assert_int_equal(fi_close(told.entry.info->handle), 0);
	fi_freeinfo(told.entry.info);
	rejected(&l, FI_ECONNREFUSED, "");
	close_ep(l.a);

	silent_port = p[2].name;
	silent_port.sin_port = htons(1);
	l.a = open_ep(&p[0], p[0].info);
	assert_int_equal(fi_connect(l.a, &silent_port, long_data, VRB_CM_DATA - VRB_HANDSHAKE_SIZE + 1),
			 -FI_EINVAL);
	assert_int_equal(fi_connect(l.a, &silent_port, NULL, 0), 0);
	rejected(&l, FI_ECONNREFUSED, "");
	close_ep(l.a);
}

/* Who is not XRC gets a refusal, on either side. */
static void strangers(void **state)
{
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_NONE };
	struct fi_cq_attr cq_attr = { .format = FI_CQ_FORMAT_DATA };
	uint8_t hs[VRB_HANDSHAKE_SIZE];
	struct vrb_handshake h = { VRB_HANDSHAKE_CONNECT, 1, 2, 0, 3 }, got;
	struct fi_info *rc = ask(FI_EP_MSG, FI_PROTO_RDMA_CM_IB_RC, NULL);
	struct proc old = { .info = rc };
	struct link l = { .from = &old };
	size_t len;
	int i;

	assert_int_equal(vrb_prov.fabric(rc->fabric_attr, &old.fabric, NULL), 0);
	assert_int_equal(fi_domain(old.fabric, rc, &old.domain, NULL), 0);
	assert_int_equal(fi_eq_open(old.fabric, &eq_attr, &old.eq, NULL), 0);
	assert_int_equal(fi_cq_open(old.domain, &cq_attr, &old.cq, NULL), 0);
	assert_int_equal(fi_endpoint(old.domain, rc, &l.a, NULL), 0);
	assert_int_equal(fi_ep_bind(l.a, &old.eq->fid, 0), 0);
	assert_int_equal(fi_ep_bind(l.a, &old.cq->fid, FI_TRANSMIT | FI_RECV), 0);
	assert_int_equal(fi_connect(l.a, &p[2].name, "hello", 5), 0);
	rejected(&l, FI_ECONNREFUSED, "");
	close_ep(l.a);
	fi_close(&old.cq->fid);
	fi_close(&old.eq->fid);
	fi_close(&old.domain->fid);
	fi_close(&old.fabric->fid);
	fi_freeinfo(rc);

	len = vrb_handshake_put(hs, &h, NULL, 0);
	assert_true(vrb_handshake_parse(hs, len, &got));
	assert_memory_equal(&h, &got, sizeof(h));
	assert_false(vrb_handshake_parse(hs, len - 1, &got));
	assert_false(vrb_handshake_parse(NULL, 0, &got));
	for (i = 0; i < 256; i++) {
		hs[1] = (uint8_t) i;
		assert_int_equal(vrb_handshake_parse(hs, len, &got),
				 i >> 4 == 1 && (i & 15) && (i & 15) < VRB_HANDSHAKE_CNT &&
				 (i & 15) != VRB_HANDSHAKE_ACCEPT);
	}
}

static void all_calls(void **state)
{
	struct link l;
	void *desc = fi_mr_desc(p[0].mr);
	uint64_t *counter = (uint64_t *) p[2].mem + 100, one = 1, old = 0;
	struct iovec iov[2] = { { p[0].mem, 3 }, { p[0].mem + 100, 4 } };
	void *descs[2] = { desc, desc };
	struct fi_msg msg = { .msg_iov = iov, .desc = descs, .iov_count = 2, .context = &l };
	struct fi_cq_data_entry e;

	connect_link(&l, &p[0], &p[2]);
	give_buf(&p[2], p[2].in[0]);
	memcpy(p[0].mem, "abc", 3);
	memcpy(p[0].mem + 100, "defg", 4);
	assert_int_equal(fi_sendmsg(l.a, &msg, FI_COMPLETION | FI_MORE), 0);
	give_buf(&p[2], p[2].in[1]);
	assert_int_equal(fi_inject(l.a, "xyz", 3, 0), 0);
	run_device();
	taken(&p[0]);
	nothing(&p[0]);
	assert_int_equal(taken(&p[2]).len, 7);
	assert_memory_equal(p[2].in[0], "abcdefg", 7);
	assert_int_equal(taken(&p[2]).len, 3);
	assert_memory_equal(p[2].in[1], "xyz", 3);

	memset(p[0].mem, 'w', 5000);
	assert_int_equal(fi_write(l.a, p[0].mem, 5000, desc, 0, (uintptr_t) p[2].mem + 8192,
				  KERNEL_KEY, &l), 0);
	run_device();
	assert_true(taken(&p[0]).flags & FI_WRITE);
	assert_memory_equal(p[2].mem + 8192, p[0].mem, 5000);
	give_buf(&p[2], p[2].in[2]);
	assert_int_equal(fi_writedata(l.a, p[0].mem, 8, desc, 77, 0, (uintptr_t) p[2].mem,
				      KERNEL_KEY, &l), 0);
	run_device();
	taken(&p[0]);
	e = taken(&p[2]);
	assert_int_equal(e.data, 77);
	assert_true(e.flags & FI_REMOTE_WRITE);
	assert_int_equal(fi_read(l.a, p[0].mem + 6000, 300, desc, 0, (uintptr_t) p[2].mem + 8192,
				 KERNEL_KEY, &l), 0);
	run_device();
	taken(&p[0]);
	assert_memory_equal(p[0].mem + 6000, p[2].mem + 8192, 300);
	*counter = 41;
	assert_int_equal(fi_fetch_atomic(l.a, &one, 1, NULL, p[0].mem, desc, 0, (uintptr_t) counter,
					 KERNEL_KEY, FI_UINT64, FI_SUM, &l), 0);
	run_device();
	taken(&p[0]);
	memcpy(&old, p[0].mem, 8);
	assert_int_equal(old, 41);
	assert_int_equal(*counter, 42);
	both_ways(&l, 9);
	close_link(&l);
}

/* ---- sharing -------------------------------------------------------------------- */

/* Links from both processes of one host to both of the other, and back, two of each kind. */
static void connect_all(struct link *links)
{
	unsigned i;

	for (i = 0; i < LINKS; i++)
		connect_link(&links[i], &p[i & 1], &p[2 + (i >> 1 & 1)]);
}

static void shared(void **state)
{
	struct link links[LINKS];
	unsigned i;

	connect_all(links);
	/* Each of four processes has one to the other host, and each of these a target there. */
	assert_int_equal(kernel_alive(IBV_QPT_XRC_SEND), PROCS);
	assert_int_equal(kernel_alive(IBV_QPT_XRC_RECV), PROCS);
	for (i = 2; i < LINKS; i++) {
		assert_ptr_equal(ini(links[i].a), ini(links[i & 1].a));
		assert_ptr_equal(ini(links[i].b), ini(links[i & 2].b));
	}
	for (i = 0; i < 200; i++)
		both_ways(&links[i * 7 % LINKS], i);

	/* The one that was made first may go first. */
	for (i = 0; i < LINKS - 1; i++) {
		close_link(&links[i]);
		both_ways(&links[LINKS - 1], i);
		both_ways(&links[i + 1], i);
	}
	assert_int_equal(kernel_alive(IBV_QPT_XRC_SEND), 2);
	close_link(&links[i]);
}

/* Of simultaneous connects the first makes the initiator for all, in whatever order they are
 * answered; if it is refused, the next one does.
 */
static void at_once(void **state)
{
	struct link links[LINKS];
	union told told;
	unsigned i, refuse;

	for (refuse = 0; refuse < 2; refuse++) {
		for (i = 0; i < LINKS; i++)
			call(&links[i], &p[0], &p[2]);
		assert_int_equal(kernel_alive(IBV_QPT_XRC_SEND), 1);
		if (refuse) {
			wait_for(&p[2], FI_CONNREQ, &told);
			assert_int_equal(fi_reject(p[2].pep, told.entry.info->handle, "no", 2), 0);
			fi_freeinfo(told.entry.info);
			rejected(&links[0], FI_ECONNREFUSED, "no");
			close_ep(links[0].a);
		}
		for (i = refuse; i < LINKS; i++) {
			answer(&links[i]);
			is_connected(&p[0], links[i].a, "me");
			is_connected(&p[2], links[i].b, "");
		}
		assert_int_equal(kernel_alive(IBV_QPT_XRC_SEND), 2);
		for (i = refuse; i < LINKS; i++)
			both_ways(&links[i], i);
		for (i = refuse; i < LINKS; i++)
			close_link(&links[i]);
		no_events(&p[0]);
		no_events(&p[2]);
	}
}

/* Two requests are accepted before either is established: the second shares an initiator whose
 * target is not ready, and is connected when it is.
 */
static void before_it_is_up(void **state)
{
	struct link links[2];
	struct fi_eq_cm_entry entry;
	uint32_t what;

	call(&links[0], &p[0], &p[2]);
	answer(&links[0]);
	call(&links[1], &p[1], &p[2]);
	answer(&links[1]);
	assert_ptr_equal(ini(links[0].b), ini(links[1].b));
	is_connected(&p[1], links[1].a, "me");
	assert_int_equal(fi_eq_read(p[2].eq, &what, &entry, sizeof(entry), 0), -FI_EAGAIN);
	is_connected(&p[0], links[0].a, "me");
	is_connected(&p[2], links[0].b, "");
	is_connected(&p[2], links[1].b, "");
	both_ways(&links[0], 1);
	both_ways(&links[1], 2);
	close_link(&links[0]);
	both_ways(&links[1], 3);
	close_link(&links[1]);
}

/* The same, but the first connecting endpoint is closed: both connections fail. */
static void never_up(void **state)
{
	struct fi_eq_err_entry e = { 0 };
	struct link links[2];
	union told told;
	unsigned i;

	call(&links[0], &p[0], &p[2]);
	answer(&links[0]);
	call(&links[1], &p[1], &p[2]);
	answer(&links[1]);
	close_ep(links[0].a);
	for (i = 0; i < 2; i++) {
		wait_for(&p[2], 0, &told);
		assert_true(fi_eq_readerr(p[2].eq, &e, 0) > 0);
		assert_true(e.fid == &links[0].b->fid || e.fid == &links[1].b->fid);
	}
	close_ep(links[0].b);
	close_ep(links[1].b);
	close_ep(links[1].a);
	connect_link(&links[0], &p[0], &p[2]);
	both_ways(&links[0], 1);
	close_link(&links[0]);
	no_events(&p[1]);
}

/* A target was destroyed and the handshake is stale: connect again. */
static void gone_target(void **state)
{
	struct fi_eq_err_entry e = { 0 };
	struct link links[2];
	struct vrb_ini *first;
	union told told;

	connect_link(&links[0], &p[0], &p[2]);
	first = vrb_ep_of(links[0].a)->xrc->ini;
	first->target += 1000;			/* a number that is not in use */
	call(&links[1], &p[0], &p[3]);
	answer(&links[1]);
	is_connected(&p[0], links[1].a, "me");
	is_connected(&p[3], links[1].b, "");
	first->target -= 1000;
	assert_ptr_not_equal(ini(links[1].a), first);
	both_ways(&links[0], 1);
	both_ways(&links[1], 2);
	close_link(&links[0]);
	close_link(&links[1]);

	/* The same of an answer. */
	connect_link(&links[0], &p[0], &p[2]);
	first = vrb_ep_of(links[0].b)->xrc->ini;
	first->target += 1000;
	call(&links[1], &p[1], &p[2]);
	answer(&links[1]);
	first->target -= 1000;
	wait_for(&p[2], 0, &told);
	assert_true(fi_eq_readerr(p[2].eq, &e, 0) > 0);
	assert_ptr_equal(e.fid, &links[1].b->fid);
	close_ep(links[1].b);
	answer(&links[1]);
	is_connected(&p[1], links[1].a, "me");
	is_connected(&p[2], links[1].b, "");
	both_ways(&links[0], 1);
	both_ways(&links[1], 2);
	close_link(&links[0]);
	close_link(&links[1]);
}

/* ---- the end -------------------------------------------------------------------- */

static void closing_orders(void **state)
{
	struct link links[LINKS];
	struct fid_ep *eps[2 * LINKS], *swap;
	unsigned round, i, k;

	srand(1);
	for (round = 0; round < 60; round++) {
		connect_all(links);
		for (i = 0; i < LINKS; i++) {
			eps[2 * i] = links[i].a;
			eps[2 * i + 1] = links[i].b;
		}
		for (i = 2 * LINKS - 1; i; i--) {
			k = (unsigned) rand() % (i + 1);
			swap = eps[i];
			eps[i] = eps[k];
			eps[k] = swap;
		}
		for (i = 0; i < 2 * LINKS; i++) {
			if (rand() % 2)
				no_events(&p[rand() % PROCS]);
			close_ep(eps[i]);
		}
		for (i = 0; i < PROCS; i++)
			no_events(&p[i]);
		assert_int_equal(kernel_alive(IBV_QPT_XRC_SEND), 0);
		assert_int_equal(kernel_alive(IBV_QPT_XRC_RECV), 0);
	}
}

static unsigned errors(struct proc *of, int first)
{
	struct fi_cq_err_entry err;
	struct fi_cq_data_entry e;
	unsigned cnt = 0;

	while (fi_cq_read(of->cq, &e, 1) == -FI_EAVAIL) {
		memset(&err, 0, sizeof(err));
		assert_int_equal(fi_cq_readerr(of->cq, &err, 0), 1);
		assert_int_equal(err.err, cnt ? FI_ECANCELED : first);
		cnt++;
	}
	return cnt;
}

/* A request fails: each request in flight completes once, of all endpoints on the initiator, and
 * their connections end; the next connect makes a new initiator.
 */
static void failure(void **state)
{
	struct link links[4], next;
	union told told;
	unsigned i;

	for (i = 0; i < 4; i++)
		connect_link(&links[i], &p[0], &p[2 + i / 2]);
	assert_int_equal(fi_write(links[0].a, p[0].mem, 5000, fi_mr_desc(p[0].mr), 0,
				  (uintptr_t) p[2].mem, KERNEL_KEY + 1, NULL), 0);
	for (i = 0; i < 12; i++)
		assert_int_equal(fi_write(links[i % 4].a, p[0].mem, 8, fi_mr_desc(p[0].mr), 0,
					  (uintptr_t) p[2].mem, KERNEL_KEY, NULL), 0);
	assert_int_equal(fi_inject(links[1].a, "x", 1, 0), 0);
	run_device();
	assert_int_equal(errors(&p[0], FI_EACCES), 14);
	assert_int_equal(fi_write(links[3].a, p[0].mem, 8, NULL, 0, (uintptr_t) p[2].mem, KERNEL_KEY,
				  NULL), -FI_ENOTCONN);
	for (i = 0; i < 4; i++)
		wait_for(&p[0], FI_SHUTDOWN, &told);
	connect_link(&next, &p[0], &p[2]);
	both_ways(&next, 5);
	for (i = 0; i < 4; i++)
		close_link(&links[i]);
	both_ways(&next, 6);
	close_link(&next);
	no_events(&p[2]);
	no_events(&p[3]);
}

/* The peer posts no receives: closing an endpoint shuts the initiator, and the connections of the
 * other endpoints end.
 */
static void stuck(void **state)
{
	struct link links[2];

	connect_link(&links[0], &p[0], &p[2]);
	connect_link(&links[1], &p[0], &p[2]);
	assert_int_equal(fi_send(links[0].a, p[0].mem, 8, fi_mr_desc(p[0].mr), 0, NULL), 0);
	assert_int_equal(fi_send(links[1].a, p[0].mem, 8, fi_mr_desc(p[0].mr), 0, NULL), 0);
	run_device();
	nothing(&p[0]);
	assert_int_equal(fi_shutdown(links[0].b, 0), 0);
	no_events(&p[0]);
	close_ep(links[0].a);
	assert_int_equal(errors(&p[0], FI_ECANCELED), 1);
	close_ep(links[0].b);
	close_ep(links[1].a);
	close_ep(links[1].b);
}

/* It fills up though no ring is full, returns -FI_EAGAIN, and continues when there is room. */
static void full(void **state)
{
	struct link links[2];
	unsigned sent = 0, got = 0, round;
	struct fi_cq_data_entry e;
	ssize_t ret;

	connect_link(&links[0], &p[0], &p[2]);
	connect_link(&links[1], &p[0], &p[3]);
	for (round = 0; round < 10; round++) {
		while (!(ret = fi_write(links[sent % 2].a, p[0].mem, 64, fi_mr_desc(p[0].mr), 0,
					(uintptr_t) p[2].mem, KERNEL_KEY, NULL)))
			sent++;
		assert_int_equal(ret, -FI_EAGAIN);
		assert_int_equal(sent - got, ini(links[0].a)->depth);
		run_device();
		while (fi_cq_read(p[0].cq, &e, 1) == 1)
			got++;
		assert_int_equal(got, sent);
	}
	close_link(&links[0]);
	close_link(&links[1]);
}

/* ---- many ----------------------------------------------------------------------- */

/* Requests of all kinds by all links, in bursts; each message arrives once, whole, and in the
 * order of its link.
 */
struct flow {
	uint32_t sent, seen;
};

static void random_send(struct link *l, struct flow *flow, unsigned no)
{
	struct proc *from = l->from;
	uint32_t msg[BUF / 4];
	size_t len = 8 + (size_t) (rand() % (int) (BUF / 4 - 1)) * 4, i;

	msg[0] = no;
	msg[1] = flow->sent++;
	for (i = 2; i < len / 4; i++)
		msg[i] = msg[1] * 31 + no + (uint32_t) i;
	if (len <= from->info->tx_attr->inject_size && rand() % 2) {
		assert_int_equal(fi_inject(l->a, msg, len, 0), 0);
	} else {
		/* nothing else has this place until the device has run */
		char *at = from->mem + (flow->sent % 8) * BUF + no * 8 * BUF;

		memcpy(at, msg, len);
		assert_int_equal(fi_send(l->a, at, len, fi_mr_desc(from->mr), 0, NULL), 0);
	}
}

static void random_rma(struct link *l, unsigned no)
{
	char *there = l->to->mem + MEM - 8192 + no * 64, *here = l->from->mem + MEM - 8192 + no * 64;
	void *desc = fi_mr_desc(l->from->mr);
	ssize_t ret;

	if (rand() % 2)
		ret = fi_write(l->a, here, 64, desc, 0, (uintptr_t) there, KERNEL_KEY, NULL);
	else
		ret = fi_read(l->a, here, 64, desc, 0, (uintptr_t) there, KERNEL_KEY, NULL);
	assert_int_equal(ret, 0);
}

static void take_messages(struct proc *of, struct flow *flows)
{
	struct fi_cq_data_entry e;
	const uint32_t *msg;
	size_t i;

	while (fi_cq_read(of->cq, &e, 1) == 1) {
		if (!(e.flags & FI_RECV))
			continue;
		msg = e.buf;
		assert_true(msg[0] < LINKS && e.len >= 8);
		assert_int_equal(msg[1], flows[msg[0]].seen++);
		for (i = 2; i < e.len / 4; i++)
			assert_int_equal(msg[i], msg[1] * 31 + msg[0] + (uint32_t) i);
		give_buf(of, e.buf);
	}
}

static void many(void **state)
{
	const char *more = getenv("XRC_REQUESTS");
	unsigned long total = more ? strtoul(more, NULL, 0) : 30000, done = 0;
	struct flow flows[LINKS] = { { 0 } };
	struct link links[LINKS];
	unsigned i, no, burst;

	srand(2);
	connect_all(links);
	for (i = 0; i < 2 * BUFS; i++)
		give_buf(&p[2 + i % 2], p[2 + i % 2].in[i / 2]);
	while (done < total) {
		for (burst = (unsigned) rand() % 8; burst; burst--, done++) {
			no = (unsigned) rand() % LINKS;
			if (rand() % 4)
				random_send(&links[no], &flows[no], no);
			else
				random_rma(&links[no], no);
		}
		run_device();
		for (i = 0; i < PROCS; i++)
			take_messages(&p[i], flows);
		if (rand() % 500 == 0) {
			no = (unsigned) rand() % LINKS;
			close_link(&links[no]);
			connect_link(&links[no], links[no].from, links[no].to);
		}
		no_events(&p[rand() % PROCS]);
	}
	for (i = 0; i < LINKS; i++) {
		assert_int_equal(flows[i].sent, flows[i].seen);
		assert_true(flows[i].sent > 100);
		close_link(&links[i]);
	}
}

/* ---- start ---------------------------------------------------------------------- */

static int start(void)
{
	static const char *const nodes[] = { "127.0.0.1", "127.0.0.2" };
	struct fi_info *hints;
	int i, ret = 0;

	if (!cm_boot())
		return SKIP;
	fi_verbs_ini();
	for (i = 0; i < 2; i++) {
		hints = ask(FI_EP_MSG, FI_PROTO_RDMA_CM_IB_XRC, NULL);
		if (!hints)
			return SKIP;
		free(hints->src_addr);
		hints->src_addr = NULL;
		hints->src_addrlen = 0;
		if (!ret)
			ret = vrb_getinfo(FI_VERSION(2, 6), nodes[i], NULL, FI_SOURCE, hints, &infos[i]);
		fi_freeinfo(hints);
	}
	return ret ? SKIP : 0;
}

int main(int argc, char **argv)
{
#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		T(offers), T(needs_shared_receives), T(first_message), T(refusal), T(strangers),
		T(all_calls), T(shared), T(at_once), T(closing_orders), T(failure), T(stuck), T(full),
		T(many),
	};
	const struct CMUnitTest step_by_step[] = {
		T(before_it_is_up), T(never_up), T(gone_target),
	};
	const char *way = argc > 1 ? argv[1] : "extended";
	int ret, fd = mkstemp(file);

	if (fd >= 0)
		close(fd);
	by_itself = !strcmp(way, "auto");
	setenv("FI_VERBS_XRCD_FILENAME", file, 1);
	setenv("FI_VERBS_DOORBELL", by_itself ? "extended" : way, 1);
	ret = start();
	if (!ret)
		ret = cmocka_run_group_tests(tests, NULL, NULL);
	if (!ret && !by_itself)
		ret = cmocka_run_group_tests(step_by_step, NULL, NULL);
	unlink(file);
	kernel_halt();
	if (!ret && !by_itself)
		execl("/proc/self/exe", argv[0], argc > 1 ? "auto" : "post", (char *) NULL);
	return ret;
}
