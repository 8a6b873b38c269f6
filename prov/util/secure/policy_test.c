/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* What an endpoint is protected with, by the variables, the attributes and the key file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_errno.h>
#include <rdma/providers/fi_prov.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "secure/policy.h"

static char path[] = "/tmp/policy_test.XXXXXX";
static const struct sec_source no_source;

/* write_key - one record of the byte @first. */
static void write_key(uint8_t first, mode_t mode)
{
	uint8_t record[SEC_KEY_RECORD_SIZE];
	FILE *file = fopen(path, "w");

	memcpy(record, SEC_KEY_HEAD, SEC_KEY_HEAD_SIZE);
	memset(record + SEC_KEY_HEAD_SIZE, first, SEC_KEY_SIZE);
	assert_non_null(file);
	assert_int_equal(fwrite(record, sizeof(record), 1, file), 1);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(chmod(path, mode), 0);
}

static void set_env(const char *level, const char *file)
{
	if (level)
		setenv("FI_SECURITY", level, 1);
	else
		unsetenv("FI_SECURITY");
	if (file)
		setenv("FI_AUTH_KEY_FILE", file, 1);
	else
		unsetenv("FI_AUTH_KEY_FILE");
}

/* Refused with a reason that has @text; no policy, and so no endpoint. */
static void assert_refused(const struct sec_source *source, const char *text)
{
	struct sec_policy *policy = (void *) 1;
	char why[SEC_WHY_MAX] = "";
	enum sec_level level;

	assert_int_equal(sec_policy_open(source, &policy, why), -FI_EACCES);
	assert_null(policy);
	if (!strstr(why, text))
		fail_msg("\"%s\" has no \"%s\"", why, text);
	assert_true(sec_policy_wish(source->ep_key_len != 0, &level));
}

static struct sec_policy *assert_level(const struct sec_source *source, enum sec_level want)
{
	struct sec_policy *policy;
	char why[SEC_WHY_MAX];
	enum sec_level level;

	assert_int_equal(sec_policy_open(source, &policy, why), 0);
	assert_int_equal(sec_policy_wish(source->ep_key_len != 0, &level), want != SEC_NONE);
	if (want == SEC_NONE) {
		assert_null(policy);
		return NULL;
	}
	assert_int_equal(level, want);
	assert_int_equal(policy->level, want);
	return policy;
}

static void variables(void **state)
{
	write_key(1, 0600);
	set_env(NULL, NULL);
	assert_level(&no_source, SEC_NONE);
	set_env("none", path);
	assert_level(&no_source, SEC_NONE);
	set_env(NULL, path);
	sec_policy_close(assert_level(&no_source, SEC_ENCRYPT));
	set_env("auth", path);
	sec_policy_close(assert_level(&no_source, SEC_AUTH));
	set_env("encrypt", NULL);
	assert_refused(&no_source, "FI_AUTH_KEY_FILE");
	set_env("full", path);
	assert_refused(&no_source, "FI_SECURITY=full");
	set_env("full", NULL);
	assert_refused(&no_source, "FI_SECURITY=full");
	set_env("", NULL);
	assert_refused(&no_source, "FI_SECURITY= is none of");
	set_env(NULL, "");
	assert_refused(&no_source, "FI_AUTH_KEY_FILE is set, and empty");
}

static void files(void **state)
{
	set_env(NULL, path);
	write_key(1, 0640);
	assert_refused(&no_source, "chmod 600");
	set_env(NULL, "/nonexistent/key");
	assert_refused(&no_source, "/nonexistent/key");
	set_env(NULL, "/tmp");
	assert_refused(&no_source, "regular");
}

