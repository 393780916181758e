#!/usr/bin/env python3
"""Tests cudaccl-collect with PostgreSQL and librdkafka's mock broker:

  collect.py COLLECT MOCK SEND-LINES [TEST…|--pictures FOLDER]

--pictures saves what the page of a fleet looks like, as page.py does."""

import datetime

import json
import os
import pathlib
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
import uuid

import fleetlib

try:
    from selenium.webdriver.common.by import By

    from pagelib import CHROMIUM, DRIVER, browser, save_picture
    HAVE_BROWSER = CHROMIUM and DRIVER
except ImportError:
    HAVE_BROWSER = False

COLLECT, MOCK, SEND = sys.argv[1:4]
del sys.argv[1:4]
if not fleetlib.find_postgres():
    print("SKIP: postgresql is not installed")
    sys.exit(77)

TIME = "2026-01-31T12:00:00.250Z"  # of an event of second 0
SESSIONS = [str(uuid.UUID(int=i + 1)) for i in range(3)]


def event(camera, number, session=0, second=0, **more):
    return json.dumps({"camera": camera, "session": SESSIONS[session], "number": number,
                       "utc": f"2026-01-31T12:{second // 60:02}:{second % 60:02}.250Z", "event": "in", **more})


def status(program, cameras, utc="2026-01-31T12:00:00.000Z", **more):
    return json.dumps({"program": program, "utc": utc, "pending": 0, "dropped": 0, **more,
                       "cameras": [{"camera": name, "state": state, "since": utc, "rate": 30, "objects": 1}
                                   for name, state in cameras.items()]})


