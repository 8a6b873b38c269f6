/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/test/fake.h"

#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "obj/test/log_catch.h"
#include "obj/ops.h"
#include "progress/fdset.h"
#include "obj/test/slow.h"

struct fi_provider fake_prov = { .name = "fake" };
_Atomic unsigned fake_polls;
void (*fake_in_poll)(void);

/* ---- poller -------------------------------------------------------------- */

struct fake_poller {
	struct obj_poller base;
	struct list eps;
};

static const char poller_key;

static void fail_one(struct fake_ep *ep, void *context)
{
	struct fi_cq_err_entry e = { .op_context = context, .flags = FI_RECV, .err = FI_EIO };

	obj_ep_err_rx(&ep->base, &e, NULL, 0, OBJ_CNTR_RECV);
}

static void complete(struct fake_ep *ep, uint64_t cnt)
{
	void *context;

	while (cnt--) {
		context = (void *) (uintptr_t) ++ep->next;
		if (ep->next == ep->fails) {
			fail_one(ep, context);
			continue;
		}
		obj_ep_comp_rx(&ep->base, ep->base.rx_cq != NULL, context, FI_RECV | FI_TAGGED, 8,
			       NULL, 0, ep->next, FI_ADDR_NOTAVAIL, OBJ_CNTR_RECV);
	}
}

static int poll_timer(struct fake_ep *ep)
{
	if (ep->timer_ns == UINT64_MAX || clock_ns() < ep->timer_ns)
		return 0;
	ep->timer_ns = UINT64_MAX;
	complete(ep, 1);
	return 1;
}

static int fake_poll(struct obj_poller *base, unsigned budget)
{
	struct fake_poller *poller = container_of(base, struct fake_poller, base);
	struct fake_ep *ep;
	eventfd_t cnt;
	int done = 0;

	fake_polls++;
	if (fake_in_poll)
		fake_in_poll();
	list_for_each_entry(ep, &poller->eps, node) {
		done += poll_timer(ep);
		if (!eventfd_read(ep->fd, &cnt)) {
			complete(ep, cnt);
			done++;
		}
	}
	return done;
}

static int fake_arm(struct obj_poller *base, uint64_t *deadline_ns)
{
	struct fake_poller *poller = container_of(base, struct fake_poller, base);
	struct fake_ep *ep;

	list_for_each_entry(ep, &poller->eps, node)
		if (ep->timer_ns < *deadline_ns)
			*deadline_ns = ep->timer_ns;
	return 0;
}

static void fake_poller_close(struct obj_poller *base)
{
	struct fake_poller *poller = container_of(base, struct fake_poller, base);

	assert_true(list_empty(&poller->eps));
	fdset_close(base->fd);
	free(poller);
}

static const struct obj_poller_ops poller_ops = {
	.poll = fake_poll,
	.arm = fake_arm,
	.close = fake_poller_close,
};

static struct fake_poller *get_poller(struct obj_prog *prog)
{
	struct obj_poller *base = obj_prog_find(prog, &poller_key);
	struct fake_poller *poller;

	if (base)
		return container_of(base, struct fake_poller, base);
	poller = calloc(1, sizeof(*poller));
	assert_non_null(poller);
	poller->base.ops = &poller_ops;
	poller->base.key = &poller_key;
	poller->base.fd = fdset_open();
	list_init(&poller->eps);
	obj_prog_add(prog, &poller->base);
	return poller;
}

/* ---- endpoint ------------------------------------------------------------ */

struct fake_ep *fake_ep_of(struct fid_ep *fid)
{
	return container_of(obj_ep_of(fid), struct fake_ep, base);
}

static int ep_enable(struct obj_ep *base)
{
	struct fake_ep *ep = container_of(base, struct fake_ep, base);
	struct fake_poller *poller;

	if (ep->enable_ret)
		return ep->enable_ret;
	lock_get(&base->prog->lock);
	poller = get_poller(base->prog);
	list_add_tail(&ep->node, &poller->eps);
	assert_int_equal(fdset_add(poller->base.fd, ep->fd, POLLIN, NULL), 0);
	ep->enabled++;
	lock_put(&base->prog->lock);
	return 0;
}

static void ep_av_removed(struct obj_ep *base, fi_addr_t fi_addr)
{
	container_of(base, struct fake_ep, base)->removed = fi_addr;
}

