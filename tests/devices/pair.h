/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pair.h - two processes with an endpoint and a buffer in memory of a device each, through the
 * public API alone.  The second is the same program, started with the number of a socket.
 */
#ifndef DEVICES_PAIR_H
#define DEVICES_PAIR_H

#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct pair {
	const char *prov;
	const char *kind;		/* "cuda", "rocr", "ze"; "gdr": CUDA, where @lib is libgdrapi */
	const char *lib;		/* of that kind */
	int sock;			/* to the other process */
	pid_t child;			/* in the first process */
	size_t len;			/* of @dev and @host */
	char *dev;			/* memory of device 1 */
	char *host;
	uint64_t caps;			/* further ones that pair_open() asks for */
	struct fi_info *info;
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_ep *ep;
	struct fid_cq *cq;
	struct fid_av *av;
	fi_addr_t peer;
	struct fid_mr *mr;		/* all of @dev; NULL: not registered */
	uint64_t key, addr;		/* of the peer's region */
};

/* What an operation ended with. */
struct pair_end {
	int err;			/* FI_E*, 0: a success */
	char text[200];			/* of an error: what the provider says */
};

/* All of these end the process with a message where the test cannot go on. */
void pair_die(const char *what, long ret);
#define PAIR_OK(call) do { long ret_ = (long) (call); if (ret_) pair_die(#call, ret_); } while (0)
#define PAIR_TRUE(cond) do { if (!(cond)) pair_die(#cond, 0); } while (0)

/* pair_start - start the second process: "/proc/self/exe SOCKET PROVIDER KIND LEN". */
void pair_start(struct pair *p, const char *prov, const char *kind, size_t len);
/* pair_join - in the second process, of main()'s arguments. */
void pair_join(struct pair *p, char **argv);
/* pair_open - device, endpoint and the peer's address; in both processes.  With PAIR_AUTO in the
 * environment progress is automatic.
 */
void pair_open(struct pair *p);
void pair_close(struct pair *p);
/* pair_end - the first process waits for the second's success. */
void pair_stop(struct pair *p);

/* pair_reg, pair_unreg - all of @dev.  Errors: as fi_mr_regattr(). */
int pair_reg(struct pair *p);
void pair_unreg(struct pair *p);

/* Between the processes, by the socket; the endpoint makes progress while one waits. */
void pair_put(struct pair *p, const void *buf, size_t len);
void pair_get(struct pair *p, void *buf, size_t len);

/* pair_wait - the next completion, whose context is @context; NULL: any. */
void pair_wait(struct pair *p, const void *context, struct pair_end *end);
/* pair_idle - there is no completion. */
void pair_idle(struct pair *p);

#endif
