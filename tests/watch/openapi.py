#!/usr/bin/env python3
"""Compares answers of cudaccl-watch with its OpenAPI description: openapi.py SERVER

SERVER is watch-page-server. The description must be complete: each status and each member of an answer
that comes here is described."""

import http.client
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.parse

SERVER = sys.argv.pop(1)

# Requests beside a plain GET of each path: path as described, path, method, body, status.
REQUESTS = [
    ('/api/cameras', '/api/cameras', 'POST', {'name': 'new', 'uri': 'rtsp://192.0.2.7/a', 'frozen-after': 7}, 201),
    ('/api/cameras', '/api/cameras', 'POST', {'name': 'new', 'uri': 'rtsp://192.0.2.7/a'}, 409),
    ('/api/cameras', '/api/cameras', 'POST', {'name': 'a b', 'uri': 'rtsp://192.0.2.7/a'}, 400),
    ('/api/cameras/{name}', '/api/cameras/new', 'PUT', {'classes': None, 'record': False}, 200),
    ('/api/cameras/{name}', '/api/cameras/new', 'PUT', {'colour': 'red'}, 400),
    ('/api/cameras/{name}', '/api/cameras/none', 'PUT', {}, 404),
    ('/api/cameras/{name}', '/api/cameras/new', 'DELETE', None, 200),
    ('/api/cameras/{name}', '/api/cameras/new', 'DELETE', None, 404),
    ('/api/try', '/api/try', 'POST', {'uri': 'http://127.0.0.1:1/'}, 502),
    ('/api/try', '/api/try', 'POST', {'uri': 'a b'}, 400),
    ('/api/synopsis', '/api/synopsis', 'POST', {'camera': 'yard', 'day': '2026-01-31'}, 202),
    ('/api/synopsis', '/api/synopsis', 'DELETE', None, 200),
    ('/api/synopsis', '/api/synopsis', 'POST', {'camera': 'yard', 'day': 'today'}, 400),
    ('/api/events', '/api/events?limit=1001', 'GET', None, 400),
    ('/api/tracks', '/api/tracks?limit=2&camera=yard&points=0.5,0%200.5,1', 'GET', None, 200),
    ('/api/live', '/api/live', 'GET', None, 400),
    ('/api/cameras/{name}/live', '/api/cameras/none/live', 'GET', None, 404),
    ('/api/cameras/{name}/snapshot', '/api/cameras/none/snapshot', 'GET', None, 404),
    ('/api/login', '/api/login', 'POST', {'token': 'a'}, 404),
    ('/api/logout', '/api/logout', 'POST', None, 200),
    ('/media/{file}', '/media/none.jpg', 'GET', None, 404),
    ('/api/events', '/api/events', 'POST', None, None),  # not described: 405
]
# Names in paths, and paths without an end or that search the network.
NAMES = {'{name}': 'yard', '{file}': 'index.html'}
ENDLESS = {'/api/cameras/{name}/live', '/api/live', '/api/events/stream', '/api/discover'}
TYPES = {'string': str, 'integer': int, 'number': (int, float), 'boolean': bool, 'array': list, 'object': dict}


