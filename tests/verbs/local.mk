# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

dist_check_SCRIPTS += tests/verbs/device_test tests/verbs/guest tests/verbs/siw_module
TESTS += tests/verbs/device_test
EXTRA_DIST += tests/verbs/README.md tests/verbs/guest_init.c tests/verbs/guest_clock.c tests/verbs/suite_exclude
# The program has what it needs of librdmacm by itself: that is what it is for.
if HAVE_VERBS
check_PROGRAMS += tests/verbs/interop
endif
check_PROGRAMS += tests/verbs/gone tests/verbs/instructions
tests_verbs_gone_SOURCES = tests/verbs/gone.c tests/verbs/ends.c tests/verbs/ends.h
tests_verbs_gone_LDADD = src/libfabric.la
tests_verbs_instructions_SOURCES = tests/verbs/instructions.c tests/verbs/ends.c tests/verbs/ends.h \
	tests/verbs/steps.c tests/verbs/steps.h
tests_verbs_instructions_LDADD = src/libfabric.la
tests_verbs_interop_SOURCES = tests/verbs/interop.c tests/verbs/interop.h \
	tests/verbs/interop_fabric.c tests/verbs/interop_rdmacm.c
tests_verbs_interop_LDADD = src/libfabric.la -lrdmacm -libverbs
