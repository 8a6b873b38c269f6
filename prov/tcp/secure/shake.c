/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * shake.c - the handshake of a protected connection, and its state from the first byte to the last.
 */
#include "tcp/secure/state.h"

#include <errno.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "secure/cert.h"
#include "secure/policy.h"
#include "secure/secret.h"

enum sec_level tcp_sec_level(const struct tcp_conn *conn)
{
	return conn->sec ? conn->sec->level : SEC_NONE;
}

const char *tcp_sec_text(const struct tcp_conn *conn)
{
	static const char *const texts[] = {
		[SEC_NONE] = "not protected", [SEC_AUTH] = "authenticated", [SEC_ENCRYPT] = "encrypted",
	};

	return texts[tcp_sec_level(conn)];
}

/* same_proof - what the peer has proven is what an endpoint with @policy asks for. */
static bool same_proof(struct sec_policy *policy, const struct tcp_sec *sec)
{
	return sec->by_cert ? policy->certs != NULL : sec_policy_takes(policy, sec->key_name);
}

bool tcp_sec_may_take(const struct tcp_link *link, const struct tcp_conn *conn)
{
	enum sec_level level = link->sec ? link->sec->level : SEC_NONE;

	if (level == tcp_sec_level(conn) && (!level || same_proof(link->sec, conn->sec)))
		return true;
	TCP_WARN(link->conf, "fi_accept: the connection request is %s, and FI_SECURITY or auth_key of this "
		 "endpoint asks for %s, or for another key: set the same for the passive endpoint\n", tcp_sec_text(conn),
		 sec_level_name(level));
	return false;
}

/* ---- opening --------------------------------------------------------------- */

/* set_to - whom the connecting peer means, or by what address the accepting one was reached. */
static void set_to(const struct tcp_conn *conn, struct sec_shake_attr *attr)
{
	union net_sa own;

	/* the address that a certificate must have is the one that was inserted, whatever is translated behind it */
	if (conn->link->conf->firewall_addr && !attr->certs)
		return;
	if (conn->ours)
		sec_to_pack(&conn->peer, net_addr_len(&conn->peer.sa), attr->to);
	else if (!net_sock_name(conn->src.fd, &own))
		sec_to_pack(&own, net_addr_len(&own.sa), attr->to);
}

/* is_to_self - an endpoint may connect to itself, and then is both client and server. */
static bool is_to_self(const struct tcp_conn *conn)
{
	return conn->ours && !net_addr_cmp(&conn->peer.sa, &conn->link->name.sa);
}

static int open_shake(struct tcp_conn *conn, struct sec_policy *policy)
{
	struct tcp_sec *sec = conn->sec;
	struct sec_shake_attr attr = {
		.server = !conn->ours,
		.keys = sec->keys,
		.certs = policy->certs,
		.level = policy->level,
		.version = TCP_WIRE_VERSION,
		.oldest = TCP_WIRE_OLDEST,
	};

	memcpy(attr.id, policy->id, sizeof(attr.id));
	if (is_to_self(conn) && !sec_random(attr.id, sizeof(attr.id)))
		return -FI_ENOMEM;
	set_to(conn, &attr);
	return sec_shake_open(&attr, &sec->shake);
}

static void shake_close(struct tcp_sec *sec)
{
	if (sec->shake)
		sec_shake_close(sec->shake);
	sec->shake = NULL;
	sec_secret_free(sec->keys, sizeof(*sec->keys));
	sec->keys = NULL;
}

/* free_sec - nothing of the keys stays in memory. */
static void free_sec(struct tcp_conn_end *end)
{
	struct tcp_sec *sec = (struct tcp_sec *) end;	/* its first member */

	shake_close(sec);
	sec_peer_cert_free(sec->peer);
	if (sec->open)
		sec_channel_close(&sec->chan);
	free(sec->out);
	free(sec->in);
	explicit_bzero(sec, sizeof(*sec));
	free(sec);
}

/* end_sec - the stream ends in order: say so in a record, as far as the socket takes it now. */
static void end_sec(struct tcp_conn_end *end, struct tcp_conn *conn, void (*how)(struct tcp_conn *))
{
	if (how == tcp_conn_close_orderly && conn->state == TCP_CONN_READY)
		tcp_sec_leave(conn);
}

int tcp_sec_new(struct tcp_conn *conn)
{
	struct sec_policy *policy = conn->link->sec;
	char why[SEC_WHY_MAX];

	if (!policy)
		return 0;
	conn->sec = calloc(1, sizeof(*conn->sec));
	if (!conn->sec)
		return -FI_ENOMEM;
	conn->sec->end.end = end_sec;
	conn->sec->end.free = free_sec;
	list_add_tail(&conn->sec->end.node, &conn->ends);
	conn->sec->level = policy->level;
	conn->sec->by_cert = policy->certs != NULL;
	conn->sec->keys = sec_secret_new(sizeof(*conn->sec->keys));
	if (!conn->sec->keys)
		return -FI_ENOMEM;
	sec_policy_keys(policy, conn->sec->keys, why);
	if (*why)
		TCP_WARN(conn->link->conf, "the keys that were read before stay in use: %s\n", why);
	conn->tx.indirect = true;
	return open_shake(conn, policy);
}

/* ---- whose certificate it is ------------------------------------------------- */

/* claimed_addr - where the endpoint of a client says that it is.  A MSG endpoint is known by the address that it
 * connects from, and so is what is above it.
 */
static const union net_sa *claimed_addr(const struct tcp_conn *conn, const union net_sa *said)
{
	bool asked = conn->link->kind == TCP_WIRE_RDM;

	return asked && net_addr_len(&said->sa) && !net_addr_is_any(&said->sa) ? said : &conn->peer;
}

bool tcp_sec_is_claim_true(struct tcp_conn *conn, const union net_sa *said)
{
	struct tcp_sec *sec = conn->sec;
	char why[SEC_WHY_MAX], names[256], text[NET_ADDR_TEXT_MAX];
	const union net_sa *claimed = claimed_addr(conn, said);
	uint8_t address[SEC_TO_SIZE] = { 0 };
	bool fits;

	if (!sec || !sec->by_cert)
		return true;
	sec_to_pack(claimed, net_addr_len(&claimed->sa), address);
	fits = sec->peer && sec_peer_cert_is_at(sec->peer, address);
	if (!fits) {
		snprintf(names, sizeof(names), "none");
		if (sec->peer)
			sec_peer_cert_text(sec->peer, names, sizeof(names));
		snprintf(why, sizeof(why), "its endpoint is at %s, and its certificate is of %s: give it one with that "
			 "address as a subjectAltName of type iPAddress", net_addr_text(&claimed->sa, text), names);
		tcp_sec_log(conn, "was refused", why);
	}
	sec_peer_cert_free(sec->peer);
	sec->peer = NULL;
	return fits;
}

void tcp_sec_log_refusal(struct tcp_conn *conn)
{
	char why[SEC_WHY_MAX], text[NET_ADDR_TEXT_MAX];
	union net_sa own = conn->link->name;

	if (!conn->sec || !conn->sec->by_cert)
		return;
	if (!net_addr_len(&own.sa) && net_sock_name(conn->src.fd, &own))
		return;
	snprintf(why, sizeof(why), "is %s, where our endpoint is, an iPAddress of the certificate of FI_TLS_CERT?",
		 net_addr_text(&own.sa, text));
	tcp_sec_log(conn, "refuses our certificate or address", why);
}

/* ---- the handshake ---------------------------------------------------------- */

bool tcp_sec_is_open(const struct tcp_conn *conn)
{
	return conn->sec->open;
}

bool tcp_sec_is_speaking(const struct tcp_conn *conn)
{
	return conn->sec && conn->sec->spoken && !conn->sec->open;
}

/* send_shake - what the handshake has to say, which is shorter than any socket buffer. */
static int send_shake(struct tcp_conn *conn)
{
	uint8_t buf[4096];
	size_t len;
	ssize_t ret;

	while ((len = sec_shake_take(conn->sec->shake, buf, sizeof(buf)))) {
		ret = send(conn->src.fd, buf, len, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (ret < 0)
			return -errno;
		if ((size_t) ret < len)
			return -FI_ENOBUFS;
		tcp_conn_sent(conn);
	}
	return 0;
}

int tcp_sec_begin(struct tcp_conn *conn)
{
	return send_shake(conn);
}

/* refuse_plain - what came is no TLS: in the clear, or of another protocol.  A request is refused by the caller. */
static void refuse_plain(struct tcp_conn *conn)
{
	if (conn->ours) {
		tcp_sec_log(conn, "is not used", "it does not protect connections, and FI_SECURITY or a key here asks "
			 "for that: set the same there");
		tcp_conn_fail(conn, FI_EACCES, false);
		return;
	}
	tcp_sec_log(conn, "was refused", "it does not protect connections, and FI_SECURITY or a key here asks for "
		 "that: set the same there");
	conn->sec->plain = true;
}

/* refuse_shake - the alert has been sent.  The peer learns no more than that. */
static void refuse_shake(struct tcp_conn *conn)
{
	tcp_sec_log(conn, conn->ours ? "is not used" : "was refused", sec_shake_why(conn->sec->shake));
	shake_close(conn->sec);		/* nothing is left to say: the keys need not wait for the peer */
	if (conn->ours)
		tcp_conn_fail(conn, FI_EACCES, false);
	else
		tcp_conn_half_close(conn);
}

/* on_shaken - the peer has proven the key. */
static bool on_shaken(struct tcp_conn *conn)
{
	struct tcp_sec *sec = conn->sec;
	uint8_t exported[SEC_HASH_SIZE];

	sec->open = sec_shake_export(sec->shake, exported) &&
		    sec_channel_open(&sec->chan, sec->level, !conn->ours, exported, 0);
	explicit_bzero(exported, sizeof(exported));
	memcpy(sec->key_name, sec_shake_key_name(sec->shake), sizeof(sec->key_name));
	if (!conn->ours)
		sec->peer = sec_shake_peer(sec->shake);
	shake_close(sec);
	if (!sec->open)
		tcp_conn_fail(conn, FI_ENOMEM, false);
	return sec->open;
}

/* shake_read - one record of TLS.  1: it is kept; else as recv().  0 too where it has been refused. */
static ssize_t shake_read(struct tcp_conn *conn, size_t *len_p)
{
	struct tcp_sec *sec = conn->sec;
	ssize_t ret = tcp_sec_in_fill(conn, sec->heard ? TLS_HEAD : 1);

	if (ret <= 0)
		return ret;
	if (!sec_shake_begins(sec->in[0])) {
		refuse_plain(conn);
		return 0;
	}
	sec->heard = true;
	ret = tcp_sec_in_fill(conn, TLS_HEAD);
	if (ret <= 0)
		return ret;
	*len_p = TLS_HEAD + (size_t) (sec->in[3] << 8 | sec->in[4]);
	if (*len_p <= TLS_HEAD + SEC_SHAKE_IN_MAX)
		return tcp_sec_in_fill(conn, *len_p);
	tcp_sec_log(conn, conn->ours ? "is not used" : "was refused", "it sends more than a handshake");
	tcp_conn_fail(conn, FI_EACCES, false);
	return 0;
}

/* read_ended - there is no more now; or the peer closed, or reset the connection. */
static void read_ended(struct tcp_conn *conn, ssize_t ret)
{
	if (!conn->sec)
		return;			/* it is read as what it is, and refused */
	if (ret < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (conn->state != TCP_CONN_HELLO_SENT && conn->state != TCP_CONN_HALF_OPEN)
		return;			/* it has been refused */
	tcp_conn_fail(conn, ret ? errno : FI_ECONNRESET, false);
}

bool tcp_sec_is_plain(const struct tcp_conn *conn)
{
	return conn->sec->plain;
}

uint8_t tcp_sec_drop(struct tcp_conn *conn)
{
	struct tcp_sec *sec = conn->sec;
	uint8_t first = sec->in[0];

	list_del(&sec->end.node);
	free_sec(&sec->end);
	conn->sec = NULL;
	conn->tx.indirect = false;
	return first;
}

bool tcp_sec_shake(struct tcp_conn *conn)
{
	struct tcp_sec *sec = conn->sec;
	enum sec_shake_state state;
	size_t len = 0;
	ssize_t ret;

	do {
		ret = shake_read(conn, &len);
		if (ret <= 0) {
			if (!sec->plain)
				read_ended(conn, ret);
			return false;
		}
		sec->spoken = true;
		state = sec_shake_feed(sec->shake, sec->in, len);
		tcp_sec_in_use(conn, len);
		ret = send_shake(conn);
		if (ret) {
			tcp_conn_fail(conn, (int) -ret, false);
			return false;
		}
	} while (state == SEC_SHAKE_RUNNING);
	if (state == SEC_SHAKE_DONE)
		return on_shaken(conn);
	refuse_shake(conn);
	return false;
}

