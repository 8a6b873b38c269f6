#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""cdef.h and constants.py say what the headers say.

    layout_test.py COMPILER INCLUDE ABI CDEF PACKAGE

A C program with an assertion for the size of each structure of CDEF, for the offset and
size of each field, and for the type of each function, is compiled against INCLUDE; the
numbers of PACKAGE/constants.py are those of the tables in ABI.
"""
import csv
import enum
import importlib.util
import os
import re
import subprocess
import sys
import tempfile

from cffi import FFI

HEADERS = ["fabric", "fi_domain", "fi_endpoint", "fi_eq", "fi_cm", "fi_rma", "fi_tagged",
           "fi_errno"]
PREFIX = {"Caps": "FI_", "Mode": "FI_", "MrMode": "FI_MR_", "EpType": "FI_EP_",
          "Progress": "FI_PROGRESS_", "Threading": "FI_THREAD_", "WaitObj": "FI_WAIT_",
          "Err": "FI_E"}


def structures(cdef):
    ffi = FFI()
    ffi.cdef(cdef)
    for name in ffi.list_types()[1]:
        kind = ffi.typeof("struct " + name)
        if kind.fields:
            yield name, ffi.sizeof(kind), [
                (field, what.offset, ffi.sizeof(what.type)) for field, what in kind.fields]


def prototypes(cdef):
    code = re.sub(r"/\*.*?\*/", "", cdef, flags=re.S)
    code = re.sub(r"struct \w+ \{.*?\};", "", code, flags=re.S)
    for statement in code.split(";"):
        match = re.search(r"\b(fi_\w+)\(", statement)
        if match:
            yield match.group(1), statement.strip()


def program(cdef):
    lines = [f"#include <rdma/{header}.h>" for header in HEADERS]
    for name, size, fields in structures(cdef):
        lines.append(f'_Static_assert(sizeof(struct {name}) == {size}, "{name}");')
        for field, offset, length in fields:
            lines.append(f'_Static_assert(offsetof(struct {name}, {field}) == {offset} && '
                         f'sizeof(((struct {name} *) 0)->{field}) == {length}, '
                         f'"{name}.{field}");')
    for name, text in prototypes(cdef):
        lines.append(re.sub(r"\b%s\(" % name, f"our_{name}(", text) + ";")
        lines.append(f"_Static_assert(__builtin_types_compatible_p(__typeof__(our_{name}), "
                     f'__typeof__({name})), "{name}");')
    return "\n".join(lines) + "\n"


def compile_it(compiler, include, source):
    with tempfile.TemporaryDirectory() as where:
        name = os.path.join(where, "layout.c")
        with open(name, "w", encoding="ascii") as out:
            out.write(source)
        return subprocess.run(compiler.split() + ["-std=gnu11", "-fsyntax-only", "-I", include,
                                                  name], check=False).returncode == 0


def table_values(abi):
    values = {}
    for file, name, value in (("enums.tsv", 1, 2), ("macros.tsv", 0, 1)):
        with open(os.path.join(abi, file), encoding="utf-8", newline="") as lines:
            for row in csv.reader(lines, delimiter="\t"):
                values[row[name]] = row[value]
    return values


def wrong_constants(package, abi):
    spec = importlib.util.spec_from_file_location(
        "constants", os.path.join(package, "constants.py"))
    constants = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(constants)
    values = table_values(abi)
    ours = {name: value for name, value in vars(constants).items() if name.startswith("FI_")}
    for name, group in vars(constants).items():
        if isinstance(group, type) and issubclass(group, enum.Enum) and name in PREFIX:
            ours.update({PREFIX[name] + member.name: member.value for member in group})
    return [f"{name} is {values.get(name)}, not {value}" for name, value in ours.items()
            if name not in values or int(values[name]) % 2**64 != value]


def main():
    compiler, include, abi, cdef_file, package = sys.argv[1:]
    with open(cdef_file, encoding="ascii") as lines:
        cdef = lines.read()
    source = program(cdef)
    good = compile_it(compiler, include, source)
    # the test is one only if a wrong number fails it
    wrong = re.sub(r"== 0 &&", "== 1 &&", source, count=1)
    if compile_it(compiler + " -w", include, wrong):
        print("an offset that is wrong is not noticed")
        good = False
    print(source.count("_Static_assert"), "assertions")
    bad = wrong_constants(package, abi)
    print("\n".join(bad))
    sys.exit(0 if good and not bad else 1)


if __name__ == "__main__":
    main()
