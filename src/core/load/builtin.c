/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include <rdma/fi_endpoint.h>

#include "core/builtin.h"

/* BUILTIN(HAVE_TCP, fi_tcp_ini) is fi_tcp_ini when configure defined HAVE_TCP as 1 (the
 * provider is built in), and NULL otherwise.
 */
#define DEFINED_AS_1		0,
#define SECOND(a, b, ...)	b
#define CHOOSE(comma, ini)	SECOND(comma ini, NULL, 0)
#define PASTE(have, ini)	CHOOSE(DEFINED_AS_##have, ini)
#define BUILTIN(have, ini)	PASTE(have, ini)

struct fi_provider *fi_hook_fault_ini(void);
struct fi_provider *fi_hook_perf_ini(void);
struct fi_provider *fi_hook_profile_ini(void);
struct fi_provider *fi_hook_trace_ini(void);
struct fi_provider *fi_loop_ini(void);
struct fi_provider *fi_rxd_ini(void);
struct fi_provider *fi_rxm_ini(void);
struct fi_provider *fi_shm_ini(void);
struct fi_provider *fi_sockets_ini(void);
struct fi_provider *fi_tcp_ini(void);
struct fi_provider *fi_udp_ini(void);
struct fi_provider *fi_verbs_ini(void);

/* NIC providers, also those not in the table, come before the software providers. */
#define RANK_STRANGER 15
#define RANK_SOFTWARE 20

#define TYPE(name) (1u << FI_EP_##name)

static const struct core_builtin table[] = {
	{ "verbs", BUILTIN(HAVE_VERBS, fi_verbs_ini), .rank = 10 },
	{ "tcp", BUILTIN(HAVE_TCP, fi_tcp_ini), .rank = 20, .any_host = true,
	  .types = TYPE(MSG) | TYPE(RDM) },
	{ "udp", BUILTIN(HAVE_UDP, fi_udp_ini), .rank = 30, .types = TYPE(DGRAM) },
	{ "shm", BUILTIN(HAVE_SHM, fi_shm_ini), .rank = 40, .types = TYPE(RDM) },
	{ "ofi_rxm", BUILTIN(HAVE_RXM, fi_rxm_ini), .rank = 50, .below = TYPE(MSG),
	  .stem = { "rxm" } },
	{ "ofi_rxd", BUILTIN(HAVE_RXD, fi_rxd_ini), .rank = 60, .below = TYPE(DGRAM),
	  .stem = { "rxd" } },
	{ "sockets", BUILTIN(HAVE_SOCKETS, fi_sockets_ini), .rank = 90,
	  .pairs_by_name = true, .stem = { "tcp" } },
	{ "loop", BUILTIN(HAVE_LOOP, fi_loop_ini), .rank = 95,
	  .by_name = true, .pairs_by_name = true },
	{ "ofi_hook_fault", fi_hook_fault_ini, .rank = 100 },
	{ "ofi_hook_perf", fi_hook_perf_ini, .rank = 100 },
	{ "ofi_hook_profile", fi_hook_profile_ini, .rank = 100 },
	{ "ofi_hook_trace", fi_hook_trace_ini, .rank = 100 },
};

#define ENTRIES ((int) (sizeof(table) / sizeof(table[0])))

const struct core_builtin *core_builtin_at(int i)
{
	return i < ENTRIES ? &table[i] : NULL;
}

const struct core_builtin *core_builtin_find(const char *name)
{
	static const struct core_builtin stranger = { .rank = RANK_STRANGER };
	static const struct core_builtin strange_layer = { .rank = 70 };
	int i;

	for (i = 0; i < ENTRIES; i++)
		if (!strcasecmp(table[i].name, name))
			return &table[i];
	return core_builtin_class(name) == CORE_CLASS_CORE ? &stranger :
							     &strange_layer;
}

bool core_builtin_is_nic(const char *name)
{
	return core_builtin_find(name)->rank < RANK_SOFTWARE;
}

bool core_builtin_serves(const char *core, const char *layer)
{
	unsigned types = core_builtin_find(core)->types;
	unsigned below = core_builtin_find(layer)->below;

	return !types || !below || types & below;
}

enum core_class core_builtin_class(const char *name)
{
	if (!strncasecmp(name, "ofi_hook_", strlen("ofi_hook_")))
		return CORE_CLASS_HOOK;
	if (!strncasecmp(name, "ofi_", strlen("ofi_")))
		return CORE_CLASS_LAYER;
	return CORE_CLASS_CORE;
}
