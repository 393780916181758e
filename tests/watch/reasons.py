#!/usr/bin/env python3
"""Compares the reasons of the programs (apps/web/reason.c) with the sentences of the page and of docs/watch.md:
reasons.py SOURCE"""

import json
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(sys.argv.pop(1))
LITERAL = r'"((?:\\.|[^"\\])*)"'
QUOTED = r"'((?:\\.|[^'\\])*)'"


def read(path):
    return (ROOT / path).read_text('utf-8')


def find_program():
    """Returns {code: sentence} of the table in C, and the names of the enumeration."""
    table = read('apps/web/reason.c').split('} reasons[] = {')[1].split('\n};')[0]
    rows = re.findall(rf'\{{ WEB_REASON_(\w+),\s*{LITERAL},\s*((?:{LITERAL}\s*)+)\}}', table)
    names = re.findall(r'^  WEB_REASON_(\w+),$', read('apps/web/reason.h'), re.M)
    return {code: ''.join(re.findall(LITERAL, text)) for _, code, text, _ in rows}, [row[0] for row in rows], names


def find_page():
    """Returns {code: [English, German]} of the table of the page."""
    table = read('apps/web/page/reasons.js').split('const sentences = {')[1].split('\n};')[0]
    rows = re.findall(rf"^  '?([\w-]+)'?: \[{QUOTED},\s*{QUOTED}\],$", table, re.M)
    assert len(rows) == len(re.findall(r'^  \S', table, re.M))
    return {code: [text.replace("\\'", "'") for text in texts] for code, *texts in rows}


class Reasons(unittest.TestCase):
    maxDiff = None

    def test_program(self):
        sentences, rows, names = find_program()
        self.assertGreater(len(names), 60)
        self.assertEqual(rows, names)
        self.assertEqual(len(sentences), len(names), 'a code stands twice')
        for code in sentences:
            self.assertRegex(code, r'^[a-z]+(-[a-z]+)*$')

    def test_page(self):
        """Both languages have each code with the same arguments, and none that the program lacks."""
        sentences, page = find_program()[0], find_page()
        self.assertEqual(set(page), set(sentences))
        for code, (english, german) in page.items():
            with self.subTest(code=code):
                self.assertEqual(english, sentences[code])
                arguments = [sorted(re.findall(r'\{(\w*)\}', text)) for text in (english, german)]
                self.assertEqual(*arguments)

    def test_interface(self):
        """The description of the interface has all arguments."""
        arguments = json.loads(read('apps/watch/page/openapi.json'))['components']['schemas']['Reason']['properties']['arguments']
        self.assertEqual(sorted(arguments['properties']), sorted({name for text in find_program()[0].values() for name in re.findall(r'\{(\w+)\}', text)}))

    def test_description(self):
        rows = dict(re.findall(r'^\| `([a-z-]+)` \| (.*) \|$', read('docs/watch.md').split('\n### Reasons\n')[1].split('\n## ')[0], re.M))
        self.assertEqual(rows, find_program()[0])


if __name__ == '__main__':
    unittest.main(verbosity=2)
