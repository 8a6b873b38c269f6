# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Runs the tests of package_test.py and prints a line for each: "ok NAME", "not ok NAME" with
the trace behind it, or "skip NAME: REASON"."""
import sys
import unittest

import package_test


class Lines(unittest.TestResult):
    def addSuccess(self, test):
        print("ok", test.id())

    def addError(self, test, err):
        print("not ok", test.id())
        print("# " + self._exc_info_to_string(err, test).replace("\n", "\n# "))
        self.failures.append((test, ""))

    addFailure = addError

    def addSkip(self, test, reason):
        print(f"skip {test.id()}: {reason}")


result = Lines()
unittest.defaultTestLoader.loadTestsFromModule(package_test).run(result)
sys.exit(1 if result.failures else 0)
