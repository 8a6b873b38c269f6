# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/verbs/configure.m4 prov/verbs/README.md
dist_check_SCRIPTS += prov/verbs/test/cost_test
verbs_sources = \
	prov/verbs/data/libibverbs.c \
	prov/verbs/queue_ops.h \
	prov/verbs/provider.h \
	prov/verbs/device/async.c \
	prov/verbs/async.h \
	prov/verbs/data/fast_path.c \
	prov/verbs/request.h \
	prov/verbs/conn/cm.c \
	prov/verbs/cm.h \
	prov/verbs/device/dev.c \
	prov/verbs/dev.h \
	prov/verbs/datagram/dgram.c \
	prov/verbs/dgram.h \
	prov/verbs/device/domain.c \
	prov/verbs/device/hmem.c \
	prov/verbs/device/region.c \
	prov/verbs/region.h \
	prov/verbs/data/device_memory.c \
	prov/verbs/data/ep.c \
	prov/verbs/ep.h \
	prov/verbs/private.h \
	prov/verbs/device/info.c \
	prov/verbs/info.h \
	prov/verbs/device/lib.c \
	prov/verbs/lib.h \
	prov/verbs/datagram/name.c \
	prov/verbs/name.h \
	prov/verbs/datagram/peer.c \
	prov/verbs/conn/pep.c \
	prov/verbs/data/poll.c \
	prov/verbs/data/post.c \
	prov/verbs/data/qp.c \
	prov/verbs/device/prov.c \
	prov/verbs/data/rma.c \
	prov/verbs/sa.h \
	prov/verbs/datagram/ud.c \
	prov/verbs/ud.h \
	prov/verbs/device/gid_info.c \
	prov/verbs/conn/rc.c \
	prov/verbs/kind.h \
	prov/verbs/done.h \
	prov/verbs/mlx5.h \
	prov/verbs/mlx5_absent.h

# Left out by configure --disable-verbs-mlx5 and --disable-verbs-xrc.
verbs_mlx5_sources = \
	prov/verbs/mlx5/direct.c \
	prov/verbs/mlx5_direct.h \
	prov/verbs/mlx5_doorbell.h \
	prov/verbs/mlx5/dv.c \
	prov/verbs/mlx5_dv.h \
	prov/verbs/mlx5/completions.c \
	prov/verbs/mlx5/native.c \
	prov/verbs/mlx5_native.h \
	prov/verbs/mlx5_queue.h \
	prov/verbs/mlx5_wire.h
verbs_xrc_sources = \
	prov/verbs/xrc/conn.c \
	prov/verbs/xrc/handshake.c \
	prov/verbs/xrc/handshake.h \
	prov/verbs/xrc/initiator.c \
	prov/verbs/xrc/kind.c \
	prov/verbs/xrc/share.h \
	prov/verbs/xrc/xrcd.c
if HAVE_VERBS_MLX5
verbs_sources += $(verbs_mlx5_sources)
endif
if HAVE_VERBS_XRC
verbs_sources += $(verbs_xrc_sources)
endif

if HAVE_VERBS
if HAVE_VERBS_DL
pkglib_LTLIBRARIES += libverbs-fi.la
libverbs_fi_la_SOURCES = $(verbs_sources)
libverbs_fi_la_CPPFLAGS = $(dl_prov_cppflags)
libverbs_fi_la_LIBADD = $(dl_prov_libs)
libverbs_fi_la_LDFLAGS = $(dl_prov_ldflags)
else
noinst_LTLIBRARIES += prov/verbs/libverbs.la
prov_verbs_libverbs_la_SOURCES = $(verbs_sources)
builtin_prov_libs += prov/verbs/libverbs.la
endif

if HAVE_CMOCKA
check_PROGRAMS += prov/verbs/test/api_test
TESTS += prov/verbs/test/api_test
if HAVE_VERBS_MLX5
check_PROGRAMS += prov/verbs/mlx5/direct_test
TESTS += prov/verbs/mlx5/direct_test
endif
prov_verbs_mlx5_direct_test_SOURCES = prov/verbs/mlx5/direct_test.c prov/verbs/test/mlx5_model.h
prov_verbs_mlx5_direct_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_mlx5_direct_test_LDADD = $(CMOCKA_LIBS)
prov_verbs_test_api_test_SOURCES = prov/verbs/test/api_test.c
prov_verbs_test_api_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_test_api_test_LDADD = src/libfabric.la $(CMOCKA_LIBS)
EXTRA_DIST += prov/verbs/test/mlx5_cm.c prov/verbs/test/mlx5_cm.h prov/verbs/test/mlx5_kernel.c prov/verbs/test/mlx5_kernel.h \
	prov/verbs/test/mlx5_compare.h prov/verbs/test/mlx5_dgram_world.h prov/verbs/test/mlx5_xrc_world.h
