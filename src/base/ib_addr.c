/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "base/ib_addr.h"

#include <arpa/inet.h>
#include <endian.h>
#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define QPN_MAX 0xffffffu
#define SL_MAX 15
#define UD_INTRO "fi_addr_ib_ud://"
#define SA_INTRO "fi_sockaddr_ib://"

/* ---- checks ------------------------------------------------------------------------- */

const char *ib_gid_wrong(const void *gid)
{
	static const uint8_t none[16];
	const uint8_t *byte = gid;

	if (!memcmp(byte, none, sizeof(none)))
		return "it has no GID (all zero)";
	return byte[0] == 0xff ? "its GID is that of a multicast group, not of a port" : NULL;
}

const char *ib_ud_wrong(const void *addr, size_t len)
{
	struct ib_ud ud;
	const char *why;

	if (len < sizeof(ud))
		return "it is shorter than 32 bytes";
	memcpy(&ud, addr, sizeof(ud));
	why = ib_gid_wrong(ud.gid);
	if (why)
		return why;
	if (!ud.qpn)
		return "it names no queue pair (number 0): fi_getname() of an enabled endpoint does";
	if (ntohl(ud.qpn) > QPN_MAX)
		return "its queue pair number has more than 24 bits";
	if (ntohl(ud.qpn) == QPN_MAX)
		return "its queue pair number is the one of multicast groups";
	if (ntohs(ud.lid) >= 0xc000)
		return "its LID is not one of a port (0 to 0xbfff)";
	if (ud.sl > SL_MAX)
		return "its service level is above 15";
	if (!(ntohs(ud.pkey) & 0x7fff))
		return "its partition key is 0";
	return ud.zero ? "its reserved byte is not 0" : NULL;
}

const char *ib_sa_wrong(const void *addr, size_t len)
{
	struct ib_sa sa;
	const char *why;

	if (len < sizeof(sa))
		return "it is shorter than a struct sockaddr_ib (48 bytes)";
	memcpy(&sa, addr, sizeof(sa));
	if (sa.family != IB_SA_FAMILY)
		return "its family is not AF_IB (27)";
	why = ib_gid_wrong(sa.gid);
	if (why)
		return why;
	return sa.sid && sa.sid != htobe64(IB_SID_TCP) ? NULL : "it names no service, or port 0";
}

void ib_sa_set_port(struct ib_sa *sa, uint16_t port)
{
	sa->sid = htobe64((be64toh(sa->sid) & ~UINT64_C(0xffff)) | port);
}

/* ---- text -------------------------------------------------------------------------------- */

char *ib_ud_text(const void *addr, char *buf)
{
	char gid[INET6_ADDRSTRLEN];
	struct ib_ud ud;
	int n;

	memcpy(&ud, addr, sizeof(ud));
	inet_ntop(AF_INET6, ud.gid, gid, sizeof(gid));
	n = snprintf(buf, IB_ADDR_TEXT_MAX, UD_INTRO "[%s]:%u/0x%x/%u/%u/0x%x", gid, ntohl(ud.qpn),
		     ntohl(ud.qkey), ntohs(ud.lid), ud.sl, ntohs(ud.pkey));
	if (ud.service)
		snprintf(buf + n, IB_ADDR_TEXT_MAX - (size_t) n, "?service=%u", ntohs(ud.service));
	return buf;
}

char *ib_sa_text(const void *addr, char *buf)
{
	char gid[INET6_ADDRSTRLEN];
	struct ib_sa sa;
	uint64_t sid;
	int n;

	memcpy(&sa, addr, sizeof(sa));
	sid = be64toh(sa.sid);
	inet_ntop(AF_INET6, sa.gid, gid, sizeof(gid));
	n = snprintf(buf, IB_ADDR_TEXT_MAX, sid >> 16 == IB_SID_TCP >> 16 ?
		     SA_INTRO "[%s]:%llu" : SA_INTRO "[%s]:0x%llx", gid,
		     (unsigned long long) (sid >> 16 == IB_SID_TCP >> 16 ? sid & 0xffff : sid));
	snprintf(buf + n, IB_ADDR_TEXT_MAX - (size_t) n, "/0x%x", ntohs(sa.pkey));
	return buf;
}

/* ---- parsing ------------------------------------------------------------------------------ */

/* [GID], up to what follows it. */
static const char *parse_gid(const char *text, uint8_t *gid)
{
	char copy[INET6_ADDRSTRLEN];
	const char *end = *text == '[' ? strchr(text, ']') : NULL;
	size_t len = end ? (size_t) (end - text - 1) : sizeof(copy);

	if (len >= sizeof(copy))
		return NULL;
	memcpy(copy, text + 1, len);
	copy[len] = '\0';
	return inet_pton(AF_INET6, copy, gid) == 1 ? end + 1 : NULL;
}

/* A number behind @mark, if @mark is present; decimal, or hexadecimal with 0x. Returns the
 * position behind it, or NULL.
 */
static const char *parse_number(const char *at, char mark, uint64_t max, uint64_t *value)
{
	char *end;

	if (!at || *at != mark)
		return at;
	if (at[1] < '0' || at[1] > '9')
		return NULL;
	errno = 0;
	*value = strtoull(at + 1, &end, at[1] == '0' && at[2] == 'x' ? 16 : 10);
	return errno || *value > max ? NULL : end;
}

int ib_ud_parse(const char *text, struct ib_ud *out)
{
	uint64_t qpn = 0, qkey = IB_UD_QKEY, lid = 0, sl = 0, pkey = IB_PKEY, service = 0;
	struct ib_ud ud = { .zero = 0 };
	const char *at;

	if (strncmp(text, UD_INTRO, sizeof(UD_INTRO) - 1))
		return -FI_ENODATA;
	at = parse_gid(text + sizeof(UD_INTRO) - 1, ud.gid);
	at = parse_number(at, ':', QPN_MAX, &qpn);
	at = parse_number(at, '/', UINT32_MAX, &qkey);
	at = parse_number(at, '/', UINT16_MAX, &lid);
	at = parse_number(at, '/', SL_MAX, &sl);
	at = parse_number(at, '/', UINT16_MAX, &pkey);
	if (at && !strncmp(at, "?service=", 9))
		at = parse_number(at + 8, '=', UINT16_MAX, &service);
	if (!at || *at)
		return -FI_EINVAL;
	ud.qpn = htonl((uint32_t) qpn);
	ud.qkey = htonl((uint32_t) qkey);
	ud.lid = htons((uint16_t) lid);
	ud.sl = (uint8_t) sl;
	ud.pkey = htons((uint16_t) pkey);
	ud.service = htons((uint16_t) service);
	*out = ud;
	return 0;
}

int ib_sa_parse(const char *text, struct ib_sa *out)
{
	struct ib_sa sa = { .family = IB_SA_FAMILY, .sid_mask = UINT64_MAX };
	uint64_t sid = 0, pkey = IB_PKEY;
	const char *at;

	if (strncmp(text, SA_INTRO, sizeof(SA_INTRO) - 1))
		return -FI_ENODATA;
	at = parse_gid(text + sizeof(SA_INTRO) - 1, sa.gid);
	at = parse_number(at, ':', UINT64_MAX, &sid);
	at = parse_number(at, '/', UINT16_MAX, &pkey);
	if (!at || *at)
		return -FI_EINVAL;
	if (sid <= UINT16_MAX)
		sid |= IB_SID_TCP;
	sa.sid = htobe64(sid);
	sa.pkey = htons((uint16_t) pkey);
	*out = sa;
	return 0;
}
