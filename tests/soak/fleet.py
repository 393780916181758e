#!/usr/bin/env python3
"""Simulates a fleet: programs that share cameras without video, a broker, PostgreSQL and cudaccl-collect.

    fleet.py [--build FOLDER] [--cameras 1000] [--programs 20] [--seconds 120] [--seed N]

Kills programs at random and starts them again, as Kubernetes does; kills cudaccl-collect and PostgreSQL, takes the broker
away, adds and removes a program, and sends wrong lines. Then compares what the programs committed with what is in
PostgreSQL, and reports how long cameras were away. Fails if an event is lost or there twice, or a camera of a killed
program was away for more than 10 seconds. Needs PostgreSQL and librdkafka's mock; returns 77 without."""

import argparse
import collections
import pathlib
import random
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/watch"))
import fleetlib

BACK_AFTER = 10  # seconds
HOSTILE = 10  # lines at each kill
RESTART_AFTER = 1.0  # seconds: as a kubelet, roughly


class Member:
    """A program with a database and settings of its own, restarted when it dies."""

    def __init__(self, fleet, index):
        self.fleet, self.index = fleet, index
        self.folder = fleet.folder / f"program-{index}"
        self.folder.mkdir()
        self.restart_at = None
        self.process = None
        self.configure(fleet.count)
        self.start()

    def configure(self, count):
        """Replaces the file of settings, as a ConfigMap's."""
        path = self.folder / "watch.conf"
        part = self.folder / "watch.part"
        part.write_text(f"[watch]\ndata = data\nshare = {self.index}/{count}\n[kafka]\nbrokers = {self.fleet.kafka.address}\n"
                        f"topic = fleet\n" + self.fleet.cameras_text)
        part.rename(path)

    def start(self):
        self.restart_at = None
        with open(self.folder / "log", "a") as log:
            self.process = subprocess.Popen(
                [self.fleet.options.build / "tests/soak/fleet-program", self.folder / "watch.conf",
                 str(self.fleet.options.interval), self.folder / "ledger"], stdout=log, stderr=log)

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.restart_at = time.time() + RESTART_AFTER

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()


