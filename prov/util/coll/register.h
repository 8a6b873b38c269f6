/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* register.h - how a provider enables collectives. */
#ifndef COLL_REGISTER_H
#define COLL_REGISTER_H

/* coll_register - attach collectives to the engine: endpoints with FI_COLLECTIVE that are
 * opened later support them.  An endpoint that never joins a group needs no memory: struct coll
 * is made at the first join or message.
 *
 * Threading: from the provider's initialisation, which the core serialises.  May be repeated.
 */
void coll_register(void);

#endif
