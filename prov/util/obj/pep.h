/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * pep.h - what every passive endpoint has.
 */
#ifndef OBJ_PEP_H
#define OBJ_PEP_H

#include <rdma/fi_cm.h>
#include <rdma/fi_endpoint.h>

#include "obj/eq.h"
#include "obj/fabric.h"
#include "obj/prog.h"
#include "obj/ref.h"

struct obj_pep {
	struct fid_pep fid;		/* first: the program's handle */
	struct obj_fabric *fabric;
	struct obj_ref fabric_ref;
	struct obj_refs refs;		/* requests not yet answered, if the provider counts them */
	struct obj_prog *prog;		/* of all passive endpoints; its lock guards the provider's state */
	struct obj_eq *eq;
	struct obj_ref eq_ref;
	struct fi_info *info;		/* our copy */
	int backlog;			/* FI_BACKLOG */
};

static inline struct obj_pep *obj_pep_of(struct fid_pep *fid)
{
	return container_of(fid, struct obj_pep, fid);
}

/* obj_pep_init - prepare the common part and enter the fabric's group.
 *
 * The provider sets fid.fid.ops, fid.ops and fid.cm.
 * Errors: -FI_EINVAL, -FI_ENOMEM.
 */
int obj_pep_init(struct obj_pep *pep, struct fid_fabric *fabric, const struct fi_info *info,
		 void *context);

/* obj_pep_busy - the first thing of a provider's close: 0, or -FI_EBUSY (logged). */
int obj_pep_busy(struct obj_pep *pep);

/* obj_pep_fini - the last.  Threading: without prog->lock. */
void obj_pep_fini(struct obj_pep *pep);

/* obj_pep_bind - fi_pep_bind(): an event queue of the same fabric, once.
 * Errors: -FI_EINVAL.
 */
int obj_pep_bind(struct fid *fid, struct fid *bfid, uint64_t flags);

/* obj_pep_control - FI_BACKLOG; others -FI_ENOSYS. */
int obj_pep_control(struct fid *fid, int command, void *arg);

/* obj_pep_getopt - FI_OPT_CM_DATA_SIZE is the provider's; others -FI_ENOPROTOOPT.
 * @cm_data_size: what this provider carries in a connection request
 */
int obj_pep_getopt(struct fid *fid, int level, int optname, void *optval, size_t *optlen,
		   size_t cm_data_size);

#endif
