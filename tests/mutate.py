#!/usr/bin/env python3
# cudaccl - generates and applies mutants, for mutate.sh
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Mutants of C sources: each changes an operator or a constant, or drops a statement or a branch.

  mutate.py list SEED COUNT [--since REVISION] FILE...
      prints COUNT mutants, spread evenly over the lines of the files, in random order; with --since
      only in lines that differ from that revision. Fields, separated by tabs: file, line, first
      and last offset, description, new text.
  mutate.py apply FILE FIRST LAST TEXT
      changes the file.
  mutate.py tests MAP FILE
      prints the tests that MAP, a list of patterns and tests, has for the file.
  mutate.py targets BUILD TEST...
      prints what ninja has to build for the tests.
  mutate.py digest BUILD TARGET...
      prints a digest of what was built."""

import bisect
import fnmatch
import hashlib
import json
import os
import pathlib
import random
import re
import subprocess
import sys

SWAPS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "+": "-", "-": "+",
         "*": "/", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "&&": "||", "||": "&&", "&": "|",
         "|": "&", "^": "|", "+=": "-=", "-=": "+=", "*=": "+=", "/=": "*=", "|=": "&=", "&=": "|=",
         "^=": "|=", "<<=": ">>=", ">>=": "<<=", "true": "false", "false": "true"}
# As the sources are formatted, binary operators have a blank on both sides.
OPERATOR = re.compile(r"(?<=\s)(<<=?|>>=?|&&|\|\||[-+*/|&^<>=!]=|[-+*/%&|^<>])(?=\s)|\b(true|false)\b")
NUMBER = re.compile(r"(?<![\w.])(0x[0-9a-fA-F]+|\d+)(?=[uUlL]*\b(?!\.))")
MIN_MAX = re.compile(r"(?<![A-Za-z])(min|max|MIN|MAX)(?=[a-z0-9_]*\s*\()")
NOT = re.compile(r"!(?=[\w(])")
STATEMENT = re.compile(r"(?<=[;{}:)\n])\s*\n[ \t]+(?P<all>(?P<left>[A-Za-z_*(][^;{}=]*?)"
                       r"(?:\([^;{}]*\)|\s[-+*/|&^<>]*=\s[^;{}]*|\+\+|--|)\s*);")
BRANCH = re.compile(r"\bif \(")
# Hints, reports and checks of what never happens.
IGNORED = re.compile(r"__builtin_(prefetch|expect)|\bfetch \(|GST_(LOG|DEBUG|INFO|WARNING|TRACE)|g_assert|"
                     r"g_return_|_Static_assert|static_assert|ccl_cpu_relax")


def blank(text):
    """The text with comments, strings and directives other than macros as blanks."""
    pattern = (r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|' + r"'(?:\\.|[^'\\\n])+'"
               r"|^[ \t]*#[ \t]*(?!define)\w+(?:\\\n|[^\n])*|^[ \t]*#[ \t]*define[ \t]+\w+(?:\([^)]*\))?")
    return re.sub(pattern, lambda m: re.sub(r"[^\n]", " ", m.group()), text, flags=re.S | re.M)


def end_of_parenthesis(code, start):
    """The offset behind the parenthesis that opens at start."""
    depth = 0
    for i in range(start, len(code)):
        depth += {"(": 1, ")": -1}.get(code[i], 0)
        if depth == 0:
            return i + 1
    return len(code)


def mutants_of(code):
    """First and last offset and new text of all mutants of a source without comments."""
    for match in OPERATOR.finditer(code):
        yield match.start(), match.end(), SWAPS[match.group()]
    for match in NUMBER.finditer(code):
        number = int(re.sub(r"^0(?=\d)", "0o", match.group()), 0)
        yield match.start(), match.end(), str(number + 1)
        if number > 1:
            yield match.start(), match.end(), str(number - 1)
    for match in MIN_MAX.finditer(code):
        swaps = {"min": "max", "max": "min", "MIN": "MAX", "MAX": "MIN"}
        yield match.start(), match.end(), swaps[match.group()]
    for match in NOT.finditer(code):
        yield match.start(), match.end(), ""
    for match in BRANCH.finditer(code):
        end = end_of_parenthesis(code, match.end() - 1)
        yield match.end(), end - 1, "0"
        yield match.end(), end - 1, "1"
    for match in STATEMENT.finditer(code):
        left = match["left"].strip()
        # Declarations, and returns of values, have two words one after the other.
        if not re.search(r"[\w)]\s+\*?\w|^(case|default)\b", left) and "\n\n" not in match["all"]:
            if re.search(r"[(=+-]", match["all"]) or left in ("break", "continue", "return"):
                yield match.start("all"), match.end("all"), ""


def changed_lines(path, revision):
    diff = subprocess.run(["git", "diff", "-U0", revision, "--", path], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    lines = set()
    for match in re.finditer(r"^@@ \S+ \+(\d+)(?:,(\d+))? @@", diff, re.M):
        first, n = int(match[1]), int(match[2] or 1)
        lines.update(range(first, first + n))
    return lines


def list_mutants(seed, count, revision, paths):
    rng = random.Random(int(seed))
    by_line = {}
    for path in paths:
        text_of_file = pathlib.Path(path).read_text("utf-8")
        code = blank(text_of_file)
        starts = [0] + [i + 1 for i, c in enumerate(code) if c == "\n"]
        wanted = changed_lines(path, revision) if revision else None
        for first, last, text in mutants_of(code):
            line = bisect.bisect_right(starts, first)
            source = code[starts[line - 1]:(starts + [len(code)])[line]]
            if not IGNORED.search(source) and (wanted is None or line in wanted):
                old = " ".join(text_of_file[first:last].split())
                what = f"{old} becomes {text}" if text else f"without {old}"
                by_line.setdefault((path, line), []).append((path, line, first, last, what, text))
    lines = sorted(by_line)
    count = min(int(count), len(lines))
    # One line out of each of as many stretches of the same length.
    chosen = [lines[rng.randrange(len(lines) * i // count, len(lines) * (i + 1) // count)]
              for i in range(count)]
    rng.shuffle(chosen)
    for line in chosen:
        print(*rng.choice(by_line[line]), sep="\t")


def apply_mutant(path, first, last, text):
    file = pathlib.Path(path)
    source = file.read_text("utf-8")
    file.write_text(source[:int(first)] + text + source[int(last):], "utf-8")


def print_tests(mapping, path):
    for line in pathlib.Path(mapping).read_text("utf-8").splitlines():
        pattern, *tests = line.partition("#")[0].split() or [""]
        if fnmatch.fnmatch(path, pattern):
            print(*tests)
            return


def introspect(build, what):
    return json.loads(subprocess.run(["meson", "introspect", build, what], check=True,
                                     stdout=subprocess.PIPE).stdout)


def print_targets(build, names):
    files = {target["id"]: target["filename"] for target in introspect(build, "--targets")}
    tests = {test["name"]: test for test in introspect(build, "--tests")}
    names = [name.partition(":")[0] for name in names]
    if missing := [name for name in names if name not in tests]:
        sys.exit(f"no such test: {', '.join(missing)}")
    depends = {target for name in names for target in tests[name]["depends"]}
    print(*sorted({os.path.relpath(file, build) for target in depends for file in files[target]}))


def print_digest(build, targets):
    digest = hashlib.sha256()
    for target in targets:
        path = pathlib.Path(build) / target
        digest.update(path.read_bytes() if path.is_file() else b"")
    print(digest.hexdigest())


def main():
    match sys.argv[1:]:
        case ["list", seed, count, "--since", revision, *paths]:
            list_mutants(seed, count, revision, paths)
        case ["list", seed, count, *paths]:
            list_mutants(seed, count, None, paths)
        case ["apply", path, first, last, text]:
            apply_mutant(path, first, last, text)
        case ["tests", mapping, path]:
            print_tests(mapping, path)
        case ["targets", build, *names]:
            print_targets(build, names)
        case ["digest", build, *targets]:
            print_digest(build, targets)
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
