#!/usr/bin/env python3
# cudaccl - an index of wheels
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Makes an index for pip (PEP 503) of the wheels in a folder, for any web server.

  scripts/index.py WHEELS FOLDER

Links are relative: both folders keep their places."""

import hashlib
import html
import os
import pathlib
import re
import sys


def main():
    wheels, folder = (pathlib.Path(path) for path in sys.argv[1:3])
    projects = {}
    for wheel in sorted(wheels.glob("*.whl")):
        name = re.sub(r"[-_.]+", "-", wheel.name.split("-")[0]).lower()
        digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
        link = os.path.relpath(wheel, folder / name)
        projects.setdefault(name, []).append(
            f'<a href="{html.escape(link.replace("+", "%2B"))}#sha256={digest}">{html.escape(wheel.name)}</a><br>')
    if not projects:
        sys.exit(f"no wheels in {wheels}")
    for name, links in projects.items():
        (folder / name).mkdir(parents=True, exist_ok=True)
        (folder / name / "index.html").write_text("<!DOCTYPE html>\n<title>" + name + "</title>\n" + "\n".join(links) + "\n")
    (folder / "index.html").write_text(
        "<!DOCTYPE html>\n<title>cudaccl</title>\n" + "\n".join(f'<a href="{name}/">{name}</a><br>' for name in projects) + "\n")


main()
