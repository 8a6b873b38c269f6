/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* testprov.h - the events that a loadable test provider reports to the test program.
 *
 * The program exports testprov_tell (link it with -export-dynamic), which is called on loading,
 * on unloading and on each call of the provider, with the call's arguments.
 */
#ifndef CORE_TESTPROV_H
#define CORE_TESTPROV_H

#include <rdma/fabric.h>

enum testprov_event {
	TESTPROV_LOAD,		/* the file was mapped */
	TESTPROV_UNLOAD,	/* ... and is about to be unmapped */
	TESTPROV_CLEANUP,
	TESTPROV_GETINFO,
	TESTPROV_FABRIC,
	TESTPROV_CLOSE,
};

/* The arguments of a getinfo call. */
struct testprov_call {
	const char *prov;	/* which provider was called */
	int tag;		/* TESTPROV_TAG of its file */
	uint32_t version;
	const char *node;
	const char *service;
	uint64_t flags;
	const struct fi_info *hints;
};

typedef void testprov_tell_fn(enum testprov_event event,
			      const struct testprov_call *call);

/* Name of a fabric that the provider will not close (-FI_EBUSY) while set. */
#define TESTPROV_STICKY "sticky"

#endif
