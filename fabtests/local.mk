# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# A program without lines of its own here is one source file and the shared core.
AM_CPPFLAGS += -I$(top_srcdir)/fabtests
LDADD = fabtests/libft.la src/libfabric.la -lpthread

check_LTLIBRARIES += fabtests/libft.la
fabtests_libft_la_SOURCES = \
	fabtests/common/bench.c \
	fabtests/common/control.c \
	fabtests/common/crowd.c \
	fabtests/common/device.c \
	fabtests/common/device.h \
	fabtests/common/fabric.c \
	fabtests/common/floor.c \
	fabtests/common/ft.h \
	fabtests/common/link.c \
	fabtests/common/options.c \
	fabtests/common/report.c \
	fabtests/common/table.c \
	fabtests/common/wait.c \
	fabtests/common/xfer.c \
	fabtests/common/xpu.c \
	fabtests/common/xpu.h

fabtests_programs = \
	fabtests/unit/fi_av_test \
	fabtests/unit/fi_cntr_test \
	fabtests/unit/fi_cq_test \
	fabtests/unit/fi_dom_test \
	fabtests/unit/fi_eq_test \
	fabtests/unit/fi_getinfo_test \
	fabtests/unit/fi_mr_test \
	fabtests/unit/fi_resmgmt_test \
	fabtests/unit/fi_setopt_test \
	fabtests/functional/fi_av_xfer \
	fabtests/functional/fi_bw \
	fabtests/functional/fi_cm_data \
	fabtests/functional/fi_cq_data \
	fabtests/functional/fi_dgram \
	fabtests/functional/fi_flood \
	fabtests/functional/fi_inj_complete \
	fabtests/functional/fi_inject_test \
	fabtests/functional/fi_loopback \
	fabtests/functional/fi_mcast \
	fabtests/functional/fi_msg \
	fabtests/functional/fi_msg_epoll \
	fabtests/functional/fi_msg_sockets \
	fabtests/functional/fi_multi_ep \
	fabtests/functional/fi_multi_mr \
	fabtests/functional/fi_multi_recv \
	fabtests/functional/fi_poll \
	fabtests/functional/fi_rdm \
	fabtests/functional/fi_rdm_atomic \
	fabtests/functional/fi_rdm_deferred_wq \
	fabtests/functional/fi_rdm_multi_client \
	fabtests/functional/fi_rdm_multi_domain \
	fabtests/functional/fi_rdm_rma_event \
	fabtests/functional/fi_rdm_rma_trigger \
	fabtests/functional/fi_rdm_shared_av \
	fabtests/functional/fi_rdm_stress \
	fabtests/functional/fi_rdm_tagged_peek \
	fabtests/functional/fi_rdm_xpu \
	fabtests/functional/fi_recv_cancel \
	fabtests/functional/fi_scalable_ep \
	fabtests/functional/fi_shared_ctx \
	fabtests/functional/fi_sighandler_test \
	fabtests/functional/fi_trigger \
	fabtests/functional/fi_unexpected_msg \
	fabtests/benchmarks/fi_bench_atomic \
	fabtests/benchmarks/fi_bench_connect \
	fabtests/benchmarks/fi_bench_matrix \
	fabtests/benchmarks/fi_bench_memory \
	fabtests/benchmarks/fi_bench_peers \
	fabtests/benchmarks/fi_bench_rate \
	fabtests/benchmarks/fi_bench_startup \
	fabtests/benchmarks/fi_bench_xpu \
	fabtests/benchmarks/fi_dgram_pingpong \
	fabtests/benchmarks/fi_msg_bw \
	fabtests/benchmarks/fi_msg_pingpong \
	fabtests/benchmarks/fi_rdm_bw \
	fabtests/benchmarks/fi_rdm_bw_mt \
	fabtests/benchmarks/fi_rdm_cntr_pingpong \
	fabtests/benchmarks/fi_rdm_pingpong \
	fabtests/benchmarks/fi_rdm_tagged_bw \
	fabtests/benchmarks/fi_rdm_tagged_pingpong \
	fabtests/benchmarks/fi_rma_bw \
	fabtests/benchmarks/fi_rma_pingpong \
	fabtests/ubertest/fi_ubertest

fabtests_ubertest_fi_ubertest_SOURCES = \
	fabtests/ubertest/calc.c \
	fabtests/ubertest/config.c \
	fabtests/ubertest/fi_ubertest.c \
	fabtests/ubertest/post.c \
	fabtests/ubertest/run.c \
	fabtests/ubertest/uber.h \
	fabtests/ubertest/words.c

check_PROGRAMS += $(fabtests_programs)

fabtests_tests = fabtests/all_loop_test fabtests/all_rxd_test fabtests/all_rxm_test fabtests/all_shm_test \
	fabtests/all_tcp_test fabtests/all_udp_test fabtests/compare_test fabtests/device_test \
	fabtests/hooks_test fabtests/hosts_test fabtests/runner_test fabtests/system_test
dist_check_SCRIPTS += $(fabtests_tests)
TESTS += $(fabtests_tests)
fabtests_data = \
	fabtests/exclude/libfabric-1.17.txt fabtests/exclude/libfabric-1.17-shm.txt \
	fabtests/exclude/libfabric-1.17-rxd.txt fabtests/exclude/libfabric-1.17-rxm.txt \
	fabtests/exclude/libfabric-1.17-net.txt fabtests/exclude/libfabric-1.17-tcp.txt \
	fabtests/exclude/libfabric-1.17-udp.txt \
	fabtests/test_configs/ofi_rxd/all.test fabtests/test_configs/ofi_rxd/quick.test \
	fabtests/test_configs/ofi_rxm/all.test fabtests/test_configs/ofi_rxm/quick.test \
	fabtests/test_configs/shm/all.test fabtests/test_configs/shm/quick.test \
	fabtests/test_configs/tcp/all.test fabtests/test_configs/tcp/msg.test \
	fabtests/test_configs/tcp/quick.test \
	fabtests/test_configs/udp/all.test fabtests/test_configs/udp/quick.test
EXTRA_DIST += $(fabtests_data) fabtests/README.md fabtests/Makefile.system fabtests/compare fabtests/compare.png \
	fabtests/matrix.py fabtests/plot.py fabtests/runfabtests

# make install leaves the suite out: 60 programs, which a build otherwise makes for the tests only.
install-fabtests: $(fabtests_programs)
	@$(MKDIR_P) '$(DESTDIR)$(bindir)'
	@for f in $(fabtests_programs); do \
		$(LIBTOOL) $(AM_LIBTOOLFLAGS) $(LIBTOOLFLAGS) --mode=install \
			$(INSTALL_PROGRAM) "$$f" '$(DESTDIR)$(bindir)' || exit; \
	done
	@for f in $(fabtests_data); do \
		$(MKDIR_P) '$(DESTDIR)$(pkgdatadir)'/"$${f%/*}" && \
		$(INSTALL_DATA) '$(srcdir)'/"$$f" '$(DESTDIR)$(pkgdatadir)'/"$$f" || exit; \
	done
	@sed "s|^DATA = HERE|DATA = '$(pkgdatadir)/fabtests'|" '$(srcdir)/fabtests/runfabtests' \
		>'$(DESTDIR)$(bindir)/runfabtests' && chmod 755 '$(DESTDIR)$(bindir)/runfabtests'
uninstall-fabtests:
	@for f in $(fabtests_programs) runfabtests; do rm -f '$(DESTDIR)$(bindir)'/"$${f##*/}"; done
	@rm -rf '$(DESTDIR)$(pkgdatadir)/fabtests'
PHONY_EXTRA += install-fabtests uninstall-fabtests
