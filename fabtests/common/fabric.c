/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/* From the command line to an open domain, and closing it. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "device.h"
#include "ft.h"

#define MR_MODES (FI_MR_LOCAL | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_ENDPOINT)

uint32_t ft_api(void)
{
	return FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION);
}

static char *copy_of(const char *s)
{
	return s ? strdup(s) : NULL;
}

struct fi_info *ft_hints(struct ft *ft)
{
	const struct ft_test *t = ft->test;
	const struct ft_opts *o = &ft->opt;
	struct fi_info *h = fi_allocinfo();

	if (!h)
		ft_fail("fi_allocinfo: out of memory");
	h->caps = t->caps ? t->caps : o->tagged ? FI_TAGGED : FI_MSG;
	h->mode = FI_CONTEXT | FI_CONTEXT2 | FI_RX_CQ_DATA | t->mode;
	if (o->prefix)
		h->mode |= FI_MSG_PREFIX;
	h->ep_attr->type = o->ep_type;
	h->addr_format = o->addr_format;
	h->domain_attr->mr_mode = MR_MODES;
	if (o->device) {
		h->caps |= FI_HMEM;
		h->domain_attr->mr_mode |= FI_MR_HMEM;
	}
	h->domain_attr->av_type = o->av_type;
	h->domain_attr->threading = o->threading;
	h->domain_attr->data_progress = o->data_progress;
	h->domain_attr->control_progress = o->control_progress;
	h->domain_attr->cq_data_size = t->cq_data_size;
	h->tx_attr->op_flags = t->tx_flags | (o->delivery ? FI_DELIVERY_COMPLETE : 0);
	h->rx_attr->op_flags = t->rx_flags;
	h->fabric_attr->prov_name = copy_of(o->prov);
	h->fabric_attr->name = copy_of(o->fabric);
	h->domain_attr->name = copy_of(o->domain);
	if (t->tune)
		t->tune(h);
	return h;
}

/* Without -s an endpoint has the address by which the peer program reaches this host, unless
 * the provider's addresses are of another family.
 */
int ft_find(struct ft *ft)
{
	char host[256] = "";
	int ret = -FI_ENODATA;

	ft_at("choosing a provider (fi_getinfo)");
	if (ft->opt.src_addr)
		snprintf(host, sizeof(host), "%s", ft->opt.src_addr);
	else if (ft->ctl >= 0)
		ft_ctl_numeric(&ft->here, host, sizeof(host));
	if (*host)
		ret = fi_getinfo(ft_api(), host, NULL, FI_SOURCE, ft->hints, &ft->info);
	if (ret == -FI_ENODATA && !ft->opt.src_addr)
		ret = fi_getinfo(ft_api(), NULL, NULL, 0, ft->hints, &ft->info);
	/* A distinct name for each program: an IP address would be the same name twice. */
	if (!ret && *host && ft->info->addr_format == FI_ADDR_STR && !strstr(host, "://")) {
		fi_freeinfo(ft->info);
		ret = fi_getinfo(ft_api(), NULL, NULL, 0, ft->hints, &ft->info);
	}
	if (!ret)
		ft->prefix_len = ft->info->mode & FI_MSG_PREFIX ?
				 ft->info->ep_attr->msg_prefix_size : 0;
	return ret;
}

/* An unknown provider name is reported before either program waits for its peer. */
static void know_provider(struct ft *ft)
{
	struct fi_info *all, *info;
	char copy[256], *save, *part;

	snprintf(copy, sizeof(copy), "%s", ft->opt.prov ? ft->opt.prov : "");
	if (!*copy || fi_getinfo(ft_api(), NULL, NULL, FI_PROV_ATTR_ONLY, NULL, &all))
		return;
	for (part = strtok_r(copy, ";", &save); part; part = strtok_r(NULL, ";", &save)) {
		for (info = all; info; info = info->next)
			if (!strcasecmp(info->fabric_attr->prov_name, part))
				break;
		if (!info && *part != '^')
			ft_skip("there is no provider '%s': fi_info -l lists the known ones",
				part);
	}
	fi_freeinfo(all);
}

void ft_getinfo(struct ft *ft)
{
	int ret = ft_find(ft);

	if (ret == -FI_ENODATA)
		ft_skip("%s offers no %s endpoint with what this test needs (fi_info --explain says more)",
			ft->opt.prov ? ft->opt.prov : "no provider",
			fi_tostr(&ft->hints->ep_attr->type, FI_TYPE_EP_TYPE));
	FT_TRY(ret);
}

