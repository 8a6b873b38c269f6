# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
OFI_PROVIDER([tcp], [message and RDM endpoints over TCP sockets], [])
dnl The same module answers under the name "sockets", too.
AS_IF([test "$ofi_kind" = builtin],
  [AC_DEFINE([HAVE_SOCKETS], [1], [provider sockets is built in])])
