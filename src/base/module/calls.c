/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* A part of each provider file, and of nothing else. */
#include "base/module/calls.h"

#include <rdma/fi_errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

static const struct base_calls *core;

__attribute__((visibility("default")))
void fi_prov_calls(const struct base_calls *calls)
{
	core = calls->size >= sizeof(*calls) ? calls : NULL;
}

bool base_calls_taken(void)
{
	return core;
}

int fi_getinfo(uint32_t version, const char *node, const char *service, uint64_t flags,
	       const struct fi_info *hints, struct fi_info **info)
{
	return core->getinfo(version, node, service, flags, hints, info);
}

void fi_freeinfo(struct fi_info *info)
{
	core->freeinfo(info);
}

struct fi_info *fi_dupinfo(const struct fi_info *info)
{
	return core->dupinfo(info);
}

int fi_fabric(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context)
{
	return core->fabric(attr, fabric, context);
}

int fi_open(uint32_t version, const char *name, void *attr, size_t attr_len, uint64_t flags,
	    struct fid **fid, void *context)
{
	return core->open(version, name, attr, attr_len, flags, fid, context);
}

const char *fi_strerror(int errnum)
{
	return core->strerror(errnum);
}

char *fi_tostr_r(char *buf, size_t len, const void *data, enum fi_type type)
{
	return core->tostr_r(buf, len, data, type);
}

int fi_log_enabled(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys)
{
	return core->log_enabled(prov, level, subsys);
}

int fi_log_ready(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys,
		 uint64_t *showtime)
{
	return core->log_ready(prov, level, subsys, showtime);
}

void fi_log(const struct fi_provider *prov, enum fi_log_level level, enum fi_log_subsys subsys, const char *func,
	    int line, const char *fmt, ...)
{
	char *text;
	va_list args;
	int len;

	va_start(args, fmt);
	len = vasprintf(&text, fmt, args);
	va_end(args);
	core->log(prov, level, subsys, func, line, "%s", len < 0 ? fmt : text);
	if (len >= 0)
		free(text);
}

int fi_param_define(const struct fi_provider *prov, const char *name, enum fi_param_type type,
		    const char *fmt, ...)
{
	char *text;
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = vasprintf(&text, fmt, args);
	va_end(args);
	if (ret < 0)
		return -FI_ENOMEM;
	ret = core->param_define(prov, name, type, "%s", text);
	free(text);
	return ret;
}

int fi_param_get(struct fi_provider *prov, const char *name, void *value)
{
	return core->param_get(prov, name, value);
}
