/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What runtimes ask of memory of devices, on a machine with devices (tests/fakegpu) and on one
 * without.  Each asks with FI_HMEM first.  Without a device the answer is -FI_ENODATA and the same
 * query without FI_HMEM succeeds; with one, the first entry moves data between buffers of a device.
 */

#include "rt.h"

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <rdma/fi_rma.h>
#include <rdma/fi_trigger.h>

#include "../../fabtests/common/device.h"
#include "../fakegpu/use.h"
#include "mercury_hints.h"

#define COUNT(array) (sizeof(array) / sizeof(*(array)))
#define LEN 200000

static const char *const kinds[] = { "cuda", "rocr", "ze" };

/* ---- hints ---------------------------------------------------------------------------------- */

static struct fi_info *aws_sendrecv(void)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_LOCAL_COMM | FI_REMOTE_COMM | FI_TAGGED | FI_MSG | FI_RMA | FI_READ;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ENDPOINT | FI_MR_VIRT_ADDR | FI_MR_ALLOCATED |
				  FI_MR_PROV_KEY;
	h->domain_attr->mr_key_size = 2;
	h->domain_attr->threading = FI_THREAD_SAFE;
	return h;
}

static struct fi_info *aws_rdma(void)
{
	struct fi_info *h = aws_sendrecv();

	h->caps = FI_MSG | FI_RMA | FI_LOCAL_COMM | FI_REMOTE_COMM;
	h->domain_attr->threading = FI_THREAD_COMPLETION;
	h->domain_attr->cq_data_size = 4;
	return h;
}

static struct fi_info *nixl(void)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_MSG | FI_RMA | FI_LOCAL_COMM | FI_REMOTE_COMM;
	h->mode = FI_CONTEXT;
	h->domain_attr->mr_mode = FI_MR_LOCAL | FI_MR_ALLOCATED;
	h->domain_attr->threading = FI_THREAD_COMPLETION;
	h->fabric_attr->prov_name = strdup("tcp");
	return h;
}

static struct fi_info *ompi(void)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_MSG | FI_TAGGED | FI_LOCAL_COMM | FI_REMOTE_COMM | FI_DIRECTED_RECV;
	h->mode = FI_CONTEXT | FI_CONTEXT2;
	h->tx_attr->op_flags = h->rx_attr->op_flags = FI_COMPLETION;
	h->tx_attr->msg_order = h->rx_attr->msg_order = FI_ORDER_SAS;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->av_type = FI_AV_MAP;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->cq_data_size = 4;
	h->domain_attr->mr_mode = FI_MR_ALLOCATED;
	return h;
}

/* The second query: the provider is fixed, the caps are those that the first one gave. */
static struct fi_info *mpich(void)
{
	struct fi_info *h = rt_hints();

	h->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_MULTI_RECV | FI_ATOMIC;
	h->mode = FI_CONTEXT | FI_ASYNC_IOV | FI_CONTEXT2;
	h->domain_attr->threading = FI_THREAD_DOMAIN;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_VIRT_ADDR | FI_MR_PROV_KEY;
	h->fabric_attr->prov_name = strdup("tcp");
	return h;
}

static struct fi_info *mercury(void)
{
	return mercury_hints(&mercury_tcp, FI_THREAD_SAFE);
}

static const struct query {
	const char *name;
	uint32_t versions[3];
	struct fi_info *(*hints)(void);
} queries[] = {
	{ "aws-ofi-nccl sendrecv", { FI_VERSION(1, 20), FI_VERSION(1, 18), FI_VERSION(1, 6) }, aws_sendrecv },
	{ "aws-ofi-nccl rdma", { FI_VERSION(2, 5), FI_VERSION(1, 20), FI_VERSION(1, 18) }, aws_rdma },
	{ "NIXL", { FI_VERSION(1, 18) }, nixl },
	{ "Open MPI", { FI_VERSION(1, 18), FI_VERSION(1, 9) }, ompi },
	{ "MPICH", { FI_VERSION(1, 14) }, mpich },
	{ "Mercury", { FI_VERSION(1, 20), FI_VERSION(1, 13) }, mercury },
};

static struct fi_info *hints_of(const struct query *q, bool hmem)
{
	struct fi_info *h = q->hints();

	h->ep_attr->type = FI_EP_RDM;
	if (!hmem)
		return h;
	h->caps |= FI_HMEM;
	h->domain_attr->mr_mode |= FI_MR_HMEM;
	return h;
}

/* ---- what is said ---------------------------------------------------------------------------- */

