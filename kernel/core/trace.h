/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM kofi

#if !defined(KOFI_CORE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define KOFI_CORE_TRACE_H

#include <linux/tracepoint.h>

/* A provider, and what was done with it. */
DECLARE_EVENT_CLASS(kofi_provider,
	TP_PROTO(const char *name, int ret),
	TP_ARGS(name, ret),
	TP_STRUCT__entry(
		__array(char, name, 32)
		__field(int, ret)
	),
	TP_fast_assign(
		strscpy(__entry->name, name ? name : "", sizeof(__entry->name));
		__entry->ret = ret;
	),
	TP_printk("provider=%s ret=%d", __entry->name, __entry->ret)
);

DEFINE_EVENT(kofi_provider, kofi_register,
	TP_PROTO(const char *name, int ret), TP_ARGS(name, ret));
DEFINE_EVENT(kofi_provider, kofi_deregister,
	TP_PROTO(const char *name, int ret), TP_ARGS(name, ret));
DEFINE_EVENT(kofi_provider, kofi_getinfo,
	TP_PROTO(const char *name, int ret), TP_ARGS(name, ret));
DEFINE_EVENT(kofi_provider, kofi_fabric_open,
	TP_PROTO(const char *name, int ret), TP_ARGS(name, ret));
DEFINE_EVENT(kofi_provider, kofi_fabric_close,
	TP_PROTO(const char *name, int ret), TP_ARGS(name, ret));

#endif

#undef TRACE_INCLUDE_PATH
#define TRACE_INCLUDE_PATH .
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_FILE trace
#include <trace/define_trace.h>
