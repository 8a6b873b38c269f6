/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* calls.h - the calls of the interface that a provider in a file of its own makes.
 *
 * By their symbols they would be those of the first library in the process that has them, and with two
 * libfabrics that is not always the one that has loaded the file. So the core hands its own over before the
 * entry point is called, and calls.c has functions of the same names, hidden in the file, that pass to them.
 *
 * A file and a library may be of different releases: new members stand at the end.
 */
#ifndef BASE_MODULE_CALLS_H
#define BASE_MODULE_CALLS_H

#include <rdma/fabric.h>
#include <rdma/providers/fi_log.h>
#include <rdma/providers/fi_prov.h>
#include <stdbool.h>
#include <stddef.h>

struct base_calls {
	size_t size;			/* of what the library knows */
	int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
		       const struct fi_info *hints, struct fi_info **info);
	void (*freeinfo)(struct fi_info *info);
	struct fi_info *(*dupinfo)(const struct fi_info *info);
	int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
	int (*open)(uint32_t version, const char *name, void *attr, size_t attr_len, uint64_t flags,
		    struct fid **fid, void *context);
	const char *(*strerror)(int errnum);
	char *(*tostr_r)(char *buf, size_t len, const void *data, enum fi_type type);
	int (*log_enabled)(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys);
	int (*log_ready)(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
			 uint64_t *showtime);
	void (*log)(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
		    const char *func, int line, const char *fmt, ...);
	int (*param_define)(const struct fi_provider *prov, const char *name, enum fi_param_type type,
			    const char *fmt, ...);
	int (*param_get)(struct fi_provider *prov, const char *name, void *value);
};

/* The symbol of a provider file that takes them. */
#define BASE_CALLS_TAKE "fi_prov_calls"
typedef void base_calls_take_fn(const struct base_calls *calls);
base_calls_take_fn fi_prov_calls;

/* base_calls_taken - has a library handed over all that this file knows?  Else it cannot be used. */
bool base_calls_taken(void);

#endif
