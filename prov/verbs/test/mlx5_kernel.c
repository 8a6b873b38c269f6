/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "mlx5_kernel.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <infiniband/verbs.h>
#include <limits.h>
#include <linux/netlink.h>
#include <pthread.h>
#include <rdma/ib_user_verbs.h>
#include <rdma/mlx5-abi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define NODE "/dev/infiniband/uverbs0"
#define DEV makedev(231, 192)
#define WINDOW (UINT64_C(1) << 40)	/* all offsets that the library may map */

struct kernel_cq kernel_cqs[KERNEL_MAX];
struct kernel_qp kernel_qps[KERNEL_MAX];
struct kernel_srq kernel_srqs[KERNEL_MAX];
unsigned kernel_cq_cnt, kernel_qp_cnt, kernel_srq_cnt;
_Atomic unsigned kernel_ahs;
unsigned kernel_xrcds;

/* By the file that they were opened with. */
static struct { dev_t dev; ino_t ino; unsigned users; } xrcds[KERNEL_MAX];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* one command at a time */
static int refused;				/* why it is */

static int device = -1;
static int async_fd = -1;
static char root[] = "/tmp/mlx5_kernel.XXXXXX";

/* ---- commands ------------------------------------------------------------------- */

/* One command, old form or new: where its parts lie. */
struct cmd {
	const char *core, *drv;
	char *out, *drv_out;
	size_t drv_room;
};

static void respond(const struct cmd *c, size_t core_len, const void *core, size_t drv_len,
		    const void *drv)
{
	memcpy(c->out, core, core_len);
	memcpy(c->drv_out, drv, drv_len < c->drv_room ? drv_len : c->drv_room);
}

/* One end is the library's, closed with the device; the other is for events of the device. */
static int async_new(void)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return -1;
	async_fd = ends[0];
	return ends[1];
}

void kernel_say(uint32_t what, uint32_t about)
{
	struct ib_uverbs_async_event_desc desc = { .event_type = what, .element = about };

	if (send(async_fd, &desc, sizeof(desc), MSG_NOSIGNAL) != sizeof(desc))
		abort();
}

void kernel_mute(void)
{
	close(async_fd);
	async_fd = -1;
}

static void get_context(const struct cmd *c, bool ex)
{
	struct { uint32_t async_fd, vectors; } core = { (uint32_t) async_new(), 1 };
	struct mlx5_ib_alloc_ucontext_resp drv = {
		.qp_tab_size = 1 << 16,
		.bf_reg_size = 512,
		.tot_bfregs = 16,
		.cache_line_size = 64,
		.max_sq_desc_sz = 1008,
		.max_rq_desc_sz = 512,
		.max_send_wqebb = 32768,
		.max_recv_wr = 32768,
		.max_srq_recv_wr = 32768,
		.num_ports = 1,
		.response_length = sizeof(drv),
		.cqe_version = 1,
		.cmds_supp_uhw = MLX5_USER_CMDS_SUPP_UHW_CREATE_AH,
		.log_uar_size = 12,
		.num_uars_per_page = 1,
		.num_dyn_bfregs = 64,
	};

	respond(c, sizeof(core), &core, sizeof(drv), &drv);
}

static void query_device(const struct cmd *c, bool ex)
{
	struct ib_uverbs_query_device_resp r = {
		.vendor_id = 0x2c9,
		.vendor_part_id = 4119,
		.max_mr_size = ~UINT64_C(0),
		.page_size_cap = ~UINT64_C(4095),
		.max_qp = 1000, .max_qp_wr = 32768, .max_sge = 30, .max_sge_rd = 30,
		.max_cq = 1000, .max_cqe = 1 << 20, .max_mr = 1000, .max_pd = 1000,
		.max_qp_rd_atom = 16, .max_qp_init_rd_atom = 16,
		.atomic_cap = 1,
		.max_srq = 100, .max_srq_wr = 32767, .max_srq_sge = 31,
		.device_cap_flags = IB_UVERBS_DEVICE_XRC,
		.phys_port_cnt = 1,
	};

	struct ib_uverbs_ex_query_device_resp x = {
		.base = r, .response_length = sizeof(x),
		.timestamp_mask = ~UINT64_C(0), .hca_core_clock = KERNEL_CLOCK_KHZ,
	};

	memcpy(c->out, ex ? (const void *) &x : &r, ex ? sizeof(x) : sizeof(r));
}

