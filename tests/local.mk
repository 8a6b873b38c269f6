# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# Every test runs under a limit, so that one that hangs is one that fails.
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/limit
dist_noinst_SCRIPTS += quickstart .ci/run tests/limit tests/within tests/tools/install_check

# ./check cannot stand in a list of files: its name is that of a target, so
# whatever depends on the list would run the tests, from within the tests.
dist-hook:
	cp -p $(top_srcdir)/check $(distdir)/
	$(SHELL) $(srcdir)/src/base/release.sh $(srcdir) > $(distdir)/.commit
EXTRA_DIST += README.md GLOSSARY.md CONTRIBUTING.md SECURITY.md NEWS.md .editorconfig \
	.github/ISSUE_TEMPLATE/bug.md .github/ISSUE_TEMPLATE/feature.md
dist_noinst_SCRIPTS += package release
EXTRA_DIST += \
	packaging/README.md \
	packaging/differences \
	packaging/debian/changelog \
	packaging/debian/control \
	packaging/debian/copyright \
	packaging/debian/libfabric-bin.install packaging/debian/libfabric-bin.lintian-overrides \
	packaging/debian/libfabric-dev.install packaging/debian/libfabric-dev.lintian-overrides \
	packaging/debian/libfabric-fabtests.install packaging/debian/libfabric-fabtests.lintian-overrides \
	packaging/debian/libfabric-ffi1.install packaging/debian/libfabric-ffi1.lintian-overrides \
	packaging/debian/libfabric-ffi1.symbols \
	packaging/debian/libfabric-parallel.install packaging/debian/libfabric-parallel.lintian-overrides \
	packaging/debian/libfabric1.install packaging/debian/libfabric1.lintian-overrides \
	packaging/debian/libfabric1.symbols \
	packaging/debian/rules \
	packaging/debian/source/format \
	packaging/rpm/libfabric.spec \
	packaging/test/hello.c \
	packaging/test/old.c

# Names of all tests, one a line, for ./check.
PHONY_EXTRA += list-tests list-fuzzers
list-tests:
	@printf '%s\n' $(TESTS)
list-fuzzers:
	@printf '%s\n' $(EXTRA_PROGRAMS)

# Scripts that report case by case.
script_tests = \
	tests/compat/compat_test \
	tests/compat/rxd_test \
	tests/compat/rxm_test \
	tests/compat/tcp_rdm_test \
	tests/compat/tcp_test \
	tests/compat/traffic_test \
	tests/compat/two_test \
	tests/compat/udp_test \
	tests/compat/wires_test \
	tests/features/readme_test \
	tests/hosts/order_test \
	tests/layers/faults_test \
	tests/layers/layers_test \
	tests/layers/terms_test \
	tests/layers/variables_test \
	tests/mpi/deadlock_test \
	tests/mpi/ompi_mixed_test \
	tests/mpi/ompi_rails_test \
	tests/mpi/ompi_secure_test \
	tests/mpi/ompi_rxd_test \
	tests/mpi/ompi_test \
	tests/mutants/list_test \
	tests/secure/cert_live_test \
	tests/secure/lanes_test \
	tests/secure/local_test \
	tests/tools/debian_tools \
	tests/tools/fi_keygen_test \
	tests/tools/limit_test \
	tests/tools/quickstart_test \
	tests/tools/fi_info_test \
	tests/tools/fi_pingpong_test \
	tests/tools/fi_strerror_test \
	tests/wire/order_test \
	tests/wire/table_test
dist_check_SCRIPTS += $(script_tests)
TESTS += $(script_tests)
EXTRA_DIST += tests/README.md tests/tap.sh tests/valgrind.supp tests/compat/two.c tests/compat/loadable.c tests/cross/README.md
dist_noinst_SCRIPTS += tests/cross/cmocka tests/cross/units

# The limit that a program sets itself.
check_PROGRAMS += tests/tools/limit_time
TESTS += tests/tools/limit_time
tests_tools_limit_time_SOURCES = tests/tools/limit_time.c tests/limit.h

