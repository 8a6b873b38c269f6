/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

#include "base/ib_addr.h"
#include "core/names.h"
#include "core/tostr.h"

static void tostr_in4(struct core_text *text, const void *addr, size_t len)
{
	char host[INET_ADDRSTRLEN];
	struct sockaddr_in sin;

	if (len < sizeof(sin)) {
		core_text_add(text, "fi_sockaddr_in://");
		return;
	}
	memcpy(&sin, addr, sizeof(sin));
	inet_ntop(AF_INET, &sin.sin_addr, host, sizeof(host));
	core_text_add(text, "fi_sockaddr_in://%s:%u", host, ntohs(sin.sin_port));
}

static void tostr_in6(struct core_text *text, const void *addr, size_t len)
{
	char host[INET6_ADDRSTRLEN];
	struct sockaddr_in6 sin6;

	if (len < sizeof(sin6)) {
		core_text_add(text, "fi_sockaddr_in6://");
		return;
	}
	memcpy(&sin6, addr, sizeof(sin6));
	inet_ntop(AF_INET6, &sin6.sin6_addr, host, sizeof(host));
	core_text_add(text, "fi_sockaddr_in6://[%s]:%u", host,
		      ntohs(sin6.sin6_port));
}

/* Address formats without a text form here: the bytes, under the format's name. */
static void tostr_bytes(struct core_text *text, uint32_t format, const void *addr,
			size_t len)
{
	const char *name = core_name_of(FI_TYPE_ADDR_FORMAT, format);
	const unsigned char *byte = addr;
	size_t i;

	for (; *name; name++)
		core_text_add(text, "%c", tolower((unsigned char) *name));
	core_text_add(text, "://");
	for (i = 0; i < len; i++)
		core_text_add(text, "%02x", byte[i]);
}

static void tostr_ib(struct core_text *text, uint32_t format, const void *addr, size_t len, size_t need)
{
	char buf[IB_ADDR_TEXT_MAX];

	if (len < need)
		tostr_bytes(text, format, addr, len);
	else
		core_text_add(text, "%s", format == FI_ADDR_IB_UD ? ib_ud_text(addr, buf) :
								    ib_sa_text(addr, buf));
}

static uint32_t sockaddr_format(const void *addr, size_t len)
{
	sa_family_t family = AF_UNSPEC;

	if (len >= sizeof(family))
		memcpy(&family, &((const struct sockaddr *) addr)->sa_family,
		       sizeof(family));
	if (family == AF_INET)
		return FI_SOCKADDR_IN;
	if (family == IB_SA_FAMILY)
		return FI_SOCKADDR_IB;
	return family == AF_INET6 ? FI_SOCKADDR_IN6 : FI_SOCKADDR;
}

void core_tostr_addr(struct core_text *text, uint32_t format, const void *addr,
		     size_t len)
{
	if (!addr) {
		core_text_add(text, "(null)");
		return;
	}
	if (format == FI_SOCKADDR || format == FI_SOCKADDR_IP)
		format = sockaddr_format(addr, len);
	switch (format) {
	case FI_SOCKADDR_IN:
		tostr_in4(text, addr, len);
		break;
	case FI_SOCKADDR_IN6:
		tostr_in6(text, addr, len);
		break;
	case FI_ADDR_STR:
		core_text_add(text, "%.*s", (int) strnlen(addr, len),
			      (const char *) addr);
		break;
	case FI_ADDR_IB_UD:
		tostr_ib(text, format, addr, len, sizeof(struct ib_ud));
		break;
	case FI_SOCKADDR_IB:
		tostr_ib(text, format, addr, len, sizeof(struct ib_sa));
		break;
	default:
		tostr_bytes(text, format, addr, len);
	}
}