static void open_av(struct ft *ft)
{
	struct fi_av_attr attr = { .type = ft->info->domain_attr->av_type, .count = 64,
				   .name = ft->opt.av_name };

	if (ft->opt.av_type)
		attr.type = ft->opt.av_type;
	if (ft->info->ep_attr->type != FI_EP_MSG)
		FT_TRY(fi_av_open(ft->domain, &attr, &ft->av, ft));
}

void ft_open_domain(struct ft *ft)
{
	struct fi_eq_attr attr = { .wait_obj = FI_WAIT_UNSPEC };

	if (ft->test->waits)
		attr.wait_obj = ft->test->waits->eq;
	ft_at("opening fabric and domain");
	FT_TRY(fi_fabric(ft->info->fabric_attr, &ft->fabric, ft));
	FT_TRY(fi_eq_open(ft->fabric, &attr, &ft->eq, ft));
	FT_TRY(fi_domain(ft->fabric, ft->info, &ft->domain, ft));
	open_av(ft);
}

struct fi_cq_attr ft_cq_attr(const struct ft *ft)
{
	static const enum fi_wait_obj by_comp[] = {
		[FT_SPIN] = FI_WAIT_NONE, [FT_SREAD] = FI_WAIT_UNSPEC,
		[FT_FD] = FI_WAIT_FD, [FT_YIELD] = FI_WAIT_YIELD,
	};
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED, .wait_cond = FI_CQ_COND_NONE };

	attr.wait_obj = ft->test->waits ? ft->test->waits->cq :
			ft->test->need_wait ? ft->test->wait : by_comp[ft->opt.comp];
	return attr;
}

struct fid_cq *ft_cq_open(struct ft *ft)
{
	struct fi_cq_attr attr = ft_cq_attr(ft);
	struct fid_cq *cq;

	FT_MAY(fi_cq_open(ft->domain, &attr, &cq, ft));
	return cq;
}

struct fid_cntr *ft_cntr_open(struct ft *ft)
{
	struct fi_cntr_attr attr = { .events = FI_CNTR_EVENTS_COMP };
	struct fid_cntr *cntr;

	attr.wait_obj = ft->test->waits ? ft->test->waits->cntr :
			ft->opt.comp == FT_SPIN ? FI_WAIT_NONE : FI_WAIT_UNSPEC;
	FT_MAY(fi_cntr_open(ft->domain, &attr, &cntr, ft));
	return cntr;
}

/* ---- memory ---- */

static uint64_t next_key = 0x40;

/* The buffers' memory is kept until the program ends (ft_buf_close()); this list shows a leak
 * checker that it is not lost.
 */
static struct kept {
	struct kept *next;
	void *mem;
} *kept;

static void keep_mem(void *mem)
{
	struct kept *one = malloc(sizeof(*one));

	if (!one)
		ft_fail("out of memory");
	one->mem = mem;
	one->next = kept;
	kept = one;
}

static char *buf_alloc(struct ft *ft, size_t align, size_t len)
{
	void *mem, *zeros;

	if (ft->opt.device) {
		mem = device_alloc(len);
		zeros = calloc(1, len);
		if (!mem || !zeros || !device_put(mem, zeros, len))
			ft_fail("%s device %d has no buffer of %zu bytes", ft->opt.device,
				ft->opt.device_no, len);
		free(zeros);
		return mem;
	}
	if (posix_memalign(&mem, align, len))
		ft_fail("out of memory for a buffer of %zu bytes", len);
	keep_mem(memset(mem, 0, len));
	return mem;
}

void *ft_host(void *p, size_t len)
{
	if (!device_holds(p))
		return p;
	p = calloc(1, len ? len : 1);
	if (!p)
		ft_fail("out of memory");
	keep_mem(p);
	return p;
}

