#!/usr/bin/env python3
# cudaccl - checks that all places have the same version
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fails if a file that names the project's version has another one than meson.build.

  tests/version.py [ROOT]"""

import pathlib
import re
import sys

# The first match of each pattern; a file may also have the version in other places.
PLACES = {
    "meson.build": r"^  version: '([^']+)'",
    "debian/changelog": r"^cudaccl \(([^)]+)\)",
    "CHANGELOG.md": r"^## \[([^\]]+)\]",
    "engine/include/cudaccl/ccl.h": r'Returns the version of the library, such as "([^"]+)"',
    "docs/messages.md": r'"version":"([^"]+)","share"',
    "deploy/conda/meta.yaml": r'^{% set version = "([^"]+)" %}',
    "deploy/homeassistant/cudaccl-watch/config.yaml": r'^version: "([^"]+)"',
    "deploy/homeassistant/cudaccl-watch/build.yaml": r"cudaccl-watch:([0-9.]+)-cpu",
}


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parent.parent)
    found = {}
    for path, pattern in PLACES.items():
        match = re.search(pattern, (root / path).read_text("utf-8"), re.M)
        found[path] = match.group(1) if match else "none"
    version = found["meson.build"]
    wrong = {path: other for path, other in found.items() if other != version}
    for path, other in wrong.items():
        print(f"{path} has {other}, meson.build {version}", file=sys.stderr)
    print(f"{version} in {len(found) - len(wrong)} of {len(found)} places")
    return 1 if wrong else 0


sys.exit(main())