static int ep_close(struct fid *fid)
{
	struct fake_ep *ep = container_of(fid, struct fake_ep, base.h.fid.fid);
	int ret;

	if (obj_inherited(&ep->base.refs))
		return 0;
	ret = obj_ep_busy(&ep->base);
	if (ret)
		return ret;
	obj_ep_quiesce(&ep->base);
	if (ep->base.prog) {
		lock_get(&ep->base.prog->lock);
		list_del(&ep->node);
		lock_put(&ep->base.prog->lock);
	}
	fdset_forget(ep->fd);
	close(ep->fd);
	obj_ep_fini(&ep->base);
	free(ep);
	return 0;
}

static void ep_rebound(struct obj_ep *base)
{
	((struct fake_ep *) base)->rebound++;
}

static const struct obj_ep_ops ep_obj_ops = {
	.enable = ep_enable,
	.late = OBJ_LATE_CNTR,
	.rebound = ep_rebound,
	.av_removed = ep_av_removed,
};

static struct fi_ops ep_fi_ops = {
	.close = ep_close,
	.bind = obj_ep_bind,
	.control = obj_ep_control,
};
OBJ_OPS_TABLE(ep_fi_ops, fid)

static struct fi_ops_ep ep_ops = {
	.getopt = obj_ep_getopt,
	.setopt = obj_ep_setopt,
};
OBJ_OPS_TABLE(ep_ops, ep)

static int open_ep(size_t fclass, struct fid_domain *domain, struct fi_info *info,
		   struct fid_ep **ep_p, void *context)
{
	struct fake_ep *ep = calloc(1, sizeof(*ep));
	int ret;

	if (!ep)
		return -FI_ENOMEM;
	ret = obj_ep_init(&ep->base, fclass, domain, info, &ep_obj_ops, context);
	if (ret) {
		free(ep);
		return ret;
	}
	ep->fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	ep->timer_ns = UINT64_MAX;
	ep->removed = FI_ADDR_NOTAVAIL;
	list_init(&ep->node);
	ep->base.h.fid.fid.ops = &ep_fi_ops;
	ep->base.h.fid.ops = &ep_ops;
	obj_ops_fill_ep(&ep->base.h.fid);
	*ep_p = &ep->base.h.fid;
	return 0;
}

static int fake_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep_p,
			 uint64_t flags, void *context)
{
	return open_ep(FI_CLASS_EP, domain, info, ep_p, context);
}

static int fake_srx(struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **ep_p,
		    void *context)
{
	return open_ep(FI_CLASS_SRX_CTX, domain, obj_domain_of(domain)->info, ep_p, context);
}

/* ---- domain and fabric --------------------------------------------------- */

static const struct obj_domain_ops domain_ops = {
	.endpoint = fake_endpoint,
	.srx_ctx = fake_srx,
	.stx_ctx = obj_stx_open,
};

static int domain_init(struct obj_domain *domain)
{
	domain->ops = &domain_ops;
	return 0;
}

/* Passive endpoints have no address. */
static void pep_close(struct obj_pep *pep)
{
}

static const struct obj_pep_ops pep_ops = {
	.close = pep_close,
};

static int fake_pep(struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep_p,
		    void *context)
{
	struct obj_pep *pep = calloc(1, sizeof(*pep));
	int ret = obj_pep_init(pep, fabric, info, &pep_ops, NULL, 0, context);

	if (ret) {
		free(pep);
		return ret;
	}
	*pep_p = &pep->fid;
	return 0;
}

static const struct obj_fabric_ops fabric_ops = {
	.domain_init = domain_init,
	.passive_ep = fake_pep,
};

void fake_open(struct fake *f, const struct fake_want *want)
{
	static const struct fake_want plain;
	struct fi_info *info = fi_allocinfo();

	assert_non_null(info);
	if (!want)
		want = &plain;
	info->caps = want->caps ? want->caps : FI_MSG | FI_TAGGED | FI_RMA;
	info->addr_format = FI_SOCKADDR_IN;
	info->ep_attr->type = want->type ? want->type : FI_EP_RDM;
	info->ep_attr->max_msg_size = 1 << 20;
	info->tx_attr->inject_size = 64;
	info->tx_attr->size = 256;
	info->rx_attr->size = 512;
	info->domain_attr->name = strdup("fake0");
	info->domain_attr->threading = want->threading ? want->threading : FI_THREAD_SAFE;
	info->domain_attr->data_progress = want->progress ? want->progress : FI_PROGRESS_MANUAL;
	info->domain_attr->control_progress = info->domain_attr->data_progress;
	info->domain_attr->resource_mgmt = want->rm ? want->rm : FI_RM_ENABLED;
	info->fabric_attr->name = strdup("fake net");
	info->fabric_attr->prov_name = strdup("fake");
	info->fabric_attr->api_version = want->api ? want->api : FI_VERSION(2, 6);
	f->info = info;
	assert_int_equal(obj_fabric_open(&fake_prov, &fabric_ops, 0, info->fabric_attr, &f->fabric,
					 NULL), 0);
	assert_int_equal(fi_domain(f->fabric, info, &f->domain, NULL), 0);
}