if !HAVE_VERBS_DL
check_PROGRAMS += prov/verbs/device/lib_test
TESTS += prov/verbs/device/lib_test
prov_verbs_device_lib_test_SOURCES = prov/verbs/device/lib_test.c
prov_verbs_device_lib_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_device_lib_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
verbs_unit_tests = \
	prov/verbs/conn/cm_test \
	prov/verbs/conn/private_test \
	prov/verbs/data/device_memory_test \
	prov/verbs/data/libibverbs_test \
	prov/verbs/data/ep_test \
	prov/verbs/data/fast_path_test \
	prov/verbs/data/poll_test \
	prov/verbs/data/post_test \
	prov/verbs/data/qp_test \
	prov/verbs/data/rma_test \
	prov/verbs/datagram/name_test \
	prov/verbs/datagram/ud_test \
	prov/verbs/device/dev_test \
	prov/verbs/device/hmem_test \
	prov/verbs/device/gid_info_test \
	prov/verbs/device/info_test
if HAVE_VERBS_XRC
verbs_unit_tests += prov/verbs/xrc/handshake_test prov/verbs/xrc/initiator_test
endif
check_PROGRAMS += $(verbs_unit_tests)
TESTS += $(verbs_unit_tests)
verbs_fake = prov/verbs/test/fake_device.h $(obj_fake)
verbs_unit_libs = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
verbs_hmem = prov/verbs/test/hmem_domain.h $(verbs_fake) tests/fakegpu/use.h \
	fabtests/common/device.c fabtests/common/device.h
verbs_hmem_cppflags = $(AM_CPPFLAGS) $(fakegpu_cppflags) -D_GNU_SOURCE
verbs_hmem_ldflags = -Wl,--wrap=vrb_dev_peer_memory -Wl,--wrap=vrb_dev_context
prov_verbs_conn_cm_test_SOURCES = prov/verbs/conn/cm_test.c $(verbs_fake)
prov_verbs_conn_cm_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_conn_cm_test_LDADD = $(verbs_unit_libs)
prov_verbs_xrc_handshake_test_SOURCES = prov/verbs/xrc/handshake_test.c
prov_verbs_xrc_handshake_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_xrc_handshake_test_LDADD = $(verbs_unit_libs)
prov_verbs_conn_private_test_SOURCES = prov/verbs/conn/private_test.c
prov_verbs_conn_private_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_conn_private_test_LDADD = $(CMOCKA_LIBS)
prov_verbs_xrc_initiator_test_SOURCES = prov/verbs/xrc/initiator_test.c $(verbs_fake)
prov_verbs_xrc_initiator_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_xrc_initiator_test_LDADD = $(verbs_unit_libs)
prov_verbs_data_device_memory_test_SOURCES = prov/verbs/data/device_memory_test.c $(verbs_hmem)
prov_verbs_data_device_memory_test_CPPFLAGS = $(verbs_hmem_cppflags)
prov_verbs_data_device_memory_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_data_device_memory_test_LDADD = $(verbs_unit_libs)
prov_verbs_data_device_memory_test_DEPENDENCIES = $(verbs_unit_libs) $(fakegpu_libs)
prov_verbs_data_device_memory_test_LDFLAGS = $(verbs_hmem_ldflags)
prov_verbs_data_libibverbs_test_SOURCES = prov/verbs/data/libibverbs_test.c $(verbs_fake)
prov_verbs_data_libibverbs_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_data_libibverbs_test_LDADD = $(verbs_unit_libs)
prov_verbs_data_ep_test_SOURCES = prov/verbs/data/ep_test.c $(verbs_fake)
prov_verbs_data_ep_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_data_ep_test_LDADD = $(verbs_unit_libs)
prov_verbs_data_poll_test_SOURCES = prov/verbs/data/poll_test.c $(verbs_fake)
prov_verbs_data_poll_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_data_poll_test_LDADD = $(verbs_unit_libs)
prov_verbs_data_fast_path_test_SOURCES = prov/verbs/data/fast_path_test.c $(verbs_fake)
prov_verbs_data_fast_path_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_data_fast_path_test_LDADD = $(verbs_unit_libs)
prov_verbs_data_post_test_SOURCES = prov/verbs/data/post_test.c $(verbs_fake)
prov_verbs_data_post_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_data_post_test_LDADD = $(verbs_unit_libs)
prov_verbs_data_qp_test_SOURCES = prov/verbs/data/qp_test.c $(verbs_fake)
prov_verbs_data_qp_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_data_qp_test_LDADD = $(verbs_unit_libs)
prov_verbs_data_rma_test_SOURCES = prov/verbs/data/rma_test.c $(verbs_fake)
prov_verbs_data_rma_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_data_rma_test_LDADD = $(verbs_unit_libs)
prov_verbs_datagram_name_test_SOURCES = prov/verbs/datagram/name_test.c $(verbs_fake)
prov_verbs_datagram_name_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_datagram_name_test_LDADD = $(verbs_unit_libs)
prov_verbs_datagram_ud_test_SOURCES = prov/verbs/datagram/ud_test.c $(verbs_fake)
prov_verbs_datagram_ud_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_datagram_ud_test_LDADD = $(verbs_unit_libs)
prov_verbs_datagram_ud_test_LDFLAGS = -Wl,--wrap=vrb_dev_text
prov_verbs_device_dev_test_SOURCES = prov/verbs/device/dev_test.c
prov_verbs_device_dev_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_device_dev_test_LDADD = $(verbs_unit_libs)
prov_verbs_device_gid_info_test_SOURCES = prov/verbs/device/gid_info_test.c $(verbs_fake)
prov_verbs_device_gid_info_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_device_gid_info_test_LDADD = $(verbs_unit_libs)
prov_verbs_device_gid_info_test_LDFLAGS = -Wl,--wrap=vrb_dev_ports -Wl,--wrap=vrb_dev_port \
	-Wl,--wrap=vrb_dev_text -Wl,--wrap=vrb_dev_context -Wl,--wrap=vrb_dev_port_nic
