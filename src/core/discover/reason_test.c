/* SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only */
/* Copyright (c) 2026 the libfabric authors. */

/* The line that a program prints at FI_LOG_LEVEL=warn when fi_getinfo() has nothing for it. */

#include <rdma/fabric.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>

#include "core/test/child_test.h"

#define NOW FI_VERSION(FI_MAJOR_VERSION, FI_MINOR_VERSION)

/* One question, asked by a child. */
static struct {
	const char *provider;
	const char *node;
	enum fi_ep_type type;
	uint64_t caps;
	int times;
	int ret;
} ask;

static void question(void)
{
	struct fi_info *hints = fi_allocinfo(), *info = NULL;
	int i;

	if (ask.provider)
		hints->fabric_attr->prov_name = strdup(ask.provider);
	hints->ep_attr->type = ask.type;
	hints->caps = ask.caps;
	for (i = 0; i < ask.times; i++) {
		CHILD_CHECK(fi_getinfo(NOW, ask.node, ask.node ? "1" : NULL, 0, hints, &info) ==
			    ask.ret);
		fi_freeinfo(info);
	}
	fi_freeinfo(hints);
}

static char said[1 << 16];

static int setup(void **state)
{
	static const char *const vars[] = {
		"FI_PROVIDER", "FI_TCP_IFACE", "FI_LOG_LEVEL", "FI_LOG_PROV", "FI_LOG_SUBSYS",
	};
	size_t i;

	for (i = 0; i < sizeof(vars) / sizeof(vars[0]); i++)
		unsetenv(vars[i]);
	memset(&ask, 0, sizeof(ask));
	ask.times = 1;
	ask.ret = -FI_ENODATA;
	return 0;
}

