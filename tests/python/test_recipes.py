#!/usr/bin/env python3
# cudaccl - runs the notebook and the code of docs/python.md, docs/coming-from.md and python/README.md
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Cells of the notebook run one after another, recipes each on its own. What needs a module that is missing, or a
file, is skipped. Exit status 77 without NumPy or the package."""

import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import numpy  # noqa: F401
    import cudaccl  # noqa: F401
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)
os.environ.setdefault("MPLBACKEND", "agg")
ROOT = pathlib.Path(__file__).resolve().parents[2]


def blocks(page):
    return re.findall(r"^```python\n(.*?)^```", (ROOT / page).read_text("utf-8"), re.S | re.M)


class Recipes(unittest.TestCase):
    def test_pages(self):
        for code in blocks("docs/python.md") + blocks("docs/coming-from.md") + blocks("python/README.md")[:1]:
            with self.subTest(code.split("\n")[0]), tempfile.TemporaryDirectory() as folder:
                done = subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True,
                                      timeout=60, check=False)
                missing = re.search(r"^(ModuleNotFoundError|ImportError|ValueError: Namespace).*", done.stderr, re.M)
                if done.returncode != 0 and missing:
                    print(f"skipped: {missing[0]}", file=sys.stderr)
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_gallery(self):
        done = subprocess.run([sys.executable, ROOT / "docs" / "gallery.py", "--check"], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_notebook(self):
        notebook = json.loads((ROOT / "python" / "cudaccl.ipynb").read_text("utf-8"))
        self.assertEqual(notebook["nbformat"], 4)
        scope, plots = {}, True
        for cell in notebook["cells"]:
            code = "".join(cell["source"])
            self.assertEqual(cell.get("outputs", []), [], "clear the outputs")
            if cell["cell_type"] != "code" or ("plt." in code and not plots):
                continue
            try:
                exec(compile(code, cell["id"], "exec"), scope)
            except ModuleNotFoundError as error:
                self.assertEqual(error.name, "matplotlib")
                plots = False
        self.assertGreater(len(scope["positions"]), 20)


if __name__ == "__main__":
    unittest.main()
