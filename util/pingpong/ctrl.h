/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef PP_CTRL_H
#define PP_CTRL_H

/*
 * The control channel: one TCP connection beside the fabric, over which the two processes
 * compare options, exchange addresses, synchronize steps and report errors.
 *
 * A frame is a type and a length, 32 bits each in network order, and that many bytes.  PP_FAIL
 * may be sent at any time; its bytes are the reason, as text.
 *
 * PP_HELLO has the options as text and, behind a zero byte, what each side is: its version and
 * the MTU of the path.  An older process sends the options alone, reads no further
 * than the zero byte, and knows no PP_LARGEST.
 */

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "options.h"

#ifndef FI_EPROTO
#define FI_EPROTO EPROTO	/* the headers of older releases lack the name */
#endif

enum pp_frame {
	PP_HELLO = 0x50500001,	/* first frame: magic of this protocol and version; options as text,
				 * zero, "version=... mtu=..."
				 */
	PP_ADDR,		/* an address: of the endpoint, or a port */
	PP_STEP,		/* the sender has completed a step */
	PP_FAIL,		/* the sender ends the test; the reason */
	PP_LARGEST,		/* the largest message of the sender's endpoint, decimal */
};

#define PP_FRAME_MAX 4096

/* What a process tells the other at the start. */
struct pp_side {
	char version[32];		/* the library's release; "": not told, an older process */
	unsigned mtu;			/* of the path of the control channel; 0: not known */
};

struct pp_ctrl {
	int fd;				/* the connection, or -1 */
	int listen_fd;			/* or -1 */
	bool met;			/* a frame was received: the peer speaks this protocol */
	bool failed;			/* a PP_FAIL was sent or received */
	struct sockaddr_storage local;	/* of the connection */
	struct sockaddr_storage peer;
	socklen_t addrlen;
	struct pp_side other;		/* known after pp_ctrl_hello() */
};

/* pp_ctrl_init - set to closed.   pp_ctrl_close - close all sockets. */
void pp_ctrl_init(struct pp_ctrl *c);
void pp_ctrl_close(struct pp_ctrl *c);

/* pp_ctrl_listen - open the server's port; *port_p is the port number. */
int pp_ctrl_listen(struct pp_ctrl *c, const struct pp_options *o, uint16_t *port_p);

/* pp_ctrl_accept - wait for the client, without a timeout. */
int pp_ctrl_accept(struct pp_ctrl *c);

/* pp_ctrl_connect - connect to the server, with retries for a few seconds. */
int pp_ctrl_connect(struct pp_ctrl *c, const struct pp_options *o);

/* pp_ctrl_hello - exchange the first frame; fails when the two processes have different options,
 * and prints which.  Different versions and MTUs are printed and are no error.
 */
int pp_ctrl_hello(struct pp_ctrl *c, const struct pp_options *o);

/* pp_ctrl_largest - compare the largest messages of the two endpoints.
 *
 * @len_p: [in] this side's, [out] the smaller one
 *
 * A difference is printed.  An older process is not asked.
 */
int pp_ctrl_largest(struct pp_ctrl *c, size_t *len_p);

/* pp_ctrl_send, pp_ctrl_recv - one frame.
 *
 * @len_p: [in] size of @buf, [out] bytes of the frame
 *
 * Both print errors, with the peer's reason if it sent one.
 * Errors: -FI_ECONNABORTED: the peer ended the test or is lost; -FI_ETIMEDOUT: no frame for
 *         half a minute; -FI_EPROTO: the peer is another program.
 */
int pp_ctrl_send(struct pp_ctrl *c, enum pp_frame type, const void *buf, size_t len);
int pp_ctrl_recv(struct pp_ctrl *c, enum pp_frame type, void *buf, size_t *len_p);

/* pp_ctrl_step - wait until the peer has reached the same step.
 *
 * @idle: called repeatedly while waiting, for the fabric's progress; may be NULL
 */
int pp_ctrl_step(struct pp_ctrl *c, int (*idle)(void *arg), void *arg);

/* pp_ctrl_peek - look for a frame without consuming it.  One system call.
 * Returns 0: none; PP_STEP: the peer has completed the current step; PP_ADDR, PP_LARGEST; or
 * -FI_ECONNABORTED, and the reason was printed.
 */
int pp_ctrl_peek(struct pp_ctrl *c);

/* pp_ctrl_fail - end the test: print the reason, and send it to the peer.  Only the first
 * reason is reported; later ones are consequences.
 */
void pp_ctrl_fail(struct pp_ctrl *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
