/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fabric.h - discovery and the base object, for kernel clients.
 *
 * The objects, names and rules are those of the user-space interface; shared.h has what is
 * identical.  The differences:
 *
 *   - no file descriptors: a queue is read, waited for, or calls a function (fi_eq.h);
 *   - payload is a kvec list or, with FI_BVEC in the flags of a message form, a bio_vec list;
 *   - discovery and fabrics belong to a network namespace.
 *
 * Contexts: control calls (open, close, bind, enable, connection management, registration,
 * discovery) may sleep and want process context.  Data transfer calls, fi_cq_read(),
 * fi_cq_readerr(), fi_eq_read() and counter reads never sleep and may be made in process or
 * softirq context with interrupts enabled.
 */
#ifndef KOFI_FABRIC_H
#define KOFI_FABRIC_H

#include <linux/bvec.h>
#include <linux/gfp.h>
#include <net/net_namespace.h>

#include <kofi/shared.h>

struct kofi_registration;
struct fi_ops_mr;
struct fid_pep;

/* Flag of the message forms and of fi_mr_regattr(): the list is one of bio_vec. */
#define FI_BVEC		(1ULL << 60)
/* Flag of fi_mr_regattr(): the region is a scatterlist. */
#define FI_SGLIST	(1ULL << 61)

struct fid_fabric {
	struct fid			fid;
	struct fi_ops_fabric		*ops;
	uint32_t			api_version;	/* interface that the opener asked for */
	struct net			*net;		/* its namespace, referenced */
	struct kofi_registration	*reg;		/* kofi.ko's: the provider, referenced */
};

/* fi_version - interface version of kofi.ko, as FI_VERSION(). */
uint32_t fi_version(void);

/* kofi_getinfo - what can be opened in a network namespace, best first.
 *
 * @net:     network namespace
 * @version: interface that the caller was written for, FI_VERSION()
 * @node:    numeric address of the peer (with FI_SOURCE, own), or NULL
 * @service: port, or what the provider calls a service, or NULL
 * @flags:   FI_SOURCE, FI_NUMERICHOST, FI_PROV_ATTR_ONLY
 * @hints:   what is wanted, or NULL for everything
 * @info_p:  [out] list
 *
 * Ownership: the list is the caller's, by fi_freeinfo(); @hints is not kept.
 * Threading: process context, may sleep.
 * Errors:    -FI_ENODATA nothing fits; -FI_ENOSYS @version is newer than kofi.ko;
 *            -FI_EINVAL, -FI_EBADFLAGS, -FI_ENOMEM.
 */
int kofi_getinfo(struct net *net, uint32_t version, const char *node, const char *service,
		 uint64_t flags, const struct fi_info *hints, struct fi_info **info_p);

/* fi_getinfo - the same in the namespace of the current task. */
int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
	       const struct fi_info *hints, struct fi_info **info_p);

/* fi_freeinfo - free a list with all it points to; NULL is allowed. */
void fi_freeinfo(struct fi_info *info);

/* fi_dupinfo - deep copy of one entry; NULL gives an empty one with its attributes.
 *
 * Ownership: the copy is the caller's, by fi_freeinfo().
 * Threading: process context, GFP_KERNEL.
 * Errors:    NULL when out of memory.
 */
struct fi_info *fi_dupinfo(const struct fi_info *info);

/* fi_allocinfo - an empty fi_info with its attributes, to fill in as hints. */
static inline struct fi_info *fi_allocinfo(void)
{
	return fi_dupinfo(NULL);
}

/* kofi_fabric - open the network that @attr names, in @net.
 *
 * @attr:     fabric_attr of a fi_info that kofi_getinfo() returned
 * @fabric_p: [out] fabric
 * @context:  comes back with its events
 *
 * Ownership: the caller closes @fabric_p after all that was opened from it. Until then the
 *            provider's module stays loaded.
 * Threading: process context, may sleep.
 * Errors:    -FI_ENODEV no such provider; else the provider's.
 */
int kofi_fabric(struct net *net, struct fi_fabric_attr *attr, struct fid_fabric **fabric_p,
		void *context);

/* fi_fabric - the same in the namespace of the current task. */
int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric_p, void *context);

/* kofi_fabric_close - what fi_close() does with a fabric; releases the provider. */
int kofi_fabric_close(struct fid_fabric *fabric);

/* fi_close - release an object; what was opened from it must be closed first.
 *
 * Threading: process context, may sleep. When it returns 0 no callback of the object is
 *            running or will run, and no buffer of an operation of an endpoint is in use.
 * Errors:    -FI_EBUSY objects depend on it; it stays open.
 */
static inline int fi_close(struct fid *fid)
{
	if (fid->fclass == FI_CLASS_FABRIC)
		return kofi_fabric_close(container_of(fid, struct fid_fabric, fid));
	return fid->ops->close(fid);
}

/* fi_control - send a command to an object (FI_GETOPSFLAG ...). */
static inline int fi_control(struct fid *fid, int command, void *arg)
{
	if (!FI_CHECK_OP(fid->ops, struct fi_ops, control))
		return -FI_ENOSYS;
	return fid->ops->control(fid, command, arg);
}

#endif /* KOFI_FABRIC_H */
