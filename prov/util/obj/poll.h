/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * poll.h - poll sets: which of these cqs, cntrs and eqs have something?
 */
#ifndef OBJ_POLL_H
#define OBJ_POLL_H

#include <pthread.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_eq.h>

#include "base/list.h"
#include "obj/ref.h"

struct obj_domain;

/* Members come and go by fi_poll_add() and fi_poll_del(); each holds a reference. */
struct obj_poll {
	struct fid_poll fid;
	struct obj_domain *domain;
	struct obj_ref domain_ref;
	unsigned process;		/* that opened it: obj_opened_before_fork() */
	pthread_mutex_t lock;		/* guards @members */
	struct list members;
};

/* obj_poll_open - fi_poll_open().  Errors: -FI_EINVAL (flags), -FI_ENOMEM. */
int obj_poll_open(struct fid_domain *domain, struct fi_poll_attr *attr,
		  struct fid_poll **pollset);

#endif