# The wire formats of released versions.
check_PROGRAMS += tests/wire/replay
TESTS += tests/wire/replay
tests_wire_replay_SOURCES = tests/wire/replay.c prov/rxm/wire.c prov/rxm/wire.h prov/shm/handshake.c
tests_wire_replay_CFLAGS = $(AM_CFLAGS)
tests_wire_replay_LDADD = prov/rxd/librxdlink.la prov/tcp/libtcplink.la $(prov_util_libs) src/libfabric.la
EXTRA_DIST += tests/wire/README.md tests/wire/order_live tests/wire/releases tests/wire/faults tests/wire/versions tests/wire/recorded

# What ompi_test compiles with the MPI that is installed.
EXTRA_DIST += tests/mpi/README.md tests/mpi/mt.c tests/mpi/mt.h tests/mpi/p2p.c tests/mpi/types.c \
	tests/mpi/coll.c tests/mpi/osc.c tests/mpi/stress.c tests/mpi/killed.c tests/mpi/deadlock.c \
	tests/mpi/latency.c tests/mpi/alltoall.c

# The compatibility tests compile these against other headers than ours.
EXTRA_DIST += tests/compat/program.c tests/compat/datagrams.c
EXTRA_DIST += tests/compat/datagrams.py tests/compat/mixed.sh tests/compat/README.md
EXTRA_DIST += tests/compat/traffic.c tests/compat/rpc.c tests/compat/meet.c tests/compat/meet.h

# What each runtime asks for, and what a set of programs was seen to ask for.
runtimes_common = tests/runtimes/rt.c tests/runtimes/rt.h
runtimes_libs = src/libfabric.la $(CMOCKA_LIBS)
runtime_tests = \
	tests/elsewhere/discards tests/elsewhere/ends tests/elsewhere/faults tests/elsewhere/lanes \
	tests/elsewhere/orders tests/elsewhere/refused tests/elsewhere/strangers tests/hints/replay \
	tests/runtimes/aws_ofi_nccl tests/runtimes/chapel tests/runtimes/charm \
	tests/runtimes/daos tests/runtimes/deep tests/runtimes/devices tests/runtimes/failed \
	tests/runtimes/gasnet tests/runtimes/habits tests/runtimes/intel_mpi tests/runtimes/late \
	tests/runtimes/mercury tests/runtimes/mpich tests/runtimes/nixl \
	tests/runtimes/nvshmem tests/runtimes/ompi_btl tests/runtimes/ompi_mtl \
	tests/runtimes/oneccl tests/runtimes/sos tests/runtimes/unattended
if HAVE_CMOCKA
check_PROGRAMS += $(runtime_tests) tests/hosts/wildcard
TESTS += $(runtime_tests) tests/hosts/wildcard
endif
tests_hosts_wildcard_SOURCES = tests/hosts/wildcard.c $(runtimes_common)
tests_hosts_wildcard_LDADD = $(runtimes_libs)
tests_runtimes_aws_ofi_nccl_SOURCES = tests/runtimes/aws_ofi_nccl.c $(runtimes_common)
tests_runtimes_aws_ofi_nccl_LDADD = $(runtimes_libs)
tests_runtimes_chapel_SOURCES = tests/runtimes/chapel.c $(runtimes_common)
tests_runtimes_chapel_LDADD = $(runtimes_libs)
tests_runtimes_charm_SOURCES = tests/runtimes/charm.c $(runtimes_common)
tests_runtimes_charm_LDADD = $(runtimes_libs)
tests_runtimes_daos_SOURCES = tests/runtimes/daos.c \
	tests/runtimes/mercury_hints.c tests/runtimes/mercury_hints.h $(runtimes_common)
tests_runtimes_daos_LDADD = $(runtimes_libs)
tests_runtimes_deep_SOURCES = tests/runtimes/deep.c $(runtimes_common)
tests_runtimes_deep_LDADD = $(runtimes_libs)
tests_runtimes_late_SOURCES = tests/runtimes/late.c $(runtimes_common)
tests_runtimes_late_LDADD = $(runtimes_libs)
tests_runtimes_failed_SOURCES = tests/runtimes/failed.c $(runtimes_common)
tests_runtimes_failed_LDADD = $(runtimes_libs)
tests_runtimes_devices_SOURCES = tests/runtimes/devices.c tests/fakegpu/use.h \
	fabtests/common/device.c fabtests/common/device.h \
	tests/runtimes/mercury_hints.c tests/runtimes/mercury_hints.h $(runtimes_common)
