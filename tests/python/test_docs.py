#!/usr/bin/env python3
# cudaccl - the examples and the types of the Python package
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the examples of all docstrings, and checks that each public function has types and describes its parameters,
and that mypy takes typed.py. Exit status 77 without NumPy."""

import doctest
import inspect
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)
import cudaccl
from cudaccl import _analyzer, _motion, _regions

FOLDER = pathlib.Path(__file__).resolve().parent
PACKAGE = FOLDER.parents[1] / "python"


def functions():
    """(name, function, its docstring) of all public functions and methods; a constructor has its class's."""
    for name in cudaccl.__all__:
        value = getattr(cudaccl, name)
        if inspect.isfunction(value):
            yield name, value, value.__doc__
        elif not issubclass(value, tuple):
            for method, function in inspect.getmembers(value, inspect.isfunction):
                if method == "__init__":
                    yield name, function, value.__doc__
                elif not method.startswith("_") or method == "__call__":
                    yield f"{name}.{method}", function, function.__doc__


class Docs(unittest.TestCase):
    def test_examples(self):
        for module in (_analyzer, _motion, _regions):
            failed, tried = doctest.testmod(module, extraglobs={"cudaccl": cudaccl, "np": np})
            self.assertEqual(failed, 0)
            self.assertGreater(tried, 5, module)

    def test_parameters(self):
        for name, function, text in functions():
            with self.subTest(name):
                signature = inspect.signature(function)
                names = [parameter for parameter in signature.parameters if parameter != "self"]
                self.assertNotIn(inspect.Parameter.empty, [signature.parameters[n].annotation for n in names])
                self.assertNotEqual(signature.return_annotation, inspect.Signature.empty)
                part = re.search(r"Parameters\n +-+\n(.*?)(\n\n +\w+\n +-+\n|$)", text, re.S)
                described = re.findall(r"[*\w]+", " ".join(re.findall(r"^ {4}(?: {4})?([*\w, ]+?)(?: :.*)?$", part[1], re.M))
                                       ) if part else []
                for parameter in names:
                    self.assertTrue(parameter in described or "**" + parameter in described, f"{parameter} of {described}")

    def test_types(self):
        mypy = shutil.which("mypy")
        if not mypy:
            self.skipTest("no mypy")
        # Of the package its interface: --strict would want types of its private functions.
        done = subprocess.run([mypy, "--strict", "--enable-incomplete-feature=Unpack", "--no-site-packages",
                               "--follow-imports=silent", "--cache-dir=/dev/null", str(FOLDER / "typed.py")],
                              env={"MYPYPATH": str(PACKAGE), "PATH": os.environ["PATH"]}, capture_output=True, text=True,
                              check=False, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
