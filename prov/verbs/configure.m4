# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Only the headers are needed to build: the libraries are opened when a device is found.
OFI_PROVIDER([verbs], [MSG and DGRAM endpoints on RDMA NICs], [
  AC_CHECK_HEADERS([infiniband/verbs.h rdma/rdma_cma.h], [],
    [ofi_ok=no; ofi_why="libibverbs-dev or librdmacm-dev is not installed"])
  AC_CHECK_HEADERS([infiniband/mlx5dv.h])])
AM_CONDITIONAL([HAVE_MLX5DV], [test "x$ac_cv_header_infiniband_mlx5dv_h" = xyes])
