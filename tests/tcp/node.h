/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * node.h - shared by the tests of tcp between many processes: an RDM endpoint with everything
 * it needs, through the public API.
 *
 * A check that fails prints its location and ends the program; children end with their parent.
 */
#ifndef TCP_NODE_H
#define TCP_NODE_H

#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>

#include "base/test/value.h"

#define CHECK(cond, ...)							\
	do {									\
		if (!(cond)) {							\
			node_fail(__FILE__, __LINE__, #cond, " " __VA_ARGS__);	\
		}								\
	} while (0)
#define CALL(call)								\
	do {									\
		long ret_ = (long) (call);					\
		char text_[64];							\
		CHECK(!ret_, "%s is %s", #call,					\
		      verify_value_text((uintmax_t) ret_, false, text_, sizeof(text_))); \
	} while (0)

#define SKIPPED 77

/* node_fail - print the reason and end. */
void node_fail(const char *file, int line, const char *what, const char *format, ...)
	__attribute__((noreturn, format(printf, 4, 5)));

/* node_stay_far - disable shared memory between providers that would use it for peers on this
 * host: before the first call of the library.
 * @force: also if the environment says otherwise
 */
void node_stay_far(int force);

struct node {
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_av *av;
	struct fid_cq *cq;
	struct fid_eq *eq;	/* with FI_COLLECTIVE, else NULL */
	struct fid_ep *ep;	/* the first of @eps */
	struct fid_ep **eps;
	unsigned ep_cnt;
};

/* An address, whatever the provider of $TEST_PROVIDER has. */
struct node_name {
	union {
		struct sockaddr_in ip;
		char text[64];		/* FI_ADDR_STR */
	};
};

/* node_open - @cnt endpoints at @ip that share a queue and an address vector.
 * @ip:   means nothing where addresses are text
 * @port: of the first one; 0: any
 */
void node_open(struct node *n, const char *ip, int port, unsigned cnt, uint64_t caps,
	       enum fi_progress progress);
void node_close(struct node *n);

/* node_name - the address of endpoint @i. */
struct node_name node_name(struct node *n, unsigned i);
fi_addr_t node_insert(struct node *n, const struct node_name *name);

/* node_port - the port with which an endpoint of this name can be opened again.  NULL: the port
 * for opening the first one so that this is possible.
 */
int node_port(const struct node_name *name);

/* node_reap - one completion, or 0 if there is none within @ms.
 * Returns 1; *@err_p is 0, or positive FI_E* for an error.
 */
int node_reap(struct node *n, struct fi_cq_tagged_entry *entry, int *err_p, int ms);

uint64_t node_now_ms(void);

/* node_spawn - run this program again with these arguments (up to NULL); @in_p and
 * @out_p are its standard output and input.
 */
pid_t node_spawn(const char *const argv[], int *in_p, int *out_p);

struct sock_filter;

/* node_forbid - system call @nr fails with @err from now on, in children, too.
 * node_filter - the same for any filter of seccomp(2).
 */
void node_forbid(unsigned nr, unsigned err);
void node_filter(struct sock_filter *code, unsigned short len);

/* node_read, node_write - exactly @len bytes of a pipe. */
void node_read(int fd, void *buf, size_t len);
void node_write(int fd, const void *buf, size_t len);

#endif
