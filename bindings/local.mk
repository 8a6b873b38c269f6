# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only

# Other languages: they use what is installed, so nothing here is built by make.
bindings_scripts = bindings/python/python_test bindings/rust/rust_test
dist_check_SCRIPTS += $(bindings_scripts)
TESTS += $(bindings_scripts)

python_package = \
	bindings/python/MANIFEST.in \
	bindings/python/README.md \
	bindings/python/build_abi.py \
	bindings/python/cdef.h \
	bindings/python/examples/pingpong.py \
	bindings/python/examples/rma.py \
	bindings/python/libfabric/__init__.py \
	bindings/python/libfabric/_lib.py \
	bindings/python/libfabric/address.py \
	bindings/python/libfabric/base.py \
	bindings/python/libfabric/completion.py \
	bindings/python/libfabric/constants.py \
	bindings/python/libfabric/domain.py \
	bindings/python/libfabric/endpoint.py \
	bindings/python/libfabric/info.py \
	bindings/python/libfabric/memory.py \
	bindings/python/libfabric/py.typed \
	bindings/python/pyproject.toml \
	bindings/python/setup.py \
	bindings/python/test/layout_test.py \
	bindings/python/test/package_test.py \
	bindings/python/test/tap.py
EXTRA_DIST += $(python_package)