tests_runtimes_devices_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
tests_runtimes_devices_LDADD = $(runtimes_libs)
tests_runtimes_devices_DEPENDENCIES = src/libfabric.la $(fakegpu_libs)
tests_runtimes_gasnet_SOURCES = tests/runtimes/gasnet.c $(runtimes_common)
tests_runtimes_gasnet_LDADD = $(runtimes_libs)
EXTRA_DIST += tests/elsewhere/README.md tests/elsewhere/arguments.tsv
tests_elsewhere_discards_SOURCES = tests/elsewhere/discards.c $(runtimes_common)
tests_elsewhere_discards_LDADD = $(runtimes_libs)
tests_elsewhere_ends_SOURCES = tests/elsewhere/ends.c $(runtimes_common)
tests_elsewhere_ends_LDADD = $(runtimes_libs)
tests_elsewhere_lanes_SOURCES = tests/elsewhere/lanes.c $(runtimes_common)
tests_elsewhere_lanes_LDADD = src/base/libbase.la $(runtimes_libs)
tests_elsewhere_orders_SOURCES = tests/elsewhere/orders.c $(runtimes_common)
tests_elsewhere_orders_LDADD = $(runtimes_libs)
tests_elsewhere_refused_SOURCES = tests/elsewhere/refused.c $(runtimes_common)
tests_elsewhere_refused_LDADD = $(runtimes_libs)
tests_elsewhere_strangers_SOURCES = tests/elsewhere/strangers.c $(runtimes_common)
tests_elsewhere_strangers_LDADD = $(runtimes_libs)
tests_elsewhere_faults_SOURCES = tests/elsewhere/faults.c $(runtimes_common)
tests_elsewhere_faults_LDADD = $(runtimes_libs)
tests_runtimes_habits_SOURCES = tests/runtimes/habits.c
tests_runtimes_habits_LDADD = $(runtimes_libs)
tests_runtimes_intel_mpi_SOURCES = tests/runtimes/intel_mpi.c \
	tests/runtimes/mpich_hints.c tests/runtimes/mpich_hints.h $(runtimes_common)
tests_runtimes_intel_mpi_LDADD = $(runtimes_libs)
tests_runtimes_mercury_SOURCES = tests/runtimes/mercury.c \
	tests/runtimes/mercury_hints.c tests/runtimes/mercury_hints.h $(runtimes_common)
tests_runtimes_mercury_LDADD = $(runtimes_libs)
tests_runtimes_mpich_SOURCES = tests/runtimes/mpich.c \
	tests/runtimes/mpich_hints.c tests/runtimes/mpich_hints.h $(runtimes_common)
tests_runtimes_mpich_LDADD = $(runtimes_libs)
tests_runtimes_nixl_SOURCES = tests/runtimes/nixl.c $(runtimes_common)
tests_runtimes_nixl_LDADD = $(runtimes_libs)
tests_runtimes_nvshmem_SOURCES = tests/runtimes/nvshmem.c $(runtimes_common)
tests_runtimes_nvshmem_LDADD = $(runtimes_libs)
tests_runtimes_ompi_btl_SOURCES = tests/runtimes/ompi_btl.c $(runtimes_common)
tests_runtimes_ompi_btl_LDADD = $(runtimes_libs)
tests_runtimes_ompi_mtl_SOURCES = tests/runtimes/ompi_mtl.c $(runtimes_common)
tests_runtimes_ompi_mtl_LDADD = $(runtimes_libs)
tests_runtimes_oneccl_SOURCES = tests/runtimes/oneccl.c $(runtimes_common)
tests_runtimes_oneccl_LDADD = $(runtimes_libs)
tests_runtimes_sos_SOURCES = tests/runtimes/sos.c $(runtimes_common)
tests_runtimes_sos_LDADD = $(runtimes_libs)
tests_runtimes_unattended_SOURCES = tests/runtimes/unattended.c $(runtimes_common)
tests_runtimes_unattended_LDADD = $(runtimes_libs)
tests_hints_replay_SOURCES = tests/hints/replay.c tests/hints/parse.c tests/hints/parse.h \
	util/info/names.c util/info/names.h $(runtimes_common)
tests_hints_replay_LDADD = $(runtimes_libs)

