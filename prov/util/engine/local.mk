# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/engine/atomic.c \
	prov/util/engine/atomic.h \
	prov/util/engine/minifloat.h

if HAVE_CMOCKA
check_PROGRAMS += prov/util/engine/atomic_test
TESTS += prov/util/engine/atomic_test
prov_util_engine_atomic_test_SOURCES = prov/util/engine/atomic_test.c
prov_util_engine_atomic_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_engine_atomic_test_LDADD = prov/util/libutil.la src/base/libbase.la $(CMOCKA_LIBS)
endif