prov_verbs_device_hmem_test_SOURCES = prov/verbs/device/hmem_test.c $(verbs_hmem)
prov_verbs_device_hmem_test_CPPFLAGS = $(verbs_hmem_cppflags)
prov_verbs_device_hmem_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_device_hmem_test_LDADD = $(verbs_unit_libs)
prov_verbs_device_hmem_test_DEPENDENCIES = $(verbs_unit_libs) $(fakegpu_libs)
prov_verbs_device_hmem_test_LDFLAGS = $(verbs_hmem_ldflags)
prov_verbs_device_info_test_SOURCES = prov/verbs/device/info_test.c $(verbs_fake)
prov_verbs_device_info_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_device_info_test_LDADD = $(verbs_unit_libs)
prov_verbs_device_info_test_LDFLAGS = -Wl,--wrap=vrb_dev_context
if HAVE_VERBS_MLX5
check_PROGRAMS += prov/verbs/test/mlx5_dgram_test prov/verbs/test/mlx5_ep_test prov/verbs/test/mlx5_ud_test \
	prov/verbs/test/mlx5_xpu_test prov/verbs/test/ib_test
TESTS += prov/verbs/test/mlx5_dgram_test prov/verbs/test/mlx5_ep_test prov/verbs/test/mlx5_ud_test \
	prov/verbs/test/mlx5_xpu_test prov/verbs/test/ib_test prov/verbs/test/cost_test
if HAVE_VERBS_XRC
check_PROGRAMS += prov/verbs/test/mlx5_xrc_test
TESTS += prov/verbs/test/mlx5_xrc_test
endif
mlx5_sources = prov/verbs/test/mlx5_cm.c prov/verbs/test/mlx5_cm.h \
	prov/verbs/test/mlx5_kernel.c prov/verbs/test/mlx5_kernel.h \
	prov/verbs/test/mlx5_model.h prov/verbs/test/mlx5_compare.h
prov_verbs_test_mlx5_dgram_test_SOURCES = prov/verbs/test/mlx5_dgram_test.c prov/verbs/test/mlx5_dgram_world.h $(mlx5_sources)
prov_verbs_test_mlx5_dgram_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_test_mlx5_dgram_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_verbs_test_mlx5_dgram_test_LDFLAGS = -export-dynamic
prov_verbs_test_mlx5_ud_test_SOURCES = prov/verbs/test/mlx5_ud_test.c prov/verbs/test/mlx5_dgram_world.h $(mlx5_sources)
prov_verbs_test_mlx5_ud_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_test_mlx5_ud_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_verbs_test_mlx5_ud_test_LDFLAGS = -export-dynamic
prov_verbs_test_ib_test_SOURCES = prov/verbs/test/ib_test.c $(mlx5_sources)
prov_verbs_test_ib_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_test_ib_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_verbs_test_ib_test_LDFLAGS = -export-dynamic
prov_verbs_test_mlx5_ep_test_SOURCES = prov/verbs/test/mlx5_ep_test.c prov/verbs/test/mlx5_ends.h $(mlx5_sources)
prov_verbs_test_mlx5_ep_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_test_mlx5_ep_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_verbs_test_mlx5_ep_test_LDFLAGS = -export-dynamic
prov_verbs_test_mlx5_xpu_test_SOURCES = prov/verbs/test/mlx5_xpu_test.c prov/verbs/test/mlx5_ends.h $(mlx5_sources)
prov_verbs_test_mlx5_xpu_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_test_mlx5_xpu_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_verbs_test_mlx5_xpu_test_LDFLAGS = -export-dynamic
prov_verbs_test_mlx5_xrc_test_SOURCES = prov/verbs/test/mlx5_xrc_test.c prov/verbs/test/mlx5_xrc_world.h $(mlx5_sources)
prov_verbs_test_mlx5_xrc_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_verbs_test_mlx5_xrc_test_LDADD = prov/verbs/libverbs.la $(prov_util_libs) src/libfabric.la $(CMOCKA_LIBS)
prov_verbs_test_mlx5_xrc_test_LDFLAGS = -export-dynamic
endif
endif
endif
endif
