#!/usr/bin/env python3
# cudaccl - cudaccl-watch under the thread sanitizer
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cudaccl-watch under the thread sanitizer with cameras that are recordings and one of test://, while settings
change, and cameras and viewers come and go. Fails if two threads race, or if the program does not end well.

  tests/soak/races.py [OPTION...]

--build FOLDER      a build with -Db_sanitize=thread -Db_lundef=false; default: ./build-tsan
--libraries FOLDER  GLib and GStreamer, of the system's versions, with the thread sanitizer; without them it
                    does not see their locks, and reports what is none
--cameras N         default: 64
--seconds N         default: 600
--seed N            default: a new one each time

CONTRIBUTING.md says how to build them; FOLDER is PREFIX/lib. Suppressions are in tests/tsan.supp, each with its reason."""

import argparse
import collections
import http.client
import json
import os
import pathlib
import random
import re
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLUGINS = ["app", "avi", "coreelements", "jpeg", "jpegformat", "playback", "typefindfunctions", "videoconvert",
           "videoconvertscale", "videorate", "videoscale", "videotestsrc"]
QUERIES = ["/api/cameras", "/api/events?limit=20", "/api/tracks?limit=20", "/api/tracks?points=0.5,0%200.5,1",
           "/api/minutes", "/api/status", "/metrics", "/healthz", "/readyz", "/"]


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


class Visitor(threading.Thread):
    """Does the same thing again and again, with answers of any status; counts them."""

    def __init__(self, run, what, seed):
        super().__init__(daemon=True)
        self.run_all, self.what, self.random = run, what, random.Random(seed)

    def run(self):
        while not self.run_all.ended.is_set():
            try:
                status = self.what(self.random)
            except (OSError, http.client.HTTPException) as error:
                status = type(error).__name__
            self.run_all.count(self.what.__name__, status)


class Run:
    def __init__(self, options, folder):
        self.options, self.folder, self.port = options, folder, free_port()
        self.ended, self.lock = threading.Event(), threading.Lock()
        self.answers = collections.Counter()
        self.make_recording(folder / "small.avi")
        self.configuration = folder / "watch.conf"
        self.write_configuration(random.Random(options.seed))

    @staticmethod
    def make_recording(path):
        """A ball in few, small frames: the sanitizer takes ten times as long, and test:// has large ones."""
        subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "pattern=ball", "num-buffers=60", "!",
                        "video/x-raw,format=I420,width=160,height=120,framerate=2/1", "!", "jpegenc", "!", "avimux", "!",
                        "filesink", f"location={path}"], check=True)

    def count(self, what, status):
        with self.lock:
            self.answers[what, status] += 1

    def write_configuration(self, rng):
        cameras = "".join(f"[camera c{i}]\nuri = {'test://' if i == 0 else self.folder / 'small.avi'}\nloop = true\n"
                          f"tripwires = gate: 0.5,0 0.5,1\n"
                          f"zones = left: 0,0 0.5,0 0.5,1 0,1\ndwell-time = {rng.randrange(3)}\n"
                          for i in range(self.options.cameras))
        part = self.folder / "watch.part"
        part.write_text(f"[watch]\ndata = data\n[server]\nlisten = 127.0.0.1:{self.port}\n"
                        f"[lines]\nfile = {self.folder}/lines\nkinds = events,tracks\n" + cameras)
        part.replace(self.configuration)

    def ask(self, method, path, body=None, most=1 << 20, timeout=60):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)
        try:
            connection.request(method, path, json.dumps(body) if body is not None else None,
                               {"Content-Type": "application/json", "X-Cudaccl-Watch": "1"})
            answer = connection.getresponse()
            answer.read(most)
            return answer.status
        finally:
            connection.close()

    def camera(self, rng):
        return f"c{rng.randrange(self.options.cameras)}"

    def query(self, rng):
        return self.ask("GET", rng.choice(QUERIES))

    def watch_live(self, rng):
        names = ",".join(self.camera(rng) for _ in range(3))
        path = rng.choice([f"/api/cameras/{self.camera(rng)}/live?rate=10", f"/api/live?cameras={names}",
                           f"/api/cameras/{self.camera(rng)}/snapshot"])
        return self.ask("GET", path, most=rng.randrange(1000, 100000))

    def watch_events(self, rng):
        return self.ask("GET", "/api/events/stream", most=rng.randrange(1, 2000))

    def change_settings(self, rng):
        x = rng.randrange(1, 100) / 100
        change = rng.choice([{"tripwires": f"gate: {x},0 {x},1"}, {"zones": f"left: 0,0 {x},0 {x},1 0,1"},
                             {"dwell-time": rng.randrange(3)}, {"frozen-after": rng.randrange(2, 9)},
                             {"record": rng.random() < 0.5}, {"schedule": rng.choice(["", "mon-sun 00:00-12:00"])},
                             {"enabled": rng.random() < 0.8}])
        status = self.ask("PUT", f"/api/cameras/{self.camera(rng)}", change)
        self.ended.wait(rng.random())
        return status

    def come_and_go(self, rng):
        name = f"guest{rng.randrange(4)}"
        status = self.ask("POST", "/api/cameras", {"name": name, "uri": "test://"})
        self.ended.wait(3 * rng.random())
        self.ask("DELETE", f"/api/cameras/{name}")
        return status

    def replace_file(self, rng):
        """Also undoes what the page changed."""
        self.ended.wait(10 + 20 * rng.random())
        self.write_configuration(rng)
        self.process.send_signal(signal.SIGHUP)
        return "done"

    def link_plugins(self):
        """The plugins that are needed: others start threads and take locks when they are loaded."""
        system = subprocess.run(["pkg-config", "--variable=pluginsdir", "gstreamer-1.0"], check=True,
                                capture_output=True, text=True).stdout.strip()
        folders = [pathlib.Path(system)]
        if self.options.libraries:
            folders.insert(0, self.options.libraries.resolve() / "gstreamer-1.0")
        links = self.folder / "plugins"
        links.mkdir()
        for name in PLUGINS:
            found = [folder / f"libgst{name}.so" for folder in folders if (folder / f"libgst{name}.so").exists()]
            if found:
                (links / found[0].name).symlink_to(found[0])
        return links

    def start(self):
        build = self.options.build.resolve()
        supp = ROOT / "tests" / "tsan.supp"
        folders = [f"{build}/gst/analysis", f"{build}/gst/tools", str(self.link_plugins())]
        environment = dict(
            os.environ, GST_REGISTRY_1_0=str(self.folder / "registry"), GST_REGISTRY_FORK="no",
            GST_PLUGIN_PATH_1_0=":".join(folders), GST_PLUGIN_SYSTEM_PATH_1_0="", G_SLICE="always-malloc",
            TSAN_OPTIONS=f"suppressions={supp}:log_path={self.folder}/tsan:exitcode=0:history_size=4")
        if self.options.libraries:
            environment["LD_LIBRARY_PATH"] = str(self.options.libraries.resolve())
        with open(self.folder / "log", "w") as log:
            self.process = subprocess.Popen([build / "apps" / "watch" / "cudaccl-watch", self.configuration],
                                            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment)

    def wait_until_ready(self):
        end = time.monotonic() + 120
        while time.monotonic() < end and self.process.poll() is None:
            try:
                if self.ask("GET", "/healthz") == 200:
                    return
            except (OSError, http.client.HTTPException):
                time.sleep(0.5)
        sys.exit(f"cudaccl-watch did not start: {(self.folder / 'log').read_text()}")

    def run(self):
        self.start()
        self.wait_until_ready()
        rng = random.Random(self.options.seed)
        kinds = [self.query] * 2 + [self.watch_live] * 4 + [self.watch_events] * 2 + [self.change_settings] * 2 + [
            self.come_and_go, self.replace_file]
        visitors = [Visitor(self, kind, rng.random()) for kind in kinds]
        for visitor in visitors:
            visitor.start()
        end = time.monotonic() + self.options.seconds
        while time.monotonic() < end and self.process.poll() is None:
            time.sleep(0.5)
        alive = self.process.poll() is None
        self.ended.set()
        self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(180)
        except subprocess.TimeoutExpired:
            self.process.send_signal(signal.SIGABRT)
            status = "hung at the end"
        return alive, status


