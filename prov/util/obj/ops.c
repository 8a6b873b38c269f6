/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/ops.h"

#include <rdma/fi_errno.h>

/* "Not supported", once for each signature. */
#define NO(ret, name, ...)							\
	static ret name(__VA_ARGS__)						\
	{									\
		return (ret) -FI_ENOSYS;					\
	}

NO(int, no_close, struct fid *fid)
NO(int, no_bind, struct fid *fid, struct fid *bfid, uint64_t flags)
NO(int, no_control, struct fid *fid, int command, void *arg)
NO(int, no_ops_open, struct fid *fid, const char *name, uint64_t flags, void **ops,
   void *context)
NO(int, no_tostr, const struct fid *fid, char *buf, size_t len)
NO(int, no_ops_set, struct fid *fid, const char *name, uint64_t flags, void *ops, void *context)

NO(int, no_domain, struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
   void *context)
NO(int, no_passive_ep, struct fid_fabric *fabric, struct fi_info *info, struct fid_pep **pep,
   void *context)
NO(int, no_eq_open, struct fid_fabric *fabric, struct fi_eq_attr *attr, struct fid_eq **eq,
   void *context)
NO(int, no_wait_open, struct fid_fabric *fabric, struct fi_wait_attr *attr,
   struct fid_wait **waitset)
NO(int, no_trywait, struct fid_fabric *fabric, struct fid **fids, int count)
NO(int, no_domain2, struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
   uint64_t flags, void *context)

NO(int, no_av_open, struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
   void *context)
NO(int, no_cq_open, struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
   void *context)
NO(int, no_endpoint, struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
   void *context)
NO(int, no_scalable_ep, struct fid_domain *domain, struct fi_info *info, struct fid_ep **sep,
   void *context)
NO(int, no_cntr_open, struct fid_domain *domain, struct fi_cntr_attr *attr,
   struct fid_cntr **cntr, void *context)
NO(int, no_poll_open, struct fid_domain *domain, struct fi_poll_attr *attr,
   struct fid_poll **pollset)
NO(int, no_stx_ctx, struct fid_domain *domain, struct fi_tx_attr *attr, struct fid_stx **stx,
   void *context)
NO(int, no_srx_ctx, struct fid_domain *domain, struct fi_rx_attr *attr, struct fid_ep **rx_ep,
   void *context)
NO(int, no_query_collective, struct fid_domain *domain, enum fi_collective_op coll,
   struct fi_collective_attr *attr, uint64_t flags)
NO(int, no_endpoint2, struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
   uint64_t flags, void *context)

/* fi_atomic(3): an operation that cannot be done is -FI_EOPNOTSUPP. */
static int no_query_atomic(struct fid_domain *domain, enum fi_datatype datatype, enum fi_op op,
			   struct fi_atomic_attr *attr, uint64_t flags)
{
	return -FI_EOPNOTSUPP;
}

NO(int, no_reg, struct fid *fid, const void *buf, size_t len, uint64_t access, uint64_t offset,
   uint64_t requested_key, uint64_t flags, struct fid_mr **mr, void *context)
NO(int, no_regv, struct fid *fid, const struct iovec *iov, size_t count, uint64_t access,
   uint64_t offset, uint64_t requested_key, uint64_t flags, struct fid_mr **mr, void *context)
NO(int, no_regattr, struct fid *fid, const struct fi_mr_attr *attr, uint64_t flags,
   struct fid_mr **mr)

NO(int, no_insert, struct fid_av *av, const void *addr, size_t count, fi_addr_t *fi_addr,
   uint64_t flags, void *context)
NO(int, no_insertsvc, struct fid_av *av, const char *node, const char *service,
   fi_addr_t *fi_addr, uint64_t flags, void *context)
NO(int, no_insertsym, struct fid_av *av, const char *node, size_t nodecnt, const char *service,
   size_t svccnt, fi_addr_t *fi_addr, uint64_t flags, void *context)
