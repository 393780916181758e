#!/usr/bin/env python3
# cudaccl - finds tests that were skipped without a reason
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints each test that was skipped, whole or in part, and is not in the list of those that may be:

  skips.py LIST LOG...

LIST is skips.ci; a LOG is Meson's testlog.json. Parts are found by lines that begin, behind a name at
most, with "skipped" or "skipping". Exit status: 0 if there are none."""

import fnmatch
import json
import pathlib
import re
import sys

LINE = re.compile(r"(?:^|[.:] ?)(?:skipped|skipping|SKIP)[:, '\"].*", re.M)


def read_list(path):
    """The pairs of patterns: of the test's name, and of what it says."""
    pairs = []
    for line in pathlib.Path(path).read_text("utf-8").splitlines():
        fields = [field.strip() for field in line.split("|")]
        if line and not line.startswith("#"):
            if len(fields) != 3 or not all(fields):
                sys.exit(f"{path}: not NAME | TEXT | REASON: {line}")
            pairs.append(fields[:2])
    return pairs


def read_skips(path):
    """Of each skipped test and part: the test's name, and what it said."""
    for line in pathlib.Path(path).read_text("utf-8").splitlines():
        test = json.loads(line)
        output = f"{test.get('stdout') or ''}\n{test.get('stderr') or ''}"
        texts = [match[0].lstrip(".: ") for match in LINE.finditer(output)]
        if test["result"] == "SKIP" and not texts:
            texts = [" ".join(output.split())[-200:]]
        for text in dict.fromkeys(texts):
            yield test["name"].rpartition(" / ")[2], text


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    pairs = read_list(sys.argv[1])
    skips = [skip for path in sys.argv[2:] for skip in read_skips(path)]
    bad = [(name, text) for name, text in skips
           if not any(fnmatch.fnmatchcase(name, one) and fnmatch.fnmatchcase(text, other) for one, other in pairs)]
    for name, text in dict.fromkeys(bad):
        print(f"{name}: {text}; install what it lacks, or give a reason in {sys.argv[1]}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
