/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "obj/av_key.h"

#include <rdma/providers/fi_log.h>
#include <stdlib.h>
#include <string.h>

#include "obj/av_table.h"
#include "obj/domain.h"
#include "obj/ep.h"
#include "secure/handshake.h"
#include "secure/policy.h"
#include "secure/secret.h"

bool obj_keys_in_av(const struct obj_domain *domain)
{
	return domain->attr && domain->attr->auth_key_size == FI_AV_AUTH_KEY;
}

static int refuse_key(const struct obj_av *av, int err, const char *why)
{
	FI_WARN(av->domain->prov, FI_LOG_AV, "authorization key of an address vector: %s\n", why);
	return err;
}

/* ---- inserting ------------------------------------------------------------------- */

/* check_bytes - NULL, or why no connection could prove it. */
static const char *check_bytes(const uint8_t *bytes, size_t len)
{
	struct sec_keys *keys = sec_secret_new(sizeof(*keys));
	const char *why = "there is no memory for it";

	if (!keys)
		return why;
	if (sec_shake_ready(&why))
		why = sec_keys_parse(keys, bytes, len);
	sec_secret_free(keys, sizeof(*keys));
	return why;
}

static int check_key(const struct obj_av *av, const void *bytes, size_t len, fi_addr_t *fi_addr, uint64_t flags)
{
	enum sec_level level;
	const char *why;

	if (!obj_keys_in_av(av->domain))
		return refuse_key(av, -FI_ENOSYS, "its domain was opened without auth_key_size FI_AV_AUTH_KEY");
	if (flags || !fi_addr || !bytes || !len)
		return refuse_key(av, -FI_EINVAL, "flags are not 0, or there is no key, or no fi_addr to name it by");
	if (len > SEC_KEYS_MAX * SEC_KEY_RECORD_SIZE)
		return refuse_key(av, -FI_EINVAL, "it is longer than keys are; see fi_security(7)");
	if (!sec_policy_wish(true, &level))
		return 0;
	if (!av->domain->fabric->secures)
		return refuse_key(av, -FI_EACCES, "this provider protects no connections; see fi_security(7)");
	why = check_bytes(bytes, len);
	return why ? refuse_key(av, -FI_EINVAL, why) : 0;
}

static struct obj_av_key *key_new(const void *bytes, size_t len)
{
	struct obj_av_key *key = sec_secret_new(sizeof(*key) + len);

	if (!key)
		return NULL;
	key->user_id = FI_ADDR_NOTAVAIL;
	key->len = len;
	memcpy(key->bytes, bytes, len);
	return key;
}

static void key_free(struct obj_av_key *key)
{
	if (key)
		sec_secret_free(key, sizeof(*key) + key->len);
}

int obj_av_insert_auth_key(struct fid_av *fid, const void *bytes, size_t len, fi_addr_t *fi_addr, uint64_t flags)
{
	struct obj_av *av = obj_av_of(fid);
	int ret = check_key(av, bytes, len, fi_addr, flags);

	if (ret)
		return ret;
	lock_get(&av->lock);
	if (!av->key)
		av->key = key_new(bytes, len);
	if (!av->key)
		ret = -FI_ENOMEM;
	else if (av->key->len != len || memcmp(av->key->bytes, bytes, len))
		ret = -FI_ENOSPC;
	lock_put(&av->lock);
	if (ret == -FI_ENOSPC)
		return refuse_key(av, ret, "it has one already, and endpoints have one (max_ep_auth_key): open another "
				  "vector for the other key, or give both as records of one");
	if (!ret)
		*fi_addr = OBJ_AV_KEY_ADDR;
	return ret;
}

/* ---- looking, removing ------------------------------------------------------------- */

static bool is_key(const struct obj_av *av, fi_addr_t fi_addr)
{
	return av->key && fi_addr == OBJ_AV_KEY_ADDR;
}