NO(int, no_remove, struct fid_av *av, fi_addr_t *fi_addr, size_t count, uint64_t flags)
NO(int, no_lookup, struct fid_av *av, fi_addr_t fi_addr, void *addr, size_t *addrlen)
NO(int, no_av_set, struct fid_av *av, struct fi_av_set_attr *attr, struct fid_av_set **set,
   void *context)
NO(int, no_insert_auth_key, struct fid_av *av, const void *key, size_t size, fi_addr_t *fi_addr,
   uint64_t flags)
NO(int, no_set_user_id, struct fid_av *av, fi_addr_t fi_addr, fi_addr_t user_id, uint64_t flags)

/* The reader prints what comes back, so it may not be NULL. */
static const char *no_straddr(struct fid_av *av, const void *addr, char *buf, size_t *len)
{
	if (buf && len && *len)
		buf[0] = '\0';
	if (len)
		*len = 1;
	return buf;
}

NO(int, no_set_set, struct fid_av_set *dst, const struct fid_av_set *src)
NO(int, no_set_member, struct fid_av_set *set, fi_addr_t addr)
NO(int, no_set_addr, struct fid_av_set *set, fi_addr_t *coll_addr)

NO(ssize_t, no_cq_read, struct fid_cq *cq, void *buf, size_t count)
NO(ssize_t, no_cq_readfrom, struct fid_cq *cq, void *buf, size_t count, fi_addr_t *src_addr)
NO(ssize_t, no_cq_readerr, struct fid_cq *cq, struct fi_cq_err_entry *buf, uint64_t flags)
NO(ssize_t, no_cq_sread, struct fid_cq *cq, void *buf, size_t count, const void *cond,
   int timeout)
NO(ssize_t, no_cq_sreadfrom, struct fid_cq *cq, void *buf, size_t count, fi_addr_t *src_addr,
   const void *cond, int timeout)
NO(int, no_cq_signal, struct fid_cq *cq)

static const char *no_cq_strerror(struct fid_cq *cq, int prov_errno, const void *err_data,
				  char *buf, size_t len)
{
	return "unknown error";
}

static const char *no_eq_strerror(struct fid_eq *eq, int prov_errno, const void *err_data,
				  char *buf, size_t len)
{
	return "unknown error";
}

/* A counter's value cannot carry an error: one without a read reads as 0. */
static uint64_t no_cntr_read(struct fid_cntr *cntr)
{
	return 0;
}

NO(int, no_cntr_change, struct fid_cntr *cntr, uint64_t value)
NO(int, no_cntr_wait, struct fid_cntr *cntr, uint64_t threshold, int timeout)

NO(ssize_t, no_eq_read, struct fid_eq *eq, uint32_t *event, void *buf, size_t len,
   uint64_t flags)
NO(ssize_t, no_eq_readerr, struct fid_eq *eq, struct fi_eq_err_entry *buf, uint64_t flags)
NO(ssize_t, no_eq_write, struct fid_eq *eq, uint32_t event, const void *buf, size_t len,
   uint64_t flags)
NO(ssize_t, no_eq_sread, struct fid_eq *eq, uint32_t *event, void *buf, size_t len, int timeout,
   uint64_t flags)

NO(int, no_wait, struct fid_wait *waitset, int timeout)
NO(int, no_poll, struct fid_poll *pollset, void **context, int count)
NO(int, no_poll_member, struct fid_poll *pollset, struct fid *fid, uint64_t flags)

NO(ssize_t, no_cancel, fid_t fid, void *context)
NO(int, no_tx_ctx, struct fid_ep *sep, int index, struct fi_tx_attr *attr,
   struct fid_ep **tx_ep, void *context)
NO(int, no_rx_ctx, struct fid_ep *sep, int index, struct fi_rx_attr *attr,
   struct fid_ep **rx_ep, void *context)
NO(ssize_t, no_size_left, struct fid_ep *ep)

/* fi_endpoint(3), and runtimes that probe for options: an unknown one. */
static int no_getopt(fid_t fid, int level, int optname, void *optval, size_t *optlen)
{
	return -FI_ENOPROTOOPT;
}

