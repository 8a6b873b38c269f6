/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Memory regions and keys: a domain has two endpoints, each with another key, and a region for the peers of each.  A
 * peer writes and reads what has its key, and nothing else, whether its accesses are packets or native ones.
 */
#include "tests/secure/side.h"

#include <fcntl.h>
#include <rdma/fi_rma.h>

#define WAIT_MS 20000
#define LONG 100000		/* native, over shared memory */
#define NAME_SIZE 128

static uint8_t keys[2][SIDE_KEY_SIZE];
static uint8_t memory[2][LONG], local[LONG];

struct node {
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	uint8_t name[NAME_SIZE];
};

static struct fi_info *find_info(const uint8_t *domain_key, const uint8_t *ep_key)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	CHECK(hints);
	hints->caps = FI_RMA;
	hints->tx_attr->op_flags = FI_DELIVERY_COMPLETE;	/* the result of a short write, too */
	hints->ep_attr->type = FI_EP_RDM;
	hints->fabric_attr->prov_name = strdup(getenv("PROV"));
	hints->domain_attr->auth_key = malloc(SIDE_KEY_SIZE);
	memcpy(hints->domain_attr->auth_key, domain_key, SIDE_KEY_SIZE);
	hints->domain_attr->auth_key_size = SIDE_KEY_SIZE;
	hints->ep_attr->auth_key = malloc(SIDE_KEY_SIZE);
	memcpy(hints->ep_attr->auth_key, ep_key, SIDE_KEY_SIZE);
	hints->ep_attr->auth_key_size = SIDE_KEY_SIZE;
	CALL(fi_getinfo(FI_VERSION(2, 0), strcmp(getenv("PROV"), "shm") ? "127.0.0.1" : NULL, NULL,
			strcmp(getenv("PROV"), "shm") ? FI_SOURCE : 0, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static void open_node(struct node *n, struct fid_domain *domain, struct fi_info *info)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_CONTEXT };
	struct fi_av_attr av = { .type = FI_AV_TABLE };
	size_t len = sizeof(n->name);

	CALL(fi_cq_open(domain, &cq, &n->cq, NULL));
	CALL(fi_av_open(domain, &av, &n->av, NULL));
	CALL(fi_endpoint(domain, info, &n->ep, NULL));
	CALL(fi_ep_bind(n->ep, &n->cq->fid, FI_TRANSMIT | FI_RECV));
	CALL(fi_ep_bind(n->ep, &n->av->fid, 0));
	CALL(fi_enable(n->ep));
	CALL(fi_getname(&n->ep->fid, n->name, &len));
}

static void close_node(struct node *n)
{
	CALL(fi_close(&n->ep->fid));
	CALL(fi_close(&n->av->fid));
	CALL(fi_close(&n->cq->fid));
}

/* do_access - @from writes, or reads, @len bytes of @mr, a region at @to.  Returns 0 or the error of its completion. */
static int do_access(struct node *from, const struct node *to, struct fid_mr *mr, size_t len, bool writes)
{
	uint64_t until = now_ms() + WAIT_MS;
	struct fi_cq_err_entry err = { 0 };
	struct fi_cq_entry entry;
	fi_addr_t addr;
	ssize_t ret;

	CHECK(fi_av_insert(from->av, to->name, 1, &addr, 0, NULL) == 1);
	do {
		ret = writes ? fi_write(from->ep, local, len, NULL, addr, 0, fi_mr_key(mr), NULL) :
			       fi_read(from->ep, local, len, NULL, addr, 0, fi_mr_key(mr), NULL);
		fi_cq_read(to->cq, &entry, 0);
	} while (ret == -FI_EAGAIN && fi_cq_read(from->cq, &entry, 0) == -FI_EAGAIN);
	CALL(ret);
	while ((ret = fi_cq_read(from->cq, &entry, 1)) == -FI_EAGAIN) {
		CHECK(now_ms() < until);
		fi_cq_read(to->cq, &entry, 0);
	}
	if (ret == 1)
		return 0;
	CHECK(fi_cq_readerr(from->cq, &err, 0) == 1);
	return err.err;
}

static struct fid_mr *register_region(struct fid_domain *domain, int which, const uint8_t *key)
{
	struct iovec iov = { memory[which], LONG };
	struct fi_mr_attr attr = { .mr_iov = &iov, .iov_count = 1, .access = FI_REMOTE_WRITE | FI_REMOTE_READ,
				   .requested_key = (uint64_t) which + 1 };
	struct fid_mr *mr;

	attr.auth_key = (uint8_t *) key;
	attr.auth_key_size = key ? SIDE_KEY_SIZE : 0;
	CALL(fi_mr_regattr(domain, &attr, 0, &mr));
	return mr;
}

