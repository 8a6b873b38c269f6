/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * params.h - what a person sets in the environment for a provider: a table of parameters,
 * read into a structure when the provider is initialised.
 */
#ifndef INFO_PARAMS_H
#define INFO_PARAMS_H

#include <rdma/providers/fi_prov.h>
#include <stddef.h>

#include "net/sock.h"

/* One parameter; its name in the environment is FI_<PROVIDER>_<name>. */
struct info_param {
	const char *name;		/* NULL: this provider does not have it */
	enum fi_param_type type;	/* FI_PARAM_INT, BOOL (both int), SIZE_T, STRING (const char *) */
	size_t offset;			/* of the field in the structure */
	size_t min, max;		/* of numbers; INFO_PARAM_MAX: as large as the field holds */
	const char *const *words;	/* STRING: the words it may be, NULL at the end; the field is
					 * an int, and gets the index */
	const char *help;		/* for fi_info -e, with the default */
};

#define INFO_PARAM_MAX ((size_t) -1)

/* info_params_read - define @cnt parameters of @prov, and read those that are set into
 * @conf, which has the defaults.  A value that is not possible is logged as a warning with
 * what would be, and the default stays.
 * Ownership: a STRING that was set is a copy from malloc(), which the provider keeps.
 */
void info_params_read(struct fi_provider *prov, const struct info_param *params, size_t cnt,
		      void *conf);

/* ---- parameters that several providers over IP have --------------------------------------- */

/* FI_<PROV>_IFACE, FI_<PROV>_PORT_LOW_RANGE and _PORT_HIGH_RANGE. */
#define INFO_PARAM_IFACE	0x1
#define INFO_PARAM_PORTS	0x2

/* info_params_define - tell the parameter list (fi_info -e) what exists; once, when
 * the provider is initialised.   @which: INFO_PARAM_IFACE, INFO_PARAM_PORTS
 */
int info_params_define(const struct fi_provider *prov, int which);

/* info_params_conn_retry - FI_CONN_RETRY, for how many milliseconds a connect is repeated that the peer's host
 * refuses, into *@ms_p, if it is set to one that is possible; INFO_CONN_RETRY_MS is the default.
 */
#define INFO_CONN_RETRY_MS 1000
void info_params_conn_retry(struct fi_provider *prov, int *ms_p);

/* info_params_iface - the interface named by FI_<PROV>_IFACE, or NULL. */
const char *info_params_iface(struct fi_provider *prov);

/* info_params_iface_var - the name of that variable, for texts. */
void info_params_iface_var(const struct fi_provider *prov, char *buf, size_t size);

/* info_params_ports - the port range of the environment, checked.  A bad range is
 * logged as a warning, with what would be right, and gives -FI_EINVAL and no range.
 */
int info_params_ports(struct fi_provider *prov, struct net_ports *ports_p);

/* info_params_ports_advice - for the text of a bind that failed: the variables that widen the
 * range, where another socket has the port; else "".   @err: positive
 */
const char *info_params_ports_advice(const struct fi_provider *prov, int err, char *buf,
				     size_t size);

#endif
