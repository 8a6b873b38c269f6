/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * xrcd.c - XRC domains and their targets.  Processes that open the same file share them.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "verbs/xrc/share.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;	/* guards all lists and counts here */
static struct list xrcds = { &xrcds, &xrcds };
static struct list leaked = { &leaked, &leaked };		/* struct vrb_target, see target_destroy() */

bool vrb_xrc_supported(struct ibv_context *ctx)
{
	struct ibv_device_attr attr;

	return vrb_cm.init_qp_attr && vrb_cm.establish && verbs_get_ctx_op(ctx, open_xrcd) &&
	       verbs_get_ctx_op(ctx, create_srq_ex) && verbs_get_ctx_op(ctx, get_srq_num) &&
	       verbs_get_ctx_op(ctx, create_qp_ex) && verbs_get_ctx_op(ctx, open_qp) &&
	       !vrb_ibv.query_device(ctx, &attr) && (attr.device_cap_flags & IBV_DEVICE_XRC) &&
	       attr.max_srq;
}

/* ---- domains -------------------------------------------------------------------- */

/* A symbolic link, perhaps of another user, is not followed. */
static int open_file(struct vrb_xrcd *xrcd)
{
	const char *path = vrb_conf.xrcd_file;
	int ret;

	xrcd->fd = open(path, O_RDONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (xrcd->fd >= 0)
		return 0;
	ret = -errno;
	VRB_WARN(FI_LOG_DOMAIN, "cannot open %s, the file of the shared XRC domain: %s. Set "
		 "FI_VERBS_XRCD_FILENAME to a file that you may create or read\n", path,
		 fi_strerror(-ret));
	return ret;
}

static int open_xrcd(struct vrb_xrcd *xrcd)
{
	struct ibv_xrcd_init_attr attr = {
		.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS,
		.oflags = O_CREAT,
	};
	int ret = open_file(xrcd);

	if (ret)
		return ret;
	attr.fd = xrcd->fd;
	xrcd->ibv = ibv_open_xrcd(xrcd->ctx, &attr);
	if (xrcd->ibv)
		return 0;
	ret = -errno;
	VRB_WARN(FI_LOG_DOMAIN, "cannot open an XRC domain: %s\n", fi_strerror(-ret));
	close(xrcd->fd);
	return ret;
}

/* Domains of one fabric on one device share it: their endpoints may share queue pairs. */
static struct vrb_xrcd *xrcd_find(const struct obj_fabric *fabric, const struct ibv_context *ctx)
{
	struct vrb_xrcd *xrcd;

	list_for_each_entry(xrcd, &xrcds, node)
		if (xrcd->fabric == fabric && xrcd->ctx == ctx)
			return xrcd;
	return NULL;
}

static int new_xrcd(const struct obj_fabric *fabric, struct ibv_context *ctx,
		    struct vrb_xrcd **xrcd_p)
{
	struct vrb_xrcd *xrcd = calloc(1, sizeof(*xrcd));
	int ret;

	if (!xrcd)
		return -FI_ENOMEM;
	xrcd->fabric = fabric;
	xrcd->ctx = ctx;
	xrcd->refs = 1;
	hmap_init(&xrcd->targets);
	ret = open_xrcd(xrcd);
	if (ret) {
		free(xrcd);
		return ret;
	}
	list_add_tail(&xrcd->node, &xrcds);
	*xrcd_p = xrcd;
	return 0;
}

int vrb_xrcd_get(const struct obj_fabric *fabric, struct ibv_context *ctx,
		 struct vrb_xrcd **xrcd_p)
{
	int ret = 0;

	pthread_mutex_lock(&lock);
	*xrcd_p = xrcd_find(fabric, ctx);
	if (*xrcd_p)
		(*xrcd_p)->refs++;
	else
		ret = new_xrcd(fabric, ctx, xrcd_p);
	pthread_mutex_unlock(&lock);
	return ret;
}

/* The last reference closes it.  The file stays, for other processes. */
static void put_locked(struct vrb_xrcd *xrcd)
{
	if (--xrcd->refs)
		return;
	list_del(&xrcd->node);
	hmap_destroy(&xrcd->targets);
	ibv_close_xrcd(xrcd->ibv);
	close(xrcd->fd);
	free(xrcd);
}

void vrb_xrcd_put(struct vrb_xrcd *xrcd)
{
	pthread_mutex_lock(&lock);
	put_locked(xrcd);
	pthread_mutex_unlock(&lock);
}

/* ---- targets -------------------------------------------------------------------- */

/* A target has no completion queue: receives complete in that of the shared receive queue. */
static struct ibv_qp *make_target_qp(struct vrb_xrcd *xrcd)
{
	struct ibv_qp_init_attr_ex attr = {
		.qp_type = IBV_QPT_XRC_RECV,
		.comp_mask = IBV_QP_INIT_ATTR_XRCD,
		.xrcd = xrcd->ibv,
	};

	return verbs_get_ctx(xrcd->ctx)->create_qp_ex(xrcd->ctx, &attr);
}

/* A handle on a queue pair of another process; the kernel destroys it with its last handle. */
static struct ibv_qp *open_qp(struct vrb_xrcd *xrcd, uint32_t num)
{
	struct ibv_qp_open_attr attr = {
		.comp_mask = IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE,
		.qp_num = num,
		.xrcd = xrcd->ibv,
		.qp_type = IBV_QPT_XRC_RECV,
	};

	return ibv_open_qp(xrcd->ctx, &attr);
}

/* libmlx5 (44, for one) crashes when it destroys a queue pair that it has opened: it frees a
 * doorbell record that does not exist.  The kernel object is destroyed without the library; the
 * library's part, about a kilobyte, is leaked.
 */
static void target_destroy(struct vrb_target *target)
{
	if (target->qp && target->opened && vrb_ibv.cmd_destroy_qp) {
		vrb_ibv.cmd_destroy_qp(target->qp);
		list_add_tail(&target->node, &leaked);
		return;
	}
	if (target->qp)
		vrb_ibv.destroy_qp(target->qp);
	free(target);
}

/* @num: of a queue pair to open; 0: make one */
static int get_locked(struct vrb_xrcd *xrcd, uint32_t num, struct vrb_target **target_p)
{
	struct vrb_target *target = num ? hmap_find(&xrcd->targets, num) : NULL;
	int ret;

	if (target) {
		target->refs++;
		*target_p = target;
		return 0;
	}
	target = calloc(1, sizeof(*target));
	if (!target)
		return -FI_ENOMEM;
	target->xrcd = xrcd;
	target->refs = 1;
	target->opened = num != 0;
	list_init(&target->node);
	target->qp = num ? open_qp(xrcd, num) : make_target_qp(xrcd);
	ret = target->qp ? hmap_insert(&xrcd->targets, target->qp->qp_num, target) :
			   errno ? -errno : -FI_EIO;
	if (ret) {
		target_destroy(target);
		return ret;
	}
	xrcd->refs++;
	*target_p = target;
	return 0;
}

static int target_get(struct vrb_xrcd *xrcd, uint32_t num, struct vrb_target **target_p)
{
	int ret;

	pthread_mutex_lock(&lock);
	ret = get_locked(xrcd, num, target_p);
	pthread_mutex_unlock(&lock);
	return ret;
}

int vrb_target_new(struct vrb_xrcd *xrcd, struct vrb_target **target_p)
{
	int ret = target_get(xrcd, 0, target_p);

	if (ret)
		VRB_WARN(FI_LOG_EP_CTRL, "cannot make an XRC queue pair that receives: %s\n",
			 fi_strerror(-ret));
	return ret;
}

int vrb_target_open(struct vrb_xrcd *xrcd, uint32_t num, struct vrb_target **target_p)
{
	return target_get(xrcd, num, target_p);
}

void vrb_target_put(struct vrb_target *target)
{
	struct vrb_xrcd *xrcd;

	if (!target)
		return;
	pthread_mutex_lock(&lock);
	if (!--target->refs) {
		xrcd = target->xrcd;
		hmap_remove(&xrcd->targets, target->qp->qp_num);
		target_destroy(target);
		put_locked(xrcd);
	}
	pthread_mutex_unlock(&lock);
}
