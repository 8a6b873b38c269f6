# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# man/PAGE.in becomes man/PAGE with mkman.awk; the names in its NAME section
# that have no page of their own are installed as links to it.  Each program in
# man/examples is shown in a page, and is run by make check.

man_pages = \
	man/fabric.7 \
	man/fabtests.7 \
	man/fi_atomic.3 \
	man/fi_av.3 \
	man/fi_av_set.3 \
	man/fi_cm.3 \
	man/fi_cntr.3 \
	man/fi_collective.3 \
	man/fi_control.3 \
	man/fi_cq.3 \
	man/fi_direct.7 \
	man/fi_domain.3 \
	man/fi_endpoint.3 \
	man/fi_eq.3 \
	man/fi_errno.3 \
	man/fi_export.3 \
	man/fi_fabric.3 \
	man/fi_getinfo.3 \
	man/fi_guide.7 \
	man/fi_hmem.7 \
	man/fi_hook.7 \
	man/fi_info.1 \
	man/fi_keygen.1 \
	man/fi_log.3 \
	man/fi_mr.3 \
	man/fi_msg.3 \
	man/fi_nic.3 \
	man/fi_peer.3 \
	man/fi_pingpong.1 \
	man/fi_top.1 \
	man/fi_poll.3 \
	man/fi_profile.3 \
	man/fi_provider.3 \
	man/fi_provider.7 \
	man/fi_python.7 \
	man/fi_rails.7 \
	man/fi_rma.3 \
	man/fi_security.7 \
	man/fi_strerror.1 \
	man/fi_tagged.3 \
	man/fi_loop.7 \
	man/fi_rxd.7 \
	man/fi_rxm.7 \
	man/fi_shm.7 \
	man/fi_tcp.7 \
	man/fi_trigger.3 \
	man/fi_tuning.7 \
	man/fi_ubertest.1 \
	man/fi_udp.7 \
	man/fi_verbs.7 \
	man/fi_version.3 \
	man/fi_xpu.3 \
	man/runfabtests.1

man_examples = \
	man/examples/fi_atomic \
	man/examples/fi_av \
	man/examples/fi_av_set \
	man/examples/fi_cm \
	man/examples/fi_cntr \
	man/examples/fi_collective \
	man/examples/fi_control \
	man/examples/fi_cq \
	man/examples/fi_domain \
	man/examples/fi_endpoint \
	man/examples/fi_eq \
	man/examples/fi_errno \
	man/examples/fi_export \
	man/examples/fi_fabric \
	man/examples/fi_getinfo \
	man/examples/fi_log \
	man/examples/fi_mr \
	man/examples/fi_msg \
	man/examples/fi_nic \
	man/examples/fi_peer \
	man/examples/fi_poll \
	man/examples/fi_profile \
	man/examples/fi_provider \
	man/examples/fi_rma \
	man/examples/fi_tagged \
	man/examples/fi_trigger \
	man/examples/fi_udp \
	man/examples/fi_version \
	man/examples/fi_xpu \
	man/examples/guide_av \
	man/examples/guide_msg \
	man/examples/guide_multi \
	man/examples/guide_order \
	man/examples/guide_peers \
	man/examples/guide_pool \
	man/examples/guide_rdm \
	man/examples/guide_rma \
	man/examples/guide_sets \
	man/examples/guide_threads \
	man/examples/guide_wait

man_MANS = $(man_pages)
CLEANFILES += $(man_pages)
EXTRA_DIST += $(man_pages:=.in) man/mkman.awk man/mklinks man/README.md man/examples/example.h \
	man/examples/guide_ring.c man/examples/prov_ring.c

$(man_pages): $(man_pages:=.in) $(man_examples:=.c) \
		man/examples/prov_ring.c bindings/python/examples/pingpong.py \
		bindings/python/examples/rma.py man/mkman.awk Makefile
	$(AM_V_GEN)$(MKDIR_P) man && in='$(top_srcdir)/$@.in' && \
	$(AWK) -v version='$(VERSION)' -v dir='$(top_srcdir)/man/examples' \
		-v abi='$(top_srcdir)/tests/abi' \
		-f $(top_srcdir)/man/mkman.awk "$$in" >$@.tmp && mv $@.tmp $@

