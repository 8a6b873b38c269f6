/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#include "rt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_S 10
#define MESSAGE_MAX 65536

/* ---- devices that a machine may lack -------------------------------------------- */

/* Providers that need a device, also below a layer.  All but verbs are for hardware whose
 * makers have separate libraries.
 */
static const char *const device_provs[] = {
	"verbs", "cxi", "efa", "opx", "psm2", "psm3", "gni",
};

#define COUNT(array) (sizeof(array) / sizeof(*(array)))

/* True when one of the parts of "udp;ofi_rxd" is in the list. */
static bool names_one(const char *prov, const char *const *list, size_t cnt)
{
	for (size_t i = 0; i < cnt; i++)
		if (strcasestr(prov, list[i]))
			return true;
	return false;
}

struct fi_info *rt_lacking(const struct fi_info *hints, char *text, size_t len)
{
	struct fi_info *less = fi_dupinfo(hints);
	char *prov;

	assert_non_null(less);
	text[0] = 0;
	prov = less->fabric_attr ? less->fabric_attr->prov_name : NULL;
	if (!prov || !names_one(prov, device_provs, COUNT(device_provs)))
		return less;
	snprintf(text, len, "no device for %s on this machine", prov);
	less->fabric_attr->prov_name = strdup("tcp");
	free(prov);
	less->addr_format = FI_FORMAT_UNSPEC;
	if (less->ep_attr)
		less->ep_attr->protocol = FI_PROTO_UNSPEC;
	return less;
}

/* ---- fi_getinfo ---------------------------------------------------------------- */

struct fi_info *rt_hints(void)
{
	struct fi_info *hints = fi_allocinfo();

	assert_non_null(hints);
	return hints;
}

static int ask(const struct rt_query *q, const struct fi_info *hints, struct fi_info **info_p)
{
	*info_p = NULL;
	return fi_getinfo(q->version, q->node, q->service, q->flags, hints, info_p);
}

