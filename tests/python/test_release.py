#!/usr/bin/env python3
# cudaccl - tests of the script that makes a release
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs scripts/release.sh in a repository whose other scripts are stubs, of which one fails."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Fails if $FAIL is the stub's name, or its name and one of the arguments.
STUB = """#!/bin/bash
for word in "" "$@"; do
  [[ $FAIL != "${0##*/}${word:+ $word}" ]] || exit 3
done
"""
# The package's page has its pictures on the site.
MORE = {"sbom.py": "echo '{}'\n", "xz": "echo xz\n",
        "python": "grep -q '](https://example.org/cudaccl/site/figures/' \"${@: -1}/python/README.md\"\n"}
# Commands that install packages and make roots.
SHELL = """make_root() { [[ $FAIL != make_root ]] || return 3; }
need_mirror() { echo mirror; }
export_proxies() { :; }
in_root() { :; }
install_missing() { :; }
"""
PARTS = {
    "tests": ["test.sh"],
    "source": ["xz", "python"],
    "wheels": ["wheels.sh aarch64", "wheels.sh --try", "make_root", "index.py"],
    "packages": ["packages.sh", "repository.sh"],
    "images": ["build.sh", "buildah"],
    "site": ["site.sh"],
    "sums": ["sbom.py"],
}


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root, self.home = pathlib.Path(folder.name, "root"), pathlib.Path(folder.name, "home")
        for name in ("test.sh", "tests/version.py", "docs/site.sh", "deploy/images/build.sh", "scripts/wheels.sh",
                     "scripts/index.py", "scripts/packages.sh", "scripts/repository.sh", "scripts/sbom.py"):
            self.stub(self.root / name)
        for name in ("gpg", "xz", "buildah"):
            self.stub(self.home / "bin" / name)
        self.stub(self.home / "cudaccl/wheel-tools/bin/python")
        for name in ("scripts/release.sh", "scripts/setup.sh", "meson.build", "python/README.md", "pyproject.toml"):
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, self.root / name)
        (self.root / "scripts/roots.sh").write_text(SHELL)
        for command in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "--message", "all"]):
            subprocess.run(["git", "-C", self.root, "-c", "user.name=test", "-c", "user.email=test@example.org",
                            "-c", "commit.gpgsign=false", *command], check=True)

    def stub(self, path):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(STUB + MORE.get(path.name, ""))
        path.chmod(0o755)

    def release(self, fail, *options):
        output = self.home / "release"
        shutil.rmtree(output, ignore_errors=True)
        environment = {**os.environ, "FAIL": fail, "PATH": f"{self.home / 'bin'}:{os.environ['PATH']}",
                       "XDG_CACHE_HOME": str(self.home), "HOME": str(self.home)}
        return output, subprocess.run([self.root / "scripts/release.sh", "--key", "key", "--output", output, *options],
                                      env=environment, capture_output=True, text=True, check=False)

    def test_all(self):
        output, done = self.release("")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue((output / "SHA256SUMS").stat().st_size)

    def test_failures(self):
        for part, commands in PARTS.items():
            for command in commands:
                with self.subTest(command):
                    output, done = self.release(command)
                    self.assertNotEqual(done.returncode, 0)
                    self.assertIn(f"{part} failed", done.stderr)
                    self.assertFalse((output / "SHA256SUMS").exists())


if __name__ == "__main__":
    if not shutil.which("git"):
        print("skipped: no git", file=sys.stderr)
        sys.exit(77)
    unittest.main()
