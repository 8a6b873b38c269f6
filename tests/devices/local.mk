# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# Two processes with memory of devices, over tests/fakegpu.
check_PROGRAMS += tests/devices/calls tests/devices/faults tests/devices/handles \
	tests/devices/kernels tests/devices/pipeline tests/devices/posts tests/devices/traffic
devices_pair = tests/devices/pair.c tests/devices/pair.h tests/fakegpu/use.h \
	fabtests/common/device.c fabtests/common/device.h
devices_libs = src/libfabric.la
tests_devices_faults_SOURCES = tests/devices/faults.c $(devices_pair)
tests_devices_faults_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
tests_devices_faults_LDADD = $(devices_libs)
tests_devices_faults_DEPENDENCIES = $(devices_libs) $(fakegpu_libs)
tests_devices_posts_SOURCES = tests/devices/posts.c tests/devices/posts.h $(devices_pair)
tests_devices_posts_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
tests_devices_posts_LDADD = $(devices_libs) -lpthread
tests_devices_posts_DEPENDENCIES = $(devices_libs) $(fakegpu_libs)
tests_devices_pipeline_SOURCES = tests/devices/pipeline.c $(devices_pair)
tests_devices_pipeline_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
tests_devices_pipeline_LDADD = $(devices_libs)
tests_devices_pipeline_DEPENDENCIES = $(devices_libs) $(fakegpu_libs)
tests_devices_calls_SOURCES = tests/devices/calls.c $(devices_pair)
tests_devices_calls_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
tests_devices_calls_LDADD = $(devices_libs)
tests_devices_calls_DEPENDENCIES = $(devices_libs) $(fakegpu_libs)
tests_devices_handles_SOURCES = tests/devices/handles.c $(devices_pair)
tests_devices_handles_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
tests_devices_handles_LDADD = $(devices_libs)
tests_devices_handles_DEPENDENCIES = $(devices_libs) $(fakegpu_libs)
tests_devices_kernels_SOURCES = tests/devices/kernels.c $(devices_pair)
tests_devices_kernels_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
tests_devices_kernels_LDADD = $(devices_libs)
tests_devices_kernels_DEPENDENCIES = $(devices_libs) $(fakegpu_libs)
tests_devices_traffic_SOURCES = tests/devices/traffic.c $(devices_pair)
tests_devices_traffic_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
tests_devices_traffic_LDADD = $(devices_libs)
tests_devices_traffic_DEPENDENCIES = $(devices_libs) $(fakegpu_libs)
devices_tests = tests/devices/faults_test tests/devices/gpu_test tests/devices/handles_test \
	tests/devices/options_test tests/devices/posts_test tests/devices/traffic_test
TESTS += $(devices_tests)
dist_check_SCRIPTS += $(devices_tests)
EXTRA_DIST += tests/devices/README.md tests/devices/posts.cu tests/devices/ptx.sh