static void query_port(const struct cmd *c, bool ex)
{
	struct ib_uverbs_query_port_resp r = {
		.state = 4, .max_mtu = 5, .active_mtu = 5, .gid_tbl_len = 1, .pkey_tbl_len = 1,
		.max_msg_sz = 1u << 30, .active_width = 2, .active_speed = 32, .phys_state = 5,
		.link_layer = 2,
	};

	memcpy(c->out, &r, sizeof(r));
}

static void alloc_pd(const struct cmd *c, bool ex)
{
	struct { uint32_t handle; } core = { 1 };
	struct { uint32_t pdn; } drv = { 1 };

	respond(c, sizeof(core), &core, sizeof(drv), &drv);
}

static void reg_mr(const struct cmd *c, bool ex)
{
	struct ib_uverbs_reg_mr_resp r = { .mr_handle = 1, .lkey = KERNEL_KEY, .rkey = KERNEL_KEY };

	memcpy(c->out, &r, sizeof(r));
}

static void create_channel(const struct cmd *c, bool ex)
{
	int fd = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);

	memcpy(c->out, &fd, sizeof(fd));
}

/* How many events there were: none. */
static void destroyed(const struct cmd *c, bool ex)
{
	memset(c->out, 0, ex ? 4 : (size_t) (c->drv_out - c->out));
}

static void create_cq(const struct cmd *c, bool ex)
{
	const struct mlx5_ib_create_cq *drv = (const void *) c->drv;
	struct kernel_cq *cq = &kernel_cqs[kernel_cq_cnt];
	uint32_t size = 1;
	struct mlx5_ib_create_cq_resp drv_r = { .cqn = kernel_cq_cnt + 1 };
	struct ib_uverbs_ex_create_cq_resp r = { .base.cq_handle = kernel_cq_cnt++ };

	r.base.cqe = ex ? ((const struct ib_uverbs_ex_create_cq *) c->core)->cqe :
			  ((const struct ib_uverbs_create_cq *) c->core)->cqe;
	r.response_length = sizeof(r);
	while (size <= r.base.cqe)
		size *= 2;
	*cq = (struct kernel_cq) {
		.buf = (char *) (uintptr_t) drv->buf_addr, .dbrec = (uint32_t *) (uintptr_t) drv->db_addr,
		.cnt = size, .stride = drv->cqe_size,
	};
	respond(c, ex ? sizeof(r) : sizeof(r.base), &r, sizeof(drv_r), &drv_r);
}

