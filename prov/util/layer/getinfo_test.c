/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/*
 * Which endpoints below are offered where protection is asked for: those of the provider over which the layer seals by
 * itself, and no others that do not protect.  The provider below is udp, which does not.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include "base/test/verify.h"
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/offer.h"
#include "info/check.h"
#include "layer/getinfo.h"

enum asks { NOTHING, A_FILE, AN_ENDPOINT, A_DOMAIN, A_VECTOR };

static struct fi_provider prov = { .name = "layer" };
static const enum fi_ep_type types[] = { FI_EP_RDM };
static const size_t size = 64;
static struct info_limits limits;
static char path[] = "/tmp/getinfo_test.XXXXXX";

static void set_key(uint8_t **key, size_t *len)
{
	*len = 32;
	*key = malloc(*len);
	assert_non_null(*key);
	memset(*key, 0x91, *len);
}

static int find(const char *seals_over, enum asks asks)
{
	const struct layer layer = {
		.prov = &prov, .below = FI_EP_DGRAM, .below_caps = FI_MSG, .types = types, .type_cnt = 1,
		.protocol = FI_PROTO_RXD, .addr_max = 64, .limits = &limits, .seals_over = seals_over,
		.inject_size = &size, .tx_size = &size, .rx_size = &size,
	};
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	int ret;

	assert_non_null(hints);
	hints->fabric_attr->prov_name = strdup("udp;layer");
	if (asks == A_FILE)
		setenv("FI_AUTH_KEY_FILE", path, 1);
	else if (asks == AN_ENDPOINT)
		set_key(&hints->ep_attr->auth_key, &hints->ep_attr->auth_key_size);
	else if (asks == A_DOMAIN)
		set_key(&hints->domain_attr->auth_key, &hints->domain_attr->auth_key_size);
	else if (asks == A_VECTOR)
		hints->domain_attr->auth_key_size = FI_AV_AUTH_KEY;
	ret = layer_getinfo(&layer, FI_VERSION(2, 0), "127.0.0.1", NULL, FI_SOURCE, hints, &info);
	unsetenv("FI_AUTH_KEY_FILE");
	fi_freeinfo(hints);
	fi_freeinfo(info);
	return ret;
}

static void what_is_not_sealed_is_not_offered(void **state)
{
	enum asks asks;

	assert_int_equal(find(NULL, NOTHING), 0);
	for (asks = NOTHING; asks <= A_VECTOR; asks++) {
		assert_int_equal(find("udp", asks), 0);
		assert_int_equal(find("verbs", asks), asks == NOTHING ? 0 : -FI_ENODATA);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_not_sealed_is_not_offered),
	};
	int fd = mkstemp(path), ret;

	if (fd < 0 || write(fd, path, 32 < sizeof(path) ? 32 : sizeof(path)) < 0 || close(fd))
		return 1;
	unsetenv("FI_SECURITY");
	unsetenv("FI_AUTH_KEY_FILE");
	limits = eng_offer_limits;
	limits.secures = true;
	limits.auth_key_size = 64;
	ret = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return ret;
}