class Fleet:
    def __init__(self, options, folder):
        self.options, self.folder = options, folder
        self.random = random.Random(options.seed)
        self.count = options.programs
        self.names = [f"camera-{i}" for i in range(options.cameras)]
        self.cameras_text = "".join(f"[camera {name}]\nuri = test://\n" for name in self.names)
        self.failures, self.report, self.kills = [], {}, []
        self.senders = []  # of hostile lines
        self.kafka = fleetlib.Kafka(options.build / "pipelines/kafka-mock", "fleet")
        self.postgres = fleetlib.Postgres()
        self.settings = folder / "collect.conf"
        self.settings.write_text(f"[collect]\ndatabase = {self.postgres.address}\n[kafka]\nbrokers = {self.kafka.address}\n"
                                 "topic = fleet\n[server]\nlisten = 127.0.0.1:0\n")
        self.collect = None
        self.start_collect()
        self.members = [Member(self, i) for i in range(self.count)]
        self.disturbed = collections.Counter()
        self.moved_at = []

    def fail(self, text):
        print(f"FAIL: {text}", flush=True)
        self.failures.append(text)

    def start_collect(self):
        self.collect = fleetlib.Program(self.options.build / "apps/collect/cudaccl-collect", self.settings,
                                        stderr=open(self.folder / "collect.log", "a"))

    def get_fleet(self):
        try:
            return self.collect.get("/api/fleet")
        except OSError:
            return {"cameras": [], "programs": [], "events": -1, "missing": -1}

    def wait(self, seconds):
        """Restarts what has died, until the time has passed."""
        end = time.time() + seconds
        while time.time() < end:
            for member in self.members:
                if member.restart_at and time.time() >= member.restart_at:
                    member.start()
                elif not member.restart_at and member.process.poll() is not None:
                    self.fail(f"program {member.index} ended with {member.process.returncode}")
                    member.restart_at = time.time() + RESTART_AFTER
            time.sleep(0.05)

    def scale(self, count):
        """A program more is started before, and one less ends after the others know."""
        self.count = count
        self.moved_at.append(time.time())
        if count > len(self.members):
            self.members.append(Member(self, count - 1))
        for member in self.members:
            if member.index < count:
                member.configure(count)
        if count < len(self.members):
            self.wait(1)
            self.members[-1].stop()
            self.members[-1].process.wait(20)
            self.gone.append(self.members.pop())

    def send_hostile(self):
        """Puts wrong lines among the events; while the broker is away they wait."""
        sender = subprocess.Popen([self.options.build / "apps/send-lines/send-lines", f"kafka://{self.kafka.address}/fleet"],
                                  stdin=subprocess.PIPE)
        sender.stdin.write(b"".join(line + b"\n" for line in fleetlib.make_hostile(self.random, HOSTILE)))
        sender.stdin.close()
        self.senders.append(sender)

    def run(self):
        self.gone = []
        end = time.time() + self.options.seconds
        disturb = ["collect", "postgres", "broker", "more", "fewer"]
        times = [time.time() + self.options.seconds * (i + 1) / (len(disturb) + 1) for i in range(len(disturb))]
        while time.time() < end:
            self.wait(self.random.uniform(1, 3))
            if times and time.time() >= times[0]:
                times.pop(0)
                self.disturb(disturb.pop(0))
            member = self.random.choice([one for one in self.members if not one.restart_at])
            self.kills.append((time.time(), member.index))
            member.kill()
            self.disturbed["programs killed"] += 1
            self.send_hostile()
        self.wait(BACK_AFTER)

    def disturb(self, what):
        self.disturbed[what] += 1
        if what == "collect":
            self.collect.stop(signal.SIGKILL)
            self.wait(1)
            self.start_collect()
        elif what == "postgres":
            self.postgres.stop()
            self.wait(3)
            self.postgres.start()
        elif what == "broker":
            self.kafka.say("down")
            self.wait(5)
            self.kafka.say("up")
        else:
            self.scale(self.options.programs + (what == "more"))

    def finish(self):
        """Waits until nothing is on the way, and stops all."""
        for sender in self.senders:
            sender.wait(60)
        end = time.time() + 60  # cudaccl-collect may have been away for long
        while len((fleet := self.get_fleet())["cameras"]) < len(self.names) and time.time() < end:
            self.wait(1)
        if len(fleet["cameras"]) != len(self.names) or any(one["state"] != "running" for one in fleet["cameras"]):
            self.fail(f"{len(fleet['cameras'])} cameras are on the page, of {len(self.names)}")
        self.report["programs on the page"] = str(len(fleet["programs"]))
        cpu = sum(float(value) for pid in [member.process.pid for member in self.members]
                  for value in pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[11:13])
        self.report["CPU of the programs, s"] = f"{cpu / 100:.1f} since their last starts"
        for member in self.members:
            member.stop()
        for member in self.members:
            if member.process.wait(30) != 0:
                self.fail(f"program {member.index} ended with {member.process.returncode}")
        self.ledger = {}
        for member in self.members + self.gone:
            for line in (member.folder / "ledger").read_text().splitlines():
                camera, session, number, when = line.split()
                key = camera, session, int(number)
                if key in self.ledger:
                    self.fail(f"{key} is two events")
                self.ledger[key] = int(when) / 1e6, member.index
        before, stuck = -1, time.time()
        while True:
            events = self.get_fleet()["events"]
            if events >= len(self.ledger) and events == before:
                break
            if events == before and time.time() > stuck + 60:
                break
            if events != before:
                stuck = time.time()
            before = events
            time.sleep(1)

    def check(self):
        rows = subprocess.run(["psql", "-qAt", "-F", " ", self.postgres.address, "-c",
                               "SELECT camera, session, number, (extract(epoch FROM utc) * 1000)::bigint FROM events"],
                              check=True, text=True, stdout=subprocess.PIPE).stdout.splitlines()
        stored = {}
        size = int(subprocess.run(["psql", "-qAt", self.postgres.address, "-c", "SELECT pg_total_relation_size('events')"],
                                  check=True, text=True, stdout=subprocess.PIPE).stdout)
        self.report["bytes an event, with indexes"] = f"{size / max(len(rows), 1):.0f}"
        for row in rows:
            camera, session, number, when = row.split()
            key = camera, session, int(number)
            if key in stored:
                self.fail(f"PostgreSQL has {key} twice")
            stored[key] = int(when)
        told = set()
        for one in self.collect.get("/api/missing")["missing"]:
            for first, last in one["numbers"]:
                told.update((one["camera"], one["session"], number) for number in range(first, last + 1))
        lost = self.ledger.keys() - stored.keys()
        if lost - told:
            self.fail(f"{len(lost - told)} events were lost and not told, {sorted(lost - told)[:3]}")
        wrong = [key for key, when in stored.items()
                 if key in self.ledger and abs(self.ledger[key][0] * 1000 - when) > 1]
        if wrong:
            self.fail(f"{len(wrong)} events are others than those of their number, {wrong[:3]}")
        status = self.collect.get("/api/status")
        self.report["events committed"] = f"{len(self.ledger)}"
        self.report["in PostgreSQL"] = (f"{len(stored)}: all but {len(lost)}, of which {len(lost & told)} were told; "
                                        f"{len(stored.keys() - self.ledger.keys())} were not in the ledger yet when a program was killed")
        self.report["lines that came again, since the last start"] = str(status["again"])
        hostile = HOSTILE * len(self.senders)
        self.report["wrong lines"] = f"{hostile} sent, {status['refused']} refused since the last start"
        if not 0 < status["refused"] <= hostile:
            self.fail(f"{status['refused']} lines were refused, of {hostile} wrong ones")
        answers = []
        for _ in range(20):
            begin = time.time()
            self.collect.get("/api/fleet")
            answers.append(1000 * (time.time() - begin))
        memory = pathlib.Path(f"/proc/{self.collect.process.pid}/status").read_text().split("VmHWM:")[1].split()[0]
        self.report["/api/fleet, ms"] = f"median {statistics.median(answers):.0f}, at most {max(answers):.0f}"
        self.report["memory of cudaccl-collect, MB"] = f"at most {int(memory) / 1024:.0f}"

    def check_recovery(self):
        # Spans in which a program had the camera: it may have moved away and back in the same session.
        sessions = collections.defaultdict(list)  # by camera: first and last event, and the program
        pause = 4 * self.options.interval / 1000
        current = {}
        for (camera, session, _), (when, index) in sorted(self.ledger.items(), key=lambda item: item[1]):
            span = current.get((camera, session))
            if not span or when - span[1] > pause:
                span = current[camera, session] = [when, when, index]
                sessions[camera].append(span)
            span[1] = when
        away = []
        for when, index in self.kills:
            for camera, found in sessions.items():
                # The camera was there when it was killed, or would soon have been.
                if not any(one[2] == index and one[0] < when and when - pause < one[1] <= when for one in found):
                    continue
                back = [first for first, last, _ in found if last > when]
                if not back:
                    self.fail(f"{camera} did not come back")
                    continue
                away.append(min(max(first, when) for first in back) - when)
        if not away or max(away) > BACK_AFTER:
            self.fail(f"cameras were away for up to {max(away, default=-1):.1f} s")
        self.report["cameras away after a kill, s"] = (
            f"mean {statistics.mean(away):.1f}, at most {max(away):.1f}, of {len(away)}")
        both = 0.0
        for found in sessions.values():
            found.sort()
            for one, other in zip(found, found[1:]):
                both = max(both, min(one[1], other[1]) - other[0])
        self.report["watched by two programs after scaling, s"] = f"at most {max(both, 0):.1f}"
        if both > 5:
            self.fail(f"a camera had two programs for {both:.1f} s")

    def main(self):
        start = time.time()
        try:
            while len(self.get_fleet()["cameras"]) < len(self.names):
                if time.time() > start + 60:
                    self.fail("not all cameras come up")
                    return
                self.wait(0.5)
            self.report["all cameras on the page after, s"] = f"{time.time() - start:.1f}"
            self.run()
            self.finish()
            self.check()
            self.check_recovery()
        finally:
            for member in self.members:
                if member.process.poll() is None:
                    member.process.kill()
                    member.process.wait()
            if self.collect.process.poll() is None:
                self.collect.stop()
            self.kafka.stop()
            self.postgres.remove()
        self.report["disturbances"] = ", ".join(f"{name}: {n}" for name, n in self.disturbed.items())
        for name, value in self.report.items():
            print(f"{name}: {value}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=ROOT / "build", type=pathlib.Path)
    parser.add_argument("--cameras", default=1000, type=int)
    parser.add_argument("--programs", default=20, type=int)
    parser.add_argument("--seconds", default=120, type=int)
    parser.add_argument("--interval", default=2000, type=int, help="of a camera's events, in milliseconds")
    parser.add_argument("--seed", default=random.SystemRandom().randrange(1 << 31), type=int)
    options = parser.parse_args()
    options.build = options.build.resolve()
    if not fleetlib.find_postgres() or not shutil.which("psql"):
        print("SKIP: postgresql is not installed")
        return 77
    folder = pathlib.Path(tempfile.mkdtemp(prefix="fleet-"))
    print(f"seed {options.seed}, {options.cameras} cameras, {options.programs} programs, data in {folder}", flush=True)
    fleet = Fleet(options, folder)
    fleet.main()
    print(f"{len(fleet.failures)} failures")
    if not fleet.failures:
        shutil.rmtree(folder)
    return 1 if fleet.failures else 0


if __name__ == "__main__":
    sys.exit(main())
