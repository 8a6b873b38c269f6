# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/util/channel/README.md
prov_util_libutil_la_SOURCES += \
	prov/util/channel/chan.c \
	prov/util/channel/chan.h \
	prov/util/channel/check.c \
	prov/util/channel/check.h \
	prov/util/channel/handshake.c \
	prov/util/channel/handshake.h \
	prov/util/channel/hold.c \
	prov/util/channel/hold.h \
	prov/util/channel/host.c \
	prov/util/channel/host.h \
	prov/util/channel/park.c \
	prov/util/channel/park.h \
	prov/util/channel/path.c \
	prov/util/channel/path.h \
	prov/util/channel/poller.c \
	prov/util/channel/poller.h \
	prov/util/channel/rail.c \
	prov/util/channel/rail.h \
	prov/util/channel/recover.c \
	prov/util/channel/recover.h \
	prov/util/channel/route.c \
	prov/util/channel/route.h \
	prov/util/channel/select.c \
	prov/util/channel/select.h \
	prov/util/channel/simultaneous.h \
	prov/util/channel/stripe.c \
	prov/util/channel/stripe.h

channel_tests = prov/util/channel/attempt_test prov/util/channel/chan_test \
	prov/util/channel/check_test prov/util/channel/park_test prov/util/channel/path_test \
	prov/util/channel/handshake_test prov/util/channel/hold_test prov/util/channel/host_test \
	prov/util/channel/rail_test prov/util/channel/recover_test \
	prov/util/channel/route_test prov/util/channel/poller_test prov/util/channel/select_test \
	prov/util/channel/simultaneous_test prov/util/channel/stripe_test

if HAVE_CMOCKA
check_PROGRAMS += $(channel_tests)
TESTS += $(channel_tests)
channel_fake = prov/util/channel/test/fake_link.h
prov_util_channel_attempt_test_SOURCES = prov/util/channel/attempt_test.c $(channel_fake)
prov_util_channel_attempt_test_CFLAGS = $(net_test_cflags)
prov_util_channel_attempt_test_LDADD = $(net_test_libs)
prov_util_channel_chan_test_SOURCES = prov/util/channel/chan_test.c $(channel_fake)
prov_util_channel_chan_test_CFLAGS = $(net_test_cflags)
prov_util_channel_chan_test_LDADD = $(net_test_libs)
prov_util_channel_chan_test_LDFLAGS = -Wl,--wrap=timers_join
prov_util_channel_handshake_test_SOURCES = prov/util/channel/handshake_test.c
prov_util_channel_handshake_test_CFLAGS = $(net_test_cflags)
prov_util_channel_handshake_test_LDADD = $(net_test_libs)
prov_util_channel_hold_test_SOURCES = prov/util/channel/hold_test.c
prov_util_channel_hold_test_CFLAGS = $(net_test_cflags)
prov_util_channel_hold_test_LDADD = $(net_test_libs)
prov_util_channel_hold_test_LDFLAGS = -Wl,--wrap=malloc
prov_util_channel_host_test_SOURCES = prov/util/channel/host_test.c
prov_util_channel_host_test_CFLAGS = $(net_test_cflags)
prov_util_channel_host_test_LDADD = $(net_test_libs)
prov_util_channel_rail_test_SOURCES = prov/util/channel/rail_test.c
prov_util_channel_rail_test_CFLAGS = $(net_test_cflags)
prov_util_channel_rail_test_LDADD = $(net_test_libs)
prov_util_channel_recover_test_SOURCES = prov/util/channel/recover_test.c
prov_util_channel_recover_test_CFLAGS = $(net_test_cflags)
prov_util_channel_recover_test_LDADD = $(net_test_libs)
prov_util_channel_route_test_SOURCES = prov/util/channel/route_test.c $(channel_fake)
prov_util_channel_route_test_CFLAGS = $(net_test_cflags)
prov_util_channel_route_test_LDADD = $(net_test_libs)
prov_util_channel_check_test_SOURCES = prov/util/channel/check_test.c $(channel_fake)
prov_util_channel_check_test_CFLAGS = $(net_test_cflags)
prov_util_channel_check_test_LDADD = $(net_test_libs)
prov_util_channel_park_test_SOURCES = prov/util/channel/park_test.c $(channel_fake)
prov_util_channel_park_test_CFLAGS = $(net_test_cflags)
prov_util_channel_park_test_LDADD = $(net_test_libs)
prov_util_channel_path_test_SOURCES = prov/util/channel/path_test.c $(channel_fake)
prov_util_channel_path_test_CFLAGS = $(net_test_cflags)
prov_util_channel_path_test_LDADD = $(net_test_libs)
prov_util_channel_poller_test_SOURCES = prov/util/channel/poller_test.c $(channel_fake)
prov_util_channel_poller_test_CFLAGS = $(net_test_cflags)
prov_util_channel_poller_test_LDADD = $(net_test_libs)
prov_util_channel_select_test_SOURCES = prov/util/channel/select_test.c $(channel_fake)
prov_util_channel_select_test_CFLAGS = $(net_test_cflags)
prov_util_channel_select_test_LDADD = $(net_test_libs)
prov_util_channel_select_test_LDFLAGS = -Wl,--wrap=timers_join
prov_util_channel_simultaneous_test_SOURCES = prov/util/channel/simultaneous_test.c
prov_util_channel_simultaneous_test_CFLAGS = $(net_test_cflags)
prov_util_channel_simultaneous_test_LDADD = $(CMOCKA_LIBS)
prov_util_channel_stripe_test_SOURCES = prov/util/channel/stripe_test.c
prov_util_channel_stripe_test_CFLAGS = $(net_test_cflags)
prov_util_channel_stripe_test_LDADD = $(net_test_libs)
endif
