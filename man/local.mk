# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# man/PAGE.in becomes man/PAGE with mkman.awk; the names in its NAME section
# that have no page of their own are installed as links to it.  Each program in
# man/examples is shown in a page, and is run by make check.

man_pages = \
	man/fi_cq.3

man_examples = \
	man/examples/fi_cq

man_MANS = $(man_pages)
CLEANFILES += $(man_pages)
EXTRA_DIST += $(man_pages:=.in) man/mkman.awk man/mklinks man/README.md man/examples/example.h

$(man_pages): $(top_srcdir)/man/mkman.awk Makefile
	$(AM_V_GEN)$(MKDIR_P) man && in='$(top_srcdir)/$@.in' && \
	$(AWK) -v version='$(VERSION)' -v dir='$(top_srcdir)/man/examples' \
		-f $(top_srcdir)/man/mkman.awk "$$in" >$@.tmp && mv $@.tmp $@
man/fi_cq.3: man/fi_cq.3.in man/examples/fi_cq.c

check_PROGRAMS += $(man_examples)
TESTS += $(man_examples)
man_examples_fi_cq_SOURCES = man/examples/fi_cq.c
man_examples_fi_cq_LDADD = src/libfabric.la

dist_check_SCRIPTS += man/man_test
TESTS += man/man_test

install-data-hook: install-man-links
install-man-links:
	@sh $(top_srcdir)/man/mklinks install '$(DESTDIR)$(mandir)' $(man_pages)
uninstall-hook: uninstall-man-links
uninstall-man-links:
	@sh $(top_srcdir)/man/mklinks uninstall '$(DESTDIR)$(mandir)' $(man_pages)
PHONY_EXTRA += install-man-links uninstall-man-links
