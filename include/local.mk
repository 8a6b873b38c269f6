# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
#
# Installed headers. What is here is what a program can include; nothing else
# may be put under include/rdma.

rdmaincludedir = $(includedir)/rdma
rdmainclude_HEADERS = \
	include/rdma/fabric.h \
	include/rdma/fi_atomic.h \
	include/rdma/fi_cm.h \
	include/rdma/fi_collective.h \
	include/rdma/fi_cq_time.h \
	include/rdma/fi_domain.h \
	include/rdma/fi_endpoint.h \
	include/rdma/fi_eq.h \
	include/rdma/fi_errno.h \
	include/rdma/fi_ext.h \
	include/rdma/fi_profile.h \
	include/rdma/fi_rma.h \
	include/rdma/fi_tagged.h \
	include/rdma/fi_trigger.h \
	include/rdma/fi_xpu.h \
	include/rdma/fi_xpu_device.h \
	include/rdma/fi_xpu_mlx5.h \
	include/rdma/fi_xpu_ring.h

rdmaprovincludedir = $(rdmaincludedir)/providers
rdmaprovinclude_HEADERS = \
	include/rdma/providers/fi_log.h \
	include/rdma/providers/fi_peer.h \
	include/rdma/providers/fi_prov.h

EXTRA_DIST += include/README.md
