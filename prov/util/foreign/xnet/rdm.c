/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "foreign/xnet/rdm.h"

#include <endian.h>
#include <string.h>

/* As on the wire. */
struct data {
	uint8_t version;
	uint8_t features;
	uint16_t port;
	uint32_t process;
};

_Static_assert(sizeof(struct data) == XNET_RDM_SIZE, "wire layout");

void xnet_rdm_put(const struct xnet_rdm *rdm, uint8_t out[XNET_RDM_SIZE])
{
	struct data data = {
		.version = rdm->version,
		.features = rdm->features,
		.port = htobe16(rdm->port),
		.process = htobe32(rdm->process),
	};

	memcpy(out, &data, sizeof(data));
}

/* is_rxm - ofi_rxm has 24 bytes at least, which begin with its versions. */
static bool is_rxm(const uint8_t *buf, size_t len)
{
	return len >= 24 && buf[0] == 1 && (buf[1] == 1 || buf[1] == 2) && buf[2] == 4 && buf[3] == 3;
}

bool xnet_rdm_get(const uint8_t *buf, size_t len, struct xnet_rdm *rdm_p)
{
	struct data data;

	if (len < sizeof(data) || is_rxm(buf, len))
		return false;
	memcpy(&data, buf, sizeof(data));
	if (!data.port || !data.process)
		return false;
	*rdm_p = (struct xnet_rdm) {
		.version = data.version,
		.features = data.features,
		.port = be16toh(data.port),
		.process = be32toh(data.process),
	};
	return true;
}

struct xnet_rdm xnet_rdm_answer(const struct xnet_rdm *request, uint32_t process)
{
	struct xnet_rdm answer = *request;

	answer.version = request->version ? XNET_RDM_LOOKED | XNET_RDM_VERSION : 0;
	answer.process = process;
	return answer;
}
