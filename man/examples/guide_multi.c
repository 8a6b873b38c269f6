/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "example.h"

#define MESSAGES 100

/* [page */
/* Post @buf for many messages; each goes behind the one before. */
static void post_buffer(struct example *e, void *buf, size_t len, struct fi_context2 *ctx)
{
	struct iovec iov = { buf, len };
	struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = FI_ADDR_UNSPEC, .context = ctx };

	MUST(fi_recvmsg(e->ep, &msg, FI_MULTI_RECV));
}

/* A burst: FI_MORE says that another call follows at once, so that the provider may send several
 * messages with one system call.  The last of a burst goes without it.
 */
static void send_burst(struct example *e, char (*text)[32], struct fi_context2 *ctx)
{
	int i;

	for (i = 0; i < MESSAGES; i++) {
		struct iovec iov = { text[i], 32 };
		struct fi_msg msg = { .msg_iov = &iov, .iov_count = 1, .addr = e->self, .context = &ctx[i] };
		ssize_t ret;

		while ((ret = fi_sendmsg(e->ep, &msg, i < MESSAGES - 1 ? FI_MORE : 0)) == -FI_EAGAIN)
			fi_cq_read(e->cq, NULL, 0);
		MUST(ret);
	}
}

/* entry.buf is where the message lies.  FI_MULTI_RECV means that less than the minimum is left, and
 * the buffer is the program's again, once the messages in it have been used.
 */
static int take(struct example *e, int *released_p)
{
	struct fi_cq_tagged_entry entry;
	int i, got = 0;

	for (i = 0; i < 2 * MESSAGES; i++) {	/* that many sends and receives complete */
		example_wait(e->cq, &entry);
		if (!(entry.flags & FI_RECV))
			continue;
		got += !strncmp(entry.buf, "message ", 8);
		*released_p += (entry.flags & FI_MULTI_RECV) != 0;
	}
	return got;
}
/* page] */

int main(void)
{
	static struct fi_context2 out_ctx[MESSAGES], in_ctx[2];
	static char text[MESSAGES][32], buf[2][MESSAGES / 2 * 32];
	size_t min = 32;
	struct example e;
	int i, released = 0, got;

	example_open(&e, "tcp", FI_EP_RDM, FI_MSG | FI_MULTI_RECV);
	MUST(fi_setopt(&e.ep->fid, FI_OPT_ENDPOINT, FI_OPT_MIN_MULTI_RECV, &min, sizeof(min)));
	for (i = 0; i < MESSAGES; i++)
		snprintf(text[i], sizeof(text[i]), "message %d", i);
	for (i = 0; i < 2; i++)
		post_buffer(&e, buf[i], sizeof(buf[i]), &in_ctx[i]);
	send_burst(&e, text, out_ctx);
	got = take(&e, &released);
	example_close(&e);
	return got == MESSAGES && released == 2 && !strcmp(buf[1], "message 50") ? 0 : 1;
}
