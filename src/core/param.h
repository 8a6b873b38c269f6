/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* param.h - parameters set by users: FI_<NAME>, FI_<PROVIDER>_<NAME>.
 *
 * A definition is stored under its full name and outlives the provider that made it. Defining
 * it again, as a module does that is loaded again, replaces the help text.  Values are read
 * from the environment at each query.
 */
#ifndef CORE_PARAM_H
#define CORE_PARAM_H

#include <pthread.h>

#include <rdma/providers/fi_prov.h>

/* core_param_define_own - define the parameters of the library itself. */
void core_param_define_own(void);

/* core_param_check_env - warn of variables, of the environment and of the configuration file, that look
 * like one of the defined parameters and are none: FI_TCP_IFAC; that it had once; and of lines of the file that set none.
 * Once for each process; call it when providers are loaded.
 */
void core_param_check_env(void);

/* core_param_removed - what to do instead of setting @name, a variable of earlier versions; NULL: it is none. */
const char *core_param_removed(const char *name);

extern pthread_mutex_t core_param_lock;

#endif