void fake_close(struct fake *f)
{
	CLOSE(f->domain);
	CLOSE(f->fabric);
	fi_freeinfo(f->info);
}

struct fid_cq *fake_cq(struct fake *f, enum fi_cq_format format, enum fi_wait_obj wait)
{
	struct fi_cq_attr attr = { .format = format, .wait_obj = wait };
	struct fid_cq *cq;

	assert_int_equal(fi_cq_open(f->domain, &attr, &cq, NULL), 0);
	return cq;
}

struct fid_cntr *fake_cntr(struct fake *f, enum fi_wait_obj wait)
{
	struct fi_cntr_attr attr = { .wait_obj = wait };
	struct fid_cntr *cntr;

	assert_int_equal(fi_cntr_open(f->domain, &attr, &cntr, NULL), 0);
	return cntr;
}

struct fid_eq *fake_eq(struct fake *f, enum fi_wait_obj wait)
{
	struct fi_eq_attr attr = { .wait_obj = wait, .flags = FI_WRITE };
	struct fid_eq *eq;

	assert_int_equal(fi_eq_open(f->fabric, &attr, &eq, NULL), 0);
	return eq;
}

struct fid_av *fake_av(struct fake *f)
{
	struct fi_av_attr attr = { 0 };
	struct fid_av *av;

	assert_int_equal(fi_av_open(f->domain, &attr, &av, NULL), 0);
	return av;
}

struct fid_ep *fake_ep_open(struct fake *f)
{
	struct fid_ep *ep;

	assert_int_equal(fi_endpoint(f->domain, f->info, &ep, NULL), 0);
	return ep;
}

struct fid_ep *fake_ep_up(struct fake *f, struct fid_cq *tx, struct fid_cq *rx,
			  struct fid_av *av)
{
	struct fid_ep *ep = fake_ep_open(f);

	if (tx && tx == rx)
		assert_int_equal(fi_ep_bind(ep, &tx->fid, FI_TRANSMIT | FI_RECV), 0);
	if (tx && tx != rx)
		assert_int_equal(fi_ep_bind(ep, &tx->fid, FI_TRANSMIT), 0);
	if (rx && tx != rx)
		assert_int_equal(fi_ep_bind(ep, &rx->fid, FI_RECV), 0);
	if (av)
		assert_int_equal(fi_ep_bind(ep, &av->fid, 0), 0);
	assert_int_equal(fi_enable(ep), 0);
	return ep;
}

void fake_deliver(struct fid_ep *fid, uint64_t cnt)
{
	assert_int_equal(eventfd_write(fake_ep_of(fid)->fd, cnt), 0);
}

void fake_timer(struct fid_ep *fid, uint64_t deadline_ns)
{
	struct fake_ep *ep = fake_ep_of(fid);

	lock_get(&ep->base.prog->lock);
	ep->timer_ns = deadline_ns;
	obj_prog_moved(ep->base.prog, deadline_ns);
	lock_put(&ep->base.prog->lock);
}

uint64_t fake_cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (uint64_t) ts.tv_sec * CLOCK_NS_PER_S + (uint64_t) ts.tv_nsec;
}

bool fake_slow(void)
{
	return under_valgrind();
}

bool fake_cpu_little(uint64_t ns, unsigned ms)
{
	return ns < ms * CLOCK_NS_PER_MS || fake_slow();
}

/* ---- log ----------------------------------------------------------------- */

void fake_log_start(void)
{
	static bool started;

	if (!started)
		assert_int_equal(catch_start(), 0);
	started = true;
	caught.quiet_from = FI_LOG_WARN + 1;
	catch_clear();
}

const char *fake_log_last(void)
{
	size_t n = caught.cnt < CATCH_LINES ? caught.cnt : CATCH_LINES;

	return n ? caught.line[n - 1] : "";
}