static void create_qp(const struct cmd *c, bool ex)
{
	const struct mlx5_ib_create_qp *drv = (const void *) c->drv;
	const struct ib_uverbs_ex_create_qp *x = (const void *) c->core;
	const struct ib_uverbs_create_qp *old = (const void *) c->core;
	struct kernel_qp *qp = &kernel_qps[kernel_qp_cnt];
	struct mlx5_ib_create_qp_resp drv_r = { .bfreg_index = drv->bfreg_index };
	struct ib_uverbs_ex_create_qp_resp r = { .base = {
		.qp_handle = kernel_qp_cnt, .qpn = KERNEL_QPN + kernel_qp_cnt,
		.max_send_wr = ex ? x->max_send_wr : old->max_send_wr,
		.max_recv_wr = ex ? x->max_recv_wr : old->max_recv_wr,
		.max_send_sge = ex ? x->max_send_sge : old->max_send_sge,
		.max_recv_sge = ex ? x->max_recv_sge : old->max_recv_sge,
		.max_inline_data = ex ? x->max_inline_data : old->max_inline_data,
	} };

	r.response_length = sizeof(r);
	*qp = (struct kernel_qp) {
		.kind = ex ? x->qp_type : old->qp_type, .real = (int) kernel_qp_cnt, .users = 1,
		.xrcd = ex ? x->pd_handle : old->pd_handle,
		.qpn = r.base.qpn, .uidx = drv->uidx,
		.dbrec = (uint32_t *) (uintptr_t) drv->db_addr,
		.rq = (char *) (uintptr_t) drv->buf_addr, .rq_cnt = drv->rq_wqe_count,
		.rq_stride = 1u << drv->rq_wqe_shift,
		.sq_cnt = drv->sq_wqe_count,
		.srq = (ex ? x->is_srq : old->is_srq) ? (int) (ex ? x->srq_handle : old->srq_handle) : -1,
		.cq = ex ? x->send_cq_handle : old->send_cq_handle,
	};
	kernel_qp_cnt++;
	qp->sq = qp->rq + (size_t) qp->rq_cnt * qp->rq_stride;
	respond(c, ex ? sizeof(r) : sizeof(r.base), &r, sizeof(drv_r), &drv_r);
}

static uint32_t power_of_two(uint32_t from, uint32_t least)
{
	while (from < least)
		from *= 2;
	return from;
}

static void create_srq(const struct cmd *c, bool ex)
{
	const struct mlx5_ib_create_srq *drv = (const void *) c->drv;
	const struct ib_uverbs_create_srq *core = (const void *) c->core;
	struct mlx5_ib_create_srq_resp drv_r = { .srqn = kernel_srq_cnt + 1 };
	struct ib_uverbs_create_srq_resp r = {
		.srq_handle = kernel_srq_cnt, .max_wr = core->max_wr, .max_sge = core->max_sge,
	};

	kernel_srqs[kernel_srq_cnt++] = (struct kernel_srq) {
		.buf = (char *) (uintptr_t) drv->buf_addr,
		.dbrec = (uint32_t *) (uintptr_t) drv->db_addr,
		.cnt = power_of_two(1, core->max_wr + 1),
		.stride = power_of_two(32, 16 + 16 * core->max_sge),
	};
	respond(c, sizeof(r), &r, sizeof(drv_r), &drv_r);
}

/* ---- extended reliable connections ---------------------------------------------- */

static void open_xrcd(const struct cmd *c, bool ex)
{
	const struct ib_uverbs_open_xrcd *core = (const void *) c->core;
	struct ib_uverbs_open_xrcd_resp r = { 0 };
	struct stat st;

	if (fstat((int) core->fd, &st)) {
		refused = EBADF;
		return;
	}
	while (xrcds[r.xrcd_handle].users && (xrcds[r.xrcd_handle].dev != st.st_dev ||
					       xrcds[r.xrcd_handle].ino != st.st_ino))
		r.xrcd_handle++;
	xrcds[r.xrcd_handle].dev = st.st_dev;
	xrcds[r.xrcd_handle].ino = st.st_ino;
	kernel_xrcds += !xrcds[r.xrcd_handle].users++;
	memcpy(c->out, &r, sizeof(r));
}

static void close_xrcd(const struct cmd *c, bool ex)
{
	const struct ib_uverbs_close_xrcd *core = (const void *) c->core;

	kernel_xrcds -= !--xrcds[core->xrcd_handle].users;
}