static void attributes(void **state)
{
	uint8_t key[32], text[] = "a pass phrase of enough letters";
	struct sec_source both = { .ep_key = key, .ep_key_len = 32, .domain_key = key, .domain_key_len = 16 };
	struct sec_source typed = { .ep_key = text, .ep_key_len = sizeof(text) - 1 };
	struct sec_policy *policy;

	memset(key, 0x81, sizeof(key));
	write_key(1, 0600);
	set_env(NULL, path);
	policy = assert_level(&both, SEC_ENCRYPT);	/* the endpoint's counts, not the file's */
	assert_int_equal(policy->keys.key[0].len, 32);
	sec_policy_close(policy);
	both.ep_key_len = 0;
	assert_int_equal(sec_policy_wish(true, &(enum sec_level) { SEC_NONE }), true);
	set_env(NULL, NULL);
	both.ep_key_len = 32;
	sec_policy_close(assert_level(&both, SEC_ENCRYPT));
	assert_refused(&typed, "text");
}

/* A file that changes while the job runs is read again; one that is refused then changes nothing. */
static void rotation(void **state)
{
	struct sec_policy *policy;
	struct sec_keys before, keys;
	char why[SEC_WHY_MAX];

	write_key(1, 0600);
	set_env(NULL, path);
	policy = assert_level(&no_source, SEC_ENCRYPT);
	sec_policy_keys(policy, &before, why);
	write_key(2, 0640);
	sec_policy_keys(policy, &keys, why);
	assert_non_null(strstr(why, "chmod 600"));
	assert_memory_equal(&keys, &before, sizeof(keys));
	sec_policy_keys(policy, &keys, why);
	assert_string_equal(why, "");
	assert_int_equal(chmod(path, 0600), 0);
	sec_policy_keys(policy, &keys, why);
	assert_string_equal(why, "");
	assert_memory_not_equal(keys.key[0].name, before.key[0].name, SEC_NAME_SIZE);
	assert_int_equal(keys.key[0].bytes[0], 2);
	sec_policy_close(policy);
}

/* An endpoint that was opened before the file changed accepts what has proven a key of today. */
static void takes_after_rotation(void **state)
{
	uint8_t old[SEC_NAME_SIZE], new[SEC_NAME_SIZE];
	struct sec_policy *before, *after;

	write_key(1, 0600);
	set_env(NULL, path);
	before = assert_level(&no_source, SEC_ENCRYPT);
	memcpy(old, before->keys.key[0].name, sizeof(old));
	assert_true(sec_policy_takes(before, old));
	write_key(2, 0600);
	after = assert_level(&no_source, SEC_ENCRYPT);
	memcpy(new, after->keys.key[0].name, sizeof(new));
	assert_true(sec_policy_takes(before, new));
	assert_false(sec_policy_takes(before, old));
	sec_policy_close(before);
	sec_policy_close(after);
}

/* A path is that of the directory in which the endpoint was opened. */
static void other_directory(void **state)
{
	struct sec_policy *policy;
	struct sec_keys keys;
	char why[SEC_WHY_MAX];

	assert_int_equal(chdir("/tmp"), 0);
	write_key(1, 0600);
	set_env(NULL, path + sizeof("/tmp/") - 1);
	policy = assert_level(&no_source, SEC_ENCRYPT);
	assert_int_equal(chdir("/"), 0);
	write_key(2, 0600);
	sec_policy_keys(policy, &keys, why);
	assert_string_equal(why, "");
	assert_int_equal(keys.key[0].bytes[0], 2);
	sec_policy_close(policy);
}

static int begin(void **state)
{
	int fd = mkstemp(path);

	if (fd < 0)
		return -1;
	close(fd);
	fi_param_define(NULL, "security", FI_PARAM_STRING, "-");
	fi_param_define(NULL, "auth_key_file", FI_PARAM_STRING, "-");
	return 0;
}

static int end(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(variables),
		cmocka_unit_test(files),
		cmocka_unit_test(attributes),
		cmocka_unit_test(rotation),
		cmocka_unit_test(takes_after_rotation),
		cmocka_unit_test(other_directory),
	};

	if (!sec_crypto_get(NULL))
		return 77;
	return cmocka_run_group_tests(tests, begin, end);
}
