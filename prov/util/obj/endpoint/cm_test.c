/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Connection management over a transport that moves nothing: it records what it was asked
 * for, and the test reports what a connection manager would.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obj/ops.h"
#include "obj/test/fake.h"

#define ROOM 16			/* bytes of private data */
#define NAME "here:1"
#define PEER "there:2"

/* What the transport was asked for last. */
static struct {
	int ret;			/* what it answers */
	unsigned connects, accepts, rejects, drops, shutdowns, closes, changes;
	enum obj_cm_state state;	/* the last one that changed() told */
	enum obj_cm_state in_call;	/* the state in connect() or accept() */
	void *req;
	char data[ROOM + 1];
	char name[16];
	bool refuse_req;
} net;

static struct fake f;
static struct fid_eq *eq;
static struct fid_pep *pep;
static struct fid_ep *ep;
static int reqs[4];			/* a request of the transport is one of these */
static const int transport, other_transport;

static void record(struct obj_ep *base, void *req, const void *data, size_t len)
{
	assert_true(len <= ROOM);
	net.in_call = base ? obj_cm_state(base) : OBJ_CM_IDLE;
	net.req = req;
	memset(net.data, 0, sizeof(net.data));
	if (len)
		memcpy(net.data, data, len);
}

static int net_getname(struct obj_ep *base, void *addr, size_t *len_p)
{
	return obj_cm_info_name(base->info, addr, len_p);
}

static int net_setname(struct obj_ep *base, const void *addr, size_t len)
{
	return obj_cm_rename(base->info, addr, len);
}

static int net_getpeer(struct obj_ep *base, void *addr, size_t *len_p)
{
	return obj_cm_copy_name(PEER, sizeof(PEER), addr, len_p);
}

static int net_connect(struct obj_ep *base, const void *addr, const void *data, size_t len)
{
	net.connects++;
	strcpy(net.name, addr);
	record(base, NULL, data, len);
	return net.ret;
}

static int net_accept(struct obj_ep *base, void *req, const void *data, size_t len)
{
	net.accepts++;
	record(base, req, data, len);
	return net.ret;
}

static int net_shutdown(struct obj_ep *base)
{
	net.shutdowns++;
	obj_cm_set_state(base, OBJ_CM_SHUT);
	return net.ret;
}

static int net_take_pep(struct obj_ep *base, struct obj_pep *from)
{
	return net.ret ? net.ret : obj_cm_rename(base->info, NAME, sizeof(NAME));
}

static int net_take_req(struct obj_ep *base, void *req)
{
	return net.refuse_req ? -FI_EINVAL : 0;
}

static void net_changed(struct obj_ep *base, enum obj_cm_state state)
{
	net.changes++;
	net.state = state;
}

static const struct obj_cm_ops net_ops = {
	.getname = net_getname,
	.setname = net_setname,
	.getpeer = net_getpeer,
	.connect = net_connect,
	.accept = net_accept,
	.shutdown = net_shutdown,
	.take_pep = net_take_pep,
	.take_req = net_take_req,
	.changed = net_changed,
};

static void pep_close(struct obj_pep *base)
{
	net.closes++;
}

static int pep_getname(struct obj_pep *base, void *addr, size_t *len_p)
{
	return obj_cm_info_name(base->info, addr, len_p);
}

static int pep_setname(struct obj_pep *base, const void *addr, size_t len)
{
	return obj_cm_rename(base->info, addr, len);
}

static int pep_listen(struct obj_pep *base, int backlog)
{
	assert_int_equal(backlog, 7);
	return net.ret;
}

static int pep_reject(struct obj_pep *base, void *req, const void *data, size_t len)
{
	net.rejects++;
	record(NULL, req, data, len);
	return net.ret;
}

static void pep_drop(const void *of, void *req)
{
	assert_ptr_equal(of, &transport);
	net.drops++;
	net.req = req;
}