# The program is run by readme_test.
if HAVE_CMOCKA
check_PROGRAMS += tests/features/features tests/features/attributes
TESTS += tests/features/attributes
endif
tests_features_attributes_SOURCES = tests/features/attributes.c $(runtimes_common)
tests_features_attributes_LDADD = $(runtimes_libs)
tests_features_features_SOURCES = tests/features/features.c tests/features/xpu.c tests/features/xpu.h \
	tests/fakegpu/use.h \
	fabtests/common/device.c fabtests/common/device.h $(runtimes_common)
tests_features_features_CPPFLAGS = $(AM_CPPFLAGS) $(fakegpu_cppflags)
tests_features_features_LDADD = $(runtimes_libs)
tests_features_features_DEPENDENCIES = $(runtimes_libs) $(fakegpu_libs)
EXTRA_DIST += tests/features/cells tests/features/on_devices tests/features/table

hints_files = \
	tests/hints/mercury-shm.txt \
	tests/hints/mercury-sockets.txt \
	tests/hints/mercury-tcp.txt \
	tests/hints/mercury-tcp_rxm.txt \
	tests/hints/mpich-shm.txt \
	tests/hints/mpich-tcp.txt \
	tests/hints/ompi-btl-sockets.txt \
	tests/hints/ompi-btl2-shm.txt \
	tests/hints/ompi-mtl-tcp.txt \
	tests/hints/ompi-mtl-threads.txt \
	tests/hints/sos-basic-mr.txt \
	tests/hints/sos-manual-progress.txt \
	tests/hints/sos-scalable-mr.txt
EXTRA_DIST += tests/hints/README.md $(hints_files)

# Do the suites notice an error?  Run by hand, or by ./check --mutants.
EXTRA_DIST += tests/mutants/README.md tests/mutants/run tests/mutants/list.txt tests/mutants/suites.tsv

# Many processes that send to one, run by hand.
check_PROGRAMS += tests/rxd/stream
tests_rxd_stream_SOURCES = tests/rxd/stream.c
tests_rxd_stream_LDADD = src/libfabric.la
dist_check_SCRIPTS += tests/rxd/ecn_test tests/rxd/rails_test tests/rxd/silence_test tests/rxd/stream_test tests/rxd/veth_test tests/rxd/ratios tests/tcp/recover_test tests/tcp/rails_test
TESTS += tests/rxd/ecn_test tests/rxd/rails_test tests/rxd/silence_test tests/rxd/stream_test tests/rxd/veth_test tests/tcp/recover_test tests/tcp/rails_test

# What processes of one host leave behind, and what they may not be allowed to do.
if HAVE_TCP
check_PROGRAMS += tests/shm/forbid
tests_shm_forbid_SOURCES = tests/shm/forbid.c $(tcp_world_common)
tests_shm_forbid_LDADD = src/libfabric.la
if HAVE_SHM
dist_check_SCRIPTS += tests/shm/confined_test tests/shm/procs_test
TESTS += tests/shm/confined_test tests/shm/procs_test
endif
endif
EXTRA_DIST += tests/shm/alone.sh

# Which path was taken, as the log says.
if HAVE_TCP
if HAVE_SHM
dist_check_SCRIPTS += tests/dissect/dissect_test tests/dissect/rails_test
TESTS += tests/dissect/dissect_test tests/dissect/rails_test
EXTRA_DIST += tests/dissect/README.md tests/dissect/captures.py tests/dissect/steps.sh
dist_check_SCRIPTS += tests/path/path_test tests/path/ways_test
TESTS += tests/path/path_test tests/path/ways_test
endif
endif
EXTRA_DIST += tests/path/README.md

# Running programs, looked at.
if HAVE_TCP
if HAVE_SHM
check_PROGRAMS += tests/top/scene
tests_top_scene_SOURCES = tests/top/scene.c
tests_top_scene_LDADD = src/libfabric.la
check_PROGRAMS += tests/top/profile_test
tests_top_profile_test_SOURCES = tests/top/profile_test.c
tests_top_profile_test_LDADD = src/libfabric.la
TESTS += tests/top/profile_test
dist_check_SCRIPTS += tests/top/top_test tests/top/hosts_test tests/top/keys_test tests/top/paths_test tests/top/probes_test
TESTS += tests/top/top_test tests/top/hosts_test tests/top/keys_test tests/top/paths_test tests/top/probes_test
endif
endif
EXTRA_DIST += tests/top/README.md tests/top/scene.sh

