# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
#
# OFI_PROVIDER(NAME, DESCRIPTION, CHECK)
#
# Adds --enable-NAME={yes,no,dl,auto}.  CHECK is shell code that sets
# ofi_ok=no and ofi_why="..." when the machine lacks what the provider needs.
# auto leaves such a provider out and says so; yes and dl stop with the reason.
# Defines HAVE_<NAME> (built in) and the conditionals
# HAVE_<NAME> (built at all), HAVE_<NAME>_DL (as a loadable object).
AC_DEFUN([OFI_PROVIDER], [
  AC_ARG_ENABLE([$1],
    [AS_HELP_STRING([--enable-$1=yes|no|dl|auto], [$2 @<:@auto@:>@])],
    [], [enable_$1=auto])
  AS_CASE([$enable_$1], [yes|no|dl|auto], [],
    [AC_MSG_ERROR([--enable-$1=$enable_$1: say yes, no, dl or auto])])
  ofi_ok=yes
  ofi_why=
  AS_IF([test "$enable_$1" != no], [$3], [ofi_ok=no; ofi_why="switched off"])
  AS_IF([test $ofi_ok = no && test "$enable_$1" != no && test "$enable_$1" != auto],
    [AC_MSG_ERROR([provider $1 was asked for with --enable-$1=$enable_$1, but $ofi_why])])
  AS_IF([test $ofi_ok = no],
    [ofi_kind=off; OFI_PROVIDERS_OFF="$OFI_PROVIDERS_OFF $1 ($ofi_why)"],
    [test "$enable_$1" = dl],
    [ofi_kind=dl; OFI_PROVIDERS_DL="$OFI_PROVIDERS_DL $1"],
    [ofi_kind=builtin; OFI_PROVIDERS_BUILTIN="$OFI_PROVIDERS_BUILTIN $1"])
  AS_IF([test $ofi_kind = builtin],
    [AC_DEFINE([HAVE_]m4_toupper(m4_translit([$1],[-],[_])), [1], [provider $1 is built in])])
  AM_CONDITIONAL([HAVE_]m4_toupper(m4_translit([$1],[-],[_])), [test $ofi_kind != off])
  AM_CONDITIONAL([HAVE_]m4_toupper(m4_translit([$1],[-],[_]))[_DL], [test $ofi_kind = dl])
])
