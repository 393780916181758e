#!/usr/bin/env python3
# cudaccl - cudaccl-watch under attack, with cameras, brokers and PostgreSQL that come and go
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs cudaccl-watch as watch.py does, without killing it, while attack.py attacks it, people look at
it, and Mosquitto, Kafka, PostgreSQL and cudaccl-collect are killed and come back. Checks that

- no event is lost: each is once in the database, and at MQTT, the web hook, the file of lines and in PostgreSQL;
- MQTT has 99 of 100 events of a steady camera within 100 ms of their frame, unless the broker is away;
- memory stays flat to 5 % (from 20 minutes on: medians of sixths of the time, after the first);
- `--healthy` is true throughout, and each client with the token is answered within 2 s, with valid JSON;
- no other machine sees a camera's password, and what attack.py asks for is refused.

  tests/soak/siege.py [OPTION...] [FILE...]

FILE            recordings; default: the sample recording
--minutes N     default: 3
--build FOLDER, --cameras N, --rate N, --width N, --seed N, --broker NAME, --data FOLDER
                as of watch.py

As root, it runs in a network of its own, where attacks come from many addresses other than localhost.
Exit status 77 if a program is missing."""

import collections
import hashlib
import http.client
import json
import os
import pathlib
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "tests/soak"), str(ROOT / "tests/watch")]
import fleetlib  # noqa: E402
import watch  # noqa: E402

TOKEN, ONVIF = "0123456789abcdef-siege", ("siege", "a-long-password")
MAX_LATENCY, MAX_ANSWER, MAX_GROWTH = 0.1, 2, 0.05
FLAT_FROM = 20  # minutes
CLOCKS = 2
INSIDE = "CUDACCL_SIEGE_NETWORK"  # set in the network of its own


def enter_network(options):
    """Goes on in a network of its own, if that is allowed, where all addresses are of lo."""
    if os.environ.get(INSIDE) or os.getuid() or subprocess.run(["unshare", "-n", "true"], check=False).returncode:
        return
    found = [] if options.files else [watch.find_recording()]  # from the network outside
    commands = ("ip link set lo up multicast on && ip route add local 10.76.0.0/15 dev lo && "
                f"ip route add 224.0.0.0/4 dev lo && {INSIDE}=1 exec \"$@\"")
    os.execvp("unshare", ["unshare", "-n", "sh", "-c", commands, "sh", sys.executable, *sys.argv, *found])


def percentile(values, share):
    values = sorted(values)
    return values[min(int(len(values) * share), len(values) - 1)] if values else float("nan")


class Siege(watch.Soak):
    FORMAT = "%U %p"

    # --- Programs ---

    def make_settings(self):
        options, folder = self.options, self.folder
        inside = bool(os.environ.get(INSIDE))
        self.owners = ["127.0.0.1", "10.76.0.9"] if inside else ["127.0.0.1", "127.76.0.9"]
        self.token = folder / "token"
        self.token.write_text(TOKEN)
        (folder / "onvif.txt").write_text(":".join(ONVIF))
        for name in ("token", "onvif.txt"):
            (folder / name).chmod(0o600)
        options.rtsp = watch.free_port()
        world = {"server": "10.76.0.1" if inside else "127.0.0.1", "network": "10.77" if inside else "127.77",
                 "group": "239.255.255.250" if inside else None, "port": options.port, "rtsp": options.rtsp,
                 "token": TOKEN, "seed": options.seed, "camera": "evil"}
        (folder / "world.json").write_text(json.dumps(world))
        self.attack = subprocess.Popen([sys.executable, ROOT / "tests/soak/attack.py", folder / "world.json"],
                                       stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        evil = self.attack.stdout.readline().strip()
        self.kafka = fleetlib.Kafka(options.build / "pipelines/kafka-mock", "siege")
        self.postgres = fleetlib.Postgres()
        (folder / "collect.conf").write_text(
            f"[collect]\ndatabase = {self.postgres.address}\ndays = 0\n[kafka]\nbrokers = {self.kafka.address}\n"
            "topic = siege\n[server]\nlisten = 127.0.0.1:0\n")
        self.start_collect()
        clocks = "".join(f"[camera clock{i}]\nuri=test://\nzones=left:0,0 0.5,0 0.5,1 0,1\n"
                         "tripwires=line:0.5,0 0.5,1\n" for i in range(CLOCKS))
        return (f"[server]\nlisten={'0.0.0.0' if inside else '127.0.0.1'}:{options.port}\ntoken-file={self.token}\n"
                f"[onvif]\ncredentials={folder}/onvif.txt\nrtsp-port={options.rtsp}\n"
                f"[kafka]\nbrokers={self.kafka.address}\ntopic=siege\n{clocks}[camera evil]\nuri={evil}\n")

    def start_collect(self):
        self.collect = fleetlib.Program(self.options.build / "apps/collect/cudaccl-collect", self.folder / "collect.conf",
                                        stderr=open(self.folder / "collect.log", "ab"))

    def get(self, path, method="GET"):
        request = urllib.request.Request(f"http://127.0.0.1:{self.options.port}{path}", method=method,
                                         headers={"Authorization": f"Bearer {TOKEN}"})
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.read().decode()

    # --- Disturbances ---

    def get_actions(self):
        actions = super().get_actions()
        del actions["watch", 0]
        return {**actions, ("kafka", 0): self.lose_kafka, ("postgres", 0): self.lose_postgres,
                ("collect", 0): self.lose_collect}

    def note(self, what):
        self.lost[what] += 1

    def lose_broker(self):
        begin = time.time()
        yield from super().lose_broker()
        while not self.has_mqtt():
            yield 0.5
        self.away.append((begin - 1, time.time() + 3))
        self.note("Mosquitto")

    def has_mqtt(self):
        """Whether MQTT has all, so that events are sent at once again."""
        try:
            metrics = self.get("/metrics")
        except (OSError, http.client.HTTPException):
            return False
        up = re.search(r'sink_up\{sink="mqtt[^}]*\} (\d)', metrics)
        pending = re.search(r'sink_pending\{sink="mqtt[^}]*\} (\d+)', metrics)
        return bool(up and pending) and (up[1], pending[1]) == ("1", "0")

    def lose_kafka(self):
        self.kafka.say("down")
        yield self.random.uniform(1, 20)
        self.kafka.say("up")
        self.note("Kafka")

    def lose_postgres(self):
        self.postgres.stop()
        yield self.random.uniform(0.1, 20)
        self.postgres.start()
        self.note("PostgreSQL")

    def lose_collect(self):
        self.collect.stop(signal.SIGKILL)
        yield self.random.uniform(0.1, 10)
        self.start_collect()
        self.note("cudaccl-collect")

    # --- Those who must not be disturbed, each in a thread ---

    def repeat(self, pause, what, *arguments):
        while not self.over.wait(pause):
            try:
                what(*arguments)
            except (OSError, http.client.HTTPException, ValueError) as error:
                self.trouble[f"{what.__name__}: {type(error).__name__} {error}"[:200]] += 1

    def ask_as_owner(self, source):
        path = next(self.paths)
        begin = time.monotonic()
        client = http.client.HTTPConnection("127.0.0.1", self.options.port, timeout=20, source_address=(source, 0))
        try:
            client.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
            answer = client.getresponse()
            body = answer.read()
        finally:
            self.answers[source].append(time.monotonic() - begin)
            client.close()
        if answer.status != 200:
            self.trouble[f"{path} from {source}: {answer.status} {body[:80]}"] += 1
        elif path.startswith("/api/"):
            json.loads(body)

    def ask_rtsp(self):
        """DESCRIBE with digest, as a video management system does."""
        uri = f"rtsp://127.0.0.1:{self.options.rtsp}/clock0"

        def ask(number, more=""):
            client.sendall(f"DESCRIBE {uri} RTSP/1.0\r\nCSeq: {number}\r\n{more}\r\n".encode())
            text = b""
            while b"\r\n\r\n" not in text:
                piece = client.recv(65536)
                if not piece:
                    raise OSError("RTSP: closed")
                text += piece
            return text.decode(errors="replace")

        begin = time.monotonic()
        try:
            with socket.create_connection(("127.0.0.1", self.options.rtsp), 20) as client:
                challenge = dict(re.findall(r'(\w+)="([^"]*)"', ask(1)))
                first, second = (hashlib.md5(text.encode()).hexdigest() for text in
                                 (f"{ONVIF[0]}:{challenge['realm']}:{ONVIF[1]}", f"DESCRIBE:{uri}"))
                response = hashlib.md5(f"{first}:{challenge['nonce']}:{second}".encode()).hexdigest()
                answer = ask(2, f'Authorization: Digest username="{ONVIF[0]}", realm="{challenge["realm"]}", '
                                f'nonce="{challenge["nonce"]}", uri="{uri}", response="{response}"\r\n')
                if " 200 " not in answer.splitlines()[0]:
                    self.trouble[f"RTSP: {answer.splitlines()[0]}"] += 1
        except KeyError as error:
            raise ValueError(f"RTSP: no challenge, {error}") from error
        finally:
            self.answers["RTSP"].append(time.monotonic() - begin)

    def ask_health(self):
        begin = time.monotonic()
        done = subprocess.run([self.options.watch, "--healthy", self.folder / "watch.conf"], text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=60)
        self.answers["--healthy"].append(time.monotonic() - begin)
        if done.returncode:
            self.unhealthy.append(f"{time.strftime('%H:%M:%S')} {done.stdout.strip()[:200]}")

    def view(self, path, reads):
        """Looks for a while; a slow viewer reads little at a time."""
        client = http.client.HTTPConnection("127.0.0.1", self.options.port, timeout=30, source_address=(self.owners[1], 0))
        try:
            client.request("GET", path, headers={"Authorization": f"Bearer {TOKEN}"})
            answer = client.getresponse()
            if answer.status != 200:
                self.trouble[f"{path}: {answer.status}"] += 1
                return
            end = time.monotonic() + self.random.uniform(3, 15)
            while time.monotonic() < end and not self.over.is_set():
                self.viewed += len(answer.read1(reads))
                if reads < 1000:
                    time.sleep(0.05)
        finally:
            client.close()

    def begin(self):
        self.over = threading.Event()
        self.answers = collections.defaultdict(list)
        self.trouble, self.lost = collections.Counter(), collections.Counter()
        self.unhealthy, self.away = [], []
        self.viewed = 0
        paths = ("/api/cameras", "/api/events?limit=20", "/api/status", "/metrics", "/", "/api/tracks?limit=5")
        self.paths = (path for _ in iter(int, 1) for path in paths)
        who = [(0.3, self.ask_as_owner, source) for source in self.owners[:1]]
        others = [(0.7, self.ask_twice, self.owners[1]), (2, self.ask_rtsp), (3, self.ask_health)]
        viewers = [(1, self.view, "/api/cameras/c0/live", 65536), (1, self.view, "/api/live?cameras=c0,c1,clock0", 65536),
                   (1, self.view, "/api/cameras/clock1/live?rate=10", 500), (1, self.view, "/api/events/stream", 65536)]
        self.threads = [threading.Thread(target=self.repeat, args=one, daemon=True) for one in (*who, *others, *viewers)]
        for thread in self.threads:
            thread.start()
        self.attack.stdin.write("\n")
        self.attack.stdin.flush()

    def ask_twice(self, source):
        """Two clients of one machine."""
        self.ask_as_owner(source)
        self.ask_as_owner(source)

    def end(self):
        self.attack.stdin.close()
        try:
            self.attacked = json.loads(self.attack.stdout.read() or "{}")
            self.attack.wait(10)
        finally:
            self.over.set()
            for thread in self.threads:
                thread.join(30)

    def run(self):
        self.begin()
        super().run()
        self.end()

    def stop(self):
        # Their events while the program ends would wait for its next start.
        for name in ["evil", *(f"clock{i}" for i in range(CLOCKS))]:
            self.get(f"/api/cameras/{name}", "DELETE")
        try:
            super().stop()
        except subprocess.TimeoutExpired:
            with open(self.folder / "stacks", "wb") as stacks:
                subprocess.run(["gdb", "-p", str(self.watch.process.pid), "-batch", "-ex", "thread apply all bt"],
                               stdout=stacks, stderr=subprocess.STDOUT, check=False)
            self.fail("the program does not end after SIGTERM, see `stacks`")
        n = sum(1 for _ in open(self.folder / "lines.jsonl", "rb"))
        try:
            fleetlib.wait_for(lambda: self.collect.get("/api/fleet")["events"] >= n, 60)
        except (AssertionError, OSError):
            pass  # read_sinks() tells what is missing

    def kill_all(self):
        if self.attack.poll() is None:
            self.attack.kill()
        super().kill_all()
        if self.collect.process.poll() is None:
            self.collect.stop(signal.SIGKILL)
        self.rows = self.postgres_rows()
        self.kafka.stop()
        self.postgres.remove()

    def postgres_rows(self):
        if self.postgres.process.poll() is not None:
            self.postgres.start()
        done = subprocess.run(["psql", "-qAt", self.postgres.address, "-c", "SELECT line FROM events"], text=True,
                              stdout=subprocess.PIPE, check=False)
        return done.stdout.splitlines()

    # --- Checks ---

    def read_sinks(self):
        sinks = super().read_sinks()
        self.arrivals = [line.split(" ", 1) for line in sinks["mqtt"]]
        return {**sinks, "mqtt": [line for _, line in self.arrivals], "PostgreSQL": self.rows}

    def check_latency(self):
        delays, seen, left_out = [], set(), 0
        for arrival, line in self.arrivals:
            event = json.loads(line)
            key = event["camera"], event["session"], event["number"]
            if key in seen or not event["camera"].startswith("clock"):
                continue
            seen.add(key)
            when = watch.datetime.datetime.fromisoformat(event["utc"].replace("Z", "+00:00")).timestamp()
            if any(begin < when < end for begin, end in self.away):
                left_out += 1
            else:
                delays.append(float(arrival) - when)
        if not delays:
            self.fail("no event of a steady camera reached MQTT")
            return
        p50, p99, worst = (percentile(delays, share) for share in (0.5, 0.99, 1))
        self.report["frame to MQTT"] = (f"p50 {p50 * 1000:.1f} ms, p99 {p99 * 1000:.1f} ms, max {worst * 1000:.0f} ms, of "
                                        f"{len(delays)} events; {left_out} while the broker was away")
        if p99 > MAX_LATENCY:
            self.fail(f"99 of 100 events are at MQTT within {p99 * 1000:.0f} ms")

    def check_answers(self):
        for name, times in sorted(self.answers.items()):
            self.report[f"answers, {name}"] = (f"p50 {percentile(times, 0.5) * 1000:.0f} ms, "
                                               f"p99 {percentile(times, 0.99) * 1000:.0f} ms, max {max(times):.2f} s, of {len(times)}")
            if max(times) > MAX_ANSWER:
                self.fail(f"{name} waited up to {max(times):.1f} s, {sum(one > MAX_ANSWER for one in times)} times of "
                          f"{len(times)} more than {MAX_ANSWER} s")
        for text, n in self.trouble.most_common(20):
            self.fail(f"{n} times: {text}")
        self.report["--healthy"] = f"false {len(self.unhealthy)} times of {len(self.answers['--healthy'])}"
        if self.unhealthy:
            self.fail(f"--healthy was false {len(self.unhealthy)} times: {self.unhealthy[:3]}")
        self.report["viewed"] = f"{self.viewed / 1e6:.0f} MB"

    def check_memory(self):
        minutes = self.options.seconds / 60
        for name in ("memory", "heap"):
            windows = collections.defaultdict(list)
            for when, _, metrics in self.samples:
                if when < self.stopped:
                    windows[min(int(6 * (when - self.started) / self.options.seconds), 5)].append(metrics[f"{name}_bytes"] / 1e6)
            medians = [statistics.median(windows[i]) for i in sorted(windows)]
            growth = max(medians[2:], default=0) / medians[1] - 1 if len(medians) > 2 else float("nan")
            self.report[f"{name}, MB, by sixths"] = f"{', '.join(f'{one:.0f}' for one in medians)}: {100 * growth:+.1f} %"
            if minutes >= FLAT_FROM and growth > MAX_GROWTH:
                self.fail(f"{name} grew by {100 * growth:.1f} %")

    def check_attacks(self):
        for name, outcomes in sorted(self.attacked.get("done", {}).items()):
            self.report[f"attack {name}"] = ", ".join(f"{n} {outcome}" for outcome, n in sorted(outcomes.items()))
        for text, n in self.attacked.get("failures", {}).items():
            self.fail(f"{n} times: {text}")
        if not self.attacked:
            self.fail("attack.py ended early")
        self.report["disturbances"] += "".join(f", {n} of {name}" for name, n in self.lost.items())

    def check_clips(self):
        self.check_latency()
        self.check_answers()
        self.check_memory()
        self.check_attacks()


def main():
    options = watch.parse_options(__doc__, minutes=3)
    options.seconds = 60 * options.minutes
    missing = watch.find_missing(options)
    if not missing and (not fleetlib.find_postgres() or not shutil.which("psql")):
        missing = "PostgreSQL"
    for program in ("apps/collect/cudaccl-collect", "pipelines/kafka-mock"):
        missing = missing or (not os.access(options.build / program, os.X_OK) and program)
    if missing:
        print(f"{missing} is missing")
        return 77
    enter_network(options)
    return watch.run(Siege, options)


if __name__ == "__main__":
    sys.exit(main())
