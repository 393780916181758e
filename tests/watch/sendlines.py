#!/usr/bin/env python3
# cudaccl - tests of send-lines
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests what send-lines says and keeps where its arguments, its spool or the broker are not as they should be:

  sendlines.py SEND-LINES IOFAULT [MOCK] [TEST…]

IOFAULT is the library of tests/lib/iofault.h. MOCK is librdkafka's mock broker; the other broker is a small one of MQTT."""

import os
import pathlib
import resource
import shutil
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

import fleetlib

SEND = sys.argv.pop(1)
IOFAULT = sys.argv.pop(1)
MOCK = sys.argv.pop(1) if len(sys.argv) > 1 and "/" in sys.argv[1] else None
HAVE = {scheme: "built without" not in subprocess.run([SEND, f"{scheme}://localhost/x"], stdin=subprocess.DEVNULL,
                                                      stderr=subprocess.PIPE, text=True).stderr
        for scheme in ("mqtt", "kafka")}
NOWHERE = "localhost:1"


def has_handler(pid):
    """Whether the program has a handler of SIGTERM by now."""
    status = pathlib.Path(f"/proc/{pid}/status").read_text()
    return int(status.split("SigCgt:")[1].split()[0], 16) >> (signal.SIGTERM - 1) & 1


class Broker:
    """Takes one client after the other. @answer: of its CONNECT, 0 accepts. Confirms lines while `confirms` is set."""

    def __init__(self, answer=0):
        self.answer = answer
        self.lines = []
        self.waiting = []
        self.confirms = threading.Event()
        self.confirms.set()
        self.server = socket.create_server(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self.server.getsockname()[1]}"
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def stop(self):
        self.server.shutdown(socket.SHUT_RDWR)
        self.thread.join(20)
        self.server.close()

    def run(self):
        while True:
            try:
                client = self.server.accept()[0]
            except OSError:
                return
            with client, client.makefile("rb") as stream:
                try:
                    while self.take_packet(client, stream):
                        pass
                except OSError:
                    pass

    def take_packet(self, client, stream):
        first = stream.read(1)
        length = shift = 0
        while first:
            byte = stream.read(1)[0]
            length |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                break
        data = stream.read(length)
        kind = first[0] >> 4 if first else 14
        if kind == 1:
            client.sendall(bytes((0x20, 2, 0, self.answer)))
        elif kind == 3:
            topic = int.from_bytes(data[:2], "big")
            self.confirms.wait(60)
            self.lines.append(data[4 + topic:].decode())
            client.sendall(bytes((0x40, 2)) + data[2 + topic:4 + topic])
        elif kind == 12:
            client.sendall(b"\xd0\0")
        return kind != 14