static void say_hints(const struct fi_info *hints)
{
	char *text = strdup(fi_tostr(hints, FI_TYPE_INFO)), *save, *line;

	for (line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
		printf("# %s\n", line);
	free(text);
}

static void must_have(int ret, const struct fi_info *info, const struct fi_info *hints)
{
	if (!ret && info)
		return;
	if (hints)
		say_hints(hints);
	fail_msg("fi_getinfo: %d (%s)", ret, fi_strerror(-ret));
}

struct fi_info *rt_now(const struct rt_query *q)
{
	struct fi_info *less = NULL, *info;
	char text[256];
	int ret;

	if (q->hints)
		less = rt_lacking(q->hints, text, sizeof(text));
	ret = ask(q, less, &info);
	must_have(ret, info, less);
	fi_freeinfo(less);
	return info;
}

struct fi_info *rt_all(const struct rt_query *q)
{
	char text[256] = "";
	struct fi_info *info;
	int ret = ask(q, q->hints, &info);

	if (!ret && info)
		return info;
	if (q->hints)
		fi_freeinfo(rt_lacking(q->hints, text, sizeof(text)));
	if (ret != -FI_ENODATA || !text[0])
		must_have(ret, info, q->hints);
	fi_freeinfo(rt_now(q));
	rt_skip(text);
}

void rt_none(const struct rt_query *q)
{
	struct fi_info *info;

	assert_int_equal(ask(q, q->hints, &info), -FI_ENODATA);
	assert_null(info);
}

void rt_skip(const char *why)
{
	printf("# %s\n", why);
	fflush(stdout);
	skip();
	abort();	/* skip() does not return */
}

/* ---- the log ---------------------------------------------------------------------- */

static int real_err = -1, caught;

void rt_hush(void)
{
	char path[] = "/tmp/rt_XXXXXX";

	fflush(stderr);
	caught = mkstemp(path);
	assert_true(caught >= 0);
	unlink(path);
	real_err = dup(STDERR_FILENO);
	dup2(caught, STDERR_FILENO);
}

void rt_said(char *text, size_t size)
{
	ssize_t len;

	fflush(stderr);
	dup2(real_err, STDERR_FILENO);
	close(real_err);
	len = pread(caught, text, size - 1, 0);
	text[len > 0 ? len : 0] = 0;
	close(caught);
}

/* ---- transfers -------------------------------------------------------------------- */

static void open_ep(struct rt_world *w, int i, struct fi_info *info, const struct rt_setup *s)
{
	struct fi_cq_attr attr = { .format = s->cq_format, .size = s->cq_size,
				   .wait_obj = s->wait_obj };
	struct fi_cntr_attr cntr_attr = { .events = FI_CNTR_EVENTS_COMP,
					  .wait_obj = FI_WAIT_UNSPEC };
	uint64_t flags = s->bind_flags ? s->bind_flags : FI_TRANSMIT | FI_RECV;

	if (s->xpu_cq) {
		attr.flags = FI_XPU;
		attr.xpu_ctx = w->xpu;
	}
	if (s->xpu) {
		cntr_attr.flags = FI_XPU;
		cntr_attr.xpu_ctx = w->xpu;
	}

	assert_int_equal(fi_cq_open(w->domain, &attr, &w->cq[i], NULL), 0);
	info->ep_attr->xpu_ctx = w->xpu;
	assert_int_equal(fi_endpoint2(w->domain, info, &w->ep[i], w->xpu ? FI_XPU : 0, NULL), 0);
	assert_int_equal(fi_ep_bind(w->ep[i], &w->cq[i]->fid, flags), 0);
	if (s->cntr_flags) {
		assert_int_equal(fi_cntr_open(w->domain, &cntr_attr, &w->cntr[i], NULL), 0);
		assert_int_equal(fi_ep_bind(w->ep[i], &w->cntr[i]->fid, s->cntr_flags), 0);
	}
	if (w->srx)
		assert_int_equal(fi_ep_bind(w->ep[i], &w->srx->fid, 0), 0);
	if (w->stx)
		assert_int_equal(fi_ep_bind(w->ep[i], &w->stx->fid, 0), 0);
	if (w->av)
		assert_int_equal(fi_ep_bind(w->ep[i], &w->av->fid, 0), 0);
	if (w->eq)
		assert_int_equal(fi_ep_bind(w->ep[i], &w->eq->fid, 0), 0);
	assert_int_equal(fi_enable(w->ep[i]), 0);
}

static void insert_name(struct rt_world *w, int i)
{
	char name[512];
	size_t len = 0;

	/* every runtime sizes its buffer this way */
	assert_int_equal(fi_getname(&w->ep[i]->fid, NULL, &len), -FI_ETOOSMALL);
	assert_in_range(len, 1, sizeof(name));
	assert_int_equal(fi_getname(&w->ep[i]->fid, name, &len), 0);
	assert_int_equal(fi_av_insert(w->av, name, 1, &w->addr[i], 0, NULL), 1);
}

struct fi_info *rt_event(struct rt_world *w, uint32_t want)
{
	char buf[sizeof(struct fi_eq_cm_entry) + 256];
	uint32_t event = 0;
	ssize_t n;

	n = fi_eq_sread(w->eq, &event, buf, sizeof(buf), PATIENCE_S * 1000, 0);
	assert_in_range(n, sizeof(struct fi_eq_cm_entry), sizeof(buf));
	assert_int_equal(event, want);
	return ((struct fi_eq_cm_entry *) (void *) buf)->info;
}

/* Endpoint 0 connects, endpoint 1 accepts. */
static void open_connected(struct rt_world *w, const struct rt_setup *s)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_info *request;
	struct fid_pep *pep;
	size_t len = 512;
	char name[512];

	assert_int_equal(fi_eq_open(w->fabric, &attr, &w->eq, NULL), 0);
	assert_int_equal(fi_passive_ep(w->fabric, w->info, &pep, NULL), 0);
	assert_int_equal(fi_pep_bind(pep, &w->eq->fid, 0), 0);
	assert_int_equal(fi_listen(pep), 0);
	assert_int_equal(fi_getname(&pep->fid, name, &len), 0);
	open_ep(w, 0, w->info, s);
	assert_int_equal(fi_connect(w->ep[0], name, NULL, 0), 0);
	request = rt_event(w, FI_CONNREQ);
	open_ep(w, 1, request, s);
	assert_int_equal(fi_accept(w->ep[1], NULL, 0), 0);
	rt_event(w, FI_CONNECTED);
	rt_event(w, FI_CONNECTED);
	fi_freeinfo(request);
	assert_int_equal(fi_close(&pep->fid), 0);
}

