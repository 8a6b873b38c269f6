# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/verbs/configure.m4 prov/verbs/README.md
dist_check_SCRIPTS += prov/verbs/cost_test
verbs_sources = \
	prov/verbs/doorbell.c \
	prov/verbs/doorbell.h \
	prov/verbs/mlx5_direct.c \
	prov/verbs/mlx5_direct.h \
	prov/verbs/mlx5_dv.c \
	prov/verbs/mlx5_dv.h \
	prov/verbs/mlx5_queue.h \
	prov/verbs/mlx5_wire.h \
	prov/verbs/vrb.h \
	prov/verbs/vrb_async.c \
	prov/verbs/vrb_async.h \
	prov/verbs/vrb_brief.c \
	prov/verbs/vrb_call.h \
	prov/verbs/vrb_cm.c \
	prov/verbs/vrb_cm.h \
	prov/verbs/vrb_dev.c \
	prov/verbs/vrb_dev.h \
	prov/verbs/vrb_dgram.c \
	prov/verbs/vrb_dgram.h \
	prov/verbs/vrb_domain.c \
	prov/verbs/vrb_ep.c \
	prov/verbs/vrb_ep.h \
	prov/verbs/vrb_hello.c \
	prov/verbs/vrb_hello.h \
	prov/verbs/vrb_info.c \
	prov/verbs/vrb_info.h \
	prov/verbs/vrb_lib.c \
	prov/verbs/vrb_lib.h \
	prov/verbs/vrb_name.c \
	prov/verbs/vrb_name.h \
	prov/verbs/vrb_peer.c \
	prov/verbs/vrb_pep.c \
	prov/verbs/vrb_poll.c \
	prov/verbs/vrb_post.c \
	prov/verbs/vrb_prov.c \
	prov/verbs/vrb_rma.c \
	prov/verbs/vrb_sa.h \
	prov/verbs/vrb_ud.c \
	prov/verbs/vrb_ud.h \
	prov/verbs/vrb_gid_info.c \
	prov/verbs/vrb_xrc.c \
	prov/verbs/vrb_xrc.h \
	prov/verbs/vrb_xrc_cm.c \
	prov/verbs/vrb_xrcd.c

if HAVE_VERBS
if HAVE_VERBS_DL
pkglib_LTLIBRARIES += libverbs-fi.la
libverbs_fi_la_SOURCES = $(verbs_sources)
libverbs_fi_la_CPPFLAGS = $(AM_CPPFLAGS) -DFI_PROV_DL
libverbs_fi_la_LIBADD = $(prov_util_libs) src/libfabric.la
libverbs_fi_la_LDFLAGS = -module -avoid-version -shared -export-dynamic
else
noinst_LTLIBRARIES += prov/verbs/libverbs.la
prov_verbs_libverbs_la_SOURCES = $(verbs_sources)
builtin_prov_libs += prov/verbs/libverbs.la
endif

if HAVE_CMOCKA
check_PROGRAMS += prov/verbs/mlx5_direct_test prov/verbs/vrb_test
TESTS += prov/verbs/mlx5_direct_test prov/verbs/vrb_test
prov_verbs_mlx5_direct_test_SOURCES = prov/verbs/mlx5_direct_test.c prov/verbs/mlx5_model.h
prov_verbs_mlx5_direct_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_mlx5_direct_test_LDADD = $(CMOCKA_LIBS)
prov_verbs_vrb_test_SOURCES = prov/verbs/vrb_test.c
prov_verbs_vrb_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_vrb_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
EXTRA_DIST += prov/verbs/mlx5_cm.c prov/verbs/mlx5_cm.h prov/verbs/mlx5_kernel.c prov/verbs/mlx5_kernel.h \
	prov/verbs/mlx5_same.h prov/verbs/mlx5_dgram_world.h prov/verbs/mlx5_xrc_world.h
if !HAVE_VERBS_DL
check_PROGRAMS += prov/verbs/vrb_lib_test
TESTS += prov/verbs/vrb_lib_test
prov_verbs_vrb_lib_test_SOURCES = prov/verbs/vrb_lib_test.c
prov_verbs_vrb_lib_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_vrb_lib_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
if HAVE_MLX5DV
check_PROGRAMS += prov/verbs/mlx5_dgram_test prov/verbs/mlx5_ep_test prov/verbs/mlx5_ud_test \
	prov/verbs/mlx5_xrc_test prov/verbs/vrb_ib_test
TESTS += prov/verbs/mlx5_dgram_test prov/verbs/mlx5_ep_test prov/verbs/mlx5_ud_test \
	prov/verbs/mlx5_xrc_test prov/verbs/vrb_ib_test prov/verbs/cost_test
mlx5_sources = prov/verbs/mlx5_cm.c prov/verbs/mlx5_cm.h \
	prov/verbs/mlx5_kernel.c prov/verbs/mlx5_kernel.h \
	prov/verbs/mlx5_model.h prov/verbs/mlx5_same.h
prov_verbs_mlx5_dgram_test_SOURCES = prov/verbs/mlx5_dgram_test.c prov/verbs/mlx5_dgram_world.h $(mlx5_sources)
prov_verbs_mlx5_dgram_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_mlx5_dgram_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_verbs_mlx5_dgram_test_LDFLAGS = -export-dynamic
prov_verbs_mlx5_ud_test_SOURCES = prov/verbs/mlx5_ud_test.c prov/verbs/mlx5_dgram_world.h $(mlx5_sources)
prov_verbs_mlx5_ud_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_mlx5_ud_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_verbs_mlx5_ud_test_LDFLAGS = -export-dynamic
prov_verbs_vrb_ib_test_SOURCES = prov/verbs/vrb_ib_test.c $(mlx5_sources)
prov_verbs_vrb_ib_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_vrb_ib_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_verbs_vrb_ib_test_LDFLAGS = -export-dynamic
prov_verbs_mlx5_ep_test_SOURCES = prov/verbs/mlx5_ep_test.c $(mlx5_sources)
prov_verbs_mlx5_ep_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_mlx5_ep_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_verbs_mlx5_ep_test_LDFLAGS = -export-dynamic
prov_verbs_mlx5_xrc_test_SOURCES = prov/verbs/mlx5_xrc_test.c prov/verbs/mlx5_xrc_world.h $(mlx5_sources)
prov_verbs_mlx5_xrc_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_mlx5_xrc_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_verbs_mlx5_xrc_test_LDFLAGS = -export-dynamic
endif
endif
endif
endif