def read_reports(folder):
    """The reports by the first function of ours, or else the first, of both threads."""
    reports = collections.defaultdict(list)
    for file in folder.glob("tsan.*"):
        for report in re.findall(r"^WARNING: ThreadSanitizer.*?^SUMMARY:[^\n]*", file.read_text(errors="replace"),
                                 re.MULTILINE | re.DOTALL):
            reports[report.splitlines()[-1]].append(report)
    return reports


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build-tsan")
    parser.add_argument("--libraries", type=pathlib.Path)
    parser.add_argument("--cameras", type=int, default=64)
    parser.add_argument("--seconds", type=int, default=600)
    parser.add_argument("--seed", type=int, default=random.randrange(1 << 32))
    options = parser.parse_args()
    print(f"seed {options.seed}", flush=True)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="races."))
    run = Run(options, folder)
    alive, status = run.run()
    for (what, answer), n in sorted(run.answers.items(), key=str):
        print(f"{what}: {answer}: {n}")
    reports = read_reports(folder)
    for summary, found in sorted(reports.items(), key=lambda item: -len(item[1])):
        print(f"{len(found)} times {summary}")
    print(f"{len(reports)} races; the program {'ran on' if alive else 'ended early'}, exit status {status}; "
          f"logs in {folder}")
    return 0 if alive and status == 0 and not reports else 1


if __name__ == "__main__":
    sys.exit(main())
