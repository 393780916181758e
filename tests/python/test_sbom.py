#!/usr/bin/env python3
# cudaccl - tests of an image's bill of materials
# SPDX-License-Identifier: LGPL-2.1-or-later

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "deploy/images/sbom.py"
STATUS = """Package: app
Status: install ok installed
Maintainer: Some One <one@example.org>
Architecture: amd64
Source: thing (1:2)
Version: 1:2.0+b1
Depends: libc6 (>= 2.3), mail-agent | postfix, gone,
Homepage: https://example.org/app
Description: app
 Depends: libnot

Package: gone
Status: deinstall ok config-files
Architecture: amd64
Version: 1

Package: libc6
Status: install ok installed
Architecture: amd64
Version: 2.36

Package: exim
Status: install ok installed
Architecture: all
Version: 4
Provides: mail-agent (= 1), other
"""


class Sbom(unittest.TestCase):
    def run_script(self, status):
        with tempfile.TemporaryDirectory() as root:
            for name, text in (("var/lib/dpkg/status", status), ("etc/os-release", 'NAME="x"\nID=debian\n'),
                               ("usr/share/doc/app/copyright", "free")):
                path = pathlib.Path(root, name)
                path.parent.mkdir(parents=True)
                path.write_text(text)
            return subprocess.run([sys.executable, SCRIPT, root, "app:1"], capture_output=True, text=True, check=False)

    def test_packages(self):
        answer = self.run_script(STATUS)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        document = json.loads(answer.stdout)
        self.assertEqual([p["name"] for p in document["packages"]], ["app", "exim", "libc6"])
        app = document["packages"][0]
        self.assertEqual(app["versionInfo"], "1:2.0+b1")
        self.assertEqual(app["sourceInfo"], "source package thing 1:2")
        self.assertEqual(app["externalRefs"][0]["referenceLocator"], "pkg:deb/debian/app@1%3A2.0%2Bb1?arch=amd64")
        self.assertIn("ad95d5fa651ba86d8923fe1238d24a4f1988a752acfe426ac72ac7c04471bc17", app["comment"])
        self.assertNotIn("comment", document["packages"][1])
        needs = {(r["spdxElementId"], r["relatedSpdxElement"]) for r in document["relationships"]
                 if r["relationshipType"] == "DEPENDS_ON"}
        self.assertEqual(needs, {("SPDXRef-Package-app-amd64", "SPDXRef-Package-libc6-amd64"),
                                 ("SPDXRef-Package-app-amd64", "SPDXRef-Package-exim-all")})
        described = [r for r in document["relationships"] if r["relationshipType"] == "DESCRIBES"]
        self.assertEqual(len(described), 3)

    def test_none(self):
        answer = self.run_script("\n")
        self.assertNotEqual(answer.returncode, 0)
        self.assertIn("no packages", answer.stderr)


if __name__ == "__main__":
    unittest.main()
