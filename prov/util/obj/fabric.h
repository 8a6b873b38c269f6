/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fabric.h - the fabric object.
 */
#ifndef OBJ_FABRIC_H
#define OBJ_FABRIC_H

#include <pthread.h>
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#include "progress/group.h"
#include "obj/ref.h"

struct obj_domain;
struct obj_fabric;
struct sec_policy;
struct obj_pep;

/* What a provider brings for its fabric.  Sizes let the provider embed our
 * object as the first member of its own; we allocate and free.
 */
struct obj_fabric_ops {
	/* domain_init - complete a new domain: set domain->ops, read parameters.
	 * @domain->info is a copy of what the program passed and has been checked.
	 * May be NULL.  On error the domain is freed and the error returned.
	 */
	int (*domain_init)(struct obj_domain *domain);
	size_t domain_size;		/* 0: sizeof(struct obj_domain) */

	/* passive_ep - as fi_passive_ep(); NULL: -FI_ENOSYS. */
	int (*passive_ep)(struct fid_fabric *fabric, struct fi_info *info,
			  struct fid_pep **pep, void *context);

	/* check - may a domain be opened with @info?  Called with non-NULL domain,
	 * fabric and endpoint attributes; 0 or a negative error, logged.  May be NULL.
	 */
	int (*check)(struct obj_fabric *fabric, const struct fi_info *info);

	/* protects - can an endpoint for @info be protected, which is asked for?  Called where @secures is true.  May be
	 * NULL: it can.
	 */
	bool (*protects)(const struct obj_fabric *fabric, const struct fi_info *info);

	/* fini - the fabric closes; the last call.  May be NULL. */
	void (*fini)(struct obj_fabric *fabric);
};

struct obj_fabric {
	struct fid_fabric fid;		/* first: the program's handle */
	const struct fi_provider *prov;
	const struct obj_fabric_ops *ops;
	char *name;
	uint32_t api_version;		/* of the caller */
	bool secures;			/* the provider protects connections; set by it.  Else an endpoint for
					 * which a level above none is asked is refused */
	struct obj_refs refs;		/* domains, passive endpoints, eqs, wait sets */
	pthread_mutex_t lock;		/* guards @pep_prog */
	struct obj_prog *pep_prog;	/* group of all passive endpoints; NULL until one is open */
	struct fi_ops fi_ops;
	struct fi_ops_fabric fabric_ops;
};

/* obj_fabric_open - what a provider's fi_provider.fabric calls.
 *
 * @size: of the provider's struct, which begins with a struct obj_fabric
 *
 * Ownership: fi_close() frees it.
 * Errors:    -FI_EINVAL, -FI_ENOMEM.
 */
int obj_fabric_open(const struct fi_provider *prov, const struct obj_fabric_ops *ops,
		    size_t size, const struct fi_fabric_attr *attr,
		    struct fid_fabric **fabric_p, void *context);

/* obj_fabric_prog - the group of passive endpoints, made on first use.
 * Takes a reference for the caller.  Errors: -FI_ENOMEM.
 */
int obj_fabric_prog(struct obj_fabric *fabric, struct obj_prog **prog_p);

/* Room for an info whose attributes are as long as ours. */
struct obj_info_room {
	struct fi_info info;
	struct fi_tx_attr tx;
	struct fi_ep_attr ep;
	struct fi_domain_attr domain;
};

/* obj_info_whole - an info that the program passes to a call, with the members of today.
 *
 * The structs of a program for an older interface are read up to what that interface has: it may
 * have made them by itself, not by fi_getinfo() or fi_dupinfo().  A program that opened the fabric
 * without an interface version is taken to be of 2.6.  Every call that takes an info passes this
 * one on.
 *
 * @info: may be NULL
 * @room: for the call; the result may lie in it
 *
 * Ownership: what the result points to stays the program's.
 * Threading: any thread.  Errors: none.
 */
struct fi_info *obj_info_whole(const struct obj_fabric *fabric, struct fi_info *info,
			       struct obj_info_room *room);

/* obj_security_get - how an endpoint is protected: FI_SECURITY, FI_AUTH_KEY_FILE and the auth_key
 * attributes decide (secure/policy.h).
 *
 * @info:     of the endpoint; complete
 * @domain:   what its domain was opened with; NULL: a passive endpoint
 * @policy_p: [out] NULL: not at all
 *
 * Errors: -FI_EACCES: that is not possible (logged, with the reason); -FI_ENOMEM.
 */
int obj_security_get(const struct obj_fabric *fabric, const struct fi_info *info,
		     const struct fi_domain_attr *domain, struct sec_policy **policy_p);

static inline struct obj_fabric *obj_fabric_of(struct fid_fabric *fid)
{
	return container_of(fid, struct obj_fabric, fid);
}

#endif