static void create_xsrq(const struct cmd *c, bool ex)
{
	const struct mlx5_ib_create_srq *drv = (const void *) c->drv;
	const struct ib_uverbs_create_xsrq *core = (const void *) c->core;
	struct mlx5_ib_create_srq_resp drv_r = { .srqn = kernel_srq_cnt + 1 };
	struct ib_uverbs_create_srq_resp r = {
		.srq_handle = kernel_srq_cnt, .max_wr = core->max_wr, .max_sge = core->max_sge,
		.srqn = kernel_srq_cnt + 1,
	};

	kernel_srqs[kernel_srq_cnt++] = (struct kernel_srq) {
		.buf = (char *) (uintptr_t) drv->buf_addr,
		.dbrec = (uint32_t *) (uintptr_t) drv->db_addr,
		.cnt = power_of_two(1, core->max_wr + 1),
		.stride = power_of_two(32, 16 + 16 * core->max_sge),
		.srqn = r.srqn, .uidx = drv->uidx, .cq = core->cq_handle, .xrcd = core->xrcd_handle,
	};
	respond(c, sizeof(r), &r, sizeof(drv_r), &drv_r);
}

static void destroy_srq(const struct cmd *c, bool ex)
{
	const struct ib_uverbs_destroy_srq *core = (const void *) c->core;

	kernel_srqs[core->srq_handle].gone = true;
	destroyed(c, ex);
}

/* The number is one of a queue pair that receives, of the same domain. */
static void open_qp(const struct cmd *c, bool ex)
{
	const struct ib_uverbs_open_qp *core = (const void *) c->core;
	uint32_t at = core->qpn - KERNEL_QPN;
	struct ib_uverbs_create_qp_resp r = { .qp_handle = kernel_qp_cnt, .qpn = core->qpn };

	if (at >= kernel_qp_cnt || kernel_qps[at].kind != IBV_QPT_XRC_RECV || !kernel_qps[at].users ||
	    kernel_qps[at].xrcd != core->pd_handle || core->qp_type != IBV_QPT_XRC_RECV) {
		refused = ENOENT;
		return;
	}
	kernel_qps[at].users++;
	kernel_qps[kernel_qp_cnt++] = (struct kernel_qp) { .qpn = core->qpn, .real = (int) at,
							   .kind = IBV_QPT_XRC_RECV };
	memcpy(c->out, &r, sizeof(r));
}

static void destroy_qp(const struct cmd *c, bool ex)
{
	const struct ib_uverbs_destroy_qp *core = (const void *) c->core;

	kernel_qps[kernel_qps[core->qp_handle].real].users--;
	destroyed(c, ex);
}

unsigned kernel_alive(unsigned kind)
{
	unsigned i, cnt = 0;

	pthread_mutex_lock(&lock);
	for (i = 0; i < kernel_qp_cnt; i++)
		cnt += kernel_qps[i].kind == kind && kernel_qps[i].users;
	pthread_mutex_unlock(&lock);
	return cnt;
}

/* The attributes that moving such a queue pair to this state takes: exactly these. */
static int xrc_mask(const struct kernel_qp *qp, unsigned state)
{
	const int to_rtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
			   IBV_QP_RQ_PSN;
	const int to_rts = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_SQ_PSN;
	bool sends = qp->kind == IBV_QPT_XRC_SEND;

	switch (state) {
	case IBV_QPS_INIT:
		return IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
	case IBV_QPS_RTR:
		return sends ? to_rtr : to_rtr | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
	case IBV_QPS_RTS:
		return sends ? to_rts | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
			       IBV_QP_MAX_QP_RD_ATOMIC : to_rts;
	default:
		return IBV_QP_STATE;
	}
}

static void modify_xrc(struct kernel_qp *qp, const struct ib_uverbs_modify_qp *m)
{
	if ((int) m->attr_mask != xrc_mask(qp, m->qp_state) ||
	    (m->qp_state <= IBV_QPS_RTS && m->qp_state != qp->state + 1)) {
		refused = EINVAL;
		return;
	}
	qp->state = m->qp_state;
	if (m->attr_mask & IBV_QP_DEST_QPN)
		qp->dest = m->dest_qp_num;
	if (m->attr_mask & IBV_QP_RQ_PSN)
		qp->rq_psn = m->rq_psn;
	if (m->attr_mask & IBV_QP_SQ_PSN)
		qp->sq_psn = m->sq_psn;
}

