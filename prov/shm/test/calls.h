/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* calls.h - for tests through the public API: an endpoint with its objects, and common
 * steps.  Included after <cmocka.h>.
 */
#ifndef SHM_CALLS_H
#define SHM_CALLS_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_tagged.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "obj/test/calls.h"

#define NAME_MAX_LEN 64
#define BIG (1 << 20)
#define PATIENCE_MS 30000

/* One object of each kind. */
struct node {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_ep *ep;
};

static inline void name_of(char *name, pid_t test, int i)
{
	snprintf(name, NAME_MAX_LEN, "test://shm-%d-%d", test, i);
}

static inline struct fi_info *ask(enum fi_progress progress)
{
	struct fi_info *hints = fi_allocinfo(), *info;

	hints->caps = FI_MSG | FI_TAGGED | FI_RMA | FI_DIRECTED_RECV;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->data_progress = progress;
	hints->domain_attr->control_progress = progress;
	hints->fabric_attr->prov_name = strdup("shm");
	CALL(fi_getinfo(FI_VERSION(1, 20), NULL, NULL, 0, hints, &info));
	fi_freeinfo(hints);
	return info;
}

static inline void open_objects(struct node *n, enum fi_progress progress)
{
	struct fi_cq_attr cq = { .format = FI_CQ_FORMAT_TAGGED, .wait_obj = FI_WAIT_FD,
				 .size = 4096 };
	struct fi_av_attr av = { .type = FI_AV_TABLE };

	n->info = ask(progress);
	CALL(fi_fabric(n->info->fabric_attr, &n->fabric, NULL));
	CALL(fi_domain(n->fabric, n->info, &n->domain, NULL));
	CALL(fi_cq_open(n->domain, &cq, &n->cq, NULL));
	CALL(fi_av_open(n->domain, &av, &n->av, NULL));
}

static inline int open_ep(struct node *n, const char *name)
{
	CALL(fi_endpoint(n->domain, n->info, &n->ep, NULL));
	if (name)
		CALL(fi_setname(&n->ep->fid, (void *) name, strlen(name) + 1));
	CALL(fi_ep_bind(n->ep, &n->cq->fid, FI_TRANSMIT | FI_RECV));
	CALL(fi_ep_bind(n->ep, &n->av->fid, 0));
	return fi_enable(n->ep);
}

static inline void open_node(struct node *n, const char *name)
{
	open_objects(n, FI_PROGRESS_MANUAL);
	CALL(open_ep(n, name));
}

static inline void close_node(struct node *n)
{
	CALL(fi_close(&n->ep->fid));
	CALL(fi_close(&n->av->fid));
	CALL(fi_close(&n->cq->fid));
	CALL(fi_close(&n->domain->fid));
	CALL(fi_close(&n->fabric->fid));
	fi_freeinfo(n->info);
}

static inline fi_addr_t add(struct node *n, const char *name)
{
	fi_addr_t addr;

	CHECK(fi_av_insert(n->av, name, 1, &addr, 0, NULL) == 1);
	return addr;
}

/* Completions are counted; an error's number is the result. */
static inline int await(struct node *n, unsigned cnt)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	uint64_t end = now_ms() + PATIENCE_MS;
	ssize_t ret;

	while (cnt) {
		ret = fi_cq_read(n->cq, &entry, 1);
		if (ret == 1) {
			cnt--;
			continue;
		}
		if (ret == -FI_EAVAIL) {
			CHECK(fi_cq_readerr(n->cq, &err, 0) == 1);
			return err.err;
		}
		CHECK(ret == -FI_EAGAIN && now_ms() < end);
	}
	return 0;
}

#define POST(n, call)								\
	do {									\
		ssize_t post_;							\
		while ((post_ = (call)) == -FI_EAGAIN)				\
			fi_cq_read((n)->cq, NULL, 0);				\
		CALL(post_);							\
	} while (0)

static inline void fill(uint8_t *buf, size_t len, unsigned salt)
{
	size_t i;

	for (i = 0; i < len; i++)
		buf[i] = (uint8_t) (i * 7 + (i >> 8) + salt);
}

static inline void verify(const uint8_t *buf, size_t len, unsigned salt)
{
	size_t i;

	for (i = 0; i < len; i++)
		CHECK(buf[i] == (uint8_t) (i * 7 + (i >> 8) + salt));
}

static inline void reap(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
}

static inline void say(int fd)
{
	CHECK(write(fd, "", 1) == 1);
}

static inline void drain_wakeups(int fd)
{
	char byte;

	CHECK(read(fd, &byte, 1) == 1);
}

/* may_write - is the system call allowed that writes another process's memory? */
static inline bool may_write(void)
{
	char bytes[8] = "";
	struct iovec iov = { bytes, 8 };

	return process_vm_writev(getpid(), &iov, 1, &iov, 1, 0) == 8;
}

#endif
