#!/usr/bin/env python3
# cudaccl - checks that no API is newer than the minimum GStreamer
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Fails if a source uses API of GStreamer newer than 1.20 without a guard: GST_CHECK_VERSION, a
feature's macro, or an include of a library that is newer itself. Names that a source or a header of
it defines for an older GStreamer need no guard. GStreamer's headers, unlike GLib's, have no macros
for that. Versions come from GStreamer's introspection data, so a newer GStreamer finds more.

  tests/since.py [--list]    --list prints all guarded uses

Exit status 77 without GStreamer's introspection data."""

import pathlib
import re
import sys
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent
OLDEST = 20
GIRS = ("Gst", "GstApp", "GstBase", "GstCheck", "GstController", "GstVideo")
GIR_FOLDERS = ("/usr/share/gir-1.0", "/usr/lib/*/gir-1.0", "/usr/local/share/gir-1.0")
# The first minor version that has the library of the macro or the include.
MACROS = {"HAVE_ANALYTICS": 24, "HAVE_GSTCUDA": 22, "HAVE_GST_CUDA": 22}
INCLUDES = {"gst/analytics/": 24, "gst/cuda/": 22}
C = "{http://www.gtk.org/introspection/c/1.0}"
CORE = "{http://www.gtk.org/introspection/core/1.0}"


def find_girs():
    for name in GIRS:
        for folder in GIR_FOLDERS:
            yield from pathlib.Path("/").glob(f"{folder[1:]}/{name}-1.0.gir")


def newer_api():
    """Names newer than OLDEST, with their minor versions."""
    newer = {}
    for path in find_girs():
        for node in ElementTree.parse(path).iter():
            name = node.get(C + "identifier") or node.get(C + "type")
            version = node.get("version", "")
            if node.tag == CORE + "member" and (doc := node.find(CORE + "doc")) is not None:
                since = re.search(r"Since:? *(1\.\d+)", doc.text or "")
                version = since.group(1) if since else version
            match = re.match(r"1\.(\d+)", version)
            # Fields and parameters name their types, and namespaces have other versions.
            if name and match and int(match.group(1)) > OLDEST and "*" not in name:
                newer[name] = int(match.group(1))
    return newer


def strip(text):
    """The source without comments and strings; line numbers stay."""
    pattern = r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"'
    return re.sub(pattern, lambda m: "\n" * m.group().count("\n") or " ", text, flags=re.S)


def implied(condition):
    """The minor versions that a condition guarantees if it is true, and if it is false."""
    if "||" in condition:
        return 0, 0
    holds = [0]
    match = re.search(r"(!?)\s*GST_CHECK_VERSION\s*\(\s*1\s*,\s*(\d+)", condition)
    if match and match.group(1):
        return 0, int(match.group(2)) if "&&" not in condition else 0
    if match:
        holds.append(int(match.group(2)))
    holds += [minor for macro, minor in MACROS.items()
              if re.search(rf"(?<!!)(defined *\(? *)?\b{macro}\b", condition)
              and not re.search(rf"!\s*(defined)?\s*\(?\s*{macro}\b", condition)]
    return max(holds), 0


def lines_with_versions(text):
    """Number and text of each line, the minor version that its directives guarantee, and the one that
    they guarantee where the line is left out."""
    stack = []
    for number, line in enumerate(strip(text).split("\n"), 1):
        directive = re.match(r"\s*#\s*(if|ifdef|ifndef|elif|else|endif)\b(.*)", line)
        if directive:
            word, condition = directive.groups()
            if word in ("if", "ifdef"):
                stack.append(implied(condition))
            elif word == "ifndef":
                stack.append(implied(condition)[::-1])
            elif word == "elif" and stack:
                stack[-1] = max(implied(condition)[0], stack[-1][1]), 0
            elif word == "else" and stack:
                stack[-1] = stack[-1][::-1]
            elif word == "endif" and stack:
                stack.pop()
            continue
        yield (number, line, max([0] + [holds for holds, _ in stack]),
               max([0] + [otherwise for _, otherwise in stack]))


def own_names(path, newer, seen):
    """Newer names that the source, or a header that it includes, defines for older versions."""
    names, text = set(), path.read_text("utf-8")
    seen.add(path)
    for _, line, _, otherwise in lines_with_versions(text):
        match = re.match(r"\s*(?:#\s*define\s+(\w+)|typedef\b.*\b(\w+)\s*;|}\s*(\w+)\s*;)", line)
        name = match and match[match.lastindex]
        if name in newer and newer[name] <= otherwise:
            names.add(name)
    for header in re.findall(r'^#include "([^"]+)"', text, re.M):
        for file in (ROOT / header, path.parent / header):
            if file not in seen and file.exists():
                names |= own_names(file, newer, seen)
    return names


def check_file(path, newer, found):
    text = path.read_text("utf-8")
    whole = max([0] + [minor for folder, minor in INCLUDES.items()
                       if re.search(rf"^#include <{folder}", text, re.M) and
                       not re.search(rf"^#if[^\n]*\n(#[^\n]*\n)*#include <{folder}", text, re.M)])
    own = own_names(path, newer, set())
    for number, line, guaranteed, _ in lines_with_versions(text):
        for name in re.findall(r"\b(?:gst_|GST_|Gst)\w+", line):
            if name in newer:
                guarded = name in own or newer[name] <= max(OLDEST, whole, guaranteed)
                found.append((guarded, path, number, name, newer[name]))


def main():
    if sys.argv[1:] in (["-h"], ["--help"]):
        print(__doc__)
        return 0
    newer = newer_api()
    if not newer:
        print("no introspection data of a GStreamer newer than 1.20 (Debian: "
              "libgstreamer-plugins-base1.0-dev)", file=sys.stderr)
        return 77
    found, files = [], 0
    for folder in ("gst", "pipelines", "tests"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            check_file(path, newer, found)
            files += 1
    bad = [entry for entry in found if not entry[0]]
    for guarded, path, number, name, minor in found if "--list" in sys.argv else bad:
        print(f"{path.relative_to(ROOT)}:{number}: {name} needs GStreamer 1.{minor} "
              f"({'guarded' if guarded else 'not guarded'})")
    print(f"{files} files, {len(newer)} names newer than 1.{OLDEST} known, {len(found)} uses, "
          f"{len(bad)} of them not guarded")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
