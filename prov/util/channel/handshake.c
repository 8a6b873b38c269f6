/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/handshake.h"

#include <rdma/fi_errno.h>

#include "engine/wire.h"

/* For each reason the error that fi_connect() or an operation reports, and the words for the log of
 * the side that was refused: so a text speaks of the other side, and says what to change there.
 */
static const struct {
	int err;
	const char *text;
} reasons[CHAN_REASONS] = {
	[CHAN_OK] = { FI_EPROTO, "no reason given" },
	[CHAN_REJECTED] = { FI_ECONNREFUSED, "the application there rejected the connection" },
	[CHAN_VERSION_BAD] = { FI_EPROTO,
		"it speaks another version of this library's protocol: use the same libfabric "
		"release on both sides" },
	[CHAN_KIND_BAD] = { FI_ECONNREFUSED,
		"the endpoint there is of another type (FI_EP_RDM connects to FI_EP_RDM, "
		"FI_EP_MSG to a passive endpoint)" },
	[CHAN_SIMULTANEOUS] = { FI_ECONNREFUSED,
		"a connection from the other side is used instead" },
	[CHAN_BUSY] = { FI_ECONNREFUSED,
		"it is out of file descriptors or memory: see its log, raise ulimit -n there" },
	[CHAN_MALFORMED] = { FI_EPROTO, "it could not make sense of our handshake" },
	[CHAN_ADDR_BAD] = { FI_EADDRNOTAVAIL,
		"our endpoint's address is not the one that it sees us connect from; if addresses "
		"are translated on the way, set FI_TCP_FIREWALL_ADDR=1 there" },
	[CHAN_NOT_YET] = { FI_ECONNREFUSED, "its end of the connection before is not closed yet" },
	[CHAN_NO_USE] = { FI_ECONNREFUSED, "it has no use for another connection just now" },
	[CHAN_NO_ENDPOINT] = { FI_ECONNREFUSED, "no endpoint there has the address" },
	[CHAN_HELD] = { FI_ECONNREFUSED, "the connection stands there, too" },
	[CHAN_ENDED] = { FI_ECONNRESET, "the connection has ended there" },
};

struct chan_version chan_version_ours(uint16_t link)
{
	return (struct chan_version) { .link = link, .engine = WIRE_VERSION };
}

const char *chan_reason_text(uint32_t reason)
{
	return reason < CHAN_REASONS ? reasons[reason].text :
	       "for a reason that this version does not know";
}

/* A number that a later version made up is a refusal, whatever it means. */
int chan_reason_errno(uint32_t reason)
{
	return reason < CHAN_REASONS ? reasons[reason].err : FI_ECONNREFUSED;
}