class SendLines(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="send-lines-"))
        self.spool = self.folder / "spool"
        self.sent = self.folder / "spool.sent"

    def tearDown(self):
        shutil.rmtree(self.folder)

    def start(self, *arguments, **options):
        program = subprocess.Popen([SEND, *map(str, arguments)], stderr=subprocess.PIPE, **options)
        self.addCleanup(program.kill)
        return program

    def run_it(self, *arguments, text="", status=0, **options):
        """Returns its errors."""
        if text is not None:
            options["input"] = text.encode()
        result = subprocess.run([SEND, *map(str, arguments)], stderr=subprocess.PIPE, timeout=60,
                                **options)
        self.assertEqual(result.returncode, status, result.stderr)
        return result.stderr.decode()

    def expect_error(self, message, *arguments, **options):
        self.assertIn(message, self.run_it(*arguments, status=1, **options))

    def start_broker(self, answer=0):
        if not HAVE["mqtt"]:
            self.skipTest("built without libmosquitto")
        broker = Broker(answer)
        self.addCleanup(broker.stop)
        return broker

    def test_arguments(self):
        kafka, mqtt = f"kafka://{NOWHERE}/x", f"mqtt://{NOWHERE}/x"
        cases = [
            ("expected one broker", ()),
            ("expected one broker", (mqtt, kafka)),
            ("Unknown option --fast", ("--fast", mqtt)),
            ("--max-spool", ("--max-spool=much", mqtt)),
            ("is not like mqtt://", ("mqtt:///x",)),
            ("is not supported: use mqtt://", (f"http://{NOWHERE}/x",)),
            ("--ca-file needs TLS", ("--ca-file=/nowhere", mqtt)),
        ]
        if HAVE["mqtt"]:
            cases += [
                ("is no topic of MQTT", (mqtt + "/#",)),
                ("is no topic of MQTT", (mqtt + "\udcff",)),
                ("cannot read the certificates", ("--ca-file=/nowhere", f"mqtts://{NOWHERE}/x")),
                ("service 'many'", ("mqtt://localhost:many/x",)),
            ]
        if HAVE["kafka"]:
            cases += [
                ("is no topic of Kafka", (kafka + "/y",)),
                ("is no topic of Kafka", (f"kafka://{NOWHERE}/..",)),
                ("is no topic of Kafka", (kafka + "x" * 249,)),
                ("ssl.ca.location", ("--ca-file=/nowhere", kafka)),
            ]
        for message, arguments in cases:
            with self.subTest(arguments=arguments):
                self.expect_error(message, *arguments)

    def test_wrong_spool(self):
        self.start_broker()
        pipe, folder = self.folder / "pipe", self.folder / "folder"
        os.mkfifo(pipe)
        (folder / "b.sent").mkdir(parents=True)
        for spool, message in ((folder, "cannot open"), (folder / "a/b", "cannot open"), (folder / "b", "cannot open"),
                               (pipe, "not a regular file")):
            with self.subTest(spool=spool):
                self.expect_error(message, "--spool", spool, f"mqtt://{NOWHERE}/x")
        # It is not ours.
        self.assertTrue(pipe.exists())

    def test_input(self):
        self.start_broker()
        folder = os.open(self.folder, os.O_RDONLY)
        self.addCleanup(os.close, folder)
        self.expect_error("cannot read 'standard input'", f"mqtt://{NOWHERE}/x", text=None, stdin=folder)
        self.expect_error("a line is longer than", f"mqtt://{NOWHERE}/x", text="x" * (65 << 20))

    def test_left_spool(self):
        """Spools left by a program or machine that was killed."""
        broker = self.start_broker()
        long = "x" * 100000
        for left, sent, expected in (
            ("1\n2\n", None, ["1", "2"]),
            ("1\n2\n", f"{2:020}\n", ["2"]),
            ("1\n2\n", f"{4:020}\n", []),
            ("1\n2\nhalf a line", None, ["1", "2"]),
            (long, None, []),
            (f"1\n{long}", None, ["1"]),
            (f"1\n{long}\n", f"{2:020}\n", [long]),
            # The spool was emptied, which was not noted.
            ("1\n", f"{500:020}\n", ["1"]),
            ("1\n", "-1\n", ["1"]),
            ("1\n", "nothing", ["1"]),
        ):
            with self.subTest(left=left[:30], sent=sent):
                self.spool.write_text(left)
                if sent:
                    self.sent.write_text(sent)
                broker.lines.clear()
                self.run_it("--spool", self.spool, f"mqtt://{broker.address}/x", text="new\n\nand last")
                self.assertEqual(broker.lines, [*expected, "new", "", "and last"])
                self.assertEqual(list(self.folder.iterdir()), [])

    def test_refused_client(self):
        broker = self.start_broker(answer=5)
        error = self.run_it("--spool", self.spool, f"mqtt://{broker.address}/x", text="1\n2\n", status=1)
        self.assertIn("refuses the client", error)
        self.assertEqual(self.spool.read_text(), "1\n2\n")

    def test_full(self):
        """Once the spool has its maximum size, the program stops reading."""
        broker = self.start_broker()
        broker.confirms.clear()
        lines = [f"{i:099}" for i in range(40000)]
        program = self.start("--spool", self.spool, "--max-spool=1", f"mqtt://{broker.address}/x", stdin=subprocess.PIPE)

        def feed():
            with program.stdin:
                program.stdin.write("".join(f"{line}\n" for line in lines).encode())

        feeder = threading.Thread(target=feed, daemon=True)
        feeder.start()
        fleetlib.wait_for(lambda: self.spool.exists() and self.spool.stat().st_size >= 1 << 20)
        time.sleep(0.2)
        self.assertLess(self.spool.stat().st_size, (1 << 20) + (1 << 17))
        self.assertTrue(feeder.is_alive())
        broker.confirms.set()
        self.assertEqual(program.wait(60), 0, program.stderr.read())
        program.stderr.close()
        feeder.join()
        self.assertEqual(broker.lines, lines)

    def test_no_space(self):
        """A full disk is reported; lines that were written completely are sent later."""
        broker = self.start_broker()
        lines = [f"{i:0999}" for i in range(300)]
        self.expect_error("cannot write", "--spool", self.spool, f"mqtt://{NOWHERE}/x",
                          text="".join(f"{line}\n" for line in lines), restore_signals=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (100500, -1)))
        self.assertEqual(self.spool.stat().st_size, 100500)
        self.run_it("--spool", self.spool, f"mqtt://{broker.address}/x", text="last")
        self.assertEqual(broker.lines, [*lines[:100], "last"])

    def test_short_writes(self):
        """Where a write to the spool takes a part, the next goes on behind it."""
        broker = self.start_broker()
        fault = self.folder / "fault"
        # The folder, kinds, those that fail, no error, not only the first, and which calls: all of pwrite().
        head = struct.pack("=4096sIIiiqq", bytes(self.spool), 1 << 2, 0, 0, 0, 0, 1 << 62)
        fault.write_bytes(head.ljust(1 << 20, b"\0"))
        lines = [f"{i:0999}" for i in range(300)]
        self.run_it("--spool", self.spool, f"mqtt://{broker.address}/x", text="".join(f"{line}\n" for line in lines),
                    env={**os.environ, "IO_FAULT": str(fault), "LD_PRELOAD": IOFAULT})
        self.assertGreater(struct.unpack_from("=q", fault.read_bytes(), len(head) + 8)[0], 0, "no write took a part")
        self.assertEqual(broker.lines, lines)

    def test_interrupted(self):
        self.start_broker()
        for spool, message in ((None, "interrupted\n"), (self.spool, "the next start sends the rest")):
            with self.subTest(spool=spool):
                program = self.start(*(("--spool", spool) if spool else ()), f"mqtt://{NOWHERE}/x", stdin=subprocess.PIPE)
                program.stdin.write(b"1\n")
                program.stdin.flush()
                fleetlib.wait_for(lambda: has_handler(program.pid))
                program.send_signal(signal.SIGTERM)
                self.assertEqual(program.wait(20), 2)
                self.assertIn(message, program.stderr.read().decode())
                program.stderr.close()
                program.stdin.close()

    def test_refused_line(self):
        """The lines before one that is too large are sent and forgotten, once."""
        if not HAVE["kafka"] or not MOCK:
            self.skipTest("needs the mock broker")
        kafka = fleetlib.Kafka(MOCK, "things")
        self.addCleanup(kafka.stop)
        before = "".join(f"{i}\n" for i in range(50))
        text = f"{before}{'x' * 2000000}\nlast\n"
        self.expect_error("cannot send a line of 2000000 bytes", "--spool", self.spool, f"kafka://{kafka.address}/things",
                          text=text)
        self.assertEqual(int(self.sent.read_text()), len(before))
        self.assertEqual(self.spool.read_text(), text)


if __name__ == "__main__":
    unittest.main(verbosity=2)