# Each is built from the .c of its name.
check_PROGRAMS += $(man_examples)
TESTS += $(man_examples)
man_examples_fi_atomic_LDADD = src/libfabric.la
man_examples_fi_av_LDADD = src/libfabric.la
man_examples_fi_av_set_LDADD = src/libfabric.la
man_examples_fi_cm_LDADD = src/libfabric.la
man_examples_fi_cntr_LDADD = src/libfabric.la
man_examples_fi_collective_LDADD = src/libfabric.la
man_examples_fi_control_LDADD = src/libfabric.la
man_examples_fi_cq_LDADD = src/libfabric.la
man_examples_fi_domain_LDADD = src/libfabric.la
man_examples_fi_endpoint_LDADD = src/libfabric.la
man_examples_fi_eq_LDADD = src/libfabric.la -lpthread
man_examples_fi_errno_LDADD = src/libfabric.la
man_examples_fi_export_LDADD = src/libfabric.la
man_examples_fi_fabric_LDADD = src/libfabric.la
man_examples_fi_getinfo_LDADD = src/libfabric.la
man_examples_fi_log_LDADD = src/libfabric.la
man_examples_fi_mr_LDADD = src/libfabric.la
man_examples_fi_msg_LDADD = src/libfabric.la
man_examples_fi_nic_LDADD = src/libfabric.la
man_examples_fi_peer_LDADD = src/libfabric.la
man_examples_fi_poll_LDADD = src/libfabric.la
man_examples_fi_profile_LDADD = src/libfabric.la
man_examples_fi_provider_LDADD = src/libfabric.la
man_examples_fi_rma_LDADD = src/libfabric.la
man_examples_fi_tagged_LDADD = src/libfabric.la
man_examples_fi_trigger_LDADD = src/libfabric.la
man_examples_fi_udp_LDADD = src/libfabric.la
man_examples_fi_version_LDADD = src/libfabric.la
man_examples_fi_xpu_LDADD = src/libfabric.la -lpthread
man_examples_guide_av_LDADD = src/libfabric.la
man_examples_guide_msg_LDADD = src/libfabric.la
man_examples_guide_multi_LDADD = src/libfabric.la
man_examples_guide_order_LDADD = src/libfabric.la
man_examples_guide_peers_LDADD = src/libfabric.la -lpthread
man_examples_guide_pool_LDADD = src/libfabric.la
man_examples_guide_rdm_LDADD = src/libfabric.la
man_examples_guide_rma_LDADD = src/libfabric.la
man_examples_guide_sets_LDADD = src/libfabric.la
man_examples_guide_threads_LDADD = src/libfabric.la -lpthread
man_examples_guide_wait_LDADD = src/libfabric.la

# A provider in a file of its own, which the example of fi_provider(3) loads.
check_LTLIBRARIES += man/examples/libexample-fi.la
man_examples_libexample_fi_la_SOURCES = man/examples/prov_example.c
man_examples_libexample_fi_la_LDFLAGS = -module -avoid-version -rpath /nowhere
man_examples_libexample_fi_la_LIBADD = src/libfabric.la

dist_check_SCRIPTS += man/commands_test man/man_test man/provider_test
TESTS += man/commands_test man/man_test man/provider_test

install-data-hook: install-man-links
install-man-links:
	@sh $(top_srcdir)/man/mklinks install '$(DESTDIR)$(mandir)' $(man_pages)
uninstall-hook: uninstall-man-links
uninstall-man-links:
	@sh $(top_srcdir)/man/mklinks uninstall '$(DESTDIR)$(mandir)' $(man_pages)
PHONY_EXTRA += install-man-links uninstall-man-links
