#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Attacks on the RTSP server of cudaccl-watch before a login: rtsp-attack.py PROGRAM [--sessions N] [TEST...]

Prints how much memory the program took, and how long an honest client was held up. --sessions (default: 20) is the
number of streams that are started and ended one after another; 20000 shows leaks, and takes an hour."""

import base64
import errno
import math
import os
import pathlib
import random
import socket
import sys
import tempfile
import threading
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import rtsplib  # noqa: E402
from rtsplib import Reader, wait_for  # noqa: E402

SESSIONS = 20
REQUEST = b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n"
MAX_STRANGE = 16384  # bytes before the login
LOGIN_SECONDS = 30
# Far above what is measured: the machine may have other things to do.
MAX_HELD_UP = 10  # seconds
# MB; the address sanitizer keeps what is freed.
MAX_GROWTH = math.inf if "ASAN_OPTIONS" in os.environ else 60


def connect(port, source="127.0.0.1"):
    """Uses ports that the kernel gives to nobody, as other tests listen at those."""
    while True:
        try:
            return socket.create_connection(("127.0.0.1", port), 20, (source, random.randrange(20000, 32000)))
        except OSError as error:
            if error.errno not in (errno.EADDRINUSE, errno.EADDRNOTAVAIL):
                raise


def read_answers(one, n):
    """Returns what is read until n answers are there, or the connection ends."""
    data = b""
    while data.count(b"\r\n\r\n") < n:
        try:
            more = one.recv(65536)
        except ConnectionError:
            break
        if not more:
            break
        data += more
    return data


class Encoded:
    """The socket for requests of a tunnel."""

    def __init__(self, inner):
        self.inner = inner
        self.close = inner.close

    def sendall(self, data):
        self.inner.sendall(base64.b64encode(data))


class Attack(unittest.TestCase):
    def setUp(self):
        self.log = tempfile.TemporaryFile("w+")
        self.addCleanup(self.log.close)
        self.program = rtsplib.Program(sys.argv[0], log=self.log)
        self.addCleanup(self.program.process.kill)
        self.log_in()
        self.before = self.get_memory()

    def end(self):
        self.program.end()
        self.log.seek(0)
        return self.log.read()

    def get_memory(self):
        """Returns the resident memory in MB."""
        with open(f"/proc/{self.program.process.pid}/statm", encoding="utf-8") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6

    def log_in(self, source="127.0.1.1"):
        """Returns how long it took."""
        start = time.monotonic()
        reader = Reader(self.program.rtsp, "/ball", source=source)
        self.assertIn(reader.describe()[0], (200, 503))  # 503: the pipeline is just ending
        reader.close()
        return time.monotonic() - start

    def report(self, held_up):
        memory = self.get_memory()
        print(f"{self.id().split('.')[-1]}: {self.before:.0f} MB before, {memory:.0f} MB then; "
              f"an honest client was held up for {held_up:.2f} s", flush=True)
        return memory - self.before

    def send_always(self, source, head, piece, most):
        """Sends most bytes on one connection after another, until told to end."""
        while not self.ended.is_set():
            try:
                with connect(self.program.rtsp, source) as one:
                    one.sendall(head)
                    for _ in range(most // len(piece)):
                        one.sendall(piece)
                        if self.ended.is_set():
                            break
            except OSError:
                pass

    def attack(self, head, piece, most=3 << 20):
        """Returns how long the slowest of some honest clients took during the attack."""
        self.ended = threading.Event()
        threads = [threading.Thread(target=self.send_always, args=(f"127.0.0.{2 + i}", head, piece, most)) for i in range(4)]
        for thread in threads:
            thread.start()
        try:
            time.sleep(0.5)
            return max(self.log_in() for _ in range(5))
        finally:
            self.ended.set()
            for thread in threads:
                thread.join()

    def test_long_line(self):
        held_up = self.attack(REQUEST + b"X: ", b"x" * 65536)
        self.assertLess(self.report(held_up), MAX_GROWTH)
        self.assertLess(held_up, MAX_HELD_UP)
        self.assertIn("it sent more than 16384 bytes without logging in", self.end())

    def test_many_headers(self):
        held_up = self.attack(REQUEST, b"X: " + b"x" * 60 + b"\r\n")
        self.assertLess(self.report(held_up), MAX_GROWTH)
        self.assertLess(held_up, MAX_HELD_UP)
        self.end()

    def test_bodies(self):
        held_up = self.attack(REQUEST + b"Content-Length: 60000\r\n\r\n", b"x" * 60000, 60000)
        self.assertLess(self.report(held_up), MAX_GROWTH)
        self.assertLess(held_up, MAX_HELD_UP)
        self.end()

    def test_limit(self):
        """All that a stranger sends counts; each request up to there is answered, many in one packet, too."""
        request = REQUEST + b"\r\n"
        with connect(self.program.rtsp) as one:
            n = MAX_STRANGE // len(request)
            one.sendall(n * request)
            self.assertEqual(read_answers(one, n).count(b" 200 OK"), n)
            one.sendall(request)
            self.assertIn(b" 413 ", read_answers(one, 2))
        self.assertEqual(self.program.get_metric("rtsp_refused_total"), 1)
        reader = Reader(self.program.rtsp, "/ball")
        self.assertIn(reader.describe()[0], (200, 503))
        for _ in range(MAX_STRANGE // 100):
            self.assertEqual(reader.ask("OPTIONS", **{"X-Long": "x" * 200})[0], 200, "no limit after the login")
        reader.close()
        self.end()

    def test_slow_headers(self):
        """A byte now and then does not keep a connection; one that has logged in stays."""
        reader = Reader(self.program.rtsp, "/ball")
        reader.describe()
        ones = [connect(self.program.rtsp, "127.0.0.2") for _ in range(16)]
        start = time.monotonic()
        while time.monotonic() < start + LOGIN_SECONDS + 5:
            try:
                for one in ones:
                    one.sendall(b"O")
            except OSError:
                break
            time.sleep(1)
        self.assertIn(int(time.monotonic() - start), range(LOGIN_SECONDS - 2, LOGIN_SECONDS + 5))
        self.report(self.log_in())
        self.assertEqual(reader.ask("OPTIONS")[0], 200)
        for one in (*ones, reader):
            one.close()
        self.assertIn("it has not logged in for 30 seconds", self.end())

    def test_flood(self):
        """Strangers who connect again and again, from eight addresses, keep nobody out."""
        def connect_always(source):
            ones = []
            while not self.ended.is_set():
                try:
                    ones.append(connect(self.program.rtsp, source))
                except OSError:
                    pass
                if len(ones) == 100:
                    ones.pop(0).close()
                time.sleep(0.001)
            for one in ones:
                one.close()

        self.ended = threading.Event()
        threads = [threading.Thread(target=connect_always, args=(f"127.0.0.{2 + i}",)) for i in range(8)]
        for thread in threads:
            thread.start()
        try:
            wait_for(lambda: self.program.get_metric("rtsp_refused_total") > 100)
            held_up = max(self.log_in() for _ in range(10))
        finally:
            self.ended.set()
            for thread in threads:
                thread.join()
        self.assertLess(self.report(held_up), MAX_GROWTH)
        self.assertLess(held_up, MAX_HELD_UP)
        self.end()

    def test_tunnel(self):
        """RTSP over HTTP: GET for what comes back, POST for requests, with the limits of RTSP."""
        def open_tunnel(cookie):
            back, there = connect(self.program.rtsp), connect(self.program.rtsp)
            head = f"/ball HTTP/1.0\r\nx-sessioncookie: {cookie}\r\n"
            back.sendall(f"GET {head}\r\n".encode())
            self.assertIn(b" 200 OK", read_answers(back, 1))
            there.sendall(f"POST {head}Content-Type: application/x-rtsp-tunnelled\r\nContent-Length: 32767\r\n\r\n".encode())
            return back, there

        back, there = open_tunnel("one")
        reader = Reader.__new__(Reader)
        reader.uri, reader.password, reader.sequence = f"rtsp://127.0.0.1:{self.program.rtsp}/ball", rtsplib.PASSWORD, 0
        reader.challenge, reader.session = None, None
        reader.file = back.makefile("rb")
        reader.socket = Encoded(there)
        self.assertIn(reader.describe()[0], (200, 503))
        for _ in range(MAX_STRANGE // 200):
            self.assertEqual(reader.ask("OPTIONS", **{"X-Long": "x" * 200})[0], 200)
        reader.close()
        back.close()
        back, there = open_tunnel("two")
        with self.assertRaises(OSError):
            for _ in range(1000):
                there.sendall(base64.b64encode(b"x" * 30000))
        back.close()
        there.close()
        self.log_in()
        self.end()

    def test_sessions(self):
        for i in range(1, SESSIONS + 1):
            reader = Reader(self.program.rtsp, "/ball")
            self.assertIsInstance(reader.start(), str)
            self.assertEqual(reader.file.read(1), b"$")
            reader.close()
            if i in (SESSIONS // 10, SESSIONS // 2, SESSIONS):
                print(f"{i} sessions: {self.get_memory():.1f} MB", flush=True)
        self.end()


class OverIPv6(unittest.TestCase):
    def test_stream(self):
        try:
            with socket.socket(socket.AF_INET6) as one:
                one.bind(("::1", 0))
        except OSError as error:
            self.skipTest(f"no IPv6: {error}")
        program = rtsplib.Program(sys.argv[0], host="[::1]")
        reader = Reader(program.rtsp, "/ball", source="::1", host="::1")
        self.assertIsInstance(reader.start(), str)
        self.assertEqual(reader.file.read(1), b"$")
        with socket.create_connection(("::1", program.rtsp), 20) as one:
            one.sendall(REQUEST + b"X: ")
            with self.assertRaises(OSError):
                for _ in range(1000):
                    one.sendall(b"x" * 65536)
        reader.close()
        program.end()


if __name__ == "__main__":
    if "--sessions" in sys.argv:
        at = sys.argv.index("--sessions")
        SESSIONS = int(sys.argv[at + 1])
        del sys.argv[at:at + 2]
    sys.argv.pop(0)
    unittest.main(verbosity=2)