class Collect(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.postgres = fleetlib.Postgres()
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="collect-"))

    @classmethod
    def tearDownClass(cls):
        cls.postgres.remove()
        shutil.rmtree(cls.folder)

    def setUp(self):
        subprocess.run(["psql", "-q", self.postgres.address, "-c", "DROP TABLE IF EXISTS events, sessions, programs"],
                       check=True, stderr=subprocess.DEVNULL)
        self.kafka = fleetlib.Kafka(MOCK, "things")
        self.settings = self.folder / "collect.conf"
        self.settings.write_text(f"[collect]\ndatabase = {self.postgres.address}\ndays = 0\n"
                                 f"[kafka]\nbrokers = {self.kafka.address}\ntopic = things\n"
                                 "[server]\nlisten = 127.0.0.1:0\n")
        self.program = self.start()

    def tearDown(self):
        if self.program.process.poll() is None:
            self.assertEqual(self.program.stop(), 0)
        self.kafka.stop()

    def start(self):
        program = fleetlib.Program(COLLECT, self.settings)
        fleetlib.wait_for(lambda: program.get("/api/status").get("text") is None)
        return program

    def send(self, lines, topic="things"):
        subprocess.run([SEND, f"kafka://{self.kafka.address}/{topic}"], input="".join(f"{line}\n" for line in lines),
                       text=True, check=True, timeout=60)

    def send_bytes(self, lines):
        subprocess.run([SEND, f"kafka://{self.kafka.address}/things"], input=b"".join(line + b"\n" for line in lines), check=True,
                       timeout=60)

    def wait_stored(self, n):
        fleetlib.wait_for(lambda: self.program.get("/api/status")["stored"] == n, 30 + n / 200)

    def count_events(self):
        try:
            return self.program.get("/api/fleet")["events"]
        except urllib.error.HTTPError:
            return -1

    def is_ready(self):
        try:
            return "ready" in self.program.ask("/readyz")
        except urllib.error.HTTPError:
            return False

    def get_error(self, path):
        with self.assertRaises(urllib.error.HTTPError) as caught:
            self.program.ask(path)
        return caught.exception.code, json.load(caught.exception)["error"]

    def test_events(self):
        self.send([event("yard", i, second=i, zone="gate") for i in range(1, 151)])
        self.send([event("door", 1, second=200, event="lost", text="gone \u20ac")])
        self.wait_stored(151)
        answer = self.program.get("/api/events?limit=100")
        self.assertEqual([e["number"] for e in answer["events"]], [1, *range(150, 51, -1)])
        self.assertEqual(answer["events"][0]["text"], "gone \u20ac")
        rest = self.program.get(f"/api/events?limit=100&before={answer['next']}")
        self.assertEqual([e["number"] for e in rest["events"]], [*range(51, 0, -1)])
        self.assertIsNone(rest["next"])
        self.assertEqual(len(self.program.get("/api/events?camera=door")["events"]), 1)
        self.assertEqual(len(self.program.get("/api/events?kind=lost&limit=5")["events"]), 1)
        found = self.program.get("/api/events?begin=2026-01-31T12:00:10Z&end=2026-01-31T12:00:12.250Z&camera=yard")
        self.assertEqual([e["number"] for e in found["events"]], [11, 10])
        self.assertEqual(self.program.get("/api/events?camera='")["events"], [])
        for path in ("begin=x", "limit=0", "limit=1001", "before=1", "before=a-b", "what=1"):
            self.assertEqual(self.get_error(f"/api/events?{path}")[0], 400, path)

    def test_same_time(self):
        """Pages neither repeat nor skip events of the same time."""
        self.send([event(f"c{i}", 1) for i in range(25)])
        self.wait_stored(25)
        seen, after = [], ""
        while after is not None:
            answer = self.program.get(f"/api/events?limit=7{after and '&before='}{after}")
            seen += [e["camera"] for e in answer["events"]]
            after = answer["next"]
        self.assertEqual(sorted(seen), sorted(f"c{i}" for i in range(25)))

    def test_twice(self):
        """What comes again is stored once; the same number of another session is another event."""
        lines = [event("yard", i) for i in range(1, 101)]
        self.send(lines + lines[50:])
        self.send(lines)
        self.send([event("yard", i, session=1) for i in range(1, 4)])
        self.wait_stored(103)
        fleetlib.wait_for(lambda: self.program.get("/api/status")["again"] == 150)
        self.assertEqual(self.program.get("/api/missing"), {"missing": []})
        fleet = self.program.get("/api/fleet")
        self.assertEqual((fleet["events"], fleet["missing"]), (103, 0))

    def test_missing(self):
        self.send([event("yard", i) for i in (3, 4, 7, 9)])
        self.send([event("door", i) for i in (1, 2)])
        self.wait_stored(6)
        missing = self.program.get("/api/missing")["missing"]
        self.assertEqual(len(missing), 1)
        self.assertEqual((missing[0]["camera"], missing[0]["session"], missing[0]["missing"]), ("yard", SESSIONS[0], 5))
        self.assertEqual(missing[0]["numbers"], [[1, 2], [5, 6], [8, 8]])
        with urllib.request.urlopen(self.program.uri + "/metrics", timeout=30) as answer:
            self.assertEqual(answer.headers["Content-Type"], "text/plain; version=0.0.4; charset=utf-8")
            self.assertIn(b"cudaccl_collect_missing 5\n", answer.read())
        self.send([event("yard", i) for i in (1, 2, 5, 6, 8)])
        self.wait_stored(11)
        self.assertEqual(self.program.get("/api/missing")["missing"], [])

    def test_wrong_lines(self):
        """Each is dropped, and none takes others with it."""
        wrong = ["", "x", "[]", "1", '{"camera":"a"},{"camera":"b"}', '{"camera":"a"}', '{"camera":"a","session":"x"}',
                 event("yard", 0), event("yard", 0).replace(": 0,", ": 1.5,"), event("yard", 1, session=2).replace('"camera"', '"c"'),
                 event("yard", 2, session=2, text="\0"), event(random.Random(5).randbytes(9000).hex(), 1), event("yard", 3).replace("2026-01-31T12", "noon"),
                 event("yard", 2**63), *(event("yard", 4).replace(TIME, utc) for utc in
                                         ("infinity", "now", TIME[:-1], f" {TIME}", "2026-02-30T12:00:00Z"))]
        self.kafka.say("null")
        lines = [event("yard", i) for i in range(1, 301)]
        mixed = lines + [line for line in wrong if line]
        random.Random(7).shuffle(mixed)
        self.send(mixed)
        self.wait_stored(300)
        fleetlib.wait_for(lambda: self.program.get("/api/status")["refused"] == len(wrong) - 1)
        self.send(["{}", '{"program":"p"}', status("p", {"door": "running"}, "infinity"),
                   status("p", {"yard": "running"}), f'{{"program":"q","utc":"{TIME}","cameras":7}}'],
                  "things.status")
        fleetlib.wait_for(lambda: len(self.program.get("/api/fleet")["programs"]) == 2)
        fleetlib.wait_for(lambda: [one["camera"] for one in self.program.get("/api/fleet")["cameras"]] == ["yard"])

    def test_hostile(self):
        """None is stored, none takes a right one with it, and memory stays bounded."""
        seed = random.SystemRandom().randrange(1 << 31)
        print(f"seed {seed}", flush=True)
        draw = random.Random(seed)
        hostile = fleetlib.make_hostile(draw, 300)
        lines = [event("yard", i).encode() for i in range(1, 2001)] + hostile
        draw.shuffle(lines)
        begin = time.monotonic()
        self.send_bytes(lines)
        self.wait_stored(2000)
        fleetlib.wait_for(lambda: self.program.get("/api/status")["refused"] == len(hostile))
        print(f"{len(lines)} lines, {len(hostile)} of them wrong: {time.monotonic() - begin:.1f} s", flush=True)

    def test_large(self):
        """However large the lines that wait are, memory stays bounded."""
        self.program.stop()
        # Each sender takes a partition of its own, mostly, and the broker drops what is beyond 5 MB of it.
        senders = [subprocess.Popen([SEND, "--key", str(i), f"kafka://{self.kafka.address}/things"], stdin=subprocess.PIPE)
                   for i in range(24)]
        for i, sender in enumerate(senders):
            sender.stdin.write(b"".join(event(f"c{i}", n, text="x" * 900000).encode() + b"\n" for n in range(1, 6)))
            sender.stdin.close()
        for sender in senders:
            self.assertEqual(sender.wait(60), 0)
        self.program = self.start()
        fleetlib.wait_for(lambda: self.program.get("/api/status")["stored"] > 0)
        stored = -1
        while stored != self.program.get("/api/status")["stored"]:
            stored = self.program.get("/api/status")["stored"]
            time.sleep(2)
        most = self.get_memory("VmHWM")
        print(f"{stored} lines, {most:.0f} MB at most", flush=True)
        if "ASAN_OPTIONS" not in os.environ:
            self.assertLess(most, 140)

    def get_memory(self, name):
        text = pathlib.Path(f"/proc/{self.program.process.pid}/status").read_text()
        return int(text.split(f"{name}:")[1].split()[0]) / 1024

    def test_future(self):
        """A state from a wrong clock keeps no other out, and neither does one without a time that can be read."""
        now = datetime.datetime.utcnow().isoformat(timespec="milliseconds") + "Z"
        for wrong in ("9999-12-31T23:59:59.999Z", "2099-99-99T99:99:99Z", "0000-00-00T00:00:00Z"):
            self.send([status("p", {"wrong": "running"}, wrong)], "things.status")
            fleetlib.wait_for(lambda: self.names() == ["wrong"])
            self.send([status("p", {"right": "running"}, now)], "things.status")
            fleetlib.wait_for(lambda: self.names() == ["right"])
            subprocess.run(["psql", "-q", self.postgres.address, "-c", "DELETE FROM programs"], check=True)

    def names(self):
        return [one["camera"] for one in self.program.get("/api/fleet")["cameras"]]

    def test_many(self):
        """Answers stay quick with 5 000 cameras of 100 programs, and 20 000 events."""
        self.send([status(f"host-{i}", {f"camera-{50 * i + n}": "running" for n in range(50)}) for i in range(100)], "things.status")
        self.send([event(f"camera-{i % 5000}", i // 5000 + 1, second=i % 1000) for i in range(20000)])
        self.wait_stored(20000)
        fleetlib.wait_for(lambda: len(self.names()) == 5000)
        for path in ("/", "/api/fleet", "/api/events?limit=100", "/api/events?camera=camera-4711", "/api/missing", "/api/status",
                     "/metrics"):
            times = []
            for _ in range(10):
                begin = time.monotonic()
                self.program.ask(path)
                times.append(1000 * (time.monotonic() - begin))
            print(f"{path}: median {sorted(times)[5]:.0f} ms, worst {max(times):.0f} ms", flush=True)
            self.assertLess(min(times), 2000, path)
        print(f"{self.get_memory('VmRSS'):.0f} MB", flush=True)

    def test_reason(self):
        """What is wrong has a code, as the page of cudaccl-watch has it."""
        self.assertNotIn("reason", self.program.get("/api/status"))
        self.postgres.stop()
        self.send([event("yard", 1)])
        found = fleetlib.wait_for(lambda: self.program.get("/api/status").get("reason"))
        self.assertEqual(found["code"], "postgresql-failed")
        self.assertEqual(found["text"], self.program.get("/api/status")["text"])
        self.assertTrue(found["arguments"]["detail"])
        self.postgres.start()
        self.wait_stored(1)
        self.kafka.say("down")
        found = fleetlib.wait_for(lambda: self.program.get("/api/status").get("reason"))
        self.assertEqual(found["code"], "sink-failed")
        self.kafka.say("up")

    def test_programs(self):
        self.send([status("host-0", {"a": "running", "b": "lost"}), status("host-1", {"c": "running"}),
                   status("host-10", {})], "things.status")
        fleet = fleetlib.wait_for(lambda: (lambda f: f if len(f["programs"]) == 3 else None)(self.program.get("/api/fleet")))
        self.assertEqual([one["program"] for one in fleet["programs"]], ["host-0", "host-1", "host-10"])
        self.assertEqual([one["cameras"] for one in fleet["programs"]], [2, 1, 0])
        self.assertEqual([(one["camera"], one["state"], one["program"]) for one in fleet["cameras"]],
                         [("a", "running", "host-0"), ("b", "lost", "host-0"), ("c", "running", "host-1")])
        # A camera moves, a program ends, and an older state comes late.
        later = "2026-01-31T12:00:05.000Z"
        self.send([status("host-0", {"a": "running"}, later), status("host-1", {}, later, ends=True)], "things.status")
        self.send([status("host-10", {"b": "connecting", "c": "running"}, later), status("host-0", {"z": "running"})],
                  "things.status")
        fleetlib.wait_for(lambda: [(one["camera"], one["program"]) for one in self.program.get("/api/fleet")["cameras"]]
                          == [("a", "host-0"), ("b", "host-10"), ("c", "host-10")])
        self.assertEqual([one["program"] for one in self.program.get("/api/fleet")["programs"]], ["host-0", "host-10"])

        # A program that tells nothing is gone, and so are its cameras, unless another has them.
        subprocess.run(["psql", "-q", self.postgres.address, "-c",
                        "UPDATE programs SET seen = now() - interval '16 seconds' WHERE program = 'host-10'"], check=True)
        self.send([status("host-0", {"a": "running", "c": "running"}, "2026-01-31T12:00:10.000Z")], "things.status")
        fleetlib.wait_for(lambda: [(one["camera"], one["state"]) for one in self.program.get("/api/fleet")["cameras"]]
                          == [("a", "running"), ("b", "gone"), ("c", "running")])
        self.assertEqual([one["gone"] for one in self.program.get("/api/fleet")["programs"]], [False, True])
        self.assertIn('cudaccl_collect_programs{state="gone"} 1\n', self.program.ask("/metrics"))

    def test_killed(self):
        """Neither its death, nor that of the database, nor the broker's absence loses or doubles an event."""
        n = 0
        for how in ("program", "database", "broker"):
            lines = [event(f"c{i % 7}", n // 7 + i // 7 + 1) for i in range(7000)]
            n += 7000
            sender = subprocess.Popen([SEND, f"kafka://{self.kafka.address}/things"], stdin=subprocess.PIPE, text=True)
            sender.stdin.write("".join(f"{line}\n" for line in lines))
            sender.stdin.close()
            fleetlib.wait_for(lambda: self.program.get("/api/status")["stored"] > 0, 60)
            if how == "database":
                self.postgres.stop()
                fleetlib.wait_for(lambda: sender.poll() is not None and not self.is_ready())
                self.assertEqual(self.get_error("/readyz")[1], "PostgreSQL or Kafka cannot be used: see /api/status")
                self.assertEqual(self.get_error("/api/fleet")[0], 503)
                self.assertIn("ok", self.program.ask("/healthz"))
                self.postgres.start()
            elif how == "broker":
                self.kafka.say("down")
                time.sleep(1)
                self.kafka.say("up")
            else:
                self.program.stop(signal.SIGKILL)
                self.program = self.start()
            self.assertEqual(sender.wait(60), 0)
            fleetlib.wait_for(lambda: self.count_events() == n, 150)
        self.assertEqual(self.program.get("/api/fleet")["missing"], 0)
        self.assertIn("ready", self.program.ask("/readyz"))

    def test_days(self):
        """Old events go, and then only gaps between others are certain."""
        self.program.stop()
        self.settings.write_text(self.settings.read_text().replace("days = 0", "days = 30"))
        self.program = self.start()
        now = subprocess.run(["date", "-u", "+%Y-%m-%dT%H:%M:%SZ"], check=True, text=True, stdout=subprocess.PIPE).stdout.strip()
        self.send([event("yard", 1).replace("2026-01-31", "2020-01-31"),
                   *(event("yard", i).replace(TIME, now) for i in (2, 4))])
        fleetlib.wait_for(lambda: [e["number"] for e in self.program.get("/api/events")["events"]] == [4, 2])
        self.assertEqual(self.program.get("/api/missing")["missing"][0]["numbers"], [[3, 3]])

    def test_settings(self):
        for text, expected in (("[collect]\ndatabase = x\n", "brokers"), ("[kafka]\nbrokers = a:1\n", "database"),
                               ("[collect]\ndays = x\n", "0 to 36500"), ("[server]\nlisten = 0.0.0.0:0\n", "token-file")):
            self.settings.write_text(text)
            done = subprocess.run([COLLECT, self.settings], text=True, stderr=subprocess.PIPE)
            self.assertEqual(done.returncode, 1)
            self.assertIn(expected, done.stderr)

    def test_page(self):
        for name in ("", "fleet.js", "fleet.css", "shell.js", "events.js", "style.css"):
            self.assertTrue(self.program.ask(f"/{name}"))
        self.assertEqual(self.get_error("/app.js")[0], 404)

    @unittest.skipUnless(HAVE_BROWSER, "no Chromium")
    def test_browser(self):
        def tell(second, cameras, *lost):
            self.send([status("host-0", {f"camera-{i}": "lost" if i in lost else "running" for i in cameras},
                              f"2026-01-31T12:00:0{second}.000Z", session=SESSIONS[0], start="2026-01-31T11:00:00.000Z",
                              version="1")], "things.status")

        tell(0, range(600), 0)
        self.send([event("camera-7", i, second=i, picture="x.jpg") for i in range(1, 61) if i not in (5, 6)])
        self.wait_stored(58)
        driver = browser()
        try:
            find = lambda css: driver.find_elements(By.CSS_SELECTOR, css)
            text = lambda: driver.find_element(By.TAG_NAME, "main").text
            driver.get(f"{self.program.uri}/")
            fleetlib.wait_for(lambda: len(find("tbody tr")) == 500)
            self.assertIn("600 Cameras · 1 lost · 599 running · 58 Events · 2 missing · 500 of 600", text())
            # In the order of their numbers, after the one that is lost.
            names = lambda: driver.execute_script("return [...document.querySelectorAll('tbody th')].map(e => e.textContent)")
            self.assertEqual(names()[:12], [f"camera-{i}" for i in range(12)])
            # Rows change without a word, and the summary is read out once it differs.
            driver.execute_script("window.read = []; new MutationObserver(all => read.push(...all)).observe("
                                  "document.querySelector('[role=status]'), {childList: true, characterData: true, subtree: true})")
            tell(1, range(600), 1)
            fleetlib.wait_for(lambda: names()[:2] == ["camera-1", "camera-0"])
            self.assertEqual(driver.execute_script("return read.length"), 0)
            # The focus stays at a camera that moves to the top; then others move and go, and what is selected stays, too.
            driver.execute_script("arguments[0].focus()", find("tbody a")[7])
            for second, first, lost in ((2, 0, (0, 7)), (3, 1, (3, 7))):
                driver.execute_script("getSelection().selectAllChildren(document.activeElement)")
                tell(second, range(first, 600), *lost)
                fleetlib.wait_for(lambda: names()[:3] == [f"camera-{i}" for i in (*lost, 1)])
                self.assertEqual(driver.switch_to.active_element.text, "camera-7")
            self.assertEqual(driver.execute_script("return String(getSelection())"), "camera-7")
            self.assertGreater(driver.execute_script("return read.length"), 0)
            find("input[type=search]")[0].send_keys("CAMERA-59")
            fleetlib.wait_for(lambda: len(find("tbody tr")) == 11)
            find("input[type=search]")[0].clear()
            find("input[type=search]")[0].send_keys("camera-7")
            fleetlib.wait_for(lambda: names()[0] == "camera-7")
            find("tbody a")[0].click()
            fleetlib.wait_for(lambda: len(find(".event")) == 50)
            next(e for e in find("button") if e.text == "More").click()
            fleetlib.wait_for(lambda: len(find(".event")) == 58)
            self.assertEqual(find(".event img"), [])
            find("nav a")[2].click()
            fleetlib.wait_for(lambda: "5–6" in text() and "host-0" in text())
            self.assertEqual([entry for entry in driver.get_log("browser") if entry["level"] == "SEVERE"], [])
        finally:
            driver.quit()


def utc(ago):
    return (datetime.datetime.utcnow() - datetime.timedelta(seconds=ago)).isoformat(timespec="milliseconds") + "Z"


PLACES = ("aisle", "dock", "door", "gate", "hall", "yard")


def send_states(case):
    """Of six programs with 103 cameras: some are lost, and one program is gone."""
    draw = random.Random(3)
    for i, place in enumerate(PLACES):
        cameras = []
        for n in range(1, 4 if i == 3 else 21):
            lost = draw.random() < 0.04
            cameras.append({"camera": f"{place}-{n}", "state": "lost" if lost else "running", "since": utc(draw.randrange(90000)),
                            "rate": 0 if lost else draw.choice((15, 25, 30)), "objects": 0 if lost else draw.randrange(4),
                            **({"text": f"rtsp://192.0.2.{n}/live: there is no way to this address; check the network"} if lost else {})})
        case.send([json.dumps({"program": f"cudaccl-watch-{i}", "utc": utc(0), "start": utc(200000 + 977 * i), "session": SESSIONS[0],
                               "version": "0.2.0", "pending": 0, "dropped": 3 * (i == 4), "cameras": cameras})], "things.status")
    fleetlib.wait_for(lambda: len(case.program.get("/api/fleet")["programs"]) == len(PLACES))
    subprocess.run(["psql", "-q", case.postgres.address, "-c",
                    "UPDATE programs SET seen = now() - interval '90 seconds' WHERE program = 'cudaccl-watch-3'"], check=True)


def send_events(case):
    draw = random.Random(3)
    lines = [json.loads(event(f"{draw.choice(PLACES)}-{draw.randrange(1, 4)}", 0, zone="entrance", event=draw.choice(("in", "out"))))
             for _ in range(300)]
    numbers = {}
    for i, line in enumerate(lines):
        numbers[line["camera"]] = numbers.get(line["camera"], 0) + 1
        line.update({"number": numbers[line["camera"]] + (numbers[line["camera"]] > 4), "utc": utc(3 * (300 - i)), "in": i // 2, "out": i // 3})
    case.send([json.dumps(line) for line in lines])
    case.wait_stored(len(lines))


def save_pictures(folder):
    Collect.setUpClass()
    case = Collect()
    case.setUp()
    send_events(case)
    for label, language, size in (("desk", "en", (1280, 560)), ("phone", "de", (390, 844)), ("german", "de", (1280, 760))):
        driver = browser(language, size)
        for screen in ("fleet", "events", "programs"):
            send_states(case)
            driver.get("about:blank")
            driver.get(f"{case.program.uri}/#{screen}")
            save_picture(driver, os.path.join(folder, f"{label}-{screen}.jpg"))
        driver.quit()
    case.tearDown()
    Collect.tearDownClass()


if __name__ == "__main__":
    os.environ["GIO_USE_PROXY_RESOLVER"] = "dummy"
    if "--pictures" in sys.argv:
        save_pictures(sys.argv[-1])
    else:
        unittest.main()