int obj_av_lookup_auth_key(struct fid_av *fid, fi_addr_t fi_addr, void *bytes, size_t *len)
{
	struct obj_av *av = obj_av_of(fid);
	unsigned rx;
	int ret = -FI_EINVAL;

	if (!obj_keys_in_av(av->domain))
		return refuse_key(av, -FI_ENOSYS, "its domain was opened without auth_key_size FI_AV_AUTH_KEY");
	if (!len || (!bytes && *len))
		return ret;
	lock_get(&av->lock);
	if (av->key && (is_key(av, fi_addr) || av_table_live(av, obj_av_index(av, fi_addr, &rx)))) {
		if (bytes)
			memcpy(bytes, av->key->bytes, av->key->len < *len ? av->key->len : *len);
		*len = av->key->len;
		ret = 0;
	}
	lock_put(&av->lock);
	return ret;
}

int obj_av_key_remove(struct obj_av *av, fi_addr_t fi_addr)
{
	struct obj_av_key *key = NULL;
	int ret = 0;

	pthread_mutex_lock(&av->eps_lock);
	lock_get(&av->lock);
	if (!is_key(av, fi_addr))
		ret = -FI_EINVAL;
	else if (!list_empty(&av->eps))
		ret = -FI_EBUSY;
	if (!ret) {
		key = av->key;
		av->key = NULL;
	}
	lock_put(&av->lock);
	pthread_mutex_unlock(&av->eps_lock);
	key_free(key);
	return !ret ? 0 : refuse_key(av, ret, ret == -FI_EBUSY ? "an endpoint that was enabled with it is open" :
				     "fi_av_remove: this is not its fi_addr_t");
}

void obj_av_key_free(struct obj_av *av)
{
	key_free(av->key);
	av->key = NULL;
}

int obj_av_key_set_user_id(struct obj_av *av, fi_addr_t fi_addr, fi_addr_t user_id)
{
	if (!is_key(av, fi_addr))
		return -FI_EINVAL;
	av->key->user_id = user_id;
	return 0;
}

/* ---- for endpoints and regions ------------------------------------------------------- */

int obj_av_key_copy(struct obj_av *av, uint8_t **key_p, size_t *len_p)
{
	int ret = 0;

	*key_p = NULL;
	*len_p = 0;
	lock_get(&av->lock);
	if (av->key) {
		*key_p = malloc(av->key->len);
		ret = *key_p ? 0 : -FI_ENOMEM;
	}
	if (*key_p) {
		memcpy(*key_p, av->key->bytes, av->key->len);
		*len_p = av->key->len;
	}
	lock_put(&av->lock);
	return ret;
}

int obj_av_key_take(struct obj_ep *ep)
{
	size_t fclass = ep->h.fid.fid.fclass;
	struct fi_ep_attr *attr = ep->info->ep_attr;
	uint8_t *bytes;
	size_t len;
	int ret;

	if ((fclass != FI_CLASS_EP && fclass != FI_CLASS_SEP) || attr->auth_key_size != FI_AV_AUTH_KEY)
		return 0;
	if (!ep->av)
		return -FI_EINVAL;
	ret = obj_av_key_copy(ep->av, &bytes, &len);
	if (ret)
		return ret;
	if (!bytes)
		return refuse_key(ep->av, -FI_EACCES, "an endpoint cannot be enabled before fi_av_insert_auth_key()");
	attr->auth_key = bytes;
	attr->auth_key_size = len;
	ret = obj_security_get(ep->domain->fabric, ep->info, ep->domain->attr, &ep->sec);
	if (ret) {
		explicit_bzero(bytes, len);
		free(bytes);
		attr->auth_key = NULL;
		attr->auth_key_size = FI_AV_AUTH_KEY;
	}
	return ret;
}

fi_addr_t obj_av_key_source(struct obj_av *av)
{
	fi_addr_t source = FI_ADDR_NOTAVAIL;

	if (!av)
		return source;
	lock_get(&av->lock);
	if (av->key)
		source = av->flags & FI_AV_USER_ID ? av->key->user_id : OBJ_AV_KEY_ADDR;
	lock_put(&av->lock);
	return source;
}
