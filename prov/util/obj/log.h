/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * log.h - log lines that peers can cause.
 *
 * Each place in the code that writes one may write a number of them in
 * FI_LOG_INTERVAL; the next line from there says how many were left out.
 */
#ifndef OBJ_LOG_H
#define OBJ_LOG_H

#include <errno.h>
#include <rdma/providers/fi_log.h>
#include <stdatomic.h>
#include <stdbool.h>

/* Lines of one place in an interval: warnings, and what was asked for. */
#define OBJ_LOG_WARNINGS 10
#define OBJ_LOG_OTHERS 100

/* A place that writes lines; all zero at first. */
struct obj_log_site {
	uint64_t showtime;	/* for fi_log_ready() */
	_Atomic unsigned more;	/* lines that may come in this interval */
	_Atomic unsigned left;	/* lines left out */
};

/* obj_log_take - may @site write a line now?
 * @left_p: [out] how many were left out before it
 * Threading: any.
 */
bool obj_log_take(const struct fi_provider *prov, enum fi_log_level level,
		  enum fi_log_subsys subsys, struct obj_log_site *site, unsigned *left_p);

#define OBJ_LOG(prov, level, subsys, ...)						\
	do {										\
		static struct obj_log_site obj_log_site_;				\
		int obj_log_errno_ = errno;						\
		unsigned obj_log_left_;							\
		if (obj_log_take(prov, level, subsys, &obj_log_site_, &obj_log_left_)) { \
			if (obj_log_left_)						\
				fi_log(prov, level, subsys, __func__, __LINE__,		\
				       "%u lines like the next one were left out\n",	\
				       obj_log_left_);					\
			fi_log(prov, level, subsys, __func__, __LINE__, __VA_ARGS__);	\
		}									\
		errno = obj_log_errno_;							\
	} while (0)

#define OBJ_WARN(prov, subsys, ...) OBJ_LOG(prov, FI_LOG_WARN, subsys, __VA_ARGS__)
#define OBJ_INFO(prov, subsys, ...) OBJ_LOG(prov, FI_LOG_INFO, subsys, __VA_ARGS__)

#endif