static const struct obj_pep_ops pep_ops = {
	.close = pep_close,
	.getname = pep_getname,
	.setname = pep_setname,
	.listen = pep_listen,
	.reject = pep_reject,
	.drop = pep_drop,
};

/* ---- the world ------------------------------------------------------------ */

static struct fid_ep *new_ep(const void *of)
{
	struct fid_ep *fid = fake_ep_open(&f);
	struct obj_ep *base = obj_ep_of(fid);

	fid->cm = &obj_cm_msg_ops;
	base->cm.ops = &net_ops;
	base->cm.transport = of;
	base->cm.data_size = ROOM;
	return fid;
}

static struct fid_pep *new_pep(void)
{
	struct obj_pep *base = malloc(sizeof(*base));

	assert_non_null(base);
	assert_int_equal(obj_pep_init(base, f.fabric, f.info, &pep_ops, &transport, ROOM, NULL), 0);
	return &base->fid;
}

static int set_up(void **state)
{
	struct fake_want want = { .type = FI_EP_MSG };
	int backlog = 7;

	memset(&net, 0, sizeof(net));
	fake_open(&f, &want);
	fake_log_start();
	free(f.info->src_addr);
	f.info->src_addr = strdup(NAME);
	f.info->src_addrlen = sizeof(NAME);
	eq = fake_eq(&f, FI_WAIT_NONE);
	pep = new_pep();
	assert_int_equal(fi_control(&pep->fid, FI_BACKLOG, &backlog), 0);
	ep = new_ep(&transport);
	obj_ep_of(ep)->caps = 0;	/* it needs no queue to be enabled */
	assert_int_equal(fi_ep_bind(ep, &eq->fid, 0), 0);
	return 0;
}

static int tear_down(void **state)
{
	if (ep)
		CLOSE(ep);
	if (pep)
		CLOSE(pep);
	if (eq)
		CLOSE(eq);
	fake_close(&f);
	return 0;
}

static void listen_now(void)
{
	assert_int_equal(fi_pep_bind(pep, &eq->fid, 0), 0);
	assert_int_equal(fi_listen(pep), 0);
}

union event {
	struct fi_eq_cm_entry cm;
	struct fi_eq_err_entry err;
	char room[256];
};

/* Returns the bytes of private data. */
static size_t next_event(uint32_t want, union event *ev)
{
	uint32_t event;
	ssize_t ret = fi_eq_read(eq, &event, ev, sizeof(*ev), 0);

	assert_true(ret >= (ssize_t) sizeof(ev->cm));
	assert_int_equal(event, want);
	return (size_t) ret - sizeof(ev->cm);
}

static void no_event(void)
{
	union event ev;
	uint32_t event;

	assert_int_equal(fi_eq_read(eq, &event, &ev, sizeof(ev), 0), -FI_EAGAIN);
}

static void next_error(int err, int prov_errno, const char *data)
{
	struct fi_eq_err_entry entry = { 0 };
	union event ev;
	uint32_t event;

	assert_int_equal(fi_eq_read(eq, &event, &ev, sizeof(ev), 0), -FI_EAVAIL);
	assert_true(fi_eq_readerr(eq, &entry, 0) > 0);
	assert_ptr_equal(entry.fid, &ep->fid);
	assert_int_equal(entry.err, err);
	assert_int_equal(entry.prov_errno, prov_errno);
	assert_int_equal(entry.err_data_size, strlen(data));
	assert_memory_equal(entry.err_data, data, strlen(data));
}

/* A request comes in; returns what the program is told of it. */
static struct fi_info *request(unsigned i, const char *data)
{
	union event ev;

	assert_int_equal(obj_pep_request(obj_pep_of(pep), &reqs[i], NAME, sizeof(NAME), PEER,
					 sizeof(PEER), data, strlen(data)), 0);
	assert_int_equal(next_event(FI_CONNREQ, &ev), strlen(data));
	assert_ptr_equal(ev.cm.fid, &pep->fid);
	assert_memory_equal(ev.cm.data, data, strlen(data));
	return ev.cm.info;
}

