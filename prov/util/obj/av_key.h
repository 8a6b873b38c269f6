/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * av_key.h - the authorization key of an address vector, in domains that were opened with FI_AV_AUTH_KEY.
 *
 * A vector has one key, since an endpoint has one (max_ep_auth_key): all of its peers prove it.  The key may have
 * several records, of which all are accepted, as a key file has.  Its fi_addr_t is an index that no entry has, and
 * counts as the key's only where FI_AUTH_KEY says so.
 */
#ifndef OBJ_AV_KEY_H
#define OBJ_AV_KEY_H

#include "obj/av.h"

struct obj_domain;
struct obj_ep;

#define OBJ_AV_KEY_ADDR ((fi_addr_t) UINT32_MAX - 1)

struct obj_av_key {
	fi_addr_t user_id;
	size_t len;
	uint8_t bytes[];
};

/* obj_keys_in_av - do the endpoints of @domain have the keys of their vectors? */
bool obj_keys_in_av(const struct obj_domain *domain);

/* obj_av_insert_auth_key, obj_av_lookup_auth_key - fi_av_insert_auth_key() and fi_av_lookup_auth_key(). */
int obj_av_insert_auth_key(struct fid_av *fid, const void *key, size_t len, fi_addr_t *fi_addr, uint64_t flags);
int obj_av_lookup_auth_key(struct fid_av *fid, fi_addr_t fi_addr, void *key, size_t *len);

/* obj_av_key_remove - fi_av_remove() with FI_AUTH_KEY.
 * Errors: -FI_EINVAL: no key; -FI_EBUSY: an endpoint was enabled with it.
 */
int obj_av_key_remove(struct obj_av *av, fi_addr_t fi_addr);

/* obj_av_key_free - nothing of it stays in memory. */
void obj_av_key_free(struct obj_av *av);

/* obj_av_key_set_user_id - fi_av_set_user_id() with FI_AUTH_KEY.  Caller holds av->lock.   Errors: -FI_EINVAL. */
int obj_av_key_set_user_id(struct obj_av *av, fi_addr_t fi_addr, fi_addr_t user_id);

/* obj_av_key_take - @ep, which is being enabled, gets the key of its vector, where its domain's are there.
 * Errors: -FI_EACCES: there is none; -FI_EINVAL: it has no vector; -FI_ENOMEM; those of obj_security_get().
 */
int obj_av_key_take(struct obj_ep *ep);

/* obj_av_key_source - what FI_SOURCE_ERR reports for a sender that is not in @av: the fi_addr_t of the key, or the
 * user's id of it; without a key FI_ADDR_NOTAVAIL.
 */
fi_addr_t obj_av_key_source(struct obj_av *av);

/* obj_av_key_copy - the key of @av, for a region.
 * @key_p: [out] the caller's; NULL and 0: there is none
 * Errors: -FI_ENOMEM.
 */
int obj_av_key_copy(struct obj_av *av, uint8_t **key_p, size_t *len_p);

#endif
