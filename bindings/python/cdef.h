/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * cdef.h - the part of the C interface that the Python package uses, for cffi.
 *
 * It is no header of C. test/layout_test.py compiles a program against include/rdma that
 * compares each size, offset and prototype below. Objects and enums are opaque here: an
 * object is passed on by its pointer, and an enum is a 32-bit integer.
 */

typedef uint64_t fi_addr_t;

struct fid_fabric;
struct fid_domain;
struct fid_ep;
struct fid_cq;
struct fid_av;
struct fid_mr;
struct fid_nic;
struct fid_wait;
struct fid_xpu_ctx;
struct fid;
typedef struct fid *fid_t;

/* ---- attributes --------------------------------------------------------- */

struct fi_tx_attr {
	uint64_t caps;
	uint64_t mode;
	uint64_t op_flags;
	uint64_t msg_order;
	uint64_t comp_order;
	size_t inject_size;
	size_t size;
	size_t iov_limit;
	size_t rma_iov_limit;
	uint32_t tclass;
};

struct fi_rx_attr {
	uint64_t caps;
	uint64_t mode;
	uint64_t op_flags;
	uint64_t msg_order;
	uint64_t comp_order;
	size_t total_buffered_recv;
	size_t size;
	size_t iov_limit;
};

struct fi_ep_attr {
	uint32_t type;
	uint32_t protocol;
	uint32_t protocol_version;
	size_t max_msg_size;
	size_t msg_prefix_size;
	size_t max_order_raw_size;
	size_t max_order_war_size;
	size_t max_order_waw_size;
	uint64_t mem_tag_format;
	size_t tx_ctx_cnt;
	size_t rx_ctx_cnt;
	size_t auth_key_size;
	uint8_t *auth_key;
	struct fid_xpu_ctx *xpu_ctx;
};

struct fi_domain_attr {
	struct fid_domain *domain;
	char *name;
	uint32_t threading;
	uint32_t control_progress;
	uint32_t data_progress;
	uint32_t resource_mgmt;
	uint32_t av_type;
	int mr_mode;
	size_t mr_key_size;
	size_t cq_data_size;
	size_t cq_cnt;
	size_t ep_cnt;
	size_t tx_ctx_cnt;
	size_t rx_ctx_cnt;
	size_t max_ep_tx_ctx;
	size_t max_ep_rx_ctx;
	size_t max_ep_stx_ctx;
	size_t max_ep_srx_ctx;
	size_t cntr_cnt;
	size_t mr_iov_limit;
	uint64_t caps;
	uint64_t mode;
	uint8_t *auth_key;
	size_t auth_key_size;
	size_t max_err_data;
	size_t mr_cnt;
	uint32_t tclass;
	size_t max_ep_auth_key;
	uint32_t max_group_id;
	uint64_t max_cntr_value;
	uint64_t max_err_cntr_value;
	size_t max_xpu_ctx_cnt;
};

struct fi_fabric_attr {
	struct fid_fabric *fabric;
	char *name;
	char *prov_name;
	uint32_t prov_version;
	uint32_t api_version;
};

struct fi_info {
	struct fi_info *next;
	uint64_t caps;
	uint64_t mode;
	uint32_t addr_format;
	size_t src_addrlen;
	size_t dest_addrlen;
	void *src_addr;
	void *dest_addr;
	fid_t handle;
	struct fi_tx_attr *tx_attr;
	struct fi_rx_attr *rx_attr;
	struct fi_ep_attr *ep_attr;
	struct fi_domain_attr *domain_attr;
	struct fi_fabric_attr *fabric_attr;
	struct fid_nic *nic;
};

struct fi_av_attr {
	uint32_t type;
	int rx_ctx_bits;
	size_t count;
	size_t ep_per_node;
	const char *name;
	void *map_addr;
	uint64_t flags;
};

struct fi_cq_attr {
	size_t size;
	uint64_t flags;
	uint32_t format;
	uint32_t wait_obj;
	int signaling_vector;
	uint32_t wait_cond;
	struct fid_wait *wait_set;
	struct fid_xpu_ctx *xpu_ctx;
};

/* ---- completions --------------------------------------------------------- */

struct fi_context2 {
	void *internal[8];
};

struct fi_cq_tagged_entry {
	void *op_context;
	uint64_t flags;
	size_t len;
	void *buf;
	uint64_t data;
	uint64_t tag;
};

struct fi_cq_err_entry {
	void *op_context;
	uint64_t flags;
	size_t len;
	void *buf;
	uint64_t data;
	uint64_t tag;
	size_t olen;
	int err;
	int prov_errno;
	void *err_data;
	size_t err_data_size;
	fi_addr_t src_addr;
};