static enum obj_cm_state state_of(struct fid_ep *fid)
{
	return obj_cm_state(obj_ep_of(fid));
}

/* ---- tests ---------------------------------------------------------------- */

static void connects(void **state)
{
	char name[16] = "";
	size_t len = sizeof(name);
	union event ev;

	assert_int_equal(fi_connect(ep, PEER, "knock", 5), 0);
	assert_int_equal(net.in_call, OBJ_CM_CONNECTING);
	assert_string_equal(net.name, PEER);
	assert_string_equal(net.data, "knock");
	assert_int_equal(fi_getpeer(ep, name, &len), -FI_ENOTCONN);
	no_event();
	obj_cm_connected(obj_ep_of(ep), "come in", 7);
	assert_int_equal(net.state, OBJ_CM_CONNECTED);
	assert_int_equal(next_event(FI_CONNECTED, &ev), 7);
	assert_memory_equal(ev.cm.data, "come in", 7);
	assert_ptr_equal(ev.cm.fid, &ep->fid);
	assert_int_equal(fi_getpeer(ep, name, &len), 0);
	assert_string_equal(name, PEER);
	/* The peer ends it. */
	assert_int_equal(obj_cm_shut(obj_ep_of(ep)), OBJ_CM_CONNECTED);
	obj_cm_ended(obj_ep_of(ep));
	assert_int_equal(next_event(FI_SHUTDOWN, &ev), 0);
	assert_ptr_equal(ev.cm.fid, &ep->fid);
	assert_int_equal(obj_cm_shut(obj_ep_of(ep)), OBJ_CM_SHUT);
	assert_int_equal(net.changes, 3);
}

static void accepts(void **state)
{
	struct fi_info *info;
	struct obj_ep *base = obj_ep_of(ep);

	listen_now();
	info = request(0, "knock");
	assert_int_equal(info->src_addrlen, sizeof(NAME));
	assert_string_equal(info->src_addr, NAME);
	assert_int_equal(info->dest_addrlen, sizeof(PEER));
	assert_string_equal(info->dest_addr, PEER);
	assert_int_equal(fi_accept(ep, NULL, 0), -FI_EOPBADSTATE);
	assert_int_equal(obj_cm_take(base, info->handle), 0);
	assert_int_equal(fi_connect(ep, PEER, NULL, 0), -FI_EOPBADSTATE);
	assert_int_equal(fi_accept(ep, "come in", 7), 0);
	assert_int_equal(net.in_call, OBJ_CM_CONNECTING);
	assert_ptr_equal(net.req, &reqs[0]);
	assert_string_equal(net.data, "come in");
	assert_int_equal(net.accepts, 1);
	assert_int_equal(net.connects, 0);
	fi_freeinfo(info);
}

/* Each call in each state. */
static void states(void **state)
{
	union event ev;

	assert_int_equal(fi_shutdown(ep, 0), -FI_ENOTCONN);
	assert_int_equal(fi_shutdown(ep, 1), -FI_EINVAL);
	assert_int_equal(fi_connect(ep, PEER, NULL, 0), 0);
	assert_int_equal(fi_connect(ep, PEER, NULL, 0), -FI_EALREADY);
	assert_int_equal(fi_accept(ep, NULL, 0), -FI_EALREADY);
	assert_int_equal(fi_shutdown(ep, 0), -FI_ENOTCONN);
	obj_cm_connected(obj_ep_of(ep), NULL, 0);
	assert_int_equal(fi_connect(ep, PEER, NULL, 0), -FI_EISCONN);
	assert_int_equal(fi_accept(ep, NULL, 0), -FI_EISCONN);
	assert_int_equal(fi_shutdown(ep, 0), 0);
	assert_int_equal(net.shutdowns, 1);
	assert_int_equal(next_event(FI_CONNECTED, &ev), 0);
	assert_int_equal(next_event(FI_SHUTDOWN, &ev), 0);
	assert_ptr_equal(ev.cm.fid, &ep->fid);
	assert_int_equal(fi_shutdown(ep, 0), -FI_ENOTCONN);
	assert_int_equal(fi_connect(ep, PEER, NULL, 0), -FI_EOPBADSTATE);
	assert_int_equal(fi_accept(ep, NULL, 0), -FI_EOPBADSTATE);
	assert_int_equal(net.connects, 1);
	assert_int_equal(net.accepts, 0);
}

