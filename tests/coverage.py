#!/usr/bin/env python3
# cudaccl - prints the coverage of branches
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Prints how many branches the tests took, a line for each folder, and the least covered files:

  coverage.py BUILD [--least N] [--file FILE]

BUILD is a folder that clang built with -fprofile-instr-generate and -fcoverage-mapping; the counts are in
BUILD/coverage, where tests write them with LLVM_PROFILE_FILE=BUILD/coverage/%m.profraw. --least: default 10.
--file prints the source with the counts of its lines instead. Needs llvm (Debian)."""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Without the tests themselves, and the Python package, which the build with sanitizers does not load.
FOLDERS = ("apps", "engine", "gst", "cuda")


def read_targets(build):
    """The programs and libraries that have counts."""
    found = json.loads(subprocess.run(["meson", "introspect", build, "--targets"], check=True, text=True,
                                      stdout=subprocess.PIPE).stdout)
    files = [file for target in found if target["type"] in ("executable", "shared library", "shared module")
             for file in target["filename"]]
    return [file for file in files if os.path.exists(file)]


def merge(build):
    folder = pathlib.Path(build) / "coverage"
    raw = sorted(str(path) for path in folder.glob("*.profraw"))
    if not raw:
        sys.exit(f"{folder} has no counts; run the tests with LLVM_PROFILE_FILE={folder}/%m.profraw")
    merged = folder / "all.profdata"
    # Programs that were killed may leave a file that is cut off.
    subprocess.run(["llvm-profdata", "merge", "--failure-mode=all", "--sparse", "-o", merged, *raw], check=True,
                   stderr=subprocess.DEVNULL)
    return merged


def llvm_cov(command, build, *options):
    first, *rest = read_targets(build)
    return subprocess.run(["llvm-cov", command, first, *(f"--object={file}" for file in rest),
                           f"--instr-profile={merge(build)}", *options],
                          check=True, text=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build")
    parser.add_argument("--least", type=int, default=10)
    parser.add_argument("--file")
    options = parser.parse_args()
    if options.file:
        # llvm-cov's own filter wants the name that the compiler had.
        text = llvm_cov("show", options.build, "--show-branches=count")
        begin = text.find(f"{os.path.realpath(options.file)}:\n")
        print(text[begin:text.find("\n/", begin)] if begin >= 0 else f"{options.file} has no counts")
        return
    # Of each file, as of each folder: branches taken, branches.
    files, folders = {}, collections.defaultdict(lambda: [0, 0])
    for file in json.loads(llvm_cov("export", options.build, "--summary-only"))["data"][0]["files"]:
        path = pathlib.Path(os.path.normpath(file["filename"]))
        if not path.is_relative_to(ROOT) or (path := path.relative_to(ROOT)).parts[0] not in FOLDERS:
            continue
        branches = file["summary"]["branches"]
        files[path] = branches["covered"], branches["count"]
        for folder in ("all", *(str(path.parents[i]) for i in range(len(path.parents) - 1))):
            folders[folder][0] += branches["covered"]
            folders[folder][1] += branches["count"]
    print("branches taken by the tests")
    for folder, (covered, count) in sorted(folders.items()):
        if count:
            print(f"{100 * covered / count:5.1f} % of {count:6d}  {folder}")
    print("the files with the most that are not")
    least = sorted(files.items(), key=lambda item: item[1][0] - item[1][1])[:options.least]
    for path, (covered, count) in least:
        if count:
            print(f"{100 * covered / count:5.1f} % of {count:6d}  {path}")


if __name__ == "__main__":
    main()