static void modify_qp(const struct cmd *c, bool ex)
{
	const struct ib_uverbs_modify_qp *m = (const void *) c->core;
	struct kernel_qp *qp;

	if (ex || m->qp_handle >= KERNEL_MAX)
		return;
	qp = &kernel_qps[kernel_qps[m->qp_handle].real];
	if (m->attr_mask & (1 << 6))
		qp->qkey = m->qkey;
	if (qp->kind == IBV_QPT_XRC_SEND || qp->kind == IBV_QPT_XRC_RECV)
		modify_xrc(qp, m);
}

/* The hardware address of 10.0.0.9 is 02:00:0a:00:00:09. */
static void create_ah(const struct cmd *c, bool ex)
{
	const struct ib_uverbs_create_ah *core = (const void *) c->core;
	struct mlx5_ib_create_ah_resp drv_r = { .response_length = sizeof(drv_r), .dmac = { 2 } };
	struct ib_uverbs_create_ah_resp r = { .ah_handle = kernel_ahs++ };

	memcpy(drv_r.dmac + 2, core->attr.grh.dgid + 12, 4);
	respond(c, sizeof(r), &r, sizeof(drv_r), &drv_r);
}

static void destroy_ah(const struct cmd *c, bool ex)
{
	kernel_ahs--;
}

static void nothing(const struct cmd *c, bool ex)
{
}

/* Bytes of a command and its answer, in the old form, that are not the driver's. */
static const struct {
	void (*run)(const struct cmd *c, bool ex);
	size_t in, out;
} commands[] = {
	[IB_USER_VERBS_CMD_GET_CONTEXT] = { get_context, 8, 8 },
	[IB_USER_VERBS_CMD_QUERY_DEVICE] = { query_device, 8,
		sizeof(struct ib_uverbs_query_device_resp) },
	[IB_USER_VERBS_CMD_QUERY_PORT] = { query_port, 16, sizeof(struct ib_uverbs_query_port_resp) },
	[IB_USER_VERBS_CMD_ALLOC_PD] = { alloc_pd, 8, 4 },
	[IB_USER_VERBS_CMD_DEALLOC_PD] = { nothing, 0, 0 },
	[IB_USER_VERBS_CMD_REG_MR] = { reg_mr, sizeof(struct ib_uverbs_reg_mr),
		sizeof(struct ib_uverbs_reg_mr_resp) },
	[IB_USER_VERBS_CMD_DEREG_MR] = { nothing, 0, 0 },
	[IB_USER_VERBS_CMD_CREATE_COMP_CHANNEL] = { create_channel, 8, 4 },
	[IB_USER_VERBS_CMD_CREATE_CQ] = { create_cq, sizeof(struct ib_uverbs_create_cq),
		sizeof(struct ib_uverbs_create_cq_resp) },
	[IB_USER_VERBS_CMD_DESTROY_CQ] = { destroyed, 16, 8 },
	[IB_USER_VERBS_CMD_CREATE_QP] = { create_qp, sizeof(struct ib_uverbs_create_qp),
		sizeof(struct ib_uverbs_create_qp_resp) },
	[IB_USER_VERBS_CMD_CREATE_SRQ] = { create_srq, sizeof(struct ib_uverbs_create_srq),
		sizeof(struct ib_uverbs_create_srq_resp) },
	[IB_USER_VERBS_CMD_DESTROY_SRQ] = { destroy_srq, 16, 4 },
	[IB_USER_VERBS_CMD_OPEN_XRCD] = { open_xrcd, sizeof(struct ib_uverbs_open_xrcd), 4 },
	[IB_USER_VERBS_CMD_CLOSE_XRCD] = { close_xrcd, 0, 0 },
	[IB_USER_VERBS_CMD_CREATE_XSRQ] = { create_xsrq, sizeof(struct ib_uverbs_create_xsrq),
		sizeof(struct ib_uverbs_create_srq_resp) },
	[IB_USER_VERBS_CMD_OPEN_QP] = { open_qp, sizeof(struct ib_uverbs_open_qp),
		sizeof(struct ib_uverbs_create_qp_resp) },
	[IB_USER_VERBS_CMD_MODIFY_QP] = { modify_qp, 0, 0 },
	[IB_USER_VERBS_CMD_CREATE_AH] = { create_ah, sizeof(struct ib_uverbs_create_ah), 4 },
	[IB_USER_VERBS_CMD_DESTROY_AH] = { destroy_ah, 4, 0 },
	[IB_USER_VERBS_CMD_DESTROY_QP] = { destroy_qp, 16, 4 },
};

