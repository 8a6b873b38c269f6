/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * What an endpoint of another library receives when one of ours connects to it: datagrams that
 * it discards (foreign.h).  A plain socket takes its place, so that the bytes are those on the
 * wire, with the header of the provider udp before ours.
 */
#include <arpa/inet.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "foreign.h"
#include "side.h"

#define DATAGRAMS 5		/* HELLO, and retransmissions of it */

static int plain_socket(struct sockaddr_in *in)
{
	int fd = socket(AF_INET, SOCK_DGRAM, 0);
	socklen_t len = sizeof(*in);

	*in = (struct sockaddr_in) { .sin_family = AF_INET };
	in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	CHECK(fd >= 0);
	CHECK(!bind(fd, (struct sockaddr *) in, sizeof(*in)));
	CHECK(!getsockname(fd, (struct sockaddr *) in, &len));
	return fd;
}

int main(void)
{
	uint64_t end = clock_deadline(20000);
	struct pollfd pfd = { .events = POLLIN };
	struct sockaddr_in in;
	uint8_t buf[65536];
	unsigned cnt = 0;
	fi_addr_t to;
	struct side s;
	ssize_t len;

	setenv("FI_OFI_RXD_LOCAL", "0", 1);	/* datagrams, not shared memory */
	setenv("FI_LOG_LEVEL", "none", 1);
	pfd.fd = plain_socket(&in);
	side_open(&s, NULL);
	CHECK(fi_av_insert(s.av, &in, 1, &to, 0, NULL) == 1);
	CHECK(!fi_send(s.ep, "hello", 5, NULL, to, NULL));
	while (cnt < DATAGRAMS && clock_ns() < end) {
		fi_cq_read(s.cq, NULL, 0);
		if (poll(&pfd, 1, 1) != 1)
			continue;
		len = recv(pfd.fd, buf, sizeof(buf), 0);
		CHECK(len > 0);
		CHECK(foreign_discards(buf, (size_t) len));
		cnt++;
	}
	CHECK(cnt == DATAGRAMS);
	side_close(&s);
	close(pfd.fd);
	return 0;
}