/* Peer i has the key of endpoint i, and of region i, which for 0 is the domain's. */
static void each_reaches_its_own(void **state)
{
	static const size_t lens[] = { 8, 4096, LONG };
	struct fid_domain *domain[3];
	struct node node[2], peer[2];
	struct fid_fabric *fabric;
	struct fi_info *info[2];
	struct fid_mr *mr[2];
	int i, k, writes, err;
	size_t n;

	for (i = 0; i < 2; i++)
		info[i] = find_info(keys[0], keys[i]);
	CALL(fi_fabric(info[0]->fabric_attr, &fabric, NULL));
	CALL(fi_domain(fabric, info[0], &domain[2], NULL));
	for (i = 0; i < 2; i++) {
		CALL(fi_domain(fabric, info[i], &domain[i], NULL));
		open_node(&node[i], domain[2], info[i]);
		open_node(&peer[i], domain[i], info[i]);
		mr[i] = register_region(domain[2], i, i ? keys[1] : NULL);
	}
	for (n = 0; n < sizeof(lens) / sizeof(lens[0]); n++)
		for (i = 0; i < 2; i++)
			for (k = 0; k < 2; k++)
				for (writes = 0; writes < 2; writes++) {
					memset(local, 0x5a, sizeof(local));
					memset(memory, 0x11, sizeof(memory));
					err = do_access(&peer[i], &node[i], mr[k], lens[n], writes);
					assert_int_equal(err, i == k ? 0 : FI_EACCES);
					assert_int_equal(memory[k][lens[n] - 1], i == k && writes ? 0x5a : 0x11);
					assert_int_equal(local[0], i == k && !writes ? 0x11 : 0x5a);
				}
	for (i = 0; i < 2; i++) {
		CALL(fi_close(&mr[i]->fid));
		close_node(&peer[i]);
		close_node(&node[i]);
		CALL(fi_close(&domain[i]->fid));
		fi_freeinfo(info[i]);
	}
	CALL(fi_close(&domain[2]->fid));
	CALL(fi_close(&fabric->fid));
}

/* A key that is none, or that nothing would check. */
static void keys_that_are_refused(void **state)
{
	struct fi_info *info = find_info(keys[0], keys[0]);
	struct iovec iov = { memory[0], LONG };
	struct fi_mr_attr attr = { .mr_iov = &iov, .iov_count = 1, .access = FI_REMOTE_WRITE };
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_mr *mr;

	CALL(fi_fabric(info->fabric_attr, &fabric, NULL));
	CALL(fi_domain(fabric, info, &domain, NULL));
	attr.auth_key_size = SIDE_KEY_SIZE;
	assert_int_equal(fi_mr_regattr(domain, &attr, 0, &mr), -FI_EINVAL);
	attr.auth_key = keys[0];
	attr.auth_key_size = FI_AV_AUTH_KEY;
	assert_int_equal(fi_mr_regattr(domain, &attr, 0, &mr), -FI_EINVAL);
	CALL(fi_close(&domain->fid));
	CALL(fi_close(&fabric->fid));
	fi_freeinfo(info);
}

static int run_in_child(const char *prov, const char *level)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_reaches_its_own),
		cmocka_unit_test(keys_that_are_refused),
	};
	int status = 0;
	pid_t pid = fork();

	if (!pid) {
		printf("# %s, %s\n", prov, level);
		setenv("PROV", prov, 1);
		setenv("FI_SECURITY", level, 1);
		CALL(fi_import_log(FI_VERSION(2, 0), 0, &log_fid));
		exit(cmocka_run_group_tests(tests, NULL, NULL) ? 1 : 0);
	}
	return pid < 0 || waitpid(pid, &status, 0) != pid || status;
}

int main(void)
{
	static const char *const provs[] = {
		"tcp",
#if HAVE_SHM
		"shm",
#endif
#if HAVE_RXM
		"tcp;ofi_rxm",
#endif
	};
	int failed = 0, local_on;
	size_t i;

	setvbuf(stdout, NULL, _IONBF, 0);
	unsetenv("FI_AUTH_KEY_FILE");
	memset(keys[0], 0xa1, SIDE_KEY_SIZE);
	memset(keys[1], 0xb2, SIDE_KEY_SIZE);
	for (local_on = 0; local_on < 2; local_on++) {
		setenv("FI_TCP_LOCAL", local_on ? "1" : "0", 1);
		setenv("FI_OFI_RXM_LOCAL", local_on ? "1" : "0", 1);
		for (i = 0; i < sizeof(provs) / sizeof(provs[0]); i++)
			failed += run_in_child(provs[i], "encrypt") + run_in_child(provs[i], "auth");
	}
	return failed ? 1 : 0;
}