/* @buf: nothing is aligned there */
static int command(const void *buf, size_t len)
{
	_Alignas(8) char copy[4096];
	const struct ib_uverbs_cmd_hdr *hdr = (const void *) copy;
	const struct ib_uverbs_ex_cmd_hdr *exh = (const void *) (hdr + 1);
	struct cmd c;
	unsigned op;
	bool ex;
	int ret;

	memcpy(copy, buf, len < sizeof(copy) ? len : sizeof(copy));
	ex = hdr->command & 0x80000000u;
	op = hdr->command & 0xff;
	if (op >= sizeof(commands) / sizeof(commands[0]) || !commands[op].run)
		return ENOSYS;
	if (ex) {
		c.core = (const char *) (exh + 1);
		c.drv = c.core + hdr->in_words * 8;
		c.out = (char *) (uintptr_t) exh->response;
		c.drv_out = c.out + hdr->out_words * 8;
		c.drv_room = exh->provider_out_words * 8u;
	} else {
		c.core = (const char *) (hdr + 1);
		c.drv = c.core + commands[op].in;
		c.out = (char *) (uintptr_t) *(const uint64_t *) (hdr + 1);
		c.drv_out = c.out + commands[op].out;
		c.drv_room = hdr->out_words * 4u > commands[op].out ?
			     hdr->out_words * 4u - commands[op].out : 0;
	}
	pthread_mutex_lock(&lock);
	refused = 0;
	commands[op].run(&c, ex);
	ret = refused;
	pthread_mutex_unlock(&lock);
	return ret;
}

/* ---- what the libraries call ---------------------------------------------------- */

#pragma GCC visibility push(default)

#define NEXT(name) ((__typeof__(&name)) dlsym(RTLD_NEXT, #name))

ssize_t write(int fd, const void *buf, size_t len)
{
	int err;

	if (fd < 0 || fd != device)
		return NEXT(write)(fd, buf, len);
	err = command(buf, len);
	errno = err;
	return err ? -1 : (ssize_t) len;
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	void *arg;

	va_start(ap, request);
	arg = va_arg(ap, void *);
	va_end(ap);
	if (fd < 0 || fd != device)
		return NEXT(ioctl)(fd, request, arg);
	errno = ENOTTY;
	return -1;
}

int open(const char *path, int flags, ...)
{
	unsigned mode;
	va_list ap;

	va_start(ap, flags);
	mode = va_arg(ap, unsigned);
	va_end(ap);
	if (strcmp(path, NODE))
		return NEXT(open)(path, flags, mode);
	device = memfd_create("mlx5", MFD_CLOEXEC);
	if (ftruncate(device, (off_t) WINDOW))
		abort();
	return device;
}

int stat(const char *path, struct stat *st)
{
	if (strcmp(path, NODE))
		return NEXT(stat)(path, st);
	memset(st, 0, sizeof(*st));
	st->st_mode = S_IFCHR | 0600;
	st->st_rdev = DEV;
	return 0;
}

/* The kernel's own list of devices: none. */
int socket(int domain, int type, int protocol)
{
	if (domain != AF_NETLINK || protocol != NETLINK_RDMA)
		return NEXT(socket)(domain, type, protocol);
	errno = EPROTONOSUPPORT;
	return -1;
}

