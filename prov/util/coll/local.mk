# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

prov_util_libutil_la_SOURCES += \
	prov/util/coll/call.c \
	prov/util/coll/group.h \
	prov/util/coll/group.c \
	prov/util/coll/unexpected.c \
	prov/util/coll/op.c \
	prov/util/coll/plan.c \
	prov/util/coll/plan.h \
	prov/util/coll/plan_all.c \
	prov/util/coll/plan_reduce.c \
	prov/util/coll/plan_tree.c \
	prov/util/coll/register.h

coll_tests = \
	prov/util/coll/call_test \
	prov/util/coll/model_test \
	prov/util/coll/group_test \
	prov/util/coll/op_test \
	prov/util/coll/plan_test

EXTRA_DIST += prov/util/coll/README.md

if HAVE_CMOCKA
check_PROGRAMS += $(coll_tests)
TESTS += $(coll_tests)
prov_util_coll_plan_test_SOURCES = prov/util/coll/plan_test.c
prov_util_coll_plan_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_coll_plan_test_LDADD = prov/util/libutil.la $(CMOCKA_LIBS)
prov_util_coll_call_test_SOURCES = prov/util/coll/call_test.c prov/util/coll/test/world.h
prov_util_coll_call_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_coll_call_test_LDADD = $(engine_world_libs)
prov_util_coll_call_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_coll_model_test_SOURCES = prov/util/coll/model_test.c prov/util/coll/test/world.h
prov_util_coll_model_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_coll_model_test_LDADD = $(engine_world_libs)
prov_util_coll_model_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_coll_group_test_SOURCES = prov/util/coll/group_test.c prov/util/coll/test/world.h
prov_util_coll_group_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_coll_group_test_LDADD = $(engine_world_libs)
prov_util_coll_group_test_LDFLAGS = $(engine_sim_ldflags)
prov_util_coll_op_test_SOURCES = prov/util/coll/op_test.c prov/util/coll/test/world.h
prov_util_coll_op_test_CFLAGS = $(AM_CFLAGS) $(CMOCKA_CFLAGS)
prov_util_coll_op_test_LDADD = $(engine_world_libs)
prov_util_coll_op_test_LDFLAGS = $(engine_sim_ldflags)
endif