static void said(const char *text)
{
	static char line[8192];

	rt_said(line, sizeof(line));
	if (!strstr(line, text))
		fail_msg("not said: %s\nbut: %s", text, line);
}

/* ---- without devices -------------------------------------------------------------------------- */

static void test_absent(void **state)
{
	struct fi_info *info;

	for (size_t i = 0; i < COUNT(queries); i++)
		for (size_t v = 0; v < 3 && queries[i].versions[v]; v++) {
			struct rt_query q = { .version = queries[i].versions[v] };

			q.hints = hints_of(&queries[i], true);
			rt_none(&q);
			fi_freeinfo(q.hints);
			q.hints = hints_of(&queries[i], false);
			info = rt_all(&q);
			assert_false(info->caps & FI_HMEM);
			assert_false(info->domain_attr->mr_mode & FI_MR_HMEM);
			fi_freeinfo(info);
			fi_freeinfo(q.hints);
		}
}

/* Memory of a device that is not there is refused, not taken for the host's. */
static void test_absent_region(void **state)
{
	static const struct rt_setup setup = { .cq_format = FI_CQ_FORMAT_TAGGED };
	struct rt_query q = { .version = FI_VERSION(1, 20), .hints = hints_of(&queries[0], false) };
	static char buf[64];
	struct iovec iov = { buf, sizeof(buf) };
	struct fi_mr_attr attr = { .mr_iov = &iov, .iov_count = 1, .access = FI_SEND };
	struct fid_mr *mr;
	struct rt_world w;

	rt_open(&w, rt_all(&q), &setup);
	for (attr.iface = FI_HMEM_CUDA; attr.iface <= FI_HMEM_SYNAPSEAI; attr.iface++) {
		rt_hush();
		assert_int_equal(fi_mr_regattr(w.domain, &attr, 0, &mr), -FI_EOPNOTSUPP);
		said("the domain was opened without FI_HMEM");
	}
	rt_close(&w);
	fi_freeinfo(q.hints);
}

/* ---- with devices ------------------------------------------------------------------------------ */

/* Buffers of a device at both ends. */
struct bufs {
	struct rt_world *w;
	char *at[2];
	struct fid_mr *mr[2];
	void *desc[2];
	char host[2][LEN];
};

/* As the plugins do: by address, or as FI_MR_DMABUF where the runtime has an interface for that. */
static void bufs_open(struct bufs *b, struct rt_world *w, const char *kind)
{
	struct iovec iov;
	struct fi_mr_attr attr = {
		.mr_iov = &iov, .iov_count = 1,
		.access = FI_SEND | FI_RECV | FI_READ | FI_WRITE | FI_REMOTE_READ | FI_REMOTE_WRITE,
	};

	b->w = w;
	assert_null(device_open(kind, 1));
	device_attr(&attr);
	for (int i = 0; i < 2; i++) {
		b->at[i] = device_alloc(LEN);
		assert_non_null(b->at[i]);
		iov = (struct iovec) { b->at[i], LEN };
		attr.requested_key = 0x30 + (uint64_t) i;
		assert_int_equal(fi_mr_regattr(w->domain, &attr, 0, &b->mr[i]), 0);
		b->desc[i] = fi_mr_desc(b->mr[i]);
		assert_non_null(b->desc[i]);
	}
}

static void bufs_close(struct bufs *b)
{
	for (int i = 0; i < 2; i++) {
		assert_int_equal(fi_close(&b->mr[i]->fid), 0);
		device_free(b->at[i]);
	}
}

static void put(struct bufs *b, int seed)
{
	for (size_t i = 0; i < LEN; i++)
		b->host[0][i] = (char) (i * 13 + (size_t) seed);
	assert_true(device_put(b->at[0], b->host[0], LEN));
}

static void check(struct bufs *b)
{
	assert_true(device_get(b->host[1], b->at[1], LEN));
	assert_memory_equal(b->host[1], b->host[0], LEN);
}

static void message(struct bufs *b, bool tagged)
{
	struct fi_context2 ctx[2];
	struct rt_world *w = b->w;

	put(b, tagged);
	rt_do(w, tagged ? fi_trecv(w->ep[1], b->at[1], LEN, b->desc[1], FI_ADDR_UNSPEC, 7, 0, &ctx[1]) :
			  fi_recv(w->ep[1], b->at[1], LEN, b->desc[1], FI_ADDR_UNSPEC, &ctx[1]));
	rt_do(w, tagged ? fi_tsend(w->ep[0], b->at[0], LEN, b->desc[0], w->addr[1], 7, &ctx[0]) :
			  fi_send(w->ep[0], b->at[0], LEN, b->desc[0], w->addr[1], &ctx[0]));
	rt_wait(w, 0);
	rt_wait(w, 1);
	check(b);
}