int fstat(int fd, struct stat *st)
{
	int ret = NEXT(fstat)(fd, st);

	if (fd >= 0 && fd == device) {
		st->st_mode = S_IFCHR | 0600;
		st->st_rdev = DEV;
	}
	return ret;
}

/* ---- sysfs ---------------------------------------------------------------------- */

static const char *const files[][2] = {
	{ "class/infiniband_verbs/abi_version", "6" },
	{ "class/infiniband_verbs/uverbs0/ibdev", "mlx5_0" },
	{ "class/infiniband_verbs/uverbs0/abi_version", "1" },
	{ "class/infiniband_verbs/uverbs0/dev", "231:192" },
	{ "class/infiniband/mlx5_0/device/modalias",
	  "pci:v000015B3d00001017sv000015B3sd00000008bc02sc00i00" },
	{ "class/infiniband/mlx5_0/node_type", "1: CA" },
	{ "class/infiniband/mlx5_0/fw_ver", "16.35.2000" },
	{ "class/infiniband/mlx5_0/node_guid", "0002:c903:0000:0001" },
	{ "class/infiniband/mlx5_0/ports/1/link_layer", "Ethernet" },
	{ "class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/0", "lo" },
	{ "class/infiniband/mlx5_0/ports/1/gid_attrs/types/0", "RoCE v2" },
	{ "class/infiniband/mlx5_0/ports/1/gids/0", "0000:0000:0000:0000:0000:ffff:7f00:0001" },
	{ "class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/1", "lo" },
	{ "class/infiniband/mlx5_0/ports/1/gid_attrs/types/1", "RoCE v2" },
	{ "class/infiniband/mlx5_0/ports/1/gids/1", "0000:0000:0000:0000:0000:ffff:7f00:0002" },
	{ "class/infiniband/mlx5_0/ports/1/gid_attrs/ndevs/2", "nobody0" },
	{ "class/infiniband/mlx5_0/ports/1/gid_attrs/types/2", "RoCE v2" },
	{ "class/infiniband/mlx5_0/ports/1/gids/2", "fe80:0000:0000:0000:0000:00ff:fe00:0009" },
	{ "class/infiniband/mlx5_0/ports/1/state", "4: ACTIVE" },
};

/* Our own provider reads it where it always is. */
#define SYS "/sys/"

static const char *moved(const char *path, char *buf, size_t len)
{
	if (strncmp(path, SYS "class/infiniband", sizeof(SYS "class/infiniband") - 1))
		return path;
	snprintf(buf, len, "%s/%s", root, path + sizeof(SYS) - 1);
	return buf;
}

FILE *fopen(const char *path, const char *mode)
{
	char buf[PATH_MAX];

	return NEXT(fopen)(moved(path, buf, sizeof(buf)), mode);
}

DIR *opendir(const char *path)
{
	char buf[PATH_MAX];

	return NEXT(opendir)(moved(path, buf, sizeof(buf)));
}

#pragma GCC visibility pop

static int make_dirs(const char *path)
{
	char part[256], *p;

	snprintf(part, sizeof(part), "%s", path);
	for (p = part + sizeof(root); (p = strchr(p, '/')); p++) {
		*p = 0;
		if (mkdir(part, 0700) && errno != EEXIST)
			return -1;
		*p = '/';
	}
	return 0;
}

int kernel_boot(void)
{
	char path[256];
	unsigned i;
	FILE *f;

	if (!mkdtemp(root))
		return -errno;
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		snprintf(path, sizeof(path), "%s/%s", root, files[i][0]);
		if (make_dirs(path) || !(f = fopen(path, "w")))
			return -errno;
		fprintf(f, "%s\n", files[i][1]);
		fclose(f);
	}
	return setenv("SYSFS_PATH", root, 1) ? -errno : 0;
}

static int unlink_one(const char *path, const struct stat *st, int what, struct FTW *ftw)
{
	return remove(path);
}

void kernel_halt(void)
{
	nftw(root, unlink_one, 8, FTW_DEPTH | FTW_PHYS);
}
