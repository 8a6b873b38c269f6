/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

#include "secure/policy.h"

#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/sealed.h"
#include "secure/handshake.h"
#include "secure/secret.h"

bool sec_is_sealed_above(const uint8_t *key, size_t len)
{
	return key && len == sizeof(SEALED_ABOVE) && !memcmp(key, SEALED_ABOVE, len);
}

/* get_variable - also where it is empty: a name that was misspelt in a script does not switch protection off. */
static char *get_variable(const char *name)
{
	char *text = NULL;

	return fi_param_get_str(NULL, name, &text) ? NULL : text;
}

static struct sec_cert_files get_files(void)
{
	return (struct sec_cert_files) {
		.cert = get_variable("tls_cert"), .key = get_variable("tls_key"), .ca = get_variable("tls_ca"),
		.crl = get_variable("tls_crl"), .peers = get_variable("tls_peers"),
	};
}

/* has_files - is any of them set?  One that is left over asks for protection, too. */
static bool has_files(const struct sec_cert_files *files)
{
	return files->cert || files->key || files->ca || files->crl || files->peers;
}

static struct sec_wish get_wish(bool has_key)
{
	struct sec_cert_files files = get_files();

	return (struct sec_wish) {
		.level = get_variable("security"),
		.has_key = has_key || get_variable("auth_key_file") || has_files(&files),
	};
}

bool sec_policy_wish(bool has_key, enum sec_level *level_p)
{
	struct sec_wish wish = get_wish(has_key);
	char why[SEC_WHY_MAX];

	if (sec_level_get(&wish, level_p, why, sizeof(why)) && *level_p == SEC_NONE)
		*level_p = SEC_ENCRYPT;
	return *level_p != SEC_NONE;
}

bool sec_policy_by_cert(void)
{
	struct sec_cert_files files = get_files();

	return has_files(&files);
}

static int parse_attr(struct sec_keys *keys, const uint8_t *key, size_t len, const char *whose, char *why)
{
	const char *reason = sec_keys_parse(keys, key, len);

	if (!reason)
		return 0;
	snprintf(why, SEC_WHY_MAX, "auth_key of %s is refused: %s", whose, reason);
	return -FI_EACCES;
}

/* make_absolute - the file is read again when it has changed, also by a program that changes its directory. */
static char *make_absolute(const char *path)
{
	char *dir = *path == '/' ? NULL : getcwd(NULL, 0), *whole = NULL;

	if (!dir)
		return strdup(path);
	if (asprintf(&whole, "%s/%s", dir, path) < 0)
		whole = NULL;
	free(dir);
	return whole;
}

static int read_file_keys(struct sec_policy *policy, char *why)
{
	const char *path = get_variable("auth_key_file");

	if (!path) {	/* a level without a key has been refused */
		snprintf(why, SEC_WHY_MAX, "FI_AUTH_KEY_FILE is not set any more");
		return -FI_EACCES;
	}
	if (!*path) {
		snprintf(why, SEC_WHY_MAX, "FI_AUTH_KEY_FILE is set, and empty: give the file's name, or unset it");
		return -FI_EACCES;
	}
	policy->path = make_absolute(path);
	if (!policy->path)
		return -FI_ENOMEM;
	if (stat(path, &policy->read))
		policy->read = (struct stat) { .st_size = -1 };
	return sec_keys_read(&policy->keys, path, why, SEC_WHY_MAX);
}

static int read_environment(struct sec_policy *policy, char *why)
{
	struct sec_cert_files files = get_files();

	if (!has_files(&files))
		return read_file_keys(policy, why);
	if (!get_variable("auth_key_file"))
		return sec_certs_open(&files, &policy->certs, why, SEC_WHY_MAX);
	snprintf(why, SEC_WHY_MAX, "FI_AUTH_KEY_FILE and FI_TLS_* are set: unset the key, or all of the certificates");
	return -FI_EACCES;
}

static int find_keys(const struct sec_source *source, struct sec_policy *policy, char *why)
{
	if (source->ep_key_len)
		return parse_attr(&policy->keys, source->ep_key, source->ep_key_len, "the endpoint", why);
	if (source->domain_key_len)
		return parse_attr(&policy->keys, source->domain_key, source->domain_key_len, "the domain", why);
	return read_environment(policy, why);
}

/* fill_policy - libssl is asked for first: the names of keys take libcrypto. */
static int fill_policy(const struct sec_source *source, struct sec_policy *policy, char *why)
{
	const char *reason;
	int ret;

	if (!sec_shake_ready(&reason)) {
		snprintf(why, SEC_WHY_MAX, "FI_SECURITY=%s is not possible: %s", sec_level_name(policy->level),
			 reason);
		return -FI_EACCES;
	}
	ret = find_keys(source, policy, why);
	if (ret || sec_random(policy->id, sizeof(policy->id)))
		return ret;
	snprintf(why, SEC_WHY_MAX, "libcrypto gives no random bytes");
	return -FI_EACCES;
}

int sec_policy_open(const struct sec_source *source, struct sec_policy **policy_p, char *why)
{
	struct sec_wish wish = get_wish(source->ep_key_len || source->domain_key_len);
	struct sec_policy *policy;
	enum sec_level level;
	int ret = sec_level_get(&wish, &level, why, SEC_WHY_MAX);

	*policy_p = NULL;
	if (ret || level == SEC_NONE)
		return ret;
	policy = sec_secret_new(sizeof(*policy));
	if (!policy)
		return -FI_ENOMEM;
	policy->level = level;
	ret = fill_policy(source, policy, why);
	if (ret) {
		sec_policy_close(policy);
		return ret;
	}
	*policy_p = policy;
	return 0;
}

void sec_policy_close(struct sec_policy *policy)
{
	if (!policy)
		return;
	free(policy->path);
	sec_certs_close(policy->certs);
	sec_secret_free(policy, sizeof(*policy));
}

static bool is_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec &&
	       a->st_mode == b->st_mode && a->st_uid == b->st_uid;
}

/* refresh_keys - a file that is refused now is read again when it has changed once more. */
static void refresh_keys(struct sec_policy *policy, char *why)
{
	struct sec_keys keys;
	struct stat now;

	if (!policy->path || stat(policy->path, &now) || is_same_file(&now, &policy->read))
		return;
	policy->read = now;
	if (!sec_keys_read(&keys, policy->path, why, SEC_WHY_MAX))
		policy->keys = keys;
	sec_keys_wipe(&keys);
}

void sec_policy_keys(struct sec_policy *policy, struct sec_keys *keys, char *why)
{
	*why = '\0';
	refresh_keys(policy, why);
	*keys = policy->keys;
}

bool sec_policy_takes(struct sec_policy *policy, const uint8_t name[SEC_NAME_SIZE])
{
	char why[SEC_WHY_MAX];		/* of a file that is refused: the next handshake logs it */

	refresh_keys(policy, why);
	return sec_keys_find(&policy->keys, name) != NULL;
}