void rt_open(struct rt_world *w, struct fi_info *info, const struct rt_setup *s)
{
	struct fi_av_attr attr = { .type = s->av_type, .count = 2 };
	struct fi_eq_attr eq_attr = { .wait_obj = FI_WAIT_UNSPEC };
	struct fi_xpu_attr xpu = { .iface = FI_HMEM_SYSTEM };

	memset(w, 0, sizeof(*w));
	w->info = info;
	assert_int_equal(fi_fabric(info->fabric_attr, &w->fabric, NULL), 0);
	assert_int_equal(fi_domain(w->fabric, info, &w->domain, NULL), 0);
	if (s->xpu)
		assert_int_equal(fi_xpu_ctx(w->domain, &xpu, &w->xpu, NULL), 0);
	if (s->shared & RT_SHARED_RX)
		assert_int_equal(fi_srx_context(w->domain, info->rx_attr, &w->srx, NULL), 0);
	if (s->shared & RT_SHARED_TX)
		assert_int_equal(fi_stx_context(w->domain, info->tx_attr, &w->stx, NULL), 0);
	if (info->ep_attr->type == FI_EP_MSG) {
		open_connected(w, s);
		return;
	}
	if (info->caps & FI_COLLECTIVE)
		assert_int_equal(fi_eq_open(w->fabric, &eq_attr, &w->eq, NULL), 0);
	assert_int_equal(fi_av_open(w->domain, &attr, &w->av, NULL), 0);
	for (int i = 0; i < 2; i++) {
		open_ep(w, i, info, s);
		insert_name(w, i);
	}
}

/* shut_down - a connected endpoint waits in fi_close() until its peer acknowledges the end, up to two
 * seconds.  The peer is an endpoint of this thread, which makes no progress meanwhile.
 */
static void shut_down(struct rt_world *w)
{
	if (w->info->ep_attr->type != FI_EP_MSG || !w->ep[0] || !w->ep[1])
		return;
	fi_shutdown(w->ep[0], 0);
	for (int i = 0; i < 100; i++)
		rt_push(w);
}

void rt_close(struct rt_world *w)
{
	shut_down(w);
	for (int i = 0; i < 2; i++) {
		if (w->ep[i])
			assert_int_equal(fi_close(&w->ep[i]->fid), 0);
		assert_int_equal(fi_close(&w->cq[i]->fid), 0);
		if (w->cntr[i])
			assert_int_equal(fi_close(&w->cntr[i]->fid), 0);
	}
	if (w->av)
		assert_int_equal(fi_close(&w->av->fid), 0);
	if (w->srx)
		assert_int_equal(fi_close(&w->srx->fid), 0);
	if (w->stx)
		assert_int_equal(fi_close(&w->stx->fid), 0);
	for (int i = 0; i < RT_REGIONS; i++)
		if (w->regions[i].mr)
			assert_int_equal(fi_close(&w->regions[i].mr->fid), 0);
	if (w->xpu)
		assert_int_equal(fi_close(&w->xpu->fid), 0);
	assert_int_equal(fi_close(&w->domain->fid), 0);
	if (w->eq)
		assert_int_equal(fi_close(&w->eq->fid), 0);
	assert_int_equal(fi_close(&w->fabric->fid), 0);
	fi_freeinfo(w->info);
}

