/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* testprov.h - what a loadable provider of the tests tells the test program.
 *
 * The program exports testprov_tell (link it with -export-dynamic) and hears of
 * loading, of unloading and of each call with what it was called with.
 */
#ifndef CORE_TESTPROV_H
#define CORE_TESTPROV_H

#include <rdma/fabric.h>

enum testprov_event {
	TESTPROV_LOAD,		/* the file was mapped */
	TESTPROV_UNLOAD,	/* ... and is about to go */
	TESTPROV_CLEANUP,
	TESTPROV_GETINFO,
	TESTPROV_FABRIC,
	TESTPROV_CLOSE,
};

/* What a call of getinfo was given. */
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
