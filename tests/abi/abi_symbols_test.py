#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""The built libraries export exactly what the tables say.

usage: abi_symbols_test.py [LIBFABRIC [LIBFABRIC_FFI]]

libfabric: exported-symbols.tsv, both ways: name, version node, kind, default
version (@@) or kept for old programs (@); also the soname.  libfabric-ffi: one
function for each row of inlines.tsv, and no other.  Exit 0, 1, or 77 when there
is nothing to compare with.
"""
import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))


def rows(name):
    with open(os.path.join(HERE, name + '.tsv')) as f:
        return [line.rstrip('\n').split('\t') for line in f][1:]


def readelf(*args):
    env = dict(os.environ, LC_ALL='C')
    return subprocess.run(('readelf', '-W') + args, env=env, check=True,
                          stdout=subprocess.PIPE, text=True).stdout


def exported(lib):
    """What the library offers, as rows of the table."""
    found = set()
    for line in readelf('--dyn-syms', lib).splitlines():
        f = line.split()
        if len(f) < 8 or not f[0].rstrip(':').isdigit():
            continue
        kind, bind, vis, where, name = f[3], f[4], f[5], f[6], f[7]
        if bind == 'LOCAL' or where == 'UND' or vis in ('HIDDEN', 'INTERNAL'):
            continue
        m = re.match(r'([^@]+)(@@?)?(.*)', name)
        sym, at, node = m.groups()
        if where == 'ABS' and sym == node or where == 'ABS' and not at:
            found.add((sym, '', 'OBJECT', 'node'))
        else:
            mark = {'@@': 'yes(@@)', '@': 'no(@)', None: 'unversioned'}[at]
            found.add((sym, node, kind, mark))
    return found


def soname(lib):
    m = re.search(r'\(SONAME\).*(\[.*\])', readelf('-d', lib))
    return m.group(1) if m else 'none'


def report(title, lines):
    for line in sorted(lines):
        print('%s: %s' % (title, ' '.join(line)))
    return len(lines)


def check_soname(lib, want):
    if soname(lib) == want:
        return 0
    print('%s: soname is %s, should be %s' % (lib, soname(lib), want))
    return 1


# The number of the file that a release of the field installs: ldconfig lets the soname point
# to the file with the greatest number, so ours must be above it.
FIELD = (1, 32, 0)


def check_number(lib):
    name = os.path.basename(os.path.realpath(lib))
    number = tuple(int(n) for n in re.findall(r'\d+', name.split('.so.')[1]))
    if number > FIELD:
        return 0
    print('%s is not above %s: ldconfig would prefer the other library'
          % (name, '.'.join(map(str, FIELD))))
    return 1


# Versions at which glibc moved functions of other libraries, or of inline headers, into libc.
MOVED = {'2.32', '2.33', '2.34'}
# What configure looks for, with a replacement where it is missing.
CHECKED = {'strerrordesc_np'}


def check_imports(lib):
    """What glibc has only since 2.29, and musl often not at all, is not linked."""
    bad = 0
    for line in readelf('--dyn-syms', '-W', lib).splitlines():
        m = re.search(r'UND (\w+)@GLIBC_(2\.(\d+))', line)
        if not m or int(m.group(3)) < 29 or m.group(2) in MOVED or m.group(1) in CHECKED:
            continue
        print('%s: %s needs glibc %s' % (lib, m.group(1), m.group(2)))
        bad += 1
    return bad


def check_needed(lib):
    """The library needs libc alone, and what a compiler or a sanitizer adds."""
    needed = re.findall(r'\(NEEDED\).*\[(.*)\]', readelf('-d', lib))
    return report(lib + ' is linked with', [[name] for name in needed if name.startswith('libm.')])


def check(lib, want, want_soname):
    """Number of differences of one library."""
    have = exported(lib)
    bad = report('the table has it, the library does not', want - have)
    bad += report('the library has it, the table does not', have - want)
    bad += check_soname(lib, want_soname)
    print('%s: %d symbols compared, %d differences'
          % (os.path.basename(lib), len(want | have), bad))
    return bad


# Inlines of interface 2.7, in the second stanza of libfabric-ffi; what is older is in the first.
FFI_1_1 = re.compile(r'fi_xpu_|fi_\w+_export_xpu$|fi_mr_get_xpu_desc$|fi_av_lookup2$')


def ffi_node(name):
    return 'FABRIC_FFI_1.1' if FFI_1_1.match(name) else 'FABRIC_FFI_1.0'


def built(*path):
    lib = os.path.join(os.environ.get('top_builddir', '.'), *path)
    if not os.path.exists(lib):
        print('%s is not there: nothing to compare' % lib)
        sys.exit(77)
    return lib


def main():
    if not shutil.which('readelf'):
        print('readelf not found: install binutils to run this test')
        sys.exit(77)
    args = sys.argv[1:] or [built('src', '.libs', 'libfabric.so.1'),
                            built('src', 'ffi', '.libs', 'libfabric-ffi.so.1')]
    with open(os.path.join(HERE, 'soname.tsv')) as f:
        name = f.read().split('\t')[1].strip()
    bad = check(args[0], {tuple(r) for r in rows('exported-symbols')}, name)
    bad += check_number(args[0]) + check_imports(args[0]) + check_needed(args[0])
    if len(args) > 1:
        want = {(r[0], ffi_node(r[0]), 'FUNC', 'yes(@@)') for r in rows('inlines')}
        want |= {(node, '', 'OBJECT', 'node') for node in ('FABRIC_FFI_1.0', 'FABRIC_FFI_1.1')}
        bad += check(args[1], want, '[libfabric-ffi.so.1]')
    sys.exit(1 if bad else 0)


if __name__ == '__main__':
    main()
