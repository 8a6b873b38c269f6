# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# The modules are not built here: kernel/README.md.
dist_check_SCRIPTS += kernel/test/shared_test
TESTS += kernel/test/shared_test
EXTRA_DIST += kernel/Kbuild kernel/Makefile kernel/README.md kernel/check kernel/core/core.h \
	kernel/core/hints.c kernel/core/info.c kernel/core/listing.c kernel/core/main.c \
	kernel/core/registry.c kernel/core/sysfs.c kernel/core/trace.h kernel/dkms.conf \
	kernel/examples/kofi_blk.c kernel/examples/kofi_pingpong.c kernel/gen_shared \
	kernel/include/kofi/compat.h kernel/include/kofi/fabric.h kernel/include/kofi/fi_atomic.h \
	kernel/include/kofi/fi_cm.h kernel/include/kofi/fi_domain.h kernel/include/kofi/fi_endpoint.h \
	kernel/include/kofi/fi_eq.h kernel/include/kofi/fi_rma.h kernel/include/kofi/fi_tagged.h \
	kernel/include/kofi/obj.h kernel/include/kofi/provider.h kernel/include/kofi/shared.h kernel/kofi.9 \
	kernel/loop/cm.c kernel/loop/ep.c kernel/loop/loop.h kernel/loop/name.c kernel/loop/pep.c \
	kernel/loop/prov.c kernel/loop/transfer.c kernel/obj/atomic.c kernel/obj/atomic_call.c \
	kernel/obj/av.c kernel/obj/call.c kernel/obj/cntr.c kernel/obj/cq.c kernel/obj/domain.c \
	kernel/obj/element.h kernel/obj/ep.c kernel/obj/eq.c kernel/obj/ip.c kernel/obj/main.c \
	kernel/obj/match.c kernel/obj/mr.c kernel/obj/multi.c kernel/obj/obj.h kernel/obj/op.c \
	kernel/obj/srx.c kernel/tcp/cm.c kernel/tcp/conn.c kernel/tcp/handshake.c kernel/tcp/listen.c \
	kernel/tcp/match.c kernel/tcp/op.c kernel/tcp/packet.c kernel/tcp/packet.h kernel/tcp/prov.c \
	kernel/tcp/rdm.c kernel/tcp/rx.c kernel/tcp/serve.c kernel/tcp/sock.c kernel/tcp/tcp.h \
	kernel/tcp/tx.c kernel/tcp/wire.h kernel/test/atomic_test.c kernel/test/calls \
	kernel/test/connect_test.c kernel/test/cost_test.c kernel/test/debug.config kernel/test/get_kernel \
	kernel/test/guest_test kernel/test/hostile.c kernel/test/layers kernel/test/main.c \
	kernel/test/model.h kernel/test/multi_test.c kernel/test/object_test.c kernel/test/pair.c \
	kernel/test/peer.c kernel/test/rdm_test.c kernel/test/registry_test.c kernel/test/test.h \
	kernel/test/transfer_test.c kernel/verbs/cm.c kernel/verbs/ep.c kernel/verbs/mr.c \
	kernel/verbs/prov.c kernel/verbs/vrb.h util/kofi_info
