/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_log.h - the log, for providers.
 *
 * Use the macros: they look whether the line is wanted before the arguments
 * are evaluated, and they keep errno.
 */
#ifndef FI_LOG_H
#define FI_LOG_H

#include <errno.h>
#include <inttypes.h>

#include <rdma/fabric.h>
#include <rdma/providers/fi_prov.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What a line is about; FI_LOG_SUBSYS selects by the names in fi_log(3). */
enum fi_log_subsys {
	FI_LOG_CORE,			/* discovery, loading, parameters */
	FI_LOG_FABRIC,
	FI_LOG_DOMAIN,
	FI_LOG_EP_CTRL,			/* setup, connections */
	FI_LOG_EP_DATA,			/* transfers */
	FI_LOG_AV,			/* address vectors */
	FI_LOG_CQ,			/* completion queues */
	FI_LOG_EQ,			/* event queues */
	FI_LOG_MR,			/* memory regions, and their cache */
	FI_LOG_CNTR			/* counters */
};

/* Each level shows those before it too. */
enum fi_log_level {
	FI_LOG_WARN,			/* something failed */
	FI_LOG_TRACE,			/* unusual, of use when looking for a failure */
	FI_LOG_INFO,			/* what was chosen, and why */
	FI_LOG_DEBUG			/* everything */
};

/* fi_log_enabled - would such a line be shown? Nonzero: yes. */
int fi_log_enabled(const struct fi_provider *prov, enum fi_log_level level,
		enum fi_log_subsys subsys);

/* fi_log_ready - the same, but true at most once per interval.
 *
 * @showtime: [in,out] the caller's, 0 at first: time in ms of the next line
 */
int fi_log_ready(const struct fi_provider *prov, enum fi_log_level level,
		enum fi_log_subsys subsys, uint64_t *showtime);

/* fi_log - write a line. Does not ask whether it is wanted.
 *
 * @func, @line: place in the code, part of the line
 * @fmt: as of printf(3)
 *
 * Threading: any thread; lines of several threads are not mixed.
 */
void fi_log(const struct fi_provider *prov, enum fi_log_level level,
		enum fi_log_subsys subsys, const char *func, int line,
		const char *fmt, ...) FI_FORMAT_PRINTF(6, 7);

/* The arguments are evaluated at most once, and only where the line is shown. */
#define FI_LOG(prov, level, subsystem, ...) \
	do { \
		if (fi_log_enabled(prov, level, subsystem)) { \
			int fi_log_errno_ = errno; \
			fi_log(prov, level, subsystem, __func__, __LINE__, \
			       __VA_ARGS__); \
			errno = fi_log_errno_; \
		} \
	} while (0)

/* For frequent events: at most one line per interval and place in the code. */
#define FI_LOG_SPARSE(prov, level, subsystem, ...) \
	do { \
		static uint64_t fi_log_showtime_; \
		if (fi_log_ready(prov, level, subsystem, &fi_log_showtime_)) { \
			int fi_log_errno_ = errno; \
			fi_log(prov, level, subsystem, __func__, __LINE__, \
			       __VA_ARGS__); \
			errno = fi_log_errno_; \
		} \
	} while (0)

#define FI_WARN(prov, subsystem, ...) \
	FI_LOG(prov, FI_LOG_WARN, subsystem, __VA_ARGS__)

#define FI_WARN_SPARSE(prov, subsystem, ...) \
	FI_LOG_SPARSE(prov, FI_LOG_WARN, subsystem, __VA_ARGS__)

/* The first time only. */
#define FI_WARN_ONCE(prov, subsystem, ...) \
	do { \
		static int fi_log_warned_; \
		if (!fi_log_warned_ && \
		    fi_log_enabled(prov, FI_LOG_WARN, subsystem)) { \
			fi_log_warned_ = 1; \
			FI_LOG(prov, FI_LOG_WARN, subsystem, __VA_ARGS__); \
		} \
	} while (0)

#define FI_TRACE(prov, subsystem, ...) \
	FI_LOG(prov, FI_LOG_TRACE, subsystem, __VA_ARGS__)

#define FI_INFO(prov, subsystem, ...) \
	FI_LOG(prov, FI_LOG_INFO, subsystem, __VA_ARGS__)

/* Debug builds (ENABLE_DEBUG) only; elsewhere checked, but no code. */
#if defined(ENABLE_DEBUG) && (ENABLE_DEBUG + 0)
#define FI_DBG(prov_name, subsystem, ...) \
	FI_LOG(prov_name, FI_LOG_DEBUG, subsystem, __VA_ARGS__)

#define FI_DBG_TRACE(prov, subsystem, ...) \
	FI_LOG(prov, FI_LOG_TRACE, subsystem, __VA_ARGS__)
#else
#define FI_DBG(prov_name, subsystem, ...) \
	do { \
		if (0) \
			fi_log(prov_name, FI_LOG_DEBUG, subsystem, __func__, \
			       __LINE__, __VA_ARGS__); \
	} while (0)

#define FI_DBG_TRACE(prov, subsystem, ...) \
	do { \
		if (0) \
			fi_log(prov, FI_LOG_TRACE, subsystem, __func__, \
			       __LINE__, __VA_ARGS__); \
	} while (0)
#endif

#ifdef __cplusplus
}
#endif

#endif /* FI_LOG_H */
