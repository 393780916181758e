# A PostgreSQL and a Kafka broker for tests of cudaccl-collect.
# SPDX-License-Identifier: LGPL-2.1-or-later

import glob
import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request


def find_postgres():
    """Returns the folder of PostgreSQL's programs, or None."""
    found = shutil.which("postgres")
    folders = [os.path.dirname(os.path.realpath(found))] if found else []
    folders += sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)
    return next((folder for folder in folders if os.path.exists(f"{folder}/initdb")), None)


class Postgres:
    """A server with a database of its own, at a socket."""

    def __init__(self):
        programs = find_postgres()
        self.folder = tempfile.mkdtemp(prefix="collect-")
        # It refuses to run as root.
        self.user = "nobody" if os.getuid() == 0 else pwd.getpwuid(os.getuid()).pw_name
        if os.getuid() == 0:
            os.chown(self.folder, pwd.getpwnam(self.user).pw_uid, -1)
        self.options = {"user": self.user, "cwd": self.folder, "stderr": subprocess.DEVNULL} if os.getuid() == 0 else {
            "cwd": self.folder, "stderr": subprocess.DEVNULL}
        self.command = [f"{programs}/postgres", "-D", f"{self.folder}/data", "-k", self.folder, "-c", "listen_addresses=",
                        "-c", "fsync=off", "-c", "max_connections=30", "-c", "shared_buffers=64MB"]
        subprocess.run([f"{programs}/initdb", "-D", f"{self.folder}/data", "-A", "trust", "-U", "test", "-E", "UTF8",
                        "--no-sync", "--locale=C"], check=True, stdout=subprocess.DEVNULL, **self.options)
        self.address = f"host={self.folder} user=test dbname=postgres"
        self.process = None
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, **self.options)
        end = time.monotonic() + 30
        while not os.path.exists(f"{self.folder}/.s.PGSQL.5432"):
            assert time.monotonic() < end and self.process.poll() is None, "PostgreSQL does not start"
            time.sleep(0.05)

    def stop(self):
        """At once, without waiting for its clients."""
        self.process.send_signal(signal.SIGQUIT)
        self.process.wait()

    def remove(self):
        if self.process.poll() is None:
            self.stop()
        shutil.rmtree(self.folder)


class Kafka:
    """librdkafka's mock broker; what it has is in memory."""

    def __init__(self, program, topic):
        self.process = subprocess.Popen([program, topic, "0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = self.process.stdout.readline().strip()

    def say(self, word):
        self.process.stdin.write(f"{word}\n")
        self.process.stdin.flush()

    def stop(self):
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()


class Program:
    """cudaccl-collect, or another that prints its address."""

    def __init__(self, program, settings, **options):
        self.process = subprocess.Popen([program, settings], stdout=subprocess.PIPE, text=True, **options)
        line = self.process.stdout.readline()
        assert " is at " in line, f"{program} does not start"
        self.uri = line.split()[-1].rstrip("/")

    def ask(self, path):
        with urllib.request.urlopen(self.uri + path, timeout=30) as answer:
            return answer.read().decode()

    def get(self, path):
        return json.loads(self.ask(path))

    def stop(self, how=signal.SIGTERM):
        self.process.send_signal(how)
        self.process.stdout.close()
        return self.process.wait(20)


def make_hostile(draw, n):
    """Returns @n lines, as bytes, of which cudaccl-collect stores none."""
    def change(**members):
        return json.dumps({"camera": "hostile", "session": "00000000-0000-0000-0000-000000000001", "number": 1,
                           "utc": "2026-01-31T12:00:00Z", "event": "in", **members}).encode()

    kinds = [
        lambda: draw.randbytes(draw.randrange(1, 200)).replace(b"\n", b" ").replace(b"{", b" "),
        lambda: b"[" * 10000, lambda: b'{"a":' * 10000, lambda: b'{"a":' * 10000 + b"1" + b"}" * 10000,
        lambda: b'{"camera":' + b"[" * 10000 + b"]" * 10000 + b"}", lambda: b"null", lambda: b'"x"',
        lambda: b"-" + b"9" * draw.choice((10, 100000)), lambda: change(text="x" * 100000, number=0),
        lambda: change(camera="c" * 100000), lambda: change(text="\0"), lambda: change(text="\ud800"),
        lambda: change()[:-1] + b"\0}", lambda: b"\xff" + change(), lambda: change(text="x")[:-3] + b'\xff"}',
        *(lambda name=name, value=value: change(**{name: value}) for name, values in (
            ("session", (None, 1, "", [], {}, "x")), ("event", (None,)),
            ("number", (None, -1, 0, 1.5, 2**63, 10**300, "", "x", [], {}, True)),
            ("utc", (None, 0, -1, "", "infinity", "now", "tomorrow", "2026-01-31", "2026-13-01T00:00:00Z", "-2026-01-31T12:00:00Z",
                     "0000-01-01T00:00:00Z", "99999-01-01T00:00:00Z", "2026-01-31T12:00:00+01:00", [], {}, True))) for value in values),
    ]
    return [draw.choice(kinds)() for _ in range(n)]


def wait_for(condition, seconds=30):
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.05)