static void refusals(void **state)
{
	struct obj_ep *base = obj_ep_of(ep);

	assert_int_equal(fi_connect(ep, PEER, NULL, 0), 0);
	obj_cm_refused(base, OBJ_CM_IDLE, FI_ECONNREFUSED, 28, "no", 2);
	next_error(FI_ECONNREFUSED, 28, "no");
	assert_int_equal(state_of(ep), OBJ_CM_IDLE);
	assert_int_equal(fi_connect(ep, PEER, NULL, 0), 0);
	obj_cm_refused(base, OBJ_CM_SHUT, FI_ETIMEDOUT, 0, NULL, 0);
	next_error(FI_ETIMEDOUT, 0, "");
	assert_int_equal(state_of(ep), OBJ_CM_SHUT);
	/* It has been reported. */
	obj_cm_refused(base, OBJ_CM_SHUT, FI_ECONNABORTED, 0, NULL, 0);
	no_event();
}

static void transport_errors(void **state)
{
	struct fi_info *info;

	net.ret = -FI_ENETUNREACH;
	assert_int_equal(fi_connect(ep, PEER, NULL, 0), -FI_ENETUNREACH);
	assert_int_equal(state_of(ep), OBJ_CM_IDLE);
	net.ret = 0;
	listen_now();
	info = request(1, "");
	assert_int_equal(obj_cm_take(obj_ep_of(ep), info->handle), 0);
	fi_freeinfo(info);
	net.ret = -FI_ENOMEM;
	assert_int_equal(fi_accept(ep, NULL, 0), -FI_ENOMEM);
	assert_int_equal(state_of(ep), OBJ_CM_IDLE);
	/* The request is used up all the same. */
	net.ret = 0;
	assert_int_equal(fi_accept(ep, NULL, 0), -FI_EOPBADSTATE);
	assert_int_equal(net.drops, 0);
}

static void private_data(void **state)
{
	char data[ROOM + 1] = "0123456789abcdef";
	size_t size = 0, len = sizeof(size);
	struct fi_info *info;

	assert_int_equal(fi_connect(ep, PEER, data, ROOM + 1), -FI_EINVAL);
	assert_non_null(strstr(fake_log_last(), "17 bytes of private data"));
	assert_int_equal(fi_connect(ep, PEER, NULL, 1), -FI_EINVAL);
	assert_int_equal(fi_accept(ep, data, ROOM + 1), -FI_EINVAL);
	assert_int_equal(fi_connect(ep, NULL, data, ROOM), -FI_EINVAL);
	assert_false(obj_ep_of(ep)->enabled);
	assert_int_equal(fi_connect(ep, PEER, data, ROOM), 0);
	assert_memory_equal(net.data, data, ROOM);
	assert_int_equal(fi_getopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size, &len), 0);
	assert_int_equal(size, ROOM);
	assert_int_equal(fi_setopt(&ep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size, len),
			 -FI_ENOPROTOOPT);
	size = 0;
	assert_int_equal(fi_getopt(&pep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size, &len), 0);
	assert_int_equal(size, ROOM);
	len = 1;
	assert_int_equal(fi_getopt(&pep->fid, FI_OPT_ENDPOINT, FI_OPT_CM_DATA_SIZE, &size, &len),
			 -FI_ETOOSMALL);
	assert_int_equal(len, sizeof(size));
	assert_int_equal(fi_getopt(&pep->fid, FI_OPT_ENDPOINT, FI_OPT_TX_SIZE, &size, &len),
			 -FI_ENOPROTOOPT);
	listen_now();
	info = request(0, "");
	assert_int_equal(fi_reject(pep, info->handle, data, ROOM + 1), -FI_EINVAL);
	assert_int_equal(fi_reject(pep, info->handle, data, ROOM), 0);
	assert_memory_equal(net.data, data, ROOM);
	fi_freeinfo(info);
}

