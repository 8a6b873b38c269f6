/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */
#ifndef PP_CTRL_H
#define PP_CTRL_H

/*
 * The control channel: one TCP connection beside the fabric, over which the two
 * sides compare options, tell addresses, keep in step and say why they give up.
 *
 * A frame is a type and a length, 32 bits each in network order, and that many
 * bytes.  PP_FAIL may come at any time; its bytes are the reason, as text.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "options.h"

enum pp_frame {
	PP_HELLO = 0x50500001,	/* magic of this protocol and version; options as text */
	PP_ADDR,		/* an address: of the endpoint, or a port */
	PP_STEP,		/* done with a step */
	PP_FAIL,		/* giving up; the reason */
};

#define PP_FRAME_MAX 4096

struct pp_ctrl {
	int fd;				/* the connection, or -1 */
	int listen_fd;			/* or -1 */
	bool failed;			/* the peer gave up, or it was told that we do */
	struct sockaddr_storage local;	/* of the connection */
	struct sockaddr_storage peer;
	socklen_t addrlen;
};

/* pp_ctrl_init - nothing open.   pp_ctrl_close - everything closed. */
void pp_ctrl_init(struct pp_ctrl *c);
void pp_ctrl_close(struct pp_ctrl *c);

/* pp_ctrl_listen - open the server's port; *port_p is the one it got. */
int pp_ctrl_listen(struct pp_ctrl *c, const struct pp_options *o, uint16_t *port_p);

/* pp_ctrl_accept - wait for the client, for as long as it takes. */
int pp_ctrl_accept(struct pp_ctrl *c);

/* pp_ctrl_connect - connect to the server, which has a few seconds to come up. */
int pp_ctrl_connect(struct pp_ctrl *c, const struct pp_options *o);

/* pp_ctrl_hello - find out whether both sides were given the same test. */
int pp_ctrl_hello(struct pp_ctrl *c, const struct pp_options *o);

/* pp_ctrl_send, pp_ctrl_recv - one frame.
 *
 * @len_p: [in] room in @buf, [out] bytes of the frame
 *
 * Both print what went wrong, with the peer's own words if it gave up.
 * Errors: -FI_ECONNABORTED: the peer gave up or is gone; -FI_ETIMEDOUT: it has
 *	   said nothing for half a minute; -FI_EPROTO: it is another program.
 */
int pp_ctrl_send(struct pp_ctrl *c, enum pp_frame type, const void *buf, size_t len);
int pp_ctrl_recv(struct pp_ctrl *c, enum pp_frame type, void *buf, size_t *len_p);

/* pp_ctrl_step - wait until the peer is here too.
 *
 * @idle: called over and over while waiting, for the fabric's progress; may be NULL
 */
int pp_ctrl_step(struct pp_ctrl *c, int (*idle)(void *arg), void *arg);

/* pp_ctrl_peek - what the peer has said, without taking it.  One system call.
 * Returns 0: nothing; PP_STEP: it has come to the end of the step that this side
 * is in; or -FI_ECONNABORTED, and the reason was printed.
 */
int pp_ctrl_peek(struct pp_ctrl *c);

/* pp_ctrl_fail - say why this side gives up: to stderr and to the peer.  Once a
 * side has failed further reasons are consequences, and are not printed.
 */
void pp_ctrl_fail(struct pp_ctrl *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif
