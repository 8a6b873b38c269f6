/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "secure/channel.h"

#include <assert.h>
#include <string.h>

#include "base/iov.h"

static bool key_direction(struct sec_dir *dir, const uint8_t exported[SEC_HASH_SIZE], uint32_t path, bool to_server,
			  bool seals)
{
	static const uint8_t none[SEC_HASH_SIZE];	/* the handshake was of this connection alone */
	uint8_t secret[SEC_HASH_SIZE];
	bool done = sec_path_secret(exported, path, none, to_server, secret) &&
		    sec_dir_init(dir, SEC_AES_128_GCM, seals, secret);

	explicit_bzero(secret, sizeof(secret));
	return done;
}

bool sec_channel_open(struct sec_channel *channel, enum sec_level level, bool server,
		      const uint8_t exported[SEC_HASH_SIZE], uint32_t path)
{
	assert(level != SEC_NONE);
	channel->level = level;
	channel->key_bytes = SEC_KEY_BYTES_MAX;
	if (key_direction(&channel->tx, exported, path, !server, true) &&
	    key_direction(&channel->rx, exported, path, server, false))
		return true;
	sec_channel_close(channel);
	return false;
}

void sec_channel_close(struct sec_channel *channel)
{
	sec_dir_fini(&channel->tx);
	sec_dir_fini(&channel->rx);
	explicit_bzero(channel, sizeof(*channel));
}

static void put_head(uint8_t *head, enum sec_record kind, size_t len)
{
	head[0] = (uint8_t) len;
	head[1] = (uint8_t) (len >> 8);
	head[2] = (uint8_t) (len >> 16);
	head[3] = (uint8_t) kind;
}

static size_t get_length(const uint8_t *head)
{
	return head[0] | (size_t) head[1] << 8 | (size_t) head[2] << 16;
}

/* exchange_key - both sides have counted the same bytes, whether they seal or open them. */
static bool exchange_key(const struct sec_channel *channel, struct sec_dir *dir)
{
	return dir->bytes < channel->key_bytes || sec_dir_next(dir);
}

static void copy_plain(const struct iovec *iov, size_t cnt, uint8_t *out)
{
	size_t i;

	for (i = 0; i < cnt; i++) {
		memcpy(out, iov[i].iov_base, iov[i].iov_len);
		out += iov[i].iov_len;
	}
}

bool sec_channel_seal(struct sec_channel *channel, enum sec_record kind, const struct iovec *iov, size_t cnt,
		      size_t len, uint8_t *out)
{
	bool sealed = channel->level == SEC_ENCRYPT;
	struct iovec aad = { out, SEC_RECORD_HEAD + (sealed ? 0 : len) };
	uint8_t *body = out + SEC_RECORD_HEAD;

	assert(len <= SEC_RECORD_MAX && (len != 0) == (kind == SEC_RECORD_DATA));
	if (channel->tx_ended)
		return false;
	channel->tx_ended = kind == SEC_RECORD_END;
	put_head(out, kind, len);
	if (!sealed)
		copy_plain(iov, cnt, body);
	return sec_seal(&channel->tx, channel->tx_no++, &aad, 1, iov, sealed ? cnt : 0, body, body + len) &&
	       exchange_key(channel, &channel->tx);
}

size_t sec_channel_need(const uint8_t *buf, size_t have)
{
	size_t len;

	if (have < SEC_RECORD_HEAD)
		return SEC_RECORD_HEAD;
	len = get_length(buf);
	if (buf[3] != SEC_RECORD_DATA && buf[3] != SEC_RECORD_END)
		return 0;
	if (len > SEC_RECORD_MAX || (len != 0) != (buf[3] == SEC_RECORD_DATA))
		return 0;
	return len + SEC_RECORD_OVER;
}

/* list_targets - where the @len plain bytes of a record go.  Returns how many entries of @to there are. */
static size_t list_targets(const struct iovec *place, size_t place_cnt, uint8_t *out, size_t len,
			   struct iovec to[SEC_PLACE_MAX + 1])
{
	size_t cnt = iov_slice(place, place_cnt, 0, len, to), placed = iov_total(to, cnt);

	assert(place_cnt <= SEC_PLACE_MAX);
	if (placed < len)
		to[cnt++] = (struct iovec) { out, len - placed };
	return cnt;
}

enum sec_record sec_channel_take(struct sec_channel *channel, const uint8_t *buf, const struct iovec *place,
				 size_t place_cnt, uint8_t *out, size_t *len_p)
{
	bool sealed = channel->level == SEC_ENCRYPT;
	const uint8_t *body = buf + SEC_RECORD_HEAD;
	size_t len = get_length(buf);
	struct iovec aad = { (void *) buf, SEC_RECORD_HEAD + (sealed ? 0 : len) }, to[SEC_PLACE_MAX + 1];
	size_t cnt = list_targets(place, place_cnt, out, len, to);

	if (channel->rx_ended || !sec_open_list(&channel->rx, channel->rx_no, &aad, 1, body, sealed ? len : 0,
						body + len, to, sealed ? cnt : 0))
		return SEC_RECORD_BAD;
	if (!sealed)
		iov_scatter(to, cnt, 0, body, len);
	channel->rx_no++;
	channel->rx_ended = buf[3] == SEC_RECORD_END;
	*len_p = len;
	return exchange_key(channel, &channel->rx) ? (enum sec_record) buf[3] : SEC_RECORD_BAD;
}
