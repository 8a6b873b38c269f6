/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * fuzz_rdm - libFuzzer target: what another implementation may send to an RDM endpoint.
 *
 * The first byte chooses how the connection begins: a well-formed request of version 0 or 1, a damaged
 * one, or none.  The rest is frames: each has a byte that chooses well-formed headers or raw bytes, and
 * is cut into pieces.  Whatever comes, the endpoint lives, and a well-formed peer is served after it.
 */
#include <errno.h>
#include <netinet/in.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_tagged.h>
#include <rdma/providers/fi_prov.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "obj/test/calls.h"
#include "foreign/xnet/cm.h"
#include "foreign/xnet/frame.h"
#include "foreign/xnet/rdm.h"

#define ROOM 4096

struct fi_provider *fi_tcp_ini(void);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct fi_info *info;
static struct fid_fabric *fabric;
static struct fid_domain *domain;
static struct fid_cq *cq;
static struct fid_av *av;
static struct fid_ep *ep;
static struct fid_mr *mr;
static struct sockaddr_in name;
static uint8_t memory[ROOM], received[ROOM];
static uint32_t process = 1;

struct input {
	const uint8_t *at, *end;
};

static uint8_t next(struct input *in)
{
	return in->at < in->end ? *in->at++ : 0;
}

static void open_all(void)
{
	struct fi_cq_attr attr = { .format = FI_CQ_FORMAT_TAGGED };
	struct fi_av_attr table = { .type = FI_AV_TABLE };
	struct fi_info *hints = fi_allocinfo();
	struct fi_provider *prov;
	size_t len = sizeof(name);

	setenv("FI_TCP_LOCAL", "0", 1);
	setenv("FI_LOG_LEVEL", "error", 0);
	prov = fi_tcp_ini();
	hints->caps = FI_MSG | FI_TAGGED | FI_RMA;
	hints->ep_attr->type = FI_EP_RDM;
	hints->domain_attr->control_progress = hints->domain_attr->data_progress = FI_PROGRESS_MANUAL;
	CALL(prov->getinfo(FI_VERSION(1, 20), "127.0.0.1", "0", FI_SOURCE, hints, &info));
	fi_freeinfo(hints);
	CALL(prov->fabric(info->fabric_attr, &fabric, NULL));
	CALL(fi_domain(fabric, info, &domain, NULL));
	CALL(fi_cq_open(domain, &attr, &cq, NULL));
	CALL(fi_av_open(domain, &table, &av, NULL));
	CALL(fi_endpoint(domain, info, &ep, NULL));
	CALL(fi_ep_bind(ep, &cq->fid, FI_SEND | FI_RECV));
	CALL(fi_ep_bind(ep, &av->fid, 0));
	CALL(fi_enable(ep));
	CALL(fi_getname(&ep->fid, &name, &len));
	CALL(fi_mr_reg(domain, memory, sizeof(memory), FI_REMOTE_READ | FI_REMOTE_WRITE, 0, 7, 0, &mr, NULL));
}

static ssize_t poll_once(void)
{
	struct fi_cq_tagged_entry entry;
	struct fi_cq_err_entry err = { 0 };
	ssize_t ret = fi_cq_read(cq, &entry, 1);

	if (ret == -FI_EAVAIL)
		ret = fi_cq_readerr(cq, &err, 0);
	return ret;
}

