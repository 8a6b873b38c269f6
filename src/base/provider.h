/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* provider.h - how a provider registers with the core.
 *
 * A provider writes one function with one of these macros; the core finds it whether it is
 * built into the library or loaded from a file:
 *
 *      OFI_PROVIDER_INI(tcp)
 *      {
 *              return &tcp_prov;
 *      }
 *
 * Built in, that function is fi_tcp_ini(), which src/core/load/builtin.c calls when configure
 * defined HAVE_TCP.  In a loadable object (-DFI_PROV_DL) it is the entry point fi_prov_ini() of
 * fi_provider(3).
 *
 * A module that offers a second provider writes OFI_PROVIDER_INI2(sockets): fi_sockets_ini()
 * when built in, fi_prov_ini2() when loaded.
 *
 * The function is called the first time that the provider is needed, and again when a module
 * that was unloaded is loaded again.  It defines the provider's parameters and returns its
 * struct, or NULL when the provider cannot work on this machine.  It must not call fi_getinfo()
 * or fi_fabric().
 */
#ifndef OFI_BASE_PROVIDER_H
#define OFI_BASE_PROVIDER_H

#include <rdma/providers/fi_prov.h>

#ifdef FI_PROV_DL

#include "base/module/calls.h"

struct fi_provider *fi_prov_ini2(void);

/* Without the calls of the library (module/calls.h) the file has no provider. */
#define OFI_PROVIDER_ENTRY(prov, entry)					\
	static struct fi_provider *fi_##prov##_ini(void);		\
	__attribute__((visibility("default")))				\
	struct fi_provider *entry(void)					\
	{								\
		return base_calls_taken() ? fi_##prov##_ini() : NULL;	\
	}								\
	static struct fi_provider *fi_##prov##_ini(void)

#define OFI_PROVIDER_INI(prov)	OFI_PROVIDER_ENTRY(prov, fi_prov_ini)

#define OFI_PROVIDER_INI2(prov)	OFI_PROVIDER_ENTRY(prov, fi_prov_ini2)

#else

#define OFI_PROVIDER_INI(prov)						\
	struct fi_provider *fi_##prov##_ini(void);			\
	struct fi_provider *fi_##prov##_ini(void)

#define OFI_PROVIDER_INI2(prov)	OFI_PROVIDER_INI(prov)

#endif

/* fi_provider.version of the providers of this tree: 100 * major + minor of the library, then
 * the revision.  Of two providers with one name the higher version is used.
 */
#define OFI_PROV_VERSION						\
	FI_VERSION(FI_MAJOR_VERSION * 100 + FI_MINOR_VERSION,		\
		   FI_REVISION_VERSION)

/* A layered provider (ofi_rxd, ofi_rxm) adds this flag when it calls fi_getinfo() for the
 * provider below it.  The result then comes from core providers only, without the FI_PROVIDER
 * filter (which the layered name has passed already), without layers and without hooks.
 */
#define OFI_CORE_PROV_ONLY	(1ULL << 59)

#endif
