#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Each installed header stands on its own.

1. It compiles alone, without a warning, as C99, C11, gnu11 and C++17, by every
   compiler found.
2. What the tables place in it is in it, and it has no public name besides.
3. What is old compiles in silence; FI_WARN_DEPRECATED names each use.
4. With FABRIC_DIRECT, a provider's fi_direct header can replace the calls of
   each set.
5. fi_xpu_device.h compiles as code of a device (CUDA, by clang).

Exit 0, 1, or 77 when there is no compiler at all.
"""
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
INCLUDE = os.path.join(HERE, '..', '..', 'include')
WARN = ['-Wall', '-Wextra', '-pedantic', '-Werror', '-fsyntax-only', '-I' + INCLUDE]
C_STD, CXX_STD = ['c99', 'c11', 'gnu11'], ['c++17']

# Our own additions to the names of the interface.
OURS = {'FI_INLINE', 'FI_WARN_DEPRECATED', 'FI_PROFILE_PEER'}

# Headers of ours alone, which take no name of the interface.
EXTENSIONS = {'rdma/fi_cq_time.h', 'rdma/fi_xpu_mlx5.h', 'rdma/fi_xpu_ring.h'}

# fi_direct<suffix>.h, the macro by which a provider takes the set over, the
# header it stands in for, and what it must then bring: a call or some enums.
DIRECT = [
    ('_eq', 'FABRIC_DIRECT_EQ', 'rdma/fi_eq.h', 'fi_cq_read'),
    ('_domain', 'FABRIC_DIRECT_DOMAIN', 'rdma/fi_domain.h', 'fi_mr_reg'),
    ('_endpoint', 'FABRIC_DIRECT_ENDPOINT', 'rdma/fi_endpoint.h', 'fi_send'),
    ('_cm', 'FABRIC_DIRECT_CM', 'rdma/fi_cm.h', 'fi_connect'),
    ('_rma', 'FABRIC_DIRECT_RMA', 'rdma/fi_rma.h', 'fi_read'),
    ('_tagged', 'FABRIC_DIRECT_TAGGED', 'rdma/fi_tagged.h', 'fi_tsend'),
    ('_atomic', 'FABRIC_DIRECT_ATOMIC', 'rdma/fi_atomic.h', 'fi_atomic'),
    ('', 'FABRIC_DIRECT_COLLECTIVE', 'rdma/fi_collective.h', 'fi_barrier2'),
    ('_atomic_def', 'FABRIC_DIRECT_ATOMIC_DEF', 'rdma/fi_domain.h',
     'enum fi_datatype {DT}; enum fi_op {OP};'),
    ('_trigger', 'FABRIC_DIRECT_TRIGGER', 'rdma/fi_trigger.h',
     'enum fi_trigger_event {EV}; enum fi_op_type {OT};'),
]

failures = 0


def fail(text):
    global failures
    failures += 1
    print('FAIL ' + text)


def rows(name):
    with open(os.path.join(HERE, name + '.tsv')) as f:
        return [line.rstrip('\n').split('\t') for line in f][1:]


def installed():
    found = []
    for base, _, files in os.walk(os.path.join(INCLUDE, 'rdma')):
        found += [os.path.relpath(os.path.join(base, f), INCLUDE)
                  for f in files if f.endswith('.h')]
    return sorted(found)


def run(cmd):
    return subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def compilers():
    """(command, language) of each compiler found; $CC and $CXX as they are."""
    wanted = [(os.environ.get('CC', 'cc'), 'c'), ('gcc', 'c'), ('clang', 'c'),
              ('g++', 'c++'), ('clang++', 'c++')]
    found, seen = [], set()
    for text, lang in wanted:
        cmd = shlex.split(text)
        path = shutil.which(cmd[0]) if cmd else None
        real = path and (os.path.realpath(path), lang)
        if not path or real in seen:
            continue
        seen.add(real)
        found.append((cmd, lang))
    return found


def compile_alone(tmp, headers):
    count = 0
    for cmd, lang in compilers():
        ext = '.c' if lang == 'c' else '.cc'
        files = []
        for h in headers:
            path = os.path.join(tmp, h.replace('/', '_')[:-2] + ext)
            with open(path, 'w') as f:
                f.write('#include <%s>\n' % h)
            files.append(path)
        for std in C_STD if lang == 'c' else CXX_STD:
            res = run(cmd + ['-std=' + std] + WARN + files)
            count += len(files)
            if res.returncode:
                fail('%s -std=%s\n%s' % (' '.join(cmd), std, res.stdout))
    print('%d headers compiled alone, %d times in all' % (len(headers), count))


def names_in(header):
    """Public names that the text of one header defines."""
    with open(os.path.join(INCLUDE, header)) as f:
        text = f.read()
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    macros = set(re.findall(r'^\s*#\s*define\s+(\w+)', text, re.M))
    enums = set()
    for body in re.findall(r'\benum\s*\w*\s*\{(.*?)\}', text, re.S):
        enums |= set(re.findall(r'^\s*(\w+)', body, re.M))
    inlines = set(re.findall(r'^(?:FI_INLINE|FI_XPU_FUNC)\b[^(;]*?(\w+)\(', text, re.M))
    protos = set(re.findall(r'^[a-z][\w *]*?(\w+)\((?!\*)[^;{]*;', text, re.M))
    return macros, enums, inlines, protos


def names_match(headers):
    """Both ways: each table row in its header, nothing public elsewhere."""
    want = {h: [set(), set(), set(), set()] for h in headers}
    column = {'macros': (0, 4, 0), 'macros-other': (0, 1, 0), 'enums': (1, 3, 1),
              'inlines': (0, 2, 2), 'prototypes': (0, 2, 3)}
    for table, (name, header, kind) in column.items():
        for r in rows(table):
            if r[header] not in want:
                fail('%s: the tables name it, it is not installed' % r[header])
                continue
            want[r[header]][kind].add(r[name].split('(')[0])
    taken = set().union(*(s for w in want.values() for s in w))
    count = 0
    for h in headers:
        have = names_in(h)
        if h in EXTENSIONS:
            for n in sorted(set().union(*have) & taken):
                fail('%s: an extension defines %s, which the tables have' % (h, n))
            continue
        for w, got, what in zip(want[h], have, ('macro', 'enumerator', 'inline', 'function')):
            got = got - OURS
            if what == 'function':
                got = got - {'fi_prov_ini'}     # defined by the provider, not by us
            count += len(w | got)
            for n in sorted(w - got):
                fail('%s: the tables place %s %s here' % (h, what, n))
            for n in sorted(got - w):
                fail('%s: %s %s is in no table' % (h, what, n))
    print('%d names in their headers' % count)


def direct(tmp, cmd):
    """A provider takes one set after the other over; the rest stays ours."""
    rdma = os.path.join(tmp, 'rdma')
    os.mkdir(rdma)
    for taken in DIRECT:
        for suffix in [''] + [d[0] for d in DIRECT]:
            open(os.path.join(rdma, 'fi_direct%s.h' % suffix), 'w').close()
        suffix, guard, header, brings = taken
        with open(os.path.join(rdma, 'fi_direct%s.h' % suffix), 'w') as f:
            f.write('#define %s 1\n' % guard)
            if brings.startswith('enum'):
                f.write(brings + '\n')
        src = os.path.join(tmp, 'direct.c')
        with open(src, 'w') as f:
            f.write('#define FABRIC_DIRECT 1\n#include <%s>\n' % header)
            if not brings.startswith('enum'):
                # clashes with the inline, were it still there
                f.write('extern const char *%s;\n' % brings)
        res = run(cmd + ['-std=c11', '-I' + tmp] + WARN + [src])
        if res.returncode:
            fail('FABRIC_DIRECT with %s\n%s' % (guard, res.stdout))
    print('%d sets can be taken over by a provider' % len(DIRECT))


def deprecated(tmp, cmd, headers):
    """Old names are silent, unless a program asks to be told."""
    use, alone = os.path.join(tmp, 'use.c'), os.path.join(tmp, 'all.c')
    with open(alone, 'w') as f:
        f.writelines('#include <%s>\n' % h for h in headers)
    with open(use, 'w') as f:
        f.write('#include <rdma/fi_eq.h>\n'
                'int use(struct fid_wait *w, struct fi_tx_attr *a);\n'
                'int use(struct fid_wait *w, struct fi_tx_attr *a)\n'
                '{ return a->comp_order ? fi_wait(w, 0) : 0; }\n')
    ask = ['-std=c11', '-DFI_WARN_DEPRECATED'] + WARN
    res = run(cmd + ask + [alone])
    if res.returncode:
        fail('the headers use what they deprecate\n' + res.stdout)
    res = run(cmd + ['-std=c11'] + WARN + [use])
    if res.returncode:
        fail('an old program does not compile in silence\n' + res.stdout)
    text = run(cmd + ask + [use]).stdout
    for name in ('comp_order', 'fi_wait'):
        if not re.search(name + '.*deprecated', text):
            fail('FI_WARN_DEPRECATED says nothing about ' + name)


CALLS = """
#include <rdma/fi_xpu_device.h>
__attribute__((global)) void kernel(struct fid_xpu_ep *ep, struct fid_xpu_cq *cq,
    struct fid_xpu_cntr *cntr, int scope, long *ret, void *buf)
{
    ret[0] = fi_xpu_write(ep, buf, 8, 0, 0, 0, 0, 0, 0, 0, scope);
    ret[1] = fi_xpu_cq_read(cq, buf, 3, scope);
    ret[2] = (long) fi_xpu_cntr_read(cntr, scope) + fi_xpu_cntr_add(cntr, 1, scope);
    fi_xpu_cntr_wait(cntr, 3, -1, scope);
}
"""

# What the code of a device must have: words for both sides, and calls of a group.
ASSEMBLY = {
    'cuda': ('st.release.sys.u64', 'ld.acquire.sys.u64', 'atom.acq_rel.sys.cas.b64',
             'red.release.sys.add.u64', 'bar.sync', 'bar.warp.sync', 'shfl.sync.idx.b32'),
    'hip': ('s_barrier', 'v_readfirstlane', 'global_atomic_cmpswap_x2|flat_atomic_cmpswap_x2'),
}


def device(tmp):
    """Code of a device compiles with the calls of rdma/fi_xpu_device.h, and only with those."""
    clang = shutil.which('clang')
    if not clang:
        print('no clang: the calls of devices were not compiled for one')
        return
    src, asm = os.path.join(tmp, 'kernel.cu'), os.path.join(tmp, 'kernel.s')
    warn = ['-Wall', '-Wextra', '-Werror', '-Wno-unknown-cuda-version', '-O2', '-I' + INCLUDE]
    cuda = [clang, '-x', 'cuda', '--cuda-device-only', '-nocudainc', '-nocudalib',
            '--cuda-gpu-arch=sm_70'] + warn
    hip = [clang, '-x', 'hip', '--cuda-device-only', '-nogpuinc', '-nogpulib',
           '--offload-arch=gfx90a'] + warn
    for name, compiler in (('cuda', cuda), ('hip', hip)):
        with open(src, 'w') as f:
            f.write(CALLS)
        res = run(compiler + ['-S', '-o', asm, src])
        if res.returncode:
            fail('the calls of devices for %s\n%s' % (name, res.stdout))
            continue
        with open(asm) as f:
            text = f.read()
        for need in ASSEMBLY[name]:
            if not re.search(need, text):
                fail('code for %s has no %s' % (name, need))
        with open(src, 'w') as f:
            f.write('#include <rdma/fi_xpu_device.h>\n__attribute__((global)) void kernel(int *ret)\n'
                    '{ *ret = fi_tc_dscp_get(0); }\n')
        if run(compiler + ['-fsyntax-only', src]).returncode == 0:
            fail('a kernel for %s calls a function of the host' % name)
    print('code of devices compiles')


def main():
    found = compilers()
    if not found:
        print('no compiler found')
        sys.exit(77)
    headers = installed()
    names_match(headers)
    with tempfile.TemporaryDirectory() as tmp:
        compile_alone(tmp, headers)
        deprecated(tmp, found[0][0], headers)
        direct(tmp, found[0][0])
        device(tmp)
    sys.exit(1 if failures else 0)


if __name__ == '__main__':
    main()
