/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef TESTS_FEATURES_XPU_H
#define TESTS_FEATURES_XPU_H

struct fi_info;

/* Cases in which a device, a thread of this process, posts.  Each frees @info. */
void xpu_messages(struct fi_info *info);
void xpu_tagged(struct fi_info *info);
void xpu_rma(struct fi_info *info);
void xpu_atomics(struct fi_info *info);
void xpu_counters(struct fi_info *info);
void xpu_queues(struct fi_info *info);

#endif