class OpenApi(unittest.TestCase):
    ARGUMENTS = ()

    @classmethod
    def setUpClass(cls):
        cls.server = subprocess.Popen([SERVER, *cls.ARGUMENTS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        cls.address = urllib.parse.urlsplit(cls.server.stdout.readline().strip()).netloc
        cls.api = json.loads(cls.ask('/openapi.json', token='a-long-token')[2])

    @classmethod
    def tearDownClass(cls):
        cls.server.stdin.close()
        cls.server.stdout.close()
        assert cls.server.wait(20) == 0

    @classmethod
    def ask(cls, path, method='GET', body=None, token=None):
        connection = http.client.HTTPConnection(cls.address, timeout=30)
        headers = {'X-Cudaccl-Watch': '1'}
        if token:
            headers['Authorization'] = f'Bearer {token}'
        connection.request(method, path, json.dumps(body).encode() if body is not None else None, headers)
        answer = connection.getresponse()
        result = answer.status, answer.headers.get_content_type(), answer.read()
        connection.close()
        return result

    def resolve(self, node):
        while '$ref' in node:
            place = self.api
            for part in node['$ref'].removeprefix('#/').split('/'):
                self.assertIn(part, place, node['$ref'])
                place = place[part]
            node = place
        return node

    def check(self, value, schema, where):
        schema = self.resolve(schema)
        self.assertIsInstance(value, TYPES[schema['type']], where)
        self.assertFalse(isinstance(value, bool) and schema['type'] != 'boolean', where)
        if 'enum' in schema:
            self.assertIn(value, schema['enum'], where)
        self.assertGreaterEqual(value if 'minimum' in schema else 0, schema.get('minimum', 0), where)
        for i, item in enumerate(value if schema['type'] == 'array' else []):
            self.check(item, schema['items'], f'{where}[{i}]')
        if schema['type'] == 'object':
            for name in schema.get('required', []):
                self.assertIn(name, value, where)
            for name, member in value.items():
                self.assertIn(name, schema['properties'], where)
                self.check(member, schema['properties'][name], f'{where}.{name}')

    def check_answer(self, described, path, method, body, expected):
        with self.subTest(method=method, path=path):
            self.check_one(described, path, method, body, expected)

    def check_one(self, described, path, method, body, expected):
        status, kind, text = self.ask(path, method, body)
        where = f'{method} {path}: {status}'
        operation = self.api['paths'][described].get(method.lower())
        if not operation:
            self.assertEqual(status, 405, where)
            return
        self.assertEqual(status, expected, f'{where} {text[:500]}')
        self.assertIn(str(status), operation['responses'], where)
        content = self.resolve(operation['responses'][str(status)])['content']
        self.assertIn(kind, content, where)
        if kind == 'application/json' and path != '/openapi.json':
            self.check(json.loads(text), content[kind]['schema'], where)

    def test_answers(self):
        for described, operations in self.api['paths'].items():
            path = described
            for pattern, name in NAMES.items():
                path = path.replace(pattern, name)
            if 'get' in operations and described not in ENDLESS:
                missing = described in ('/media/{file}', '/api/synopsis/video')
                self.check_answer(described, path, 'GET', None, 404 if missing else 200)
            # A misspelt name is an error.
            if 'get' in operations:
                self.check_answer(described, f'{path}?colour=red', 'GET', None, 400)
        for request in REQUESTS:
            self.check_answer(*request)

    def test_reason(self):
        """A camera's reason is beside its text, as described."""
        self.server.stdin.write('late hall 7\n')
        self.server.stdin.flush()
        expected = {'code': 'picture-late', 'arguments': {'seconds': 7},
                    'text': 'no new picture for 7 seconds; if this lasts, restart the camera'}
        end = time.monotonic() + 20
        while True:
            cameras = json.loads(self.ask('/api/cameras')[2])['cameras']
            hall = next(camera for camera in cameras if camera['name'] == 'hall')
            if hall['state'] == 'frozen' or time.monotonic() > end:
                break
            time.sleep(0.05)
        self.assertEqual((hall.get('reason'), hall.get('text')), (expected, expected['text']))
        self.check_answer('/api/cameras', '/api/cameras', 'GET', None, 200)

    def test_synopsis_failed(self):
        """A process that fails says why, or its end does."""
        reason = {'code': 'synopsis-full', 'arguments': {}, 'text': 'full'}
        lines = ({'error': 'full', 'reason': reason}, {'error': 'full'}, {'error': 'full', 'reason': {'code': 'of-tomorrow'}}, {'progress': 0.5}, {})
        for line in lines:
            with self.subTest(line=line), tempfile.TemporaryDirectory() as folder:
                program = pathlib.Path(folder) / 'program'
                program.write_text(f"#!/bin/sh\necho '{json.dumps(line)}'\nexit 1\n")
                program.chmod(0o700)
                self.server.stdin.write(f'program {program}\n')
                self.server.stdin.flush()
                end = time.monotonic() + 20
                # The line before may not have arrived.
                self.check_answer('/api/synopsis', '/api/synopsis', 'DELETE', None, 200)
                time.sleep(0.2)
                self.check_answer('/api/synopsis', '/api/synopsis', 'POST', {'camera': 'yard', 'day': '2026-01-31'}, 202)
                while json.loads(self.ask('/api/synopsis')[2])['state'] == 'running' and time.monotonic() < end:
                    time.sleep(0.05)
                self.check_answer('/api/synopsis', '/api/synopsis', 'GET', None, 200)
                self.assertEqual(json.loads(self.ask('/api/synopsis')[2])['state'], 'failed')
                self.ask('/api/synopsis', 'DELETE')

    def test_description(self):
        names = set()
        for path, operations in self.api['paths'].items():
            shared = operations.get('parameters', [])
            for method, operation in operations.items():
                if method == 'parameters':
                    continue
                where = f'{method} {path}'
                self.assertTrue(operation['summary'], where)
                self.assertTrue(any(status.startswith('2') for status in operation['responses']), where)
                for status, answer in operation['responses'].items():
                    answer = self.resolve(answer)
                    self.assertTrue(answer['description'], f'{where} {status}')
                    for content in answer.get('content', {}).values():
                        self.find_names(content['schema'], names)
                for content in operation.get('requestBody', {}).get('content', {}).values():
                    self.find_names(content['schema'], names)
                parameters = [self.resolve(parameter) for parameter in shared + operation.get('parameters', [])]
                self.assertEqual({f'{{{one["name"]}}}' for one in parameters if one['in'] == 'path'},
                                 {part for part in path.split('/') if part.startswith('{')}, where)
        self.assertEqual(names, set(self.api['components']['schemas']), 'schemas that nothing uses')

    def find_names(self, node, names):
        if isinstance(node, dict):
            if '$ref' in node:
                name = node['$ref'].rsplit('/', 1)[1]
                if name not in names:
                    names.add(name)
                    self.find_names(self.resolve(node), names)
            for child in node.values():
                self.find_names(child, names)
        elif isinstance(node, list):
            for child in node:
                self.find_names(child, names)


class Refused(OpenApi):
    """With a token: what is refused has the form of the description, too."""
    ARGUMENTS = ('--token',)
    test_answers = test_reason = test_description = test_synopsis_failed = None

    def test_refused(self):
        for path in ('/api/cameras', '/api/events', '/api/status', '/api/discover', '/api/synopsis'):
            self.check_answer(path, path, 'GET', None, 401)
        self.check_answer('/api/login', '/api/login', 'POST', {'token': 'wrong'}, 401)
        for _ in range(30):
            status, _, _ = self.ask('/api/login', 'POST', {'token': 'wrong'})
        self.assertEqual(status, 429)
        self.check_answer('/api/login', '/api/login', 'POST', {'token': 'wrong'}, 429)


if __name__ == '__main__':
    unittest.main(verbosity=2)
