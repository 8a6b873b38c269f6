#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-2-Clause OR GPL-2.0-only
# Copyright (c) 2026 the libfabric authors.
"""Turn the tables of the interface into C tests.

usage: gen_abi.py {layout|calls|tostr|names} TABLE_DIR > out.c

layout  every struct, enumerator, macro, typedef and prototype, as rows that
        a test compares at run time, so that a wrong one is named
calls   one fake operation per row of slots.tsv, and the call that must reach it
tostr   rows of what fi_tostr prints
names   names of all inlines, and macros that send each call to its exported twin
"""
import os
import re
import sys


def table(where, name):
    """Rows of a table, as dicts by the names in its first line."""
    with open(os.path.join(where, name + '.tsv')) as f:
        lines = [line.rstrip('\n').split('\t') for line in f]
    head = lines[0]
    return [dict(zip(head, line + [''] * (len(head) - len(line))))
            for line in lines[1:]]


def split_args(text):
    """Arguments of a C parameter list; commas inside parentheses stay."""
    args, depth, cur = [], 0, ''
    for c in text:
        depth += (c == '(') - (c == ')')
        if c == ',' and depth == 0:
            args.append(cur.strip())
            cur = ''
        else:
            cur += c
    return [a for a in args + [cur.strip()] if a and a != 'void']


def arg_type(arg):
    """Type of one named parameter."""
    if '(*' in arg:
        return re.sub(r'\(\*\w+\)', '(*)', arg)
    if arg == '...':
        return arg
    return re.sub(r'\w+$', '', arg).strip()


def parse(row):
    """Return type and parameter types of a prototype row."""
    name = row['name']
    m = re.match(r'(.*?)\b' + name + r'\((.*)\)$', row['prototype'])
    return m.group(1).strip(), [arg_type(a) for a in split_args(m.group(2))]


def headers(where):
    """Every installed header that a table names."""
    seen = []
    for t in ('enums', 'macros', 'macros-other', 'inlines', 'prototypes'):
        for row in table(where, t):
            if row['header'] not in seen:
                seen.append(row['header'])
    return sorted(seen)


def quote(text):
    return '"' + text.replace('\\', '\\\\').replace('"', '\\"') + '"'


class Rows:
    """One array of struct abi_row in the output."""

    def __init__(self, name):
        self.name = name
        self.rows = []

    def add(self, what, got, want):
        self.rows.append('\t{%s, (long long) (%s), %s},' % (quote(what), got, want))

    def text(self):
        return ('static const struct abi_row %s_rows[] = {\n%s\n};\n'
                % (self.name, '\n'.join(self.rows)))


def member(struct, field):
    return '((struct %s *) 0)->%s' % (struct, field)


def struct_rows(where):
    out, seen = Rows('struct'), set()
    for r in table(where, 'structs'):
        s, f = r['name'], r['field']
        if s not in seen:
            seen.add(s)
            out.add('sizeof ' + s, 'sizeof(struct %s)' % s, r['total_size'])
        if f.startswith('('):
            continue            # unnamed union: its members follow, flattened
        out.add('offset of %s.%s' % (s, f), 'offsetof(struct %s, %s)' % (s, f), r['offset'])
        if not r['type'].endswith('[]'):
            out.add('size of %s.%s' % (s, f), 'sizeof(%s)' % member(s, f), r['size'])
        if r['type'] != 'anonymous union':
            out.add('type of %s.%s is %s' % (s, f, r['type']),
                    '__builtin_types_compatible_p(__typeof__(%s), %s)'
                    % (member(s, f), r['type']), '1')
    return out


def old_rows(where):
    """Each older struct is the beginning of the present one."""
    out, seen = Rows('old'), set()
    for r in table(where, 'abi-old-structs'):
        old, f = r['name'], r['field']
        now = re.sub(r'_1_\d+$', '', old)
        if old not in seen:
            seen.add(old)
            out.add('%s fits into %s' % (old, now),
                    '%s <= sizeof(struct %s)' % (r['total_size'], now), '1')
        if f.startswith('('):
            continue
        what = '%s.%s in %s' % (old, f, now)
        out.add('offset of ' + what, 'offsetof(struct %s, %s)' % (now, f), r['offset'])
        out.add('size of ' + what, 'sizeof(%s)' % member(now, f), r['size'])
    for r in table(where, 'abi-old-aliases'):
        old = re.sub(r'_1_\d+$', '', r['old_struct'])
        same = re.sub(r'_1_\d+$', '', r['same_layout_as'])
        out.add('%s and %s are one struct' % (r['old_struct'], r['same_layout_as']),
                'sizeof(struct %s)' % old, 'sizeof(struct %s)' % same)
    return out


def enum_rows(where):
    out, seen = Rows('enum'), set()
    for r in table(where, 'enums'):
        out.add(r['enumerator'], r['enumerator'], r['value'])
        if not r['enum'].startswith('(') and r['enum'] not in seen:
            seen.add(r['enum'])
            out.add('enum ' + r['enum'], 'sizeof(enum %s)' % r['enum'], 'sizeof(int)')
    return out


def macro_rows(where):
    out = Rows('macro')
    for r in table(where, 'macros'):
        m = r['macro']
        if r['C_type'] == 'string':
            out.add('%s is "%s"' % (m, r['value']),
                    '!__builtin_strcmp(%s, %s)' % (m, quote(r['value'])), '1')
            continue
        out.add(m, m, '(long long) ' + r['hex'] + 'ULL')
        out.add('type of %s is %s' % (m, r['C_type']),
                '_Generic(%s, %s: 1, default: 0)' % (m, r['C_type']), '1')
    return out