/* say - all of it; the peer may have closed. */
static void say(int fd, const uint8_t *buf, size_t len)
{
	ssize_t ret;

	while (len) {
		ret = send(fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (ret < 0 && errno != EAGAIN)
			return;
		if (ret > 0) {
			buf += ret;
			len -= (size_t) ret;
		}
		recv(fd, received, sizeof(received), MSG_DONTWAIT);
		poll_once();
	}
}

static size_t request(struct input *in, uint8_t how, uint8_t *out)
{
	struct xnet_cm_msg msg = { .type = XNET_CM_REQUEST, .data_len = XNET_RDM_SIZE };
	struct xnet_rdm rdm = { .version = how & 1, .port = (uint16_t) (1 + (how >> 1 & 3)), .process = process++ };
	unsigned damage = how & 0x80 ? 1 + next(in) % 4 : 0;

	if ((how & 0xc0) == 0x40)
		msg.data_len = next(in);
	memset(out + XNET_CM_SIZE, 0, XNET_CM_DATA_MAX);
	xnet_cm_put(&msg, out);
	xnet_rdm_put(&rdm, out + XNET_CM_SIZE);
	while (damage--) {
		size_t at = next(in) % (XNET_CM_SIZE + XNET_RDM_SIZE);

		out[at] = next(in);
	}
	return (size_t) XNET_CM_SIZE + msg.data_len;
}

/* frame - Returns its length. */
static size_t frame(struct input *in, uint8_t *out)
{
	uint8_t kind = next(in), i;
	struct xnet_frame f = {
		.op = kind % 8, .flags = next(in) & (XNET_FRAME_F_DATA | XNET_FRAME_F_ACK), .tag = next(in) % 4,
		.number = next(in), .ranges = (uint8_t) (1 + next(in) % 4), .len = next(in),
	};
	size_t len;

	if (kind & 0x80) {
		for (i = 0; i < (kind & 0x3f); i++)
			out[i] = next(in);
		return kind & 0x3f;
	}
	if (f.op == XNET_FRAME_RTS)
		f.asked = f.len;
	for (i = 0; i < f.ranges; i++)
		f.range[i] = (struct wire_rma) { next(in), i ? 0 : f.len, kind & 0x40 ? 8 : 7 };
	if (f.op == XNET_FRAME_READ || f.op == XNET_FRAME_RTS || f.op == XNET_FRAME_CTS)
		f.len = 0;
	len = xnet_frame_put(&f, false, out);
	memset(out + len, kind, f.len);
	return len + f.len;
}

static void post(uint8_t how)
{
	if (how & 1)
		fi_trecv(ep, memory, how * 8u, NULL, FI_ADDR_UNSPEC, how % 4, how & 2 ? 3 : 0, NULL);
	else
		fi_recv(ep, memory, how * 8u, NULL, FI_ADDR_UNSPEC, NULL);
}

/* quiet - nothing of the input is left: neither messages nor receives. */
static void quiet(void)
{
	int idle;

	for (idle = 0; idle < 3;)
		idle = poll_once() == 1 ? 0 : idle + 1;
	for (idle = 0; idle < 2; idle++) {
		do {
			idle ? fi_trecv(ep, memory, ROOM, NULL, FI_ADDR_UNSPEC, 0, ~UINT64_C(0), memory) :
			       fi_recv(ep, memory, ROOM, NULL, FI_ADDR_UNSPEC, memory);
		} while (poll_once() == 1);
		while (!fi_cancel(&ep->fid, memory))
			;
		while (!fi_cancel(&ep->fid, NULL))
			;
		while (poll_once() == 1)
			;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct input in = { data, data + size };
	uint8_t out[XNET_CM_SIZE + XNET_CM_DATA_MAX + XNET_FRAME_MAX], how;
	size_t len, piece;
	int fd;

	if (!ep)
		open_all();
	how = next(&in);
	fd = socket(AF_INET, SOCK_STREAM, 0);
	setsockopt(fd, SOL_SOCKET, SO_LINGER, &(struct linger) { 1, 0 }, sizeof(struct linger));
	CHECK(!connect(fd, (struct sockaddr *) &name, sizeof(name)));
	if ((how & 0x30) != 0x30) {
		len = request(&in, how, out);
		say(fd, out, len);
	}
	while (in.at < in.end) {
		len = frame(&in, out);
		piece = next(&in) % (len + 1);
		if (how & 8)
			post(next(&in));
		say(fd, out, piece);
		poll_once();
		say(fd, out + piece, len - piece);
		poll_once();
	}
	close(fd);
	quiet();
	return 0;
}