void ft_buf_open(struct ft *ft, struct ft_buf *buf, size_t len, uint64_t access)
{
	uint64_t mode = (uint64_t) ft->info->domain_attr->mr_mode;
	bool prov_key = mode & (FI_MR_PROV_KEY | FI_MR_BASIC);
	size_t align = ft->opt.align ? (size_t) sysconf(_SC_PAGESIZE) : 64, head = 0;
	struct fi_mr_attr attr;
	struct iovec iov;

	if (ft->prefix_len)
		head = (ft->prefix_len + align - 1) / align * align;
	buf->len = len;
	buf->p = buf_alloc(ft, align, len + head + 64);
	buf->p += head;
	if (!access && !(mode & FI_MR_LOCAL) && !ft->opt.device)
		return;
	iov = (struct iovec) { buf->p - ft->prefix_len, len + ft->prefix_len };
	attr = (struct fi_mr_attr) {
		.mr_iov = &iov, .iov_count = 1, .access = access | FI_SEND | FI_RECV,
		.requested_key = prov_key ? 0 : next_key++,
	};
	if (ft->opt.device)
		device_attr(&attr);
	FT_MAY(fi_mr_regattr(ft->domain, &attr, 0, &buf->mr));
	if (mode & FI_MR_ENDPOINT && access && ft->ep.ep) {
		FT_TRY(fi_mr_bind(buf->mr, &ft->ep.ep->fid, 0));
		FT_TRY(fi_mr_enable(buf->mr));
	}
	buf->desc = fi_mr_desc(buf->mr);
	buf->key = fi_mr_key(buf->mr);
	buf->addr = mode & (FI_MR_VIRT_ADDR | FI_MR_BASIC) ? (uint64_t) (uintptr_t) buf->p : 0;
}

/* The memory itself stays: a late packet of a broken library must not become
 * a use after free here, and the program is about to end.
 */
void ft_buf_close(struct ft_buf *buf)
{
	if (buf->mr)
		FT_TRY(fi_close(&buf->mr->fid));
	buf->mr = NULL;
}

void ft_swap_keys(struct ft *ft)
{
	struct ft_remote mine = { ft->rx.addr, ft->rx.key, ft->rx.len };

	ft_ctl_swap(ft, &mine, &ft->remote, sizeof(mine));
}

/* ---- whole tests ---- */

static void open_bufs(struct ft *ft)
{
	uint64_t caps = ft->info->caps, access = 0;
	size_t len = ft->test->buf_size > 4096 ? ft->test->buf_size : 4096;

	for (size_t i = 0; i < ft->opt.size_cnt; i++)
		if (ft_size_ok(ft, ft->opt.sizes[i]) && ft->opt.sizes[i] > len)
			len = ft->opt.sizes[i];
	if (ft->test->caps & (FI_RMA | FI_ATOMIC) && caps & (FI_RMA | FI_ATOMIC))
		access = FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE;
	ft_buf_open(ft, &ft->tx, len, access);
	ft_buf_open(ft, &ft->rx, len, access);
}

void ft_meet(struct ft *ft, const struct ft_test *test, int argc, char **argv)
{
	const char *why;

	memset(ft, 0, sizeof(*ft));
	ft->test = test;
	ft->ctl = -1;
	ft_parse(ft, argc, argv);
	ft_watch(ft->opt.limit_s);
	if (!test->local) {
		know_provider(ft);
		ft_ctl_open(ft);
	}
	why = ft->opt.device ? device_open(ft->opt.device, ft->opt.device_no) : NULL;
	if (why)
		ft_skip("-D %s -i %d: %s", ft->opt.device, ft->opt.device_no, why);
}

void ft_open(struct ft *ft)
{
	if (!ft->test->no_link && !ft->test->local)
		ft_link(ft, &ft->ep);
	open_bufs(ft);
	if (ft->ep.ep && ft->test->caps & (FI_RMA | FI_ATOMIC))
		ft_swap_keys(ft);
}

void ft_begin(struct ft *ft, const struct ft_test *test, int argc, char **argv)
{
	ft_meet(ft, test, argc, argv);
	ft->hints = ft_hints(ft);
	if (test->no_open)
		return;
	ft_getinfo(ft);
	ft_open_domain(ft);
	ft_open(ft);
}

static void close_if(void *fid)
{
	if (fid)
		FT_TRY(fi_close(fid));
}

void ft_shut(struct ft *ft)
{
	ft_at("closing");
	/* A region bound to an endpoint must be closed first; the order of others does not
	 * matter.
	 */
	ft_buf_close(&ft->tx);
	ft_buf_close(&ft->rx);
	ft_ep_close(&ft->ep);
	close_if(ft->av);
	close_if(ft->domain);
	close_if(ft->pep);
	close_if(ft->eq);
	close_if(ft->fabric);
	fi_freeinfo(ft->info);
	fi_freeinfo(ft->hints);
}

int ft_end(struct ft *ft)
{
	ft_at("meeting the peer for the end");
	ft_sync(ft);
	ft_shut(ft);
	ft_at("meeting the peer after closing");
	ft_sync(ft);
	ft_ctl_close(ft);
	printf("PASS: %s\n", ft->name);
	return 0;
}
