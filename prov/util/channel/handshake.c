/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "channel/handshake.h"

#include <rdma/fi_errno.h>
#include <stdio.h>

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
		"it speaks no wire version of this release: see its log, and \"Wire versions\" in "
		"fabric(7)" },
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
	[CHAN_INSECURE] = { FI_EACCES,
		"its connections are protected and ours are not: set FI_SECURITY and FI_AUTH_KEY_FILE "
		"as they are set there" },
	[CHAN_ENDED] = { FI_ECONNRESET, "the connection has ended there" },
};

struct chan_version chan_version_ours(uint16_t link, uint16_t link_oldest)
{
	return (struct chan_version) {
		.link = link,
		.engine = WIRE_VERSION,
		.link_oldest = link_oldest,
		.engine_oldest = WIRE_OLDEST,
		.release = release_ours(),
	};
}

/* newest_common - 0: none. */
static uint16_t newest_common(uint16_t a, uint16_t a_oldest, uint16_t b, uint16_t b_oldest)
{
	uint16_t newest = a < b ? a : b;

	return newest >= a_oldest && newest >= b_oldest ? newest : 0;
}

bool chan_version_agree(const struct chan_version *ours, const struct chan_version *theirs,
			struct chan_version *used_p)
{
	struct chan_version used = {
		.link = newest_common(ours->link, ours->link_oldest, theirs->link,
				      theirs->link_oldest),
		.engine = newest_common(ours->engine, ours->engine_oldest, theirs->engine,
					theirs->engine_oldest),
	};

	if (used_p)
		*used_p = used;
	return used.link && used.engine;
}

static const char *name_of(const struct chan_version *version, char buf[RELEASE_TEXT_MAX])
{
	return version->release.major ? release_text(version->release, buf) : "of another release";
}

const char *chan_version_text(const struct chan_version *ours, const struct chan_version *theirs,
			      char *buf)
{
	char a[RELEASE_TEXT_MAX], b[RELEASE_TEXT_MAX];

	snprintf(buf, CHAN_VERSION_TEXT_MAX, "it runs libfabric %s, which speaks wire version %u.%u "
		 "(oldest %u.%u), and this is libfabric %s with %u.%u (oldest %u.%u): install on one "
		 "of the two hosts a release that speaks a version of the other, see \"Wire "
		 "versions\" in fabric(7)", name_of(theirs, b), theirs->link, theirs->engine,
		 theirs->link_oldest, theirs->engine_oldest, name_of(ours, a), ours->link,
		 ours->engine, ours->link_oldest, ours->engine_oldest);
	return buf;
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