static int no_setopt(fid_t fid, int level, int optname, const void *optval, size_t optlen)
{
	return -FI_ENOPROTOOPT;
}

NO(int, no_setname, fid_t fid, void *addr, size_t addrlen)
NO(int, no_getname, fid_t fid, void *addr, size_t *addrlen)
NO(int, no_getpeer, struct fid_ep *ep, void *addr, size_t *addrlen)
NO(int, no_connect, struct fid_ep *ep, const void *addr, const void *param, size_t paramlen)
NO(int, no_listen, struct fid_pep *pep)
NO(int, no_accept, struct fid_ep *ep, const void *param, size_t paramlen)
NO(int, no_reject, struct fid_pep *pep, fid_t handle, const void *param, size_t paramlen)
NO(int, no_shutdown, struct fid_ep *ep, uint64_t flags)
NO(int, no_join, struct fid_ep *ep, const void *addr, uint64_t flags, struct fid_mc **mc,
   void *context)

NO(ssize_t, no_recv, struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
   void *context)
NO(ssize_t, no_recvv, struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
   fi_addr_t src_addr, void *context)
NO(ssize_t, no_msg, struct fid_ep *ep, const struct fi_msg *msg, uint64_t flags)
NO(ssize_t, no_send, struct fid_ep *ep, const void *buf, size_t len, void *desc,
   fi_addr_t dest_addr, void *context)
NO(ssize_t, no_sendv, struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
   fi_addr_t dest_addr, void *context)
NO(ssize_t, no_inject, struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest_addr)
NO(ssize_t, no_senddata, struct fid_ep *ep, const void *buf, size_t len, void *desc,
   uint64_t data, fi_addr_t dest_addr, void *context)
NO(ssize_t, no_injectdata, struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
   fi_addr_t dest_addr)

NO(ssize_t, no_trecv, struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
   uint64_t tag, uint64_t ignore, void *context)
NO(ssize_t, no_trecvv, struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
   fi_addr_t src_addr, uint64_t tag, uint64_t ignore, void *context)
NO(ssize_t, no_tmsg, struct fid_ep *ep, const struct fi_msg_tagged *msg, uint64_t flags)
NO(ssize_t, no_tsend, struct fid_ep *ep, const void *buf, size_t len, void *desc,
   fi_addr_t dest_addr, uint64_t tag, void *context)
NO(ssize_t, no_tsendv, struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
   fi_addr_t dest_addr, uint64_t tag, void *context)
NO(ssize_t, no_tinject, struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest_addr,
   uint64_t tag)
NO(ssize_t, no_tsenddata, struct fid_ep *ep, const void *buf, size_t len, void *desc,
   uint64_t data, fi_addr_t dest_addr, uint64_t tag, void *context)
NO(ssize_t, no_tinjectdata, struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
   fi_addr_t dest_addr, uint64_t tag)

NO(ssize_t, no_rma_read, struct fid_ep *ep, void *buf, size_t len, void *desc,
   fi_addr_t src_addr, uint64_t addr, uint64_t key, void *context)
NO(ssize_t, no_rma_v, struct fid_ep *ep, const struct iovec *iov, void **desc, size_t count,
   fi_addr_t peer_addr, uint64_t addr, uint64_t key, void *context)