/* ---- calls of libfabric.so ------------------------------------------------ */

uint32_t fi_version(void);
const char *fi_strerror(int errnum);
int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
	const struct fi_info *hints, struct fi_info **info);
void fi_freeinfo(struct fi_info *info);
struct fi_info *fi_dupinfo(const struct fi_info *info);
char *fi_tostr_r(char *buf, size_t len, const void *data, uint32_t datatype);
int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);

/* ---- inline functions of the headers, from libfabric-ffi.so ---------------- */

int fi_close(struct fid *fid);
int fi_control(struct fid *fid, int command, void *arg);
int fi_domain(struct fid_fabric *fabric, struct fi_info *info, struct fid_domain **domain,
	void *context);
int fi_trywait(struct fid_fabric *fabric, struct fid **fids, int count);

int fi_cq_open(struct fid_domain *domain, struct fi_cq_attr *attr, struct fid_cq **cq,
	void *context);
ssize_t fi_cq_read(struct fid_cq *cq, void *buf, size_t count);
ssize_t fi_cq_readfrom(struct fid_cq *cq, void *buf, size_t count, fi_addr_t *src_addr);
ssize_t fi_cq_readerr(struct fid_cq *cq, struct fi_cq_err_entry *buf, uint64_t flags);
const char *fi_cq_strerror(struct fid_cq *cq, int prov_errno, const void *err_data, char *buf,
	size_t len);

int fi_mr_reg(struct fid_domain *domain, const void *buf, size_t len, uint64_t acs,
	uint64_t offset, uint64_t requested_key, uint64_t flags, struct fid_mr **mr, void *context);
void *fi_mr_desc(struct fid_mr *mr);
uint64_t fi_mr_key(struct fid_mr *mr);
int fi_mr_bind(struct fid_mr *mr, struct fid *bfid, uint64_t flags);
int fi_mr_enable(struct fid_mr *mr);

int fi_av_open(struct fid_domain *domain, struct fi_av_attr *attr, struct fid_av **av,
	void *context);
int fi_av_insert(struct fid_av *av, const void *addr, size_t count, fi_addr_t *fi_addr,
	uint64_t flags, void *context);
int fi_av_insertsvc(struct fid_av *av, const char *node, const char *service, fi_addr_t *fi_addr,
	uint64_t flags, void *context);
int fi_av_remove(struct fid_av *av, fi_addr_t *fi_addr, size_t count, uint64_t flags);
int fi_av_lookup(struct fid_av *av, fi_addr_t fi_addr, void *addr, size_t *addrlen);
const char *fi_av_straddr(struct fid_av *av, const void *addr, char *buf, size_t *len);

int fi_endpoint(struct fid_domain *domain, struct fi_info *info, struct fid_ep **ep,
	void *context);
int fi_ep_bind(struct fid_ep *ep, struct fid *bfid, uint64_t flags);
int fi_enable(struct fid_ep *ep);
int fi_getname(fid_t fid, void *addr, size_t *addrlen);
ssize_t fi_cancel(fid_t fid, void *context);

ssize_t fi_send(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t dest_addr,
	void *context);
ssize_t fi_senddata(struct fid_ep *ep, const void *buf, size_t len, void *desc, uint64_t data,
	fi_addr_t dest_addr, void *context);
ssize_t fi_inject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest_addr);
ssize_t fi_recv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
	void *context);
ssize_t fi_tsend(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t dest_addr,
	uint64_t tag, void *context);
ssize_t fi_tsenddata(struct fid_ep *ep, const void *buf, size_t len, void *desc, uint64_t data,
	fi_addr_t dest_addr, uint64_t tag, void *context);
ssize_t fi_tinject(struct fid_ep *ep, const void *buf, size_t len, fi_addr_t dest_addr,
	uint64_t tag);
ssize_t fi_trecv(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
	uint64_t tag, uint64_t ignore, void *context);
ssize_t fi_read(struct fid_ep *ep, void *buf, size_t len, void *desc, fi_addr_t src_addr,
	uint64_t addr, uint64_t key, void *context);
ssize_t fi_write(struct fid_ep *ep, const void *buf, size_t len, void *desc, fi_addr_t dest_addr,
	uint64_t addr, uint64_t key, void *context);
ssize_t fi_writedata(struct fid_ep *ep, const void *buf, size_t len, void *desc, uint64_t data,
	fi_addr_t dest_addr, uint64_t addr, uint64_t key, void *context);