/* A write, and then the read of a few bytes into memory of the host that flushes it. */
static void write_and_flush(struct bufs *b, uint64_t caps)
{
	uint64_t addr = b->w->info->domain_attr->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t) b->at[1] : 0;
	static char flush[4];
	struct fi_context2 ctx;
	struct rt_world *w = b->w;

	put(b, 5);
	if (caps & FI_WRITE) {
		rt_do(w, fi_write(w->ep[0], b->at[0], LEN, b->desc[0], w->addr[1], addr,
				  fi_mr_key(b->mr[1]), &ctx));
		rt_wait(w, 0);
	} else {
		assert_true(device_put(b->at[1], b->host[0], LEN));
	}
	memset(flush, 0, sizeof(flush));
	rt_do(w, fi_read(w->ep[0], flush, sizeof(flush), rt_desc(w, flush, sizeof(flush), FI_READ),
			 w->addr[1], addr, fi_mr_key(b->mr[1]), &ctx));
	rt_wait(w, 0);
	check(b);
	assert_memory_equal(flush, b->host[0], sizeof(flush));
}

static void transfers(const struct query *query, struct fi_info *info, const char *kind)
{
	static const struct rt_setup setup = { .av_type = FI_AV_MAP, .cq_format = FI_CQ_FORMAT_TAGGED };
	static struct bufs b;
	uint64_t caps = info->caps;
	struct rt_world w;

	print_message("%s: %s buffers over %s\n", query->name, kind, info->fabric_attr->prov_name);
	rt_open(&w, info, &setup);
	bufs_open(&b, &w, kind);
	if (caps & FI_MSG)
		message(&b, false);
	if (caps & FI_TAGGED)
		message(&b, true);
	if (caps & FI_RMA)
		write_and_flush(&b, caps);
	bufs_close(&b);
	rt_close(&w);
}

static void test_present(void **state)
{
	struct fi_info *info;

	for (size_t i = 0; i < COUNT(queries); i++)
		for (size_t v = 0; v < 3 && queries[i].versions[v]; v++) {
			struct rt_query q = { .version = queries[i].versions[v],
					      .hints = hints_of(&queries[i], true) };

			info = rt_all(&q);
			assert_true(info->caps & FI_HMEM);
			assert_true(info->domain_attr->mr_mode & FI_MR_HMEM);
			fi_freeinfo(info->next);
			info->next = NULL;
			transfers(&queries[i], info, kinds[(i + v) % 3]);
			fi_freeinfo(q.hints);
		}
}