static void requests(void **state)
{
	struct fid_ep *second = new_ep(&transport), *stranger = new_ep(&other_transport);
	struct fi_info *info[4];

	listen_now();
	for (unsigned i = 0; i < 4; i++)
		info[i] = request(i, "");
	assert_int_equal(obj_cm_take(obj_ep_of(stranger), info[0]->handle), -FI_EINVAL);
	assert_int_equal(obj_cm_take(obj_ep_of(ep), &eq->fid), -FI_EINVAL);
	net.refuse_req = true;
	assert_int_equal(obj_cm_take(obj_ep_of(ep), info[0]->handle), -FI_EINVAL);
	net.refuse_req = false;
	assert_int_equal(obj_cm_take(obj_ep_of(ep), info[0]->handle), 0);
	assert_int_equal(obj_cm_take(obj_ep_of(second), info[0]->handle), -FI_EBUSY);
	assert_int_equal(fi_reject(pep, info[0]->handle, NULL, 0), -FI_EOPBADSTATE);
	assert_int_equal(fi_close(info[0]->handle), -FI_EBUSY);
	assert_int_equal(fi_reject(pep, &ep->fid, NULL, 0), -FI_EINVAL);
	assert_int_equal(fi_reject(pep, info[1]->handle, "no", 2), 0);
	assert_ptr_equal(net.req, &reqs[1]);
	assert_string_equal(net.data, "no");
	/* in a child that has inherited it */
	obj_process++;
	assert_int_equal(fi_close(info[2]->handle), 0);
	obj_process--;
	assert_int_equal(net.drops, 0);
	assert_int_equal(fi_close(info[2]->handle), 0);
	assert_ptr_equal(net.req, &reqs[2]);
	assert_int_equal(net.drops, 1);

	/* One outlives its listener. */
	CLOSE(pep);
	pep = NULL;
	assert_int_equal(obj_cm_take(obj_ep_of(second), info[3]->handle), 0);
	obj_cm_drop(obj_ep_of(second));
	assert_ptr_equal(net.req, &reqs[3]);
	assert_int_equal(net.drops, 2);
	obj_cm_drop(obj_ep_of(second));
	assert_int_equal(net.drops, 2);
	obj_cm_drop(obj_ep_of(ep));
	assert_ptr_equal(net.req, &reqs[0]);
	assert_int_equal(net.rejects, 1);
	for (unsigned i = 0; i < 4; i++)
		fi_freeinfo(info[i]);
	CLOSE(second);
	CLOSE(stranger);
}

static void unread_request(void **state)
{
	listen_now();
	assert_int_equal(obj_pep_request(obj_pep_of(pep), &reqs[2], NAME, sizeof(NAME), PEER,
					 sizeof(PEER), NULL, 0), 0);
	CLOSE(pep);
	pep = NULL;
	assert_int_equal(net.closes, 1);
	assert_int_equal(net.drops, 1);
	assert_ptr_equal(net.req, &reqs[2]);
	no_event();
}

static void listeners(void **state)
{
	char name[16];
	size_t len = 3;

	assert_int_equal(fi_listen(pep), -FI_ENOEQ);
	assert_int_equal(fi_setname(&pep->fid, "there", 6), 0);
	assert_int_equal(fi_getname(&pep->fid, NULL, &len), -FI_EINVAL);
	assert_int_equal(fi_getname(&pep->fid, name, NULL), -FI_EINVAL);
	assert_int_equal(fi_getname(&pep->fid, name, &len), -FI_ETOOSMALL);
	assert_int_equal(len, 6);
	assert_int_equal(fi_getname(&pep->fid, name, &len), 0);
	assert_string_equal(name, "there");
	assert_int_equal(fi_pep_bind(pep, &eq->fid, 0), 0);
	net.ret = -FI_EADDRINUSE;
	assert_int_equal(fi_listen(pep), -FI_EADDRINUSE);
	net.ret = 0;
	assert_int_equal(fi_listen(pep), 0);
	assert_int_equal(fi_listen(pep), -FI_EOPBADSTATE);
	assert_int_equal(fi_setname(&pep->fid, NAME, sizeof(NAME)), -FI_EOPBADSTATE);
	assert_int_equal(obj_cm_take(obj_ep_of(ep), &pep->fid), -FI_EBUSY);
}

