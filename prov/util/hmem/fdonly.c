/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fdonly.c - Neuron and SynapseAI: memory that is known as dma-bufs alone.
 *
 * An RDMA device reaches it directly; there is no copy through the host, so the software
 * providers refuse it.  The Neuron runtime exports a range as a dma-buf; SynapseAI programs
 * bring theirs (FI_MR_DMABUF).
 */
#include <rdma/fi_errno.h>

#include "hmem/kind.h"

static int (*nrt_get_dmabuf_fd)(uint64_t addr, uint64_t len, int *fd);

static int neuron_start(char *why, size_t room)
{
	static const char *const names[] = { "libnrt.so.1", NULL };
	const struct hmem_func funcs[] = {
		{ "nrt_get_dmabuf_fd", &nrt_get_dmabuf_fd, false },
		{ NULL, NULL, false },
	};

	if (hmem_load(names, funcs, why, room))
		return -FI_ENOSYS;
	return 0;
}

static int synapse_start(char *why, size_t room)
{
	static const char *const names[] = { "libSynapse.so", NULL };

	return hmem_load(names, NULL, why, room);
}

static int fdonly_find(const void *addr, size_t len, struct hmem_loc *loc, const char **why_p)
{
	loc->dmabuf_only = true;
	return 0;
}

static int neuron_dmabuf(const struct hmem_loc *loc, void *addr, size_t len, int *fd_p,
			 uint64_t *off_p)
{
	int ret;

	*off_p = 0;
	ret = nrt_get_dmabuf_fd((uintptr_t) addr, len, fd_p);
	return ret ? hmem_fail(&hmem_neuron, "nrt_get_dmabuf_fd", loc->device, NULL, ret) : 0;
}

static bool fdonly_exports(void)
{
	return true;
}

const struct hmem_kind hmem_neuron = {
	.iface = FI_HMEM_NEURON, .name = "Neuron", .word = "neuron",
	.start = neuron_start, .find = fdonly_find, .dmabuf = neuron_dmabuf, .exports = fdonly_exports,
};

const struct hmem_kind hmem_synapse = {
	.iface = FI_HMEM_SYNAPSEAI, .name = "SynapseAI", .word = "synapseai",
	.start = synapse_start, .find = fdonly_find, .exports = fdonly_exports,
};