/* FI_MR_DMABUF with the interface that made the buffer: providers that copy use the address. */
static void test_dmabuf_region(void **state)
{
	static const struct rt_setup setup = { .cq_format = FI_CQ_FORMAT_TAGGED };
	struct rt_query q = { .version = FI_VERSION(1, 20), .hints = hints_of(&queries[0], true) };
	struct fi_mr_dmabuf dmabuf = { .fd = -1, .len = LEN };
	struct fi_mr_attr attr = { .dmabuf = &dmabuf, .iov_count = 1, .access = FI_SEND };
	struct fid_mr *mr;
	struct rt_world w;

	rt_open(&w, rt_all(&q), &setup);
	assert_null(device_open("cuda", 1));
	device_attr(&attr);
	dmabuf.base_addr = device_alloc(LEN);
	assert_int_equal(fi_mr_regattr(w.domain, &attr, FI_MR_DMABUF, &mr), 0);
	assert_int_equal(fi_close(&mr->fid), 0);
	device_free(dmabuf.base_addr);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

/* aws-ofi-nccl forbids CUDA calls, and falls back where that cannot be had. */
static void test_cuda_calls(void **state)
{
	static const struct rt_setup setup = { .cq_format = FI_CQ_FORMAT_TAGGED };
	struct rt_query q = { .version = FI_VERSION(1, 20), .hints = hints_of(&queries[1], true) };
	bool no = false, yes = true;
	struct rt_world w;

	rt_open(&w, rt_all(&q), &setup);
	rt_hush();
	assert_int_equal(fi_setopt(&w.ep[0]->fid, FI_OPT_ENDPOINT, FI_OPT_CUDA_API_PERMITTED, &no,
				   sizeof(no)), -FI_EOPNOTSUPP);
	said("copies device memory by calls of CUDA");
	assert_int_equal(fi_setopt(&w.ep[0]->fid, FI_OPT_ENDPOINT, FI_OPT_CUDA_API_PERMITTED, &yes,
				   sizeof(yes)), 0);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

/* Each registration that is refused, with its reason.  None becomes one of memory of the host. */
static void test_refusals(void **state)
{
	static const struct rt_setup setup = { .cq_format = FI_CQ_FORMAT_TAGGED };
	struct rt_query q = { .version = FI_VERSION(1, 20), .hints = hints_of(&queries[0], true) };
	static char stack[64];
	char *buf;
	const struct {
		enum fi_hmem_iface iface;
		int device;
		void *at;		/* NULL: memory of the device that is open */
		uint64_t flags;
		int ret;
		const char *text;
	} t[] = {
		{ FI_HMEM_CUDA, 0, NULL, 0, -FI_EINVAL, "memory of another CUDA device" },
		{ FI_HMEM_CUDA, 1, stack, 0, -FI_EINVAL, "the CUDA driver does not know this memory" },
		{ FI_HMEM_ROCR, 1, stack, 0, -FI_EINVAL, "the HSA runtime does not know this memory" },
		{ FI_HMEM_ZE, 1, stack, 0, -FI_EINVAL, "Level Zero does not know this memory" },
		{ FI_HMEM_NEURON, 0, stack, 0, -FI_EOPNOTSUPP, "libnrt.so.1: cannot open" },
		{ FI_HMEM_SYNAPSEAI, 0, stack, 0, -FI_EOPNOTSUPP, "libSynapse.so: cannot open" },
		{ FI_HMEM_CUDA, 1, NULL, FI_HMEM_HOST_ALLOC, -FI_EINVAL, "the CPU cannot access" },
		{ FI_HMEM_CUDA, 1, NULL, FI_HMEM_HOST_ALLOC | FI_HMEM_DEVICE_ONLY, -FI_EINVAL,
		  "exclude each other" },
		{ FI_HMEM_CUDA, 1, NULL, FI_HMEM_DEVICE_ONLY, 0, "" },
	};
	struct fid_mr *mr;
	struct rt_world w;

	rt_open(&w, rt_all(&q), &setup);
	assert_null(device_open("cuda", 1));
	buf = device_alloc(LEN);
	for (size_t i = 0; i < COUNT(t); i++) {
		struct iovec iov = { t[i].at ? t[i].at : buf, 64 };
		struct fi_mr_attr attr = { .mr_iov = &iov, .iov_count = 1, .access = FI_SEND,
					   .iface = t[i].iface, .device.cuda = t[i].device };

		mr = NULL;
		rt_hush();
		assert_int_equal(fi_mr_regattr(w.domain, &attr, t[i].flags, &mr), t[i].ret);
		said(t[i].text);
		if (mr)
			assert_int_equal(fi_close(&mr->fid), 0);
	}
	device_free(buf);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

/* ---- copies of the program (FI_SET_OPS_HMEM_OVERRIDE) ------------------------------------------------ */

static unsigned copies_out, copies_in;

static ssize_t copy_from(void *dest, size_t size, enum fi_hmem_iface iface, uint64_t device,
			 const struct iovec *iov, size_t cnt, uint64_t off)
{
	assert_int_equal(iface, FI_HMEM_CUDA);
	assert_int_equal(device, 1);
	assert_int_equal(cnt, 1);
	__atomic_add_fetch(&copies_out, 1, __ATOMIC_RELAXED);
	return device_get(dest, (char *) iov[0].iov_base + off, size) ? (ssize_t) size : -FI_EIO;
}

static ssize_t copy_to(enum fi_hmem_iface iface, uint64_t device, const struct iovec *iov, size_t cnt,
		       uint64_t off, const void *src, size_t size)
{
	assert_int_equal(cnt, 1);
	__atomic_add_fetch(&copies_in, 1, __ATOMIC_RELAXED);
	return device_put((char *) iov[0].iov_base + off, src, size) ? (ssize_t) size : -FI_EIO;
}

static void test_own_copies(void **state)
{
	static const struct rt_setup setup = { .av_type = FI_AV_MAP, .cq_format = FI_CQ_FORMAT_TAGGED };
	static struct fi_hmem_override_ops ops = { sizeof(ops), copy_from, copy_to };
	struct rt_query q = { .version = FI_VERSION(1, 20), .hints = hints_of(&queries[0], true) };
	static struct bufs b;
	struct rt_world w;

	rt_open(&w, rt_all(&q), &setup);
	assert_int_equal(fi_set_ops(&w.domain->fid, FI_SET_OPS_HMEM_OVERRIDE, 0, &ops, NULL), 0);
	bufs_open(&b, &w, "cuda");
	message(&b, true);
	assert_true(copies_out > 0);
	assert_true(copies_in > 0);
	bufs_close(&b);
	ops.size = 8;	/* of an older program, without the functions */
	assert_int_equal(fi_set_ops(&w.domain->fid, FI_SET_OPS_HMEM_OVERRIDE, 0, &ops, NULL),
			 -FI_EINVAL);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

/* No operation is triggered by a device. */
static void test_no_xpu(void **state)
{
	static const struct rt_setup setup = { .cq_format = FI_CQ_FORMAT_TAGGED };
	struct rt_query q = { .version = FI_VERSION(1, 20), .hints = hints_of(&queries[0], true) };
	struct fi_trigger_xpu xpu = { .iface = FI_HMEM_CUDA };
	size_t len = sizeof(xpu);
	struct rt_world w;

	rt_open(&w, rt_all(&q), &setup);
	assert_int_equal(fi_getopt(&w.ep[0]->fid, FI_OPT_ENDPOINT, FI_OPT_XPU_TRIGGER, &xpu, &len),
			 -FI_ENOPROTOOPT);
	rt_close(&w);
	fi_freeinfo(q.hints);
}

/* ---- either way ----------------------------------------------------------------------------------- */

/* oneCCL opens shm by name and refuses one that has FI_HMEM; MPICH's first query has no hints.  What
 * does not ask for it does not get it.
 */
static void test_not_asked(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 10), .hints = rt_hints() };
	struct fi_info *info;

	q.hints->caps = FI_TAGGED;
	q.hints->mode = FI_CONTEXT;
	q.hints->ep_attr->type = FI_EP_RDM;
	q.hints->fabric_attr->prov_name = strdup("shm");
	info = rt_all(&q);
	assert_false(info->caps & FI_HMEM);
	fi_freeinfo(info);
	fi_freeinfo(q.hints);
	assert_int_equal(fi_getinfo(FI_VERSION(1, 14), NULL, NULL, 0, NULL, &info), 0);
	for (const struct fi_info *i = info; i; i = i->next)
		assert_false(i->caps & FI_HMEM);
	fi_freeinfo(info);
}

/* oneCCL's path for devices is for RDMA devices alone. */
static void test_oneccl_verbs(void **state)
{
	struct rt_query q = { .version = FI_VERSION(1, 10), .hints = rt_hints() };
	struct fi_info *h = q.hints, *info;

	h->caps = FI_TAGGED | FI_HMEM;
	h->mode = FI_CONTEXT;
	h->ep_attr->type = FI_EP_RDM;
	h->domain_attr->resource_mgmt = FI_RM_ENABLED;
	h->domain_attr->mr_mode = FI_MR_ALLOCATED | FI_MR_PROV_KEY | FI_MR_VIRT_ADDR | FI_MR_LOCAL |
				  FI_MR_HMEM | FI_MR_ENDPOINT;
	h->fabric_attr->prov_name = strdup("verbs;ofi_rxm");
	if (!getenv("FAKEGPU")) {
		rt_none(&q);
	} else if (!fi_getinfo(q.version, NULL, NULL, 0, h, &info)) {
		assert_true(info->caps & FI_HMEM);
		fi_freeinfo(info);
	}
	fi_freeinfo(h);
}

/* ---- both machines ------------------------------------------------------------------------------------ */

static int without(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_absent),
		cmocka_unit_test(test_absent_region),
		cmocka_unit_test(test_not_asked),
		cmocka_unit_test(test_oneccl_verbs),
	};

	return cmocka_run_group_tests_name("without devices", tests, NULL, NULL);
}

static int with(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_present),
		cmocka_unit_test(test_dmabuf_region),
		cmocka_unit_test(test_cuda_calls),
		cmocka_unit_test(test_refusals),
		cmocka_unit_test(test_own_copies),
		cmocka_unit_test(test_no_xpu),
		cmocka_unit_test(test_not_asked),
		cmocka_unit_test(test_oneccl_verbs),
	};

	return cmocka_run_group_tests_name("with devices", tests, NULL, NULL);
}

int main(int argc, char **argv)
{
	int status;
	pid_t pid;

	if (getenv("FAKEGPU"))
		return with();
	/* a machine whose devices no interface may start is one without them */
	fflush(stdout);
	pid = fork();
	if (!pid) {
		setenv("FI_HMEM", "system", 1);
		status = without();
		fflush(stdout);
		_exit(status ? 1 : 0);
	}
	if (waitpid(pid, &status, 0) != pid || status)
		return 1;
	fakegpu_use(argv);
	return argc;
}