static void address_taken_over(void **state)
{
	struct fid_ep *stranger = new_ep(&other_transport);
	struct fi_info *info;
	struct fid_pep *from = pep;

	assert_int_equal(obj_cm_take(obj_ep_of(stranger), &from->fid), -FI_EINVAL);
	CLOSE(stranger);
	net.ret = -FI_ENOMEM;
	assert_int_equal(obj_cm_take(obj_ep_of(ep), &from->fid), -FI_ENOMEM);
	net.ret = 0;
	assert_int_equal(obj_cm_take(obj_ep_of(ep), &from->fid), 0);
	assert_int_equal(obj_cm_take(obj_ep_of(ep), &from->fid), -FI_EBUSY);
	assert_int_equal(fi_pep_bind(from, &eq->fid, 0), 0);
	assert_int_equal(fi_listen(from), -FI_EOPBADSTATE);

	/* A request of another listener is not rejected by one without an address. */
	pep = new_pep();
	assert_int_equal(fi_pep_bind(pep, &eq->fid, 0), 0);
	info = request(0, "");
	assert_int_equal(fi_reject(from, info->handle, NULL, 0), -FI_EOPBADSTATE);
	assert_int_equal(fi_reject(pep, info->handle, NULL, 0), 0);
	fi_freeinfo(info);
	CLOSE(from);
	assert_int_equal(net.closes, 0);
}

static void names(void **state)
{
	char name[16];
	size_t len = sizeof(name);

	assert_int_equal(fi_getname(&ep->fid, name, &len), 0);
	assert_string_equal(name, NAME);
	assert_int_equal(fi_setname(&ep->fid, NULL, 1), -FI_EINVAL);
	assert_int_equal(fi_setname(&ep->fid, "x", 2), 0);
	len = 0;
	assert_int_equal(fi_getname(&ep->fid, NULL, &len), -FI_ETOOSMALL);
	assert_int_equal(len, 2);
	free(obj_ep_of(ep)->info->src_addr);
	obj_ep_of(ep)->info->src_addr = NULL;
	assert_int_equal(fi_getname(&ep->fid, name, &len), -FI_EOPBADSTATE);
	/* Without connections there is no peer. */
	ep->cm = &obj_cm_rdm_ops;
	assert_int_equal(fi_getpeer(ep, name, &len), -FI_ENOTCONN);
	assert_int_equal(fi_connect(ep, PEER, NULL, 0), -FI_ENOSYS);
	assert_int_equal(fi_setname(&ep->fid, NAME, sizeof(NAME)), 0);
}

static bool aborts(enum obj_cm_state from, enum obj_cm_state to)
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (!pid) {
		signal(SIGABRT, SIG_DFL);
		close(STDERR_FILENO);
		atomic_store(&obj_ep_of(ep)->cm.state, from);
		obj_cm_set_state(obj_ep_of(ep), to);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

static void edges(void **state)
{
	static const char legal[4][5] = { "-+++", "+-++", "---+", "----" };

#ifdef NDEBUG
	skip();
#endif
	for (unsigned from = 0; from < 4; from++)
		for (unsigned to = 0; to < 4; to++)
			assert_int_equal(aborts(from, to), legal[from][to] == '-');
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(connects),
		T(accepts),
		T(states),
		T(refusals),
		T(transport_errors),
		T(private_data),
		T(requests),
		T(unread_request),
		T(listeners),
		T(address_taken_over),
		T(names),
		T(edges),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