NO(ssize_t, no_rma_msg, struct fid_ep *ep, const struct fi_msg_rma *msg, uint64_t flags)
NO(ssize_t, no_rma_write, struct fid_ep *ep, const void *buf, size_t len, void *desc,
   fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
NO(ssize_t, no_rma_inject, struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest_addr,
   uint64_t addr, uint64_t key)
NO(ssize_t, no_rma_writedata, struct fid_ep *ep, const void *buf, size_t len, void *desc,
   uint64_t data, fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context)
NO(ssize_t, no_rma_injectdata, struct fid_ep *ep, const void *buf, size_t len, uint64_t data,
   fi_addr_t dest_addr, uint64_t addr, uint64_t key)

NO(ssize_t, no_atomic_write, struct fid_ep *ep, const void *buf, size_t count, void *desc,
   fi_addr_t dest_addr, uint64_t addr, uint64_t key, enum fi_datatype datatype, enum fi_op op,
   void *context)
NO(ssize_t, no_atomic_writev, struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
   size_t count, fi_addr_t dest_addr, uint64_t addr, uint64_t key, enum fi_datatype datatype,
   enum fi_op op, void *context)
NO(ssize_t, no_atomic_writemsg, struct fid_ep *ep, const struct fi_msg_atomic *msg,
   uint64_t flags)
NO(ssize_t, no_atomic_inject, struct fid_ep *ep, const void *buf, size_t count,
   fi_addr_t dest_addr, uint64_t addr, uint64_t key, enum fi_datatype datatype, enum fi_op op)
NO(ssize_t, no_atomic_fetch, struct fid_ep *ep, const void *buf, size_t count, void *desc,
   void *result, void *result_desc, fi_addr_t dest_addr, uint64_t addr, uint64_t key,
   enum fi_datatype datatype, enum fi_op op, void *context)
NO(ssize_t, no_atomic_fetchv, struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
   size_t count, struct fi_ioc *resultv, void **result_desc, size_t result_count,
   fi_addr_t dest_addr, uint64_t addr, uint64_t key, enum fi_datatype datatype, enum fi_op op,
   void *context)
NO(ssize_t, no_atomic_fetchmsg, struct fid_ep *ep, const struct fi_msg_atomic *msg,
   struct fi_ioc *resultv, void **result_desc, size_t result_count, uint64_t flags)
NO(ssize_t, no_atomic_compare, struct fid_ep *ep, const void *buf, size_t count, void *desc,
   const void *compare, void *compare_desc, void *result, void *result_desc,
   fi_addr_t dest_addr, uint64_t addr, uint64_t key, enum fi_datatype datatype, enum fi_op op,
   void *context)
NO(ssize_t, no_atomic_comparev, struct fid_ep *ep, const struct fi_ioc *iov, void **desc,
   size_t count, const struct fi_ioc *comparev, void **compare_desc, size_t compare_count,
   struct fi_ioc *resultv, void **result_desc, size_t result_count, fi_addr_t dest_addr,
   uint64_t addr, uint64_t key, enum fi_datatype datatype, enum fi_op op, void *context)
NO(ssize_t, no_atomic_comparemsg, struct fid_ep *ep, const struct fi_msg_atomic *msg,
   const struct fi_ioc *comparev, void **compare_desc, size_t compare_count,
   struct fi_ioc *resultv, void **result_desc, size_t result_count, uint64_t flags)

static int no_atomic_valid(struct fid_ep *ep, enum fi_datatype datatype, enum fi_op op,
			   size_t *count)
{
	return -FI_EOPNOTSUPP;
}

NO(ssize_t, no_barrier, struct fid_ep *ep, fi_addr_t coll_addr, void *context)
NO(ssize_t, no_broadcast, struct fid_ep *ep, void *buf, size_t count, void *desc,
   fi_addr_t coll_addr, fi_addr_t root_addr, enum fi_datatype datatype, uint64_t flags,
   void *context)
NO(ssize_t, no_all, struct fid_ep *ep, const void *buf, size_t count, void *desc, void *result,
   void *result_desc, fi_addr_t coll_addr, enum fi_datatype datatype, uint64_t flags,
   void *context)
NO(ssize_t, no_allreduce, struct fid_ep *ep, const void *buf, size_t count, void *desc,
   void *result, void *result_desc, fi_addr_t coll_addr, enum fi_datatype datatype,
   enum fi_op op, uint64_t flags, void *context)
NO(ssize_t, no_reduce, struct fid_ep *ep, const void *buf, size_t count, void *desc,
   void *result, void *result_desc, fi_addr_t coll_addr, fi_addr_t root_addr,
   enum fi_datatype datatype, enum fi_op op, uint64_t flags, void *context)
NO(ssize_t, no_rooted, struct fid_ep *ep, const void *buf, size_t count, void *desc,
   void *result, void *result_desc, fi_addr_t coll_addr, fi_addr_t root_addr,
   enum fi_datatype datatype, uint64_t flags, void *context)
NO(ssize_t, no_collmsg, struct fid_ep *ep, const struct fi_msg_collective *msg,
   struct fi_ioc *resultv, void **result_desc, size_t result_count, uint64_t flags)
NO(ssize_t, no_barrier2, struct fid_ep *ep, fi_addr_t coll_addr, uint64_t flags, void *context)

const struct obj_ops_defaults obj_ops_defaults = {
	.fid = {
		.size = sizeof(struct fi_ops),
		.close = no_close,
		.bind = no_bind,
		.control = no_control,
		.ops_open = no_ops_open,
		.tostr = no_tostr,
		.ops_set = no_ops_set,
	},
	.fabric = {
		.size = sizeof(struct fi_ops_fabric),
		.domain = no_domain,
		.passive_ep = no_passive_ep,
		.eq_open = no_eq_open,
		.wait_open = no_wait_open,
		.trywait = no_trywait,
		.domain2 = no_domain2,
	},
	.domain = {
		.size = sizeof(struct fi_ops_domain),
		.av_open = no_av_open,
		.cq_open = no_cq_open,
		.endpoint = no_endpoint,
		.scalable_ep = no_scalable_ep,
		.cntr_open = no_cntr_open,
		.poll_open = no_poll_open,
		.stx_ctx = no_stx_ctx,
		.srx_ctx = no_srx_ctx,
		.query_atomic = no_query_atomic,
		.query_collective = no_query_collective,
		.endpoint2 = no_endpoint2,
	},
	.mr = {
		.size = sizeof(struct fi_ops_mr),
		.reg = no_reg,
		.regv = no_regv,
		.regattr = no_regattr,
	},
	.av = {
		.size = sizeof(struct fi_ops_av),
		.insert = no_insert,
		.insertsvc = no_insertsvc,
		.insertsym = no_insertsym,
		.remove = no_remove,
		.lookup = no_lookup,
		.straddr = no_straddr,
		.av_set = no_av_set,
		.insert_auth_key = no_insert_auth_key,
		.lookup_auth_key = no_lookup,
		.set_user_id = no_set_user_id,
	},
	.av_set = {
		.size = sizeof(struct fi_ops_av_set),
		.set_union = no_set_set,
		.intersect = no_set_set,
		.diff = no_set_set,
		.insert = no_set_member,
		.remove = no_set_member,
		.addr = no_set_addr,
	},
	.cq = {
		.size = sizeof(struct fi_ops_cq),
		.read = no_cq_read,
		.readfrom = no_cq_readfrom,
		.readerr = no_cq_readerr,
		.sread = no_cq_sread,
		.sreadfrom = no_cq_sreadfrom,
		.signal = no_cq_signal,
		.strerror = no_cq_strerror,
	},
	.cntr = {
		.size = sizeof(struct fi_ops_cntr),
		.read = no_cntr_read,
		.readerr = no_cntr_read,
		.add = no_cntr_change,
		.set = no_cntr_change,
		.wait = no_cntr_wait,
		.adderr = no_cntr_change,
		.seterr = no_cntr_change,
	},
	.eq = {
		.size = sizeof(struct fi_ops_eq),
		.read = no_eq_read,
		.readerr = no_eq_readerr,
		.write = no_eq_write,
		.sread = no_eq_sread,
		.strerror = no_eq_strerror,
	},
	.wait = {
		.size = sizeof(struct fi_ops_wait),
		.wait = no_wait,
	},
	.poll = {
		.size = sizeof(struct fi_ops_poll),
		.poll = no_poll,
		.poll_add = no_poll_member,
		.poll_del = no_poll_member,
	},
	.ep = {
		.size = sizeof(struct fi_ops_ep),
		.cancel = no_cancel,
		.getopt = no_getopt,
		.setopt = no_setopt,
		.tx_ctx = no_tx_ctx,
		.rx_ctx = no_rx_ctx,
		.rx_size_left = no_size_left,
		.tx_size_left = no_size_left,
	},
	.cm = {
		.size = sizeof(struct fi_ops_cm),
		.setname = no_setname,
		.getname = no_getname,
		.getpeer = no_getpeer,
		.connect = no_connect,
		.listen = no_listen,
		.accept = no_accept,
		.reject = no_reject,
		.shutdown = no_shutdown,
		.join = no_join,
	},
	.msg = {
		.size = sizeof(struct fi_ops_msg),
		.recv = no_recv,
		.recvv = no_recvv,
		.recvmsg = no_msg,
		.send = no_send,
		.sendv = no_sendv,
		.sendmsg = no_msg,
		.inject = no_inject,
		.senddata = no_senddata,
		.injectdata = no_injectdata,
	},
	.tagged = {
		.size = sizeof(struct fi_ops_tagged),
		.recv = no_trecv,
		.recvv = no_trecvv,
		.recvmsg = no_tmsg,
		.send = no_tsend,
		.sendv = no_tsendv,
		.sendmsg = no_tmsg,
		.inject = no_tinject,
		.senddata = no_tsenddata,
		.injectdata = no_tinjectdata,
	},
	.rma = {
		.size = sizeof(struct fi_ops_rma),
		.read = no_rma_read,
		.readv = no_rma_v,
		.readmsg = no_rma_msg,
		.write = no_rma_write,
		.writev = no_rma_v,
		.writemsg = no_rma_msg,
		.inject = no_rma_inject,
		.writedata = no_rma_writedata,
		.injectdata = no_rma_injectdata,
	},
	.atomic = {
		.size = sizeof(struct fi_ops_atomic),
		.write = no_atomic_write,
		.writev = no_atomic_writev,
		.writemsg = no_atomic_writemsg,
		.inject = no_atomic_inject,
		.readwrite = no_atomic_fetch,
		.readwritev = no_atomic_fetchv,
		.readwritemsg = no_atomic_fetchmsg,
		.compwrite = no_atomic_compare,
		.compwritev = no_atomic_comparev,
		.compwritemsg = no_atomic_comparemsg,
		.writevalid = no_atomic_valid,
		.readwritevalid = no_atomic_valid,
		.compwritevalid = no_atomic_valid,
	},
	.collective = {
		.size = sizeof(struct fi_ops_collective),
		.barrier = no_barrier,
		.broadcast = no_broadcast,
		.alltoall = no_all,
		.allreduce = no_allreduce,
		.allgather = no_all,
		.reduce_scatter = no_allreduce,
		.reduce = no_reduce,
		.scatter = no_rooted,
		.gather = no_rooted,
		.msg = no_collmsg,
		.barrier2 = no_barrier2,
	},
};

void obj_ops_fill(void *table, size_t size, const void *defaults)
{
	size_t i, cnt = size / sizeof(void *);
	void **slot = table;
	void *const *from = defaults;

	/* Slot 0 is the size.  A full table is only read: others may be using it. */
	for (i = 1; i < cnt; i++)
		if (!slot[i])
			slot[i] = from[i];
	if (*(size_t *) table != size)
		*(size_t *) table = size;
}

/* A table of defaults may stand for itself: a full table is not written to. */
#define FILL_OR_DEFAULT(ptr, member)						\
	do {									\
		if (!(ptr))							\
			(ptr) = (void *) &obj_ops_defaults.member;		\
		else								\
			OBJ_OPS_FILL(ptr, member);				\
	} while (0)

void obj_ops_fill_ep(struct fid_ep *ep)
{
	FILL_OR_DEFAULT(ep->fid.ops, fid);
	FILL_OR_DEFAULT(ep->ops, ep);
	FILL_OR_DEFAULT(ep->cm, cm);
	FILL_OR_DEFAULT(ep->msg, msg);
	FILL_OR_DEFAULT(ep->rma, rma);
	FILL_OR_DEFAULT(ep->tagged, tagged);
	FILL_OR_DEFAULT(ep->atomic, atomic);
	FILL_OR_DEFAULT(ep->collective, collective);
}
