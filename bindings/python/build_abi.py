# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Makes libfabric/_abi.py, the description of the C interface for cffi.

The result is Python alone (cffi's "out-of-line ABI mode"): no compiler and no
headers are needed, here or where the package is used.
"""
import os

from cffi import FFI

HERE = os.path.dirname(os.path.abspath(__file__))

ffi = FFI()
ffi.set_source("libfabric._abi", None)
with open(os.path.join(HERE, "cdef.h"), encoding="ascii") as text:
    ffi.cdef(text.read())

if __name__ == "__main__":
    ffi.compile(tmpdir=HERE)
