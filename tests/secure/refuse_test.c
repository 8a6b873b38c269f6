/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Never in the clear: an endpoint for which protection is asked is protected, or is not made.
 *
 * Each kind of endpoint that has none is neither offered nor made, whether a variable asks or an attribute; where
 * a key is not as it has to be, no endpoint is made at all.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <fcntl.h>
#include <rdma/fabric.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "obj/test/log_catch.h"
#include "secure/crypto.h"

static char path[] = "/tmp/refuse_test.XXXXXX";
static uint8_t key[32];

static const struct kind {
	const char *prov;
	enum fi_ep_type type;
	bool protects;
} kinds[] = {
	{ "tcp", FI_EP_RDM, true },
	{ "tcp", FI_EP_MSG, true },
	{ "sockets", FI_EP_RDM, true },
	{ "udp", FI_EP_DGRAM, false },
	{ "shm", FI_EP_RDM, true },
	{ "loop", FI_EP_RDM, false },
	{ "udp;ofi_rxd", FI_EP_RDM, true },
	{ "udp;ofi_rxd", FI_EP_MSG, true },
	{ "tcp;ofi_rxm", FI_EP_RDM, true },
	{ "plain;ofi_rxm", FI_EP_RDM, false },		/* plain.c */
	{ "verbs;ofi_rxm", FI_EP_RDM, false },
	{ "verbs", FI_EP_MSG, false },
	{ "verbs", FI_EP_DGRAM, false },
};

static void ask_nothing(void)
{
	unsetenv("FI_SECURITY");
	unsetenv("FI_AUTH_KEY_FILE");
}

static int find(const struct kind *kind, const uint8_t *attr_key, struct fi_info **info_p)
{
	struct fi_info *hints = fi_allocinfo();
	int ret;

	assert_non_null(hints);
	hints->ep_attr->type = kind->type;
	hints->fabric_attr->prov_name = strdup(kind->prov);
	if (attr_key) {
		hints->ep_attr->auth_key = malloc(sizeof(key));
		memcpy(hints->ep_attr->auth_key, attr_key, sizeof(key));
		hints->ep_attr->auth_key_size = sizeof(key);
	}
	ret = fi_getinfo(FI_VERSION(2, 0), NULL, NULL, 0, hints, info_p);
	fi_freeinfo(hints);
	return ret;
}

/* make_in - an endpoint, and for connected ones a passive one, of @info: both are made or neither is.  The domain is
 * that of @domain_info.
 */
static int make_in(struct fi_info *domain_info, struct fi_info *info)
{
	struct fid_fabric *fabric;
	struct fid_domain *domain;
	struct fid_pep *pep;
	struct fid_ep *ep;
	int ret, pep_ret;

	assert_int_equal(fi_fabric(info->fabric_attr, &fabric, NULL), 0);
	assert_int_equal(fi_domain(fabric, domain_info, &domain, NULL), 0);
	ret = fi_endpoint(domain, info, &ep, NULL);
	if (!ret)
		assert_int_equal(fi_close(&ep->fid), 0);
	if (info->ep_attr->type == FI_EP_MSG) {
		pep_ret = fi_passive_ep(fabric, info, &pep, NULL);
		assert_int_equal(pep_ret, ret);
		if (!pep_ret)
			assert_int_equal(fi_close(&pep->fid), 0);
	}
	assert_int_equal(fi_close(&domain->fid), 0);
	assert_int_equal(fi_close(&fabric->fid), 0);
	return ret;
}

static int make(struct fi_info *info)
{
	return make_in(info, info);
}