static int lines(const char *text)
{
	int n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

/* One line, which has these texts; none: no line. */
static void expect(const char *a, const char *b)
{
	assert_int_equal(child_run(question, said, sizeof(said)), 0);
	if (lines(said) != (a ? 1 : 0) || (a && (!strstr(said, a) || !strstr(said, b))))
		fail_msg("wanted one line with \"%s\" and \"%s\", got:\n%s", a ? a : "",
			 b ? b : "", said);
	assert_true(!a || strstr(said, "<warn> fi_getinfo: "));
}

static void test_ep_type(void **state)
{
	ask.provider = "tcp";
	ask.type = FI_EP_DGRAM;
	expect("nothing of provider tcp: ep_attr->type: asked for FI_EP_DGRAM, found: ", "FI_EP_RDM");
	expect("found: ", "FI_EP_MSG");
	ask.provider = "tcp;ofi_rxm";
	expect("nothing of provider tcp;ofi_rxm: ep_attr->type: asked for FI_EP_DGRAM",
	       ", found: FI_EP_RDM\n");
}

/* Endpoints of other types are left out, too; that is not the reason. */
static void test_caps(void **state)
{
	ask.provider = "tcp";
	ask.type = FI_EP_RDM;
	ask.caps = FI_MSG | FI_MULTICAST;
	expect("nothing of provider tcp: caps: asked for FI_MULTICAST, found: ", "FI_TAGGED");
}

static void test_absent(void **state)
{
	ask.provider = "nosuch";
	expect("nothing of provider nosuch: fabric_attr->prov_name: ", "found: no such provider");
	ask.provider = "tcp;udp";
	expect("nothing of provider tcp;udp: ", "a provider, a layer, or one of each");
}

static void test_name(void **state)
{
	ask.provider = "tcp";
	ask.node = "nosuchhost.invalid";
	expect("nothing of provider tcp: ", "nosuchhost.invalid");
}

static void test_filter(void **state)
{
	setenv("FI_PROVIDER", "udp", 1);
	ask.type = FI_EP_DGRAM;
	ask.caps = FI_ATOMIC;
	expect("nothing of FI_PROVIDER=udp: caps: ", "FI_MULTICAST");
	setenv("FI_PROVIDER", "nosuch", 1);
	assert_int_equal(child_run(question, said, sizeof(said)), 0);
	assert_int_equal(lines(said), 1);
	assert_non_null(strstr(said, "FI_PROVIDER=nosuch matches no provider"));
}

/* Programs ask again and again; and one that names no provider is not told. */
static void test_once(void **state)
{
	ask.provider = "tcp";
	ask.type = FI_EP_DGRAM;
	ask.times = 3;
	expect("nothing of provider tcp", "FI_EP_DGRAM");
	ask.provider = NULL;
	ask.caps = FI_ATOMIC;
	expect(NULL, NULL);
	setenv("FI_LOG_LEVEL", "none", 1);
	ask.provider = "tcp";
	expect(NULL, NULL);
}

/* What is collected is not logged by itself, and what is logged besides is logged once. */
static void test_info(void **state)
{
	const char *line;
	int cnt = 0;

	setenv("FI_LOG_LEVEL", "info", 1);
	ask.provider = "tcp";
	ask.type = FI_EP_DGRAM;
	assert_int_equal(child_run(question, said, sizeof(said)), 0);
	for (line = said; (line = strstr(line, "<warn>")); line++)
		cnt++;
	assert_int_equal(cnt, 1);
	assert_non_null(strstr(said, "explain: provider=tcp "));
}

/* no_name - without a provider's name: one line at level info, which has these texts. */
static void no_name(const char *a, const char *b)
{
	char *line = said;
	int cnt = 0;

	assert_int_equal(child_run(question, said, sizeof(said)), 0);
	assert_null(strstr(said, "<warn>"));
	while ((line = strstr(line, "<info> fi_getinfo: nothing of any provider: "))) {
		char *end = strchr(line, '\n');

		*end = '\0';
		if (!strstr(line, a) || !strstr(line, b))
			fail_msg("wanted \"%s\" and \"%s\", got:\n%s", a, b, line);
		line = end + 1;
		cnt++;
	}
	assert_int_equal(cnt, 1);
}

static void test_no_name(void **state)
{
	setenv("FI_LOG_LEVEL", "info", 1);
	ask.type = FI_EP_DGRAM;
	ask.caps = FI_ATOMIC;
	ask.times = 3;
	no_name("caps: asked for FI_ATOMIC, found: ", "FI_MSG");
	ask.type = FI_EP_RDM;
	ask.caps = FI_MSG | FI_MULTICAST;
	no_name("caps: asked for FI_MULTICAST, found: ", "FI_TAGGED");
	setenv("FI_LOG_LEVEL", "trace", 1);
	assert_int_equal(child_run(question, said, sizeof(said)), 0);
	assert_string_equal(said, "");
}

/* The interface of a remote peer is one that FI_TCP_IFACE leaves out: of what the administrator
 * allows only shm remains.
 */
static void test_shm_is_left(void **state)
{
	setenv("FI_PROVIDER", "tcp,shm", 1);
	setenv("FI_TCP_IFACE", "lo", 1);
	ask.type = FI_EP_RDM;
	ask.node = "198.51.100.77";
	ask.ret = 0;
	ask.times = 2;
	expect("only endpoints within this host are left, none of provider tcp: dest_addr: ",
	       "198.51.100.77");
	if (!strstr(said, "no route"))
		assert_non_null(strstr(said, "lo (up, 127.0.0.1)"));
	/* a program that chooses shm is not told */
	ask.node = NULL;
	ask.provider = "shm";
	expect(NULL, NULL);
	ask.provider = NULL;
	ask.caps = FI_MSG | FI_LOCAL_COMM;
	setenv("FI_PROVIDER", "shm", 1);
	expect(NULL, NULL);
}

/* A variable that names no interface has a warning of its own, and that is all. */
static void test_variable(void **state)
{
	setenv("FI_TCP_IFACE", "nosuch9", 1);
	ask.provider = "tcp";
	assert_int_equal(child_run(question, said, sizeof(said)), 0);
	assert_non_null(strstr(said, "no usable interface is called 'nosuch9' (FI_TCP_IFACE)"));
	assert_int_equal(lines(said), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_ep_type, setup),
		cmocka_unit_test_setup(test_caps, setup),
		cmocka_unit_test_setup(test_absent, setup),
		cmocka_unit_test_setup(test_name, setup),
		cmocka_unit_test_setup(test_filter, setup),
		cmocka_unit_test_setup(test_once, setup),
		cmocka_unit_test_setup(test_info, setup),
		cmocka_unit_test_setup(test_no_name, setup),
		cmocka_unit_test_setup(test_shm_is_left, setup),
		cmocka_unit_test_setup(test_variable, setup),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
