# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""What pyproject.toml cannot say: cffi makes libfabric/_abi.py of cdef.h."""
from setuptools import setup

setup(cffi_modules=["build_abi.py:ffi"])
