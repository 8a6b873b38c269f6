/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_ext.h - objects of the library itself, and objects exported to others.
 */
#ifndef FI_EXT_H
#define FI_EXT_H

#include <stdbool.h>

#include <rdma/fabric.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- option names of single providers ------------------------------------ */

/* Option and value names of one provider start here; options are negative. */
#define FI_PROV_SPECIFIC_EFA	(0xefa << 16)
#define FI_PROV_SPECIFIC_TCP	(0x7cb << 16)

enum {
	FI_OPT_EFA_RNR_RETRY = -FI_PROV_SPECIFIC_EFA,
	FI_OPT_EFA_EMULATED_READ,
	FI_OPT_EFA_EMULATED_WRITE,
	FI_OPT_EFA_EMULATED_ATOMICS,
	FI_OPT_EFA_USE_DEVICE_RDMA,
	FI_OPT_EFA_SENDRECV_IN_ORDER_ALIGNED_128_BYTES,
	FI_OPT_EFA_WRITE_IN_ORDER_ALIGNED_128_BYTES,
	FI_OPT_EFA_HOMOGENEOUS_PEERS,
	FI_OPT_EFA_USE_UNSOLICITED_WRITE_RECV
};

/* ---- export and import --------------------------------------------------- */

/* The argument of fi_control() with FI_EXPORT_FID. */
struct fi_fid_export {
	struct fid	**fid;	/* [out] exported object */
	uint64_t	flags;	/* 0 */
	void		*context;	/* of the exported object */
};

/* An object that others may share, made from fid; expfid closes on its own. */
FI_INLINE int fi_export_fid(struct fid *fid, uint64_t flags,
		struct fid **expfid, void *context)
{
	struct fi_fid_export arg;

	arg.fid = expfid;
	arg.flags = flags;
	arg.context = context;
	return fi_control(fid, FI_EXPORT_FID, &arg);
}

/* Let fid use an object that another has exported. */
FI_INLINE int fi_import_fid(struct fid *fid, struct fid *expfid, uint64_t flags)
{
	if (!FI_CHECK_OP(fid->ops, struct fi_ops, bind))
		return -FI_ENOSYS;
	return fid->ops->bind(fid, expfid, flags);
}

/*
 * Replace a part of the library: open the object named and have it use fid. The import outlives
 * the handle opened here; fid belongs to the caller and must stay until it is closed.
 */
FI_INLINE int fi_import(uint32_t version, const char *name, void *attr,
		size_t attr_len, uint64_t flags, struct fid *fid, void *context)
{
	struct fid *open_fid = NULL;
	int ret;

	ret = fi_open(version, name, attr, attr_len, flags, &open_fid, context);
	if (ret)
		return ret;

	ret = fi_import_fid(open_fid, fid, flags);
	fi_close(open_fid);
	return ret;
}

/* ---- memory monitor ("mr_cache") ----------------------------------------- */

struct fid_mem_monitor;

/* What the program offers: calls of the library into it. */
struct fi_ops_mem_monitor {
	size_t	size;	/* of this structure, where it was compiled */
	/* before the first subscription; 0 or a negative FI_E* value */
	int (*start)(struct fid_mem_monitor *monitor);
	/* the library uses it no longer */
	void (*stop)(struct fid_mem_monitor *monitor);
	/* report changes to this range from now on */
	int (*subscribe)(struct fid_mem_monitor *monitor, const void *addr,
			size_t len);
	/* they are no longer of interest */
	void (*unsubscribe)(struct fid_mem_monitor *monitor, const void *addr,
			size_t len);
	/* is the mapping still the one subscribed to? */
	bool (*valid)(struct fid_mem_monitor *monitor, const void *addr,
			size_t len);
};

/* What the library offers: calls of the program into it. */
struct fi_ops_mem_notify {
	size_t	size;
	/* this range is about to change */
	void (*notify)(struct fid_mem_monitor *monitor, const void *addr,
			size_t len);
};

/* Both sides of a monitor, in the program's memory. */
struct fid_mem_monitor {
	struct fid			fid;
	struct fi_ops_mem_monitor	*export_ops;	/* the program's */
	struct fi_ops_mem_notify	*import_ops;	/* the library's, set by the import */
};

/* ---- log ("logging") ----------------------------------------------------- */

/* Flag of the log calls: the provider is filtered out by the user's setting. */
#define FI_LOG_PROV_FILTERED	(1ULL << 0)

/* What the program offers in place of the library's log. Calls may come from any thread. */
struct fi_ops_log {
	size_t	size;	/* of this structure, where it was compiled */
	/* as fi_log_enabled() */
	int (*enabled)(const struct fi_provider *prov, enum fi_log_level level,
			enum fi_log_subsys subsys, uint64_t flags);
	/* as fi_log_ready() */
	int (*ready)(const struct fi_provider *prov, enum fi_log_level level,
			enum fi_log_subsys subsys, uint64_t flags,
			uint64_t *showtime);
	/* one finished line */
	void (*log)(const struct fi_provider *prov, enum fi_log_level level,
			enum fi_log_subsys subsys, const char *func, int line,
			const char *msg);
};

struct fid_logging {
	struct fid		fid;
	struct fi_ops_log	*ops;	/* the program's; a NULL slot keeps the library's */
};

/* Have log lines go to the program. The last import wins. */
FI_INLINE int fi_import_log(uint32_t version, uint64_t flags,
		struct fid_logging *log_fid)
{
	return fi_import(version, "logging", NULL, 0, flags, &log_fid->fid,
			log_fid);
}

#ifdef __cplusplus
}
#endif

/* ---- profiles ------------------------------------------------------------- */

/* Flag of fi_profile_open() on an endpoint: of one of its peers; context is the address of a fi_addr_t. */
#define FI_PROFILE_PEER		(1ULL << 58)

#endif /* FI_EXT_H */
