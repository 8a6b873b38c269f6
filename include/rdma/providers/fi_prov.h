/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
/*
 * fi_prov.h - what a provider exports, and what it gets from the library.
 *
 * A provider is one struct fi_provider.  Built on its own, it is a file named lib<name>-fi.so
 * (or <name>-fi.so) with the entry point FI_EXT_INI.
 */
#ifndef FI_PROV_H
#define FI_PROV_H

#include <rdma/fabric.h>

#ifdef __cplusplus
extern "C" {
#endif

/* How the file of a provider ends. */
#define FI_LIB_EXTENSION	"fi"
#define FI_LIB_SUFFIX		FI_LIB_EXTENSION ".so"

/* Head of the entry point: FI_EXT_INI { return &my_provider; }
 * Called once, when the library starts; NULL: nothing to offer here. */
#define FI_EXT_INI \
	__attribute__((visibility("default"), EXTERNALLY_VISIBLE)) \
	struct fi_provider *fi_prov_ini(void)

struct fi_provider {
	uint32_t		version;	/* of the provider, FI_VERSION() */
	uint32_t		fi_version;	/* interface it was written for */
	struct fi_context	context;	/* the library's */
	const char		*name;		/* short, stable: programs ask for it */
	/* as fi_getinfo(), this provider's answers only */
	int (*getinfo)(uint32_t version, const char *node, const char *service,
			uint64_t flags, const struct fi_info *hints,
			struct fi_info **info);
	/* as fi_fabric() */
	int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric,
			void *context);
	/* last call, when the library ends */
	void (*cleanup)(void);
};

/* fi_prov_ini - the entry point that FI_EXT_INI defines. */
struct fi_provider *fi_prov_ini(void);

/* fi_param_define - define an environment variable.
 *
 * @provider:   owner; NULL: the library
 * @param_name: short name; the variable is FI_<PROVIDER>_<NAME>
 * @help_string_fmt: description, for fi_info -e
 *
 * Errors: -FI_EINVAL, -FI_ENOMEM.
 */
int fi_param_define(const struct fi_provider *provider, const char *param_name,
		enum fi_param_type type, const char *help_string_fmt, ...)
		FI_FORMAT_PRINTF(4, 5);

/* fi_param_get - its value, as the type it was defined with.
 *
 * @value: [out] char *, int, int (bool) or size_t; untouched on error
 *
 * Ownership: a string stays the library's.
 * Errors:    -FI_ENODATA not set; -FI_ENOENT not defined; -FI_EINVAL not of
 *            the type.
 */
int fi_param_get(struct fi_provider *provider, const char *param_name,
		void *value);

FI_INLINE int fi_param_get_str(struct fi_provider *provider,
		const char *param_name, char **value)
{
	return fi_param_get(provider, param_name, value);
}

FI_INLINE int fi_param_get_int(struct fi_provider *provider,
		const char *param_name, int *value)
{
	return fi_param_get(provider, param_name, value);
}

FI_INLINE int fi_param_get_bool(struct fi_provider *provider,
		const char *param_name, int *value)
{
	return fi_param_get(provider, param_name, value);
}

FI_INLINE int fi_param_get_size_t(struct fi_provider *provider,
		const char *param_name, size_t *value)
{
	return fi_param_get(provider, param_name, value);
}

#ifdef __cplusplus
}
#endif

#endif /* FI_PROV_H */
