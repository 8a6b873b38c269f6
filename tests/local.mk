# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# Every test runs under a limit, so that one that hangs is one that fails.
LOG_COMPILER = $(SHELL) $(top_srcdir)/tests/limit
dist_noinst_SCRIPTS += quickstart .ci/run tests/limit

# ./check cannot stand in a list of files: its name is that of a target, so
# whatever depends on the list would run the tests, from within the tests.
dist-hook:
	cp -p $(top_srcdir)/check $(distdir)/
EXTRA_DIST += README.md

# Names of all tests, one a line, for ./check.
PHONY_EXTRA += list-tests
list-tests:
	@printf '%s\n' $(TESTS)

# Scripts that report case by case.
script_tests = \
	tests/tools/debian_tools \
	tests/tools/fi_info_test \
	tests/tools/fi_pingpong_test \
	tests/tools/fi_strerror_test
dist_check_SCRIPTS += $(script_tests)
TESTS += $(script_tests)
EXTRA_DIST += tests/tap.sh
