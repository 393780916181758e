#!/usr/bin/env python3
"""Rewrites a CUDA source for a host compiler.

  convert.py ROOT FILE.cu FILE.cpp [DEPFILE] [BUG]

C++ has no syntax for launches (kernel<<<...>>> (...)) and for shared memory; all the rest is declared
in include/cuda_runtime.h. Included .cuh files become part of
the output, except those that include/ replaces. Line numbers stay. With BUG (see seeded-bugs/) one
piece of text is replaced first."""

import os
import re
import sys

root, source, target = sys.argv[1:4]
depfile = sys.argv[4] if len(sys.argv) > 4 else ''
own = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'include')
seen = []
bug = None


def fail(message):
    sys.exit(f'convert.py: {source}: {message}')


def read_bug(path):
    """A header of 'key: value' lines, then the old and the new text behind lines of dashes."""
    with open(path, encoding='utf-8') as file:
        head, old, new = file.read().split('--------\n')
    fields = dict(re.findall(r'^(\w+): (.*)$', head, re.M))
    return {'file': fields['file'], 'old': old, 'new': new, 'used': False}


def seed_bug(text, name):
    if bug and bug['file'] == name:
        if text.count(bug['old']) != 1:
            fail(f'the bug\'s old text occurs {text.count(bug["old"])} times in {name}')
        bug['used'] = True
        # The same number of lines, so that reports stay true.
        text = text.replace(bug['old'], bug['new'])
    return text


def matching(text, position, step):
    """The position of the bracket that matches the one at @position."""
    brackets, depth = '()' if text[position] in '()' else '<>', 0
    while True:
        if text[position] == brackets[0]:
            depth += 1
        elif text[position] == brackets[1]:
            depth -= 1
        if depth == 0:
            return position
        position += step


def launches(text):
    """kernel<<<grid, block>>> (arguments) -> emulated_launch ({ grid, block }, kernel, arguments)"""
    while True:
        start = text.find('<<<')
        if start < 0:
            return text
        end = text.index('>>>', start)
        kernel = len(text[:start].rstrip())
        after = kernel
        if text[kernel - 1] in ')>':
            kernel = matching(text, kernel - 1, -1)
        while re.match(r'\w', text[kernel - 1]):
            kernel -= 1
        arguments = text.index('(', end)
        close = matching(text, arguments, 1)
        given = text[arguments + 1:close]
        comma = ', ' if given.strip() else ''
        skipped = text[after:start] + text[end + 3:arguments]
        text = (text[:kernel] + 'emulated_launch ({ ' + text[start + 3:end] + ' }, ' +
                text[kernel:after] + skipped + comma + given + text[close:])


def shared(match):
    """__shared__ T a[N], b; -> references to memory of the block"""
    kind, result = match[1], ''
    for name, size in re.findall(r'(\w+)((?:\s*\[[^][]*\])*)\s*(?:,|$)', match[2]):
        to, at = (f'(&{name}){size}', f'(*){size}') if size else (f'&{name}', '*')
        result += (f'static char {name}_key; {kind} {to} = *({kind} {at}) '
                   f'emulated_static_memory (&{name}_key, sizeof ({kind}{size})); ')
    return result


def convert(text):
    text = re.sub(r'extern __shared__ (\w+) (\w+)\[\];',
                  r'\1 *\2 = (\1 *) emulated_dynamic_memory ();', text)
    text = re.sub(r'__shared__ (\w+) ([^;]*);', shared, text)
    return launches(text)


def expand(path, name):
    """The text of a file, with its .cuh files."""
    seen.append(path)
    with open(path, encoding='utf-8') as file:
        text = seed_bug(file.read(), name)
    lines = [f'#line 1 "{name}"']
    for number, line in enumerate(convert(text).split('\n'), 2):
        include = re.match(r'#include "(.*\.cuh)"', line)
        if include and not os.path.exists(os.path.join(own, include[1])):
            inner = os.path.join(root, include[1])
            if inner in seen:
                lines.append('')
                continue
            lines.append(expand(inner, include[1]))
            line = f'#line {number} "{name}"'
        lines.append(line)
    return '\n'.join(lines)


if len(sys.argv) > 5:
    bug = read_bug(sys.argv[5])
result = '#include <cuda_runtime.h>\n' + expand(source, os.path.relpath(source, root))
if bug and not bug['used']:
    fail(f'does not include {bug["file"]}, which has the bug')
with open(target, 'w', encoding='utf-8') as file:
    file.write(result)
if depfile:
    with open(depfile, 'w', encoding='utf-8') as file:
        file.write(f'{target}: {" ".join(seen + [os.path.abspath(__file__)] + sys.argv[5:6])}\n')