# Figures, not verdicts: built with the tests, run by a person (tests/cost/README.md).
cost_programs = tests/cost/av tests/cost/calls tests/cost/cold tests/cost/empty \
		tests/cost/getinfo tests/cost/pingpong tests/cost/seal tests/cost/xpu
check_PROGRAMS += $(cost_programs)
tests_cost_av_LDADD = src/libfabric.la
tests_cost_calls_LDADD = src/libfabric.la
tests_cost_empty_LDADD = src/libfabric.la
tests_cost_getinfo_LDADD = src/libfabric.la
tests_cost_pingpong_LDADD = src/libfabric.la
tests_cost_seal_LDADD = prov/util/libutil.la src/base/libbase.la src/libfabric.la
tests_cost_xpu_LDADD = src/libfabric.la
EXTRA_DIST += tests/cost/README.md tests/cost/device_cost tests/cost/discovery tests/cost/instructions tests/cost/rails tests/cost/ratios tests/cost/report \
	      tests/cost/secure

# Peers that do what they should not.
hostile_programs = tests/hostile/burst tests/hostile/flood tests/hostile/forked tests/hostile/frozen tests/hostile/impostor \
	tests/hostile/inherited tests/hostile/noisy tests/hostile/reverse tests/hostile/silent \
	tests/hostile/stopped
hostile_common = tests/hostile/peer.h tests/tcp/node.c tests/tcp/node.h
check_PROGRAMS += $(hostile_programs)
dist_check_SCRIPTS += tests/hostile/all_test
TESTS += tests/hostile/all_test
tests_hostile_burst_SOURCES = tests/hostile/burst.c $(hostile_common)
tests_hostile_burst_LDADD = src/libfabric.la
tests_hostile_flood_SOURCES = tests/hostile/flood.c $(hostile_common)
tests_hostile_flood_LDADD = src/libfabric.la
tests_hostile_forked_SOURCES = tests/hostile/forked.c $(hostile_common)
tests_hostile_forked_LDADD = src/libfabric.la
tests_hostile_frozen_SOURCES = tests/hostile/frozen.c $(hostile_common)
tests_hostile_frozen_LDADD = src/libfabric.la
tests_hostile_impostor_SOURCES = tests/hostile/impostor.c prov/tcp/hello.c prov/tcp/hello.h \
	prov/rxm/wire.c prov/rxm/wire.h prov/util/foreign/rxmf/cm.c prov/util/foreign/rxmf/cm.h \
	prov/util/channel/handshake.c prov/util/channel/handshake.h $(hostile_common)
tests_hostile_impostor_CFLAGS = $(AM_CFLAGS)
tests_hostile_impostor_LDADD = src/base/libbase.la src/libfabric.la
tests_hostile_inherited_SOURCES = tests/hostile/inherited.c $(hostile_common)
tests_hostile_inherited_LDADD = src/libfabric.la
tests_hostile_noisy_SOURCES = tests/hostile/noisy.c $(hostile_common)
tests_hostile_noisy_LDADD = src/libfabric.la
tests_hostile_reverse_SOURCES = tests/hostile/reverse.c $(hostile_common)
tests_hostile_reverse_LDADD = src/libfabric.la
tests_hostile_silent_SOURCES = tests/hostile/silent.c $(hostile_common)
tests_hostile_silent_LDADD = src/libfabric.la
tests_hostile_stopped_SOURCES = tests/hostile/stopped.c $(hostile_common)
tests_hostile_stopped_LDADD = src/libfabric.la
EXTRA_DIST += tests/hostile/README.md

# Allocations that fail, from fi_getinfo() to the last fi_close().
check_PROGRAMS += tests/nomem/life
TESTS += tests/nomem/life
tests_nomem_life_SOURCES = tests/nomem/life.c tests/nomem/alloc.c tests/nomem/alloc.h
tests_nomem_life_LDADD = src/libfabric.la
EXTRA_DIST += tests/nomem/README.md

# Jobs of many ranks: a benchmark. An endpoint of many peers: the same, and a test, since each
# message has to come back.
check_PROGRAMS += tests/scale/peers
TESTS += tests/scale/peers
tests_scale_peers_LDADD = $(prov_util_libs) src/libfabric.la -lpthread
EXTRA_DIST += tests/scale/jobs tests/scale/jobs.c tests/scale/README.md
