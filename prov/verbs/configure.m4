# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# Only the headers are needed to build: the libraries are opened when a device is found.
OFI_PROVIDER([verbs], [MSG and DGRAM endpoints on RDMA NICs], [
  AC_CHECK_HEADERS([infiniband/verbs.h rdma/rdma_cma.h], [],
    [ofi_ok=no; ofi_why="libibverbs-dev or librdmacm-dev is not installed"])
  AC_CHECK_HEADERS([infiniband/mlx5dv.h])])

AC_ARG_ENABLE([verbs-xrc],
  [AS_HELP_STRING([--disable-verbs-xrc], [verbs without endpoints that share queue pairs])],
  [], [enable_verbs_xrc=yes])
AM_CONDITIONAL([HAVE_VERBS_XRC], [test "$enable_verbs_xrc" != no])
AM_COND_IF([HAVE_VERBS_XRC], [ofi_has=1], [ofi_has=0])
AC_DEFINE_UNQUOTED([HAVE_VERBS_XRC], [$ofi_has], [verbs has endpoints that share queue pairs])

AC_ARG_ENABLE([verbs-mlx5],
  [AS_HELP_STRING([--disable-verbs-mlx5], [verbs without FI_VERBS_DOORBELL=direct])],
  [], [enable_verbs_mlx5=yes])
AM_CONDITIONAL([HAVE_VERBS_MLX5],
  [test "$enable_verbs_mlx5" != no && test "x$ac_cv_header_infiniband_mlx5dv_h" = xyes])
AM_COND_IF([HAVE_VERBS_MLX5], [ofi_has=1], [ofi_has=0])
AC_DEFINE_UNQUOTED([HAVE_VERBS_MLX5], [$ofi_has], [verbs writes the queues of mlx5 devices])
