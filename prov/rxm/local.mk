# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

EXTRA_DIST += prov/rxm/configure.m4 prov/rxm/README.md

rxm_sources = \
	prov/rxm/call.c \
	prov/rxm/conf.c \
	prov/rxm/conf.h \
	prov/rxm/conn.c \
	prov/rxm/dom.c \
	prov/rxm/link.c \
	prov/rxm/poll.c \
	prov/rxm/prov.c \
	prov/rxm/rx.c \
	prov/rxm/rxm.h \
	prov/rxm/tx.c \
	prov/rxm/wire.c \
	prov/rxm/wire.h

if HAVE_RXM
if HAVE_RXM_DL
pkglib_LTLIBRARIES += librxm-fi.la
librxm_fi_la_SOURCES = $(rxm_sources)
librxm_fi_la_CPPFLAGS = $(AM_CPPFLAGS) -DFI_PROV_DL
librxm_fi_la_LIBADD = $(prov_util_libs) src/libfabric.la
librxm_fi_la_LDFLAGS = -module -avoid-version -shared -export-dynamic
else
noinst_LTLIBRARIES += prov/rxm/librxm.la
prov_rxm_librxm_la_SOURCES = $(rxm_sources)
builtin_prov_libs += prov/rxm/librxm.la
endif
endif
