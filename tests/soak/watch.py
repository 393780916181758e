#!/usr/bin/env python3
# cudaccl - cudaccl-watch with cameras and brokers that are killed at random
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cudaccl-watch on recordings that are served as RTSP cameras, kills and stops cameras, the
broker and the program itself at random, and checks what came of it:

- every event of the database arrived over MQTT, at the web hook and in the file of lines, and nothing
  else did; what was dropped is counted;
- no (camera, session, number) stands for two events, numbers have no gaps, counts never go back;
- a camera that is lost or frozen is found, and the others are not disturbed;
- each clip plays, begins with a key frame, and has the pre-roll and the post-roll of its events;
- memory stays flat.

  tests/soak/watch.py [OPTION...] [FILE...]

FILE            recordings; default: the sample recording
--build FOLDER  default: ./build
--cameras N     default: 8; the last quarter of them is never disturbed
--seconds N     default: 600; longer than 120. The program is killed in the first half only
--rate N        frames per second; default: 10
--width N       of the frames; default: 480
--seed N        default: a new one each time
--broker NAME   how the broker ends: term or kill; default: term. Mosquitto may forget what it has
                confirmed when it is killed
--data FOLDER   default: a new one, which is removed if all is well

Exit status 77 if the program, the camera or Mosquitto is missing."""

import argparse
import collections
import datetime
import functools
import http.server
import json
import os
import pathlib
import random
import shutil
import signal
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import gi

gi.require_version("Gst", "1.0")
from gi.repository import Gst  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRE_ROLL, POST_ROLL, FROZEN_AFTER = 3, 3, 5
KEY_SECONDS = 2
# From a disturbance to its event: the program's own limit, and what a busy machine adds.
FOUND_AFTER = FROZEN_AFTER + 5
# The longest time between two tries is 16 s, give or take a quarter; the first may be too early.
BACK_AFTER = 45
# A camera takes 15 MB at the default width, which it gives back when it is lost. Without a leak 20 MB are left.
MAX_HEAP_AT_END = 32e6


def free_port():
    with socket.socket() as server:
        server.bind(("127.0.0.1", 0))
        return server.getsockname()[1]


def wait_for_port(port):
    for _ in range(100):
        try:
            with socket.create_connection(("127.0.0.1", port), 5):
                return
        except OSError:
            time.sleep(0.1)


def encode(file, target, width):
    """As a camera would: H.264 without B-frames."""
    subprocess.run(
        ["gst-launch-1.0", "-q", "filesrc", f"location={file}", "!", "decodebin", "!", "videoconvert", "!",
         "videoscale", "!", f"video/x-raw,format=I420,width={width},pixel-aspect-ratio=1/1", "!", "x264enc",
         "bitrate=800", "bframes=0", "speed-preset=veryfast", f"key-int-max={KEY_SECONDS * 10}", "!",
         "h264parse", "!", "matroskamux", "!", "filesink", f"location={target}"],
        check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)


class Process:
    """A program that is started again and again."""

    def __init__(self, command, log, output=None):
        self.command, self.log, self.output, self.process = command, log, output or log, None
        self.start()

    def start(self):
        with open(self.output, "ab") as output, open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=output, stderr=log)

    def send(self, number):
        self.process.send_signal(number)

    def end(self, number=signal.SIGKILL, timeout=30):
        if self.process.poll() is None:
            self.process.send_signal(number)
            self.process.send_signal(signal.SIGCONT)
        return self.process.wait(timeout)


class Hook(http.server.BaseHTTPRequestHandler):
    """A web hook that fails at times."""

    protocol_version = "HTTP/1.1"

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        mode = self.server.mode
        if mode == "hang":
            time.sleep(3)
        if mode != "refuse":
            self.server.received.append(body.decode())
        self.send_response(503 if mode == "refuse" else 204)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


class Soak:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.random = random.Random(options.seed)
        self.failures = []
        self.samples = []  # (time, session of the program, metrics)
        self.disturbed = []  # (begin, end, camera, how)
        self.kills = []  # times at which the program was killed
        self.session = 0

    def fail(self, text):
        self.failures.append(text)
        print(f"FAIL {text}", flush=True)

    # --- Programs ---

    FORMAT = "%p"  # of mosquitto_sub

    def make_settings(self):
        """Returns the settings that are not of cameras and sinks."""
        return f"[server]\nlisten=127.0.0.1:{self.options.port}\n"

    def start(self):
        options, folder = self.options, self.folder
        recordings = []
        for i, file in enumerate(options.files):
            recordings.append(folder / f"recording{i}.mkv")
            encode(file, recordings[i], options.width)
        self.cameras = []
        text = [f"[watch]\ndata={folder}/data\n[record]\npre-roll={PRE_ROLL}\npost-roll={POST_ROLL}\n[lines]\n"
                f"file={folder}/lines.jsonl\n{self.make_settings()}"]
        for i in range(options.cameras):
            port = free_port()
            self.cameras.append(Process([options.camera, recordings[i % len(recordings)], str(port),
                                         str(options.rate)], folder / f"camera{i}.log"))
            transport = "rtspt" if i % 2 else "rtspu"
            text.append(f"[camera c{i}]\nuri={transport}://127.0.0.1:{port}/\n"
                        "zones=left:0,0 0.5,0 0.5,1 0,1\ntripwires=line:0.5,0 0.5,1\n"
                        f"frozen-after={FROZEN_AFTER}\n")
        port = free_port()
        (folder / "mosquitto.conf").write_text(
            f"listener {port} 127.0.0.1\nallow_anonymous true\npersistence true\n"
            f"persistence_location {folder}/\nmax_queued_messages 0\nuser root\n"
            # Takes some 40 ms a message, and is needed where it cannot save when it ends.
            + ("autosave_interval 1\nautosave_on_changes true\n" if options.broker == "kill" else "autosave_interval 0\n"))
        self.broker = Process(["/usr/sbin/mosquitto", "-c", folder / "mosquitto.conf"], folder / "mosquitto.log")
        wait_for_port(port)
        self.subscriber = Process(["mosquitto_sub", "-p", str(port), "-q", "1", "-c", "-i", "soak", "-t",
                                   "cudaccl/+/events", "-F", self.FORMAT], folder / "mosquitto_sub.log",
                                  folder / "mqtt.jsonl")
        self.hook = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Hook)
        self.hook.mode, self.hook.received = "take", []
        threading.Thread(target=self.hook.serve_forever, daemon=True).start()
        text.append(f"[mqtt]\nbroker=mqtt://127.0.0.1:{port}\n[webhooks]\n"
                    f"urls=http://127.0.0.1:{self.hook.server_address[1]}/\n")
        (folder / "watch.conf").write_text("".join(text))
        time.sleep(1)
        self.watch = Process([options.watch, folder / "watch.conf"], folder / "watch.log")
        self.wait_until_ready()

    def get(self, path):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.options.port}{path}", timeout=5) as answer:
            return answer.read().decode()

    def wait_until_ready(self):
        begin = time.time()
        while time.time() < begin + 30:
            try:
                self.get("/readyz")
                return
            except OSError:
                time.sleep(0.1)
        self.fail("the program is not ready after 30 s")

    def sample(self):
        try:
            text = self.get("/metrics")
        except OSError as error:
            self.fail(f"no metrics: {error}")
            return
        metrics = {}
        for line in text.splitlines():
            if not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                metrics[name.removeprefix("cudaccl_watch_")] = float(value)
        self.samples.append((time.time(), self.session, metrics))
        with open(self.folder / "samples.jsonl", "a", encoding="utf-8") as file:
            file.write(json.dumps(self.samples[-1]) + "\n")

    # --- Disturbances: each is a generator, which yields how many seconds it waits ---

    def lose_camera(self, i):
        begin = time.time()
        while not self.is_up(i):
            if time.time() > begin + BACK_AFTER:
                self.fail(f"c{i} did not come back in {BACK_AFTER} s")
                return
            yield 1
        how = self.random.choice(["kill", "stop", "freeze"])
        length = self.random.uniform(FOUND_AFTER + 2, FOUND_AFTER + 15)
        camera, begin = self.cameras[i], time.time()
        if how == "kill":
            camera.end()
        else:
            camera.send(signal.SIGSTOP if how == "stop" else signal.SIGUSR1)
        yield length
        if how == "kill":
            camera.start()
        else:
            camera.send(signal.SIGCONT if how == "stop" else signal.SIGUSR2)
        self.disturbed.append((begin, time.time(), f"c{i}", how))

    def is_up(self, i):
        try:
            return f'camera_up{{camera="c{i}"}} 1' in self.get("/metrics")
        except OSError:
            return False

    def lose_broker(self):
        self.broker.end(signal.SIGKILL if self.options.broker == "kill" else signal.SIGTERM)
        yield self.random.uniform(0.1, 20)
        self.broker.start()

    def lose_hook(self):
        self.hook.mode = self.random.choice(["hang", "refuse"])
        yield self.random.uniform(1, 20)
        self.hook.mode = "take"

    def reload(self):
        self.watch.send(signal.SIGHUP)
        yield 0

    def kill_watch(self):
        self.watch.end()
        self.kills.append(time.time())
        self.session += 1
        yield self.random.uniform(0, 3)
        self.watch.start()
        self.wait_until_ready()
        yield 5  # not again at once

    def get_actions(self):
        """Returns the disturbances by what they disturb."""
        steady = max(1, self.options.cameras // 4)
        return {**{("camera", i): functools.partial(self.lose_camera, i) for i in range(self.options.cameras - steady)},
                ("broker", 0): self.lose_broker, ("hook", 0): self.lose_hook, ("reload", 0): self.reload,
                ("watch", 0): self.kill_watch}

    def run(self):
        begin = time.time()
        end = begin + self.options.seconds
        actions = self.get_actions()
        free = set(actions)
        running = []  # (time, what, generator)
        next_action, next_sample = begin + 15, begin + 5
        while time.time() < end or running:
            now = time.time()
            for item in [item for item in running if item[0] <= now]:
                running.remove(item)
                try:
                    running.append((time.time() + next(item[2]), item[1], item[2]))
                except StopIteration:
                    free.add(item[1])
            if now >= next_action and now < end - 40:
                next_action = now + self.random.uniform(2, 8)
                choices = sorted(free - ({("watch", 0)} if now > begin + self.options.seconds / 2 else set()))
                what = self.random.choice(choices)
                if what[0] == "watch" and self.random.random() < 0.5:
                    continue
                free.discard(what)
                running.append((now, what, actions[what]()))
            is_killed = any(what == ("watch", 0) for _, what, _ in running)
            if now >= next_sample and not is_killed:
                next_sample = now + 5
                self.sample()
            code = self.watch.process.poll()
            if code is not None and not is_killed:
                self.fail(f"the program ended with {code}, see {self.watch.log}")
                return
            if self.subscriber.process.poll() is not None and self.broker.process.poll() is None:
                self.subscriber.start()
            time.sleep(0.05)

    def stop(self):
        """Waits until all sinks have all, and ends the program as a service manager does."""
        for camera in self.cameras:
            camera.end()
        end = time.time() + 60
        while time.time() < end:
            self.sample()
            metrics = self.samples[-1][2]
            if not any(value for name, value in metrics.items() if name.startswith("sink_pending")):
                break
            time.sleep(1)
        else:
            self.fail("lines wait for a sink a minute after everything was back")
        code = self.watch.end(signal.SIGTERM)
        if code != 0:
            self.fail(f"the program ended with {code} after SIGTERM")
        time.sleep(2)

    def kill_all(self):
        for process in [self.watch, self.subscriber, self.broker, *self.cameras]:
            process.end()
        self.hook.shutdown()

    # --- Checks ---

    def read_lines(self, name, lines):
        """Returns the events of a sink by their identity."""
        events = {}
        for line in lines:
            try:
                event = json.loads(line)
                identity = event["camera"], event["session"], event["number"]
            except (ValueError, KeyError):
                # A line that was cut when the program was killed is sent again.
                if name != "lines":
                    self.fail(f"{name}: not an event: {line[:200]}")
                continue
            if events.setdefault(identity, event) != event:
                self.fail(f"{name}: {identity} is two events")
        return events

    def read_sinks(self):
        return {"mqtt": (self.folder / "mqtt.jsonl").read_text().splitlines(),
                "lines": (self.folder / "lines.jsonl").read_text().splitlines(), "web hook": self.hook.received}

    def check_events(self):
        database = sqlite3.connect(f"file:{self.folder}/data/watch.sqlite?mode=ro", uri=True)
        rows = database.execute(
            "SELECT c.name, s.name, e.number, e.time / 1e6, e.kind, z.name, e.\"in\", e.out, e.picture, e.clip "
            "FROM events e JOIN names c ON c.number = e.camera JOIN names s ON s.number = e.session "
            "LEFT JOIN names z ON z.number = e.zone ORDER BY e.row").fetchall()
        self.events = {}
        numbers, counts = collections.defaultdict(list), {}
        for row in rows:
            if row[:3] in self.events:
                self.fail(f"database: {row[:3]} is two events")
            self.events[row[:3]] = row
            numbers[row[:2]].append(row[2])
            if row[5]:
                before = counts.get((row[0], row[5]), (0, 0))
                if row[6] < before[0] or row[7] < before[1]:
                    self.fail(f"counts of {row[0]}, {row[5]} went from {before} to {row[6:8]}")
                counts[row[0], row[5]] = row[6:8]
        for key, values in numbers.items():
            if sorted(values) != list(range(1, len(values) + 1)):
                missing = sorted(set(range(1, max(values) + 1)) - set(values))
                self.fail(f"{key}: numbers {missing[:10]} are missing of {max(values)}")
        if database.execute("SELECT 1 FROM tracks GROUP BY camera, session, number HAVING count(*) > 1").fetchall():
            self.fail("database: two tracks have the same number")
        self.report["events"] = len(rows)
        self.report["tracks"] = database.execute("SELECT count(*) FROM tracks").fetchone()[0]

        for name, lines in self.read_sinks().items():
            events = self.read_lines(name, lines)
            missing, more = self.events.keys() - events.keys(), events.keys() - self.events.keys()
            self.report[f"lines of {name}"] = f"{len(lines)} for {len(events)} events"
            if missing:
                self.fail(f"{name}: {len(missing)} of {len(self.events)} events are missing, {sorted(missing)[:5]}")
            if more:
                self.fail(f"{name}: {len(more)} events are not in the database, {sorted(more)[:5]}")
        for name, value in self.samples[-1][2].items():
            if value and ("dropped" in name or "failing" in name or name == "media_failed_total"):
                self.fail(f"{name} is {value:.0f}")

    def check_cameras(self):
        lost, back = collections.defaultdict(list), collections.defaultdict(list)
        for row in self.events.values():
            if row[4] in (7, 8):
                (lost if row[4] == 7 else back)[row[0]].append(row[3])
        delays = []
        for begin, end, camera, how in self.disturbed:
            # A killed program does not know that a camera has gone while it was away.
            if any(begin - 15 < kill < end + 5 for kill in self.kills):
                continue
            found = [time for time in lost[camera] if begin - 1 <= time <= end + 1]
            if not found:
                self.fail(f"{camera}: {how} for {end - begin:.0f} s at "
                          f"{datetime.datetime.utcfromtimestamp(begin):%H:%M:%S} was not found")
                continue
            delays.append(min(found) - begin)
            if delays[-1] > FOUND_AFTER:
                self.fail(f"{camera}: {how} was found after {delays[-1]:.1f} s")
            if begin < self.stopped < end + BACK_AFTER:
                continue
            # The next session knows that it was away, but finds it only after its own start.
            killed = any(begin < kill < end + BACK_AFTER for kill in self.kills)
            if not any(end - 1 <= time and (killed or time <= end + BACK_AFTER) for time in back[camera]):
                self.fail(f"{camera} did not come back after {how} until "
                          f"{datetime.datetime.utcfromtimestamp(end):%H:%M:%S}")
        if delays:
            self.report["losses found"] = f"{len(delays)} within {max(delays):.1f} s"

        steady = max(1, self.options.cameras // 4)
        shares = []
        for i in range(self.options.cameras - steady, self.options.cameras):
            if [time for time in lost[f"c{i}"] if time < self.stopped]:
                self.fail(f"c{i} was lost {len(lost[f'c{i}'])} times, but nothing disturbed it")
            name, late = (f'camera_{what}frames_total{{camera="c{i}"}}' for what in ("", "late_"))
            frames = seconds = 0
            by_session = collections.defaultdict(list)
            for when, session, metrics in self.samples:
                if when < self.stopped and metrics.get(name, 0) > 0:
                    by_session[session].append((when, metrics[name] + metrics.get(late, 0)))
            for values in by_session.values():
                frames += values[-1][1] - values[0][1]
                seconds += values[-1][0] - values[0][0]
            shares.append(frames / (seconds * self.options.rate) if seconds else 0)
        late = sum(value for name, value in self.samples[-1][2].items() if name.startswith("camera_late"))
        self.report["frames of undisturbed cameras"] = (
            f"{100 * min(shares):.1f} % or more, of which {late:.0f} came too late in the last session")
        if min(shares) < 0.97:
            self.fail(f"undisturbed cameras have only {100 * min(shares):.1f} % of their frames")

    def check_process(self):
        half = self.samples[0][0] + self.options.seconds / 2
        late = [(when, metrics) for when, session, metrics in self.samples
                if session == self.session and half < when < self.stopped]
        if len(late) < 6:
            self.fail("too few samples of memory")
            return
        end = self.samples[-1][2]["heap_bytes"]
        most = {name: max(metrics[f"{name}_bytes"] for _, metrics in late) / 1e6 for name in ("heap", "memory")}
        self.report["memory"] = (f"{most['heap']:.1f} MB allocated at most, {most['memory']:.1f} MB resident; "
                                 f"{end / 1e6:.1f} MB allocated when all cameras are gone")
        if end > MAX_HEAP_AT_END:
            self.fail(f"{end / 1e6:.1f} MB are allocated after the cameras have gone")
        cpu = late[-1][1]["cpu_seconds_total"] - late[0][1]["cpu_seconds_total"]
        self.report["cores"] = f"{cpu / (late[-1][0] - late[0][0]):.2f}"
        self.report["threads"] = f"{max(metrics['threads'] for _, metrics in late):.0f} at most"

    def read_clip(self, path):
        """Returns (length in seconds, frames), or an error."""
        pipeline = Gst.parse_launch("filesrc name=file ! qtdemux ! tee name=t ! queue max-size-time=0 max-size-bytes=0 "
                                    "max-size-buffers=0 ! appsink name=frames sync=false t. ! queue ! h264parse ! "
                                    "avdec_h264 max-threads=1 ! appsink name=pictures sync=false")
        pipeline.get_by_name("file").set_property("location", str(path))
        pipeline.set_state(Gst.State.PLAYING)
        error, length, decoded, encoded = None, 0, 0, 0
        pictures, frames = pipeline.get_by_name("pictures"), pipeline.get_by_name("frames")
        while True:
            sample = pictures.emit("pull-sample")
            if not sample:
                break
            decoded += 1
        while True:
            sample = frames.emit("pull-sample")
            if not sample:
                break
            buffer = sample.get_buffer()
            when = sample.get_segment().to_running_time(Gst.Format.TIME, buffer.pts) / Gst.SECOND
            if not encoded and (buffer.get_flags() & Gst.BufferFlags.DELTA_UNIT or when > 0.001):
                error = f"begins without a key frame, or at {when} s"
            encoded += 1
            length = max(length, when)
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        if message:
            error = message.parse_error()[0].message
        elif not encoded or decoded != encoded:
            error = f"{decoded} of {encoded} frames can be decoded"
        pipeline.set_state(Gst.State.NULL)
        return error, length, encoded

    def check_clips(self):
        clips = collections.defaultdict(list)
        none = 0
        for row in self.events.values():
            if row[9]:
                clips[row[9]].append(row[3])
            elif row[4] not in (1, 7, 8):
                none += 1
                if not self.was_disturbed(row[0], row[3] - PRE_ROLL, row[3]):
                    self.fail(f"{row[:3]} has no clip")
            if row[8] and not (self.folder / "data/media" / row[8]).is_file() and not self.was_killed(row[3]):
                self.fail(f"{row[8]}: no such picture")
        exact = 0
        for name, times in clips.items():
            path = self.folder / "data/media" / name
            if not path.is_file():
                # A clip that is open is on the disk up to its last key frame. With a lost camera it
                # stays open for the longest gap.
                lost = self.was_disturbed(name.split("/")[0], min(times) - PRE_ROLL, min(times) + POST_ROLL)
                if not self.was_killed(min(times), POST_ROLL + 10 if lost else 2):
                    self.fail(f"{name}: no such clip")
                continue
            error, length, frames = self.read_clip(path)
            if error:
                self.fail(f"{name}: {error}")
            camera = name.split("/")[0]
            begin, end = min(times) - PRE_ROLL, max(times) + POST_ROLL
            if self.was_disturbed(camera, begin - KEY_SECONDS, end) or end > self.stopped:
                continue
            exact += 1
            frame = 1 / self.options.rate
            if not end - begin - 1.5 * frame <= length <= end - begin + KEY_SECONDS + 1.5 * frame:
                self.fail(f"{name} has {length:.2f} s for events in {end - begin:.2f} s")
        self.report["clips"] = f"{len(clips)}, of which {exact} were not disturbed; {none} events without"
        left = [str(path) for path in (self.folder / "data/media").rglob("*.part*")]
        if left:
            self.fail(f"half-written files are left: {left[:5]}")

    def was_killed(self, when, open_for=2):
        """Whether the file of an event was not on the disk yet."""
        return any(kill - open_for < when < kill for kill in self.kills)

    def was_disturbed(self, camera, begin, end):
        """Whether the clip may be shorter."""
        starts = [*self.kills, self.started]
        return (any(begin - 15 < kill < end + 5 for kill in starts)
                or any(name == camera and first - 2 < end and last + 20 > begin
                       for first, last, name, _ in self.disturbed))

    def check(self):
        self.check_events()
        self.check_cameras()
        self.check_process()
        self.check_clips()

    def main(self):
        self.report = {}
        self.start()
        try:
            self.started = time.time()
            self.run()
            self.stopped = time.time()
            self.report["seconds"] = f"{self.stopped - self.started:.0f}"
            how = collections.Counter(item[3] for item in self.disturbed)
            self.report["disturbances"] = ", ".join([*(f"{n} {name}" for name, n in how.items()),
                                                     f"{len(self.kills)} of the program"])
            if self.watch.process.poll() is None:
                self.stop()
        finally:
            self.kill_all()
        self.check()
        for name, value in self.report.items():
            print(f"{name}: {value}")


def parse_options(text, **more):
    """Options of @more take an integer, and have a default."""
    parser = argparse.ArgumentParser(description=text, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     usage=argparse.SUPPRESS)
    parser.add_argument("files", nargs="*")
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--cameras", default=8, type=int)
    parser.add_argument("--rate", default=10, type=int)
    parser.add_argument("--width", default=480, type=int)
    parser.add_argument("--seed", default=random.SystemRandom().randrange(1 << 31), type=int)
    parser.add_argument("--broker", default="term", choices=["term", "kill"])
    parser.add_argument("--data", type=pathlib.Path)
    for name, value in more.items():
        parser.add_argument(f"--{name}", default=value, type=int)
    options = parser.parse_args()
    options.build = options.build.resolve()
    options.watch = options.build / "apps/watch/cudaccl-watch"
    options.camera = options.build / "tests/soak/rtsp-camera"
    options.port = free_port()
    return options


def find_missing(options):
    return next((program for program in (options.watch, options.camera, "/usr/sbin/mosquitto")
                 if not os.access(program, os.X_OK)), None)


def find_recording():
    return subprocess.run([ROOT / "scripts/find-recording.sh"], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()


def run(kind, options):
    os.environ["GST_PLUGIN_PATH_1_0"] = ":".join(str(options.build / "gst" / name) for name in ("analysis", "tools"))
    Gst.init(None)
    options.files = options.files or [find_recording()]
    folder = options.data or pathlib.Path(tempfile.mkdtemp(prefix="watch-soak-"))
    folder.mkdir(parents=True, exist_ok=True)
    print(f"seed {options.seed}, {options.cameras} cameras, data in {folder}", flush=True)
    soak = kind(options, folder)
    soak.main()
    print(f"{len(soak.failures)} failures")
    if not soak.failures and not options.data:
        shutil.rmtree(folder)
    return 1 if soak.failures else 0


def main():
    options = parse_options(__doc__, seconds=600)
    missing = find_missing(options)
    if missing:
        print(f"{missing} is missing")
        return 77
    return run(Soak, options)


if __name__ == "__main__":
    sys.exit(main())