/* The key is the domain's, or comes with addresses. */
static void check_domain_key(const struct kind *kind, struct fi_info *info)
{
	struct fi_info *keyed = fi_dupinfo(info);
	struct fi_domain_attr *attr = keyed->domain_attr;
	int want = kind->protects ? 0 : -FI_EACCES;

	assert_non_null(keyed);
	if (info->ep_attr->type != FI_EP_MSG) {
		attr->auth_key_size = keyed->ep_attr->auth_key_size = FI_AV_AUTH_KEY;
		assert_int_equal(make(keyed), want);
		keyed->ep_attr->auth_key_size = 0;
		attr->auth_key = malloc(sizeof(key));
		memcpy(attr->auth_key, key, sizeof(key));
		attr->auth_key_size = sizeof(key);
		assert_int_equal(make_in(keyed, info), want);
	}
	fi_freeinfo(keyed);
}

/* An info that was got while nothing was asked for is not made into an endpoint once something is. */
static void check_kind(const struct kind *kind)
{
	struct fi_info *info, *asked;
	int want = kind->protects ? 0 : -FI_ENODATA;

	ask_nothing();
	if (find(kind, NULL, &info)) {
		assert_int_not_equal(strcmp(kind->prov, "plain;ofi_rxm"), 0);
		return;			/* not on this machine */
	}
	assert_int_equal(make(info), 0);
	check_domain_key(kind, info);
	if (kind->protects) {
		assert_int_equal(find(kind, key, &asked), 0);
		assert_int_equal(asked->ep_attr->auth_key_size, sizeof(key));
		assert_int_equal(make(asked), 0);
		fi_freeinfo(asked);
	} else {
		assert_int_equal(find(kind, key, &asked), -FI_ENODATA);
	}
	setenv("FI_AUTH_KEY_FILE", path, 1);
	assert_int_equal(find(kind, NULL, &asked), want);
	if (!want)
		fi_freeinfo(asked);
	assert_int_equal(make(info), kind->protects ? 0 : -FI_EACCES);
	setenv("FI_SECURITY", "none", 1);
	assert_int_equal(make(info), 0);
	ask_nothing();
	fi_freeinfo(info);
}

static void each_kind(void **state)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		check_kind(&kinds[i]);
}

/* The reason is in the log. */
static void assert_refused(struct fi_info *info, const char *text)
{
	assert_int_equal(catch_start(), 0);
	assert_int_equal(make(info), -FI_EACCES);
	if (!catch_find(text))
		fail_msg("no line has \"%s\"", text);
	catch_stop();
}

static void bad_keys(void **state)
{
	static const struct kind tcp[] = { { "tcp", FI_EP_RDM, true }, { "tcp", FI_EP_MSG, true } };
	struct fi_info *info;
	int i;

	for (i = 0; i < 2; i++) {
		ask_nothing();
		assert_int_equal(find(&tcp[i], NULL, &info), 0);
		setenv("FI_SECURITY", "auth", 1);
		assert_refused(info, "FI_AUTH_KEY_FILE");
		setenv("FI_SECURITY", "total", 1);
		assert_refused(info, "FI_SECURITY=total");
		ask_nothing();
		setenv("FI_AUTH_KEY_FILE", path, 1);
		assert_int_equal(chmod(path, 0644), 0);
		assert_refused(info, "chmod 600");
		assert_int_equal(chmod(path, 0600), 0);
		setenv("FI_AUTH_KEY_FILE", "/nonexistent", 1);
		assert_refused(info, "/nonexistent");
		ask_nothing();
		fi_freeinfo(info);
	}
}

/* load_plain - the folder of plain.c's file. */
static void load_plain(void)
{
	const char *top = getenv("top_builddir");
	char dir[512];

	snprintf(dir, sizeof(dir), "%s/tests/secure/.libs", top ? top : ".");
	setenv("FI_PROVIDER_PATH", dir, 1);
}

static int begin(void **state)
{
	int fd = mkstemp(path);

	memset(key, 0x91, sizeof(key));
	return fd < 0 || write(fd, key, sizeof(key)) != sizeof(key) || close(fd);
}

static int end(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_kind),
		cmocka_unit_test(bad_keys),
	};

	if (!sec_crypto_get(NULL))
		return 77;
	load_plain();
	return cmocka_run_group_tests(tests, begin, end);
}