void *rt_desc(struct rt_world *w, const void *buf, size_t len, uint64_t access)
{
	struct rt_region *r = w->regions;

	if (!(w->info->domain_attr->mr_mode & FI_MR_LOCAL))
		return NULL;
	while (r->mr && (r->buf != buf || r->len < len || r->access != access))
		assert_true(++r < w->regions + RT_REGIONS);
	if (!r->mr) {
		*r = (struct rt_region) { .buf = buf, .len = len, .access = access };
		assert_int_equal(fi_mr_reg(w->domain, buf, len, access, 0, (size_t) (r - w->regions),
					   0, &r->mr, NULL), 0);
	}
	return fi_mr_desc(r->mr);
}

void rt_push(struct rt_world *w)
{
	for (int i = 0; i < 2; i++)
		fi_cq_read(w->cq[i], NULL, 0);
}

struct fi_cq_tagged_entry rt_wait(struct rt_world *w, int i)
{
	struct fi_cq_tagged_entry entry = { 0 };
	struct fi_cq_err_entry err = { 0 };
	clock_t end = clock() + PATIENCE_S * CLOCKS_PER_SEC;	/* of processor time: it polls */
	ssize_t n;

	while ((n = fi_cq_read(w->cq[i], &entry, 1)) == -FI_EAGAIN) {
		fi_cq_read(w->cq[!i], NULL, 0);
		if (clock() > end)
			fail_msg("no completion within %d s", PATIENCE_S);
	}
	if (n == -FI_EAVAIL && fi_cq_readerr(w->cq[i], &err, 0) == 1)
		fail_msg("completion error %d (%s)", err.err, fi_strerror(err.err));
	assert_int_equal(n, 1);
	return entry;
}

/* MSG | TAGGED and the common part of a message. */
static void carry(struct rt_world *w, size_t len, bool tagged, uint64_t tag)
{
	static char out[MESSAGE_MAX], in[MESSAGE_MAX];
	void *out_desc = rt_desc(w, out, sizeof(out), FI_SEND);
	void *in_desc = rt_desc(w, in, sizeof(in), FI_RECV);
	struct fi_context2 ctx[2];
	struct iovec iov = { out, len };
	struct fi_msg_tagged tmsg = { .msg_iov = &iov, .desc = &out_desc, .iov_count = 1,
				      .addr = w->addr[1], .tag = tag, .context = &ctx[0] };
	struct fi_msg msg = { .msg_iov = &iov, .desc = &out_desc, .iov_count = 1,
			      .addr = w->addr[1], .context = &ctx[0] };
	struct fi_cq_tagged_entry entry;

	assert_in_range(len, 0, MESSAGE_MAX);
	for (size_t i = 0; i < len; i++)
		out[i] = (char) (i * 31 + len + tag);
	memset(in, 0, len);
	rt_do(w, tagged ? fi_trecv(w->ep[1], in, sizeof(in), in_desc, FI_ADDR_UNSPEC, tag, 0,
				   &ctx[1]) :
			  fi_recv(w->ep[1], in, sizeof(in), in_desc, FI_ADDR_UNSPEC, &ctx[1]));
	rt_do(w, tagged ? fi_tsendmsg(w->ep[0], &tmsg, FI_COMPLETION) :
			  fi_sendmsg(w->ep[0], &msg, FI_COMPLETION));
	assert_ptr_equal(rt_wait(w, 0).op_context, &ctx[0]);
	entry = rt_wait(w, 1);
	assert_ptr_equal(entry.op_context, &ctx[1]);
	assert_memory_equal(in, out, len);
}

void rt_carry(struct rt_world *w, size_t len)
{
	carry(w, len, false, 0);
}

void rt_carry_tagged(struct rt_world *w, size_t len, uint64_t tag)
{
	carry(w, len, true, tag);
}

int rt_each_link(int argc, char **argv, const char *(*name)(size_t link), int (*run)(size_t link))
{
	int status, bad = 0;
	size_t i;
	pid_t pid;

	for (i = 0; name(i); i++) {
		if (argc > 1 && strcmp(argv[1], name(i)))
			continue;
		fflush(stdout);
		pid = fork();
		if (!pid)
			exit(run(i) != 0);
		if (pid < 0 || waitpid(pid, &status, 0) != pid || status) {
			printf("# failed over %s\n", name(i));
			bad = 1;
		}
	}
	return bad;
}