def other_text(where):
    """Macros that are no expressions: they only have to be there."""
    out = ['static const struct abi_row other_rows[] = {']
    for r in table(where, 'macros-other'):
        name = r['macro'].split('(')[0]
        out += ['#ifdef ' + name, '\t{%s, 1, 1},' % quote(r['macro']),
                '#else', '\t{%s, 0, 1},' % quote(r['macro']), '#endif']
    return '\n'.join(out + ['};', ''])


def typedef_rows(where):
    out = Rows('typedef')
    for r in table(where, 'typedefs'):
        out.add('%s is %s' % (r['typedef'], r['type']),
                '__builtin_types_compatible_p(%s, %s)' % (r['typedef'], r['type']), '1')
    return out


def function_rows(where, name, tab):
    out = Rows(name)
    for r in table(where, tab):
        ret, args = parse(r)
        out.add(r['prototype'], '__builtin_types_compatible_p(__typeof__(%s), %s (%s))'
                % (r['name'], ret, ', '.join(args) or 'void'), '1')
    return out


def gen_layout(where):
    for h in headers(where):
        print('#include <%s>' % h)
    print()
    for rows in (struct_rows(where), old_rows(where), enum_rows(where), macro_rows(where),
                 typedef_rows(where), function_rows(where, 'prototype', 'prototypes'),
                 function_rows(where, 'inline', 'inlines')):
        print(rows.text())
    print(other_text(where))


# ---- calls ------------------------------------------------------------------

def sentinel(ctype, i):
    """A value that no other argument of the call has."""
    if ctype.endswith('*') or '(*)' in ctype or ctype == 'fid_t':
        return '(%s) (uintptr_t) 0x%x' % (ctype, 0x1000 + 16 * i)
    return '(%s) 0x%x' % (ctype, 0x21 + i)


def param(ctype, name):
    return ctype.replace('(*)', '(*%s)' % name) if '(*)' in ctype else '%s %s' % (ctype, name)


# Variables of abi_calls.h where the parameter has another name.
OBJECTS = {'prof_fid': 'profile', 'waitset': 'wait', 'pollset': 'poll',
           'set': 'av_set', 'dst': 'av_set', 'sep': 'ep'}


def gen_call(row, ret, types):
    """The fake operation, then the call that must reach it."""
    fn, slot, struct = row['inline'], row['slot'], row['struct']
    start, path = row['table'].split('->', 1)
    obj = 'the_' + OBJECTS.get(start, start)
    where = obj + '.' + path.replace('->', '.')
    values = ['(%s) &%s' % (types[0], obj)]
    values += [sentinel(t, i) for i, t in enumerate(types) if i]
    result = sentinel(ret, 90)
    call = '%s(%s)' % (fn, ', '.join(values))

    # fi_ops and fi_ops_mr hand the operation the struct fid of the object
    base = struct in ('fi_ops', 'fi_ops_mr')
    ops_types = (['struct fid *'] if base else types[:1]) + types[1:]
    params = ', '.join(param(t, 'a%d' % i) for i, t in enumerate(ops_types))

    out = ['static %s op_%s(%s)' % (ret, fn, params), '{',
           '\treached(%s);' % quote(fn),
           '\tsame((void *) a0 == (void *) &%s, 0);' % obj]
    out += ['\tsame(a%d == %s, %d);' % (i, v, i) for i, v in enumerate(values) if i]
    out += ['\treturn %s;' % result] if ret != 'void' else []
    out += ['}', '', 'static void call_%s(void)' % fn, '{',
            '\tstatic struct %s ops;' % struct, '',
            '\tops.size = sizeof(ops);',
            '\tops.%s = op_%s;' % (slot, fn),
            '\t%s = &ops;' % where,
            '\texpect(%s);' % quote(fn),
            '\t%s;' % call if ret == 'void' else '\treturned(%s == %s);' % (call, result),
            '\tdone();']
    if row['lookup'] == 'checked':
        nosys = '\t%s;' % call if ret == 'void' else '\treturned(%s == -FI_ENOSYS);' % call
        out += ['', '\t/* the table ends before the slot; has it empty; is not there */',
                '\tops.size = offsetof(struct %s, %s);' % (struct, slot), nosys,
                '\tops.size = sizeof(ops);', '\tops.%s = NULL;' % slot, nosys,
                '\t%s = NULL;' % where, nosys]
    return '\n'.join(out + ['}', ''])


def gen_calls(where):
    protos = {r['name']: parse(r) for r in table(where, 'inlines')}
    rows = table(where, 'slots')
    for r in rows:
        print(gen_call(r, *protos[r['inline']]))
    print('static const struct call_row call_rows[] = {')
    for r in rows:
        print('\t{%s, call_%s},' % (quote(r['inline']), r['inline']))
    print('};')


# ---- text -------------------------------------------------------------------

def gen_tostr(where):
    print('static const struct tostr_row tostr_rows[] = {')
    for r in table(where, 'tostr'):
        print('\t{%s, %s, %s, %sULL, %s},' % (r['fi_type'], quote(r['fi_type']),
              quote(r['input']), r['value'], quote(r['output'])))
    print('};')


def gen_names(where):
    rows = table(where, 'inlines')
    print('static const char *const inline_names[] = {')
    for r in rows:
        print('\t%s,' % quote(r['name']))
    print('};\n')
    for r in rows:
        print('#define %s(...) TWIN(%s)(__VA_ARGS__)' % (r['name'], r['name']))


def main():
    modes = {'layout': gen_layout, 'calls': gen_calls, 'tostr': gen_tostr, 'names': gen_names}
    if len(sys.argv) != 3 or sys.argv[1] not in modes:
        sys.exit(__doc__)
    print('/* Made by gen_abi.py %s: change the tables, not this. */\n' % sys.argv[1])
    modes[sys.argv[1]](sys.argv[2])


if __name__ == '__main__':
    main()
