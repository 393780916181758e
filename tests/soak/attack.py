# Attacks on a cudaccl-watch that runs, for siege.py.
# SPDX-License-Identifier: LGPL-2.1-or-later

"""  attack.py WORLD

WORLD is a file of JSON: `server`, `port`, `rtsp` (port), `token`, `seed`, `network` (two numbers: the
addresses that attacks come from begin with them), `camera` (any that is there). Attacks until the end of
standard input, then prints what it did as JSON: `done` counts by attack and outcome, `failures` tells
what the program must not have done. Each attack runs in a thread of its own, again and again; a round
is bounded."""

import collections
import http.client
import http.server
import json
import os
import pathlib
import random
import selectors
import socket
import sys
import threading
import time

SECRET = "attack:n0t-for-others"
ROUND = 10  # seconds, of attacks that last
SLOW_CLIENTS = 256


class World:
    def __init__(self, path):
        self.__dict__.update(json.loads(pathlib.Path(path).read_text()))
        self.stopped = threading.Event()
        self.lock = threading.Lock()
        self.done = collections.defaultdict(collections.Counter)
        self.failures = collections.Counter()
        self.random = random.Random(self.seed)

    def count(self, outcome, n=1):
        with self.lock:
            self.done[threading.current_thread().name][str(outcome)] += n

    def fail(self, text):
        with self.lock:
            self.failures[f"{threading.current_thread().name}: {text}"] += 1

    def address(self, i=None):
        i = self.random.randrange(1, 60000) if i is None else i
        return f"{self.network}.{i // 250}.{i % 250 + 1}"

    def connect(self, port, source=None, timeout=5):
        return socket.create_connection((self.server, port), timeout, (source or self.address(), 0))

    def ask(self, method, path, body=None, token=None, source=None, timeout=20, headers=None):
        """Returns the status and the body."""
        client = http.client.HTTPConnection(self.server, self.port, timeout=timeout,
                                            source_address=(source or self.address(), 0))
        headers = {**(headers or {}), **({"Authorization": f"Bearer {token}"} if token else {})}
        try:
            client.request(method, path, body if body is None or isinstance(body, str) else json.dumps(body), headers)
            answer = client.getresponse()
            return answer.status, answer.read()
        finally:
            client.close()

    def ask_as_owner(self, method, path, body=None, **more):
        """From an address that does not guess tokens."""
        return self.ask(method, path, body, self.token, source=f"{self.network}.250.1", **more)


# --- RTSP before a login ---

def rtsp_flood(world, head, piece, most):
    """Sends @piece after @head until the server closes, or @most bytes."""
    sent = 0
    with world.connect(world.rtsp) as client:
        client.settimeout(2)
        try:
            client.sendall(head)
            while sent < most and not world.stopped.is_set():
                client.sendall(piece)
                sent += len(piece)
            world.count("taken")
        except OSError:
            world.count("closed")
    world.count("bytes", sent)


def rtsp_bodies(world):
    head = f"OPTIONS rtsp://{world.server}/{world.camera} RTSP/1.0\r\nCSeq: 1\r\nContent-Length: 4000000000\r\n\r\n"
    rtsp_flood(world, head.encode(), b"x" * 65536, 8 << 20)


def rtsp_headers(world):
    head = f"OPTIONS rtsp://{world.server}/{world.camera} RTSP/1.0\r\nCSeq: 1\r\n"
    rtsp_flood(world, head.encode(), b"".join(b"X-%d: y\r\n" % i for i in range(6000)), 3 << 20)


def rtsp_one_header(world):
    rtsp_flood(world, b"OPTIONS * RTSP/1.0\r\nX: ", b"y" * 65536, 3 << 20)


def rtsp_slow(world):
    clients = [world.connect(world.rtsp) for _ in range(8)]
    request = f"DESCRIBE rtsp://{world.server}/{world.camera} RTSP/1.0\r\nCSeq: 1\r\n\r\n".encode()
    for byte in request[:ROUND]:
        for client in clients:
            try:
                client.send(bytes([byte]))
            except OSError:
                world.count("closed")
        if world.stopped.wait(1):
            break
    for client in clients:
        client.close()
    world.count("clients", len(clients))


def rtsp_connections(world):
    """Many that say nothing, from a few addresses."""
    sources = [world.address() for _ in range(4)]
    clients = []
    for i in range(160):
        try:
            clients.append(world.connect(world.rtsp, sources[i % 4], 1))
        except OSError:
            world.count("refused")
    world.stopped.wait(3)
    for client in clients:
        client.close()
    world.count("clients", len(clients))


# --- HTTP ---

def http_slow(world):
    """A byte now and then, in headers, in a body, or nothing after an answer, by many at once."""
    heads = [b"GET /api/status HTTP/1.1\r\nHost: a\r\nX-Slow: ",
             b"POST /api/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 9999\r\n\r\n{",
             b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n", b"", b"G"]
    sources = [world.address() for _ in range(8)]
    selector = selectors.DefaultSelector()
    begun = {}
    end = time.monotonic() + 6 * ROUND
    next_byte = 0
    while time.monotonic() < end and not world.stopped.is_set():
        while len(begun) < SLOW_CLIENTS:
            try:
                client = world.connect(world.port, world.random.choice(sources), 1)
                client.send(world.random.choice(heads))
            except OSError:
                world.count("refused")
                break
            begun[client] = time.monotonic()
            selector.register(client, selectors.EVENT_READ)
        gone = set()
        for key, _ in selector.select(0.5):
            try:
                if not key.fileobj.recv(65536):
                    gone.add(key.fileobj)
            except OSError:
                gone.add(key.fileobj)
        if time.monotonic() > next_byte:
            next_byte = time.monotonic() + 4
            for client in begun.keys() - gone:
                try:
                    client.send(b"x")
                except OSError:
                    gone.add(client)
        for client in gone:
            world.count("closed")
            world.count("seconds until closed", round(time.monotonic() - begun.pop(client)))
            selector.unregister(client)
            client.close()
    world.count("open at the end of a round", len(begun))
    for client in begun:
        client.close()


def wrong_tokens(world):
    """Each of 1 024 addresses guesses six times."""
    first = world.random.randrange(50000)
    for i in range(1024):
        for _ in range(6):
            status, _ = world.ask("GET", "/api/status", token="wrong", source=world.address(first + i))
            world.count(status)
            if status == 200:
                world.fail("a wrong token is taken")
        if world.stopped.wait(0.02):
            return


def values(world):
    """Null, U+0000 and control characters where names and addresses are expected."""
    for method, path, body in (
            ("POST", "/api/try", {"uri": None}),
            ("POST", "/api/try", {"uri": "http://127.0.0.1/\0"}),
            ("POST", "/api/cameras", {"name": "a\0b", "uri": "test://"}),
            ("POST", "/api/cameras", {"name": "a\x1fb", "uri": "test://"}),
            ("POST", "/api/cameras", {"name": "null", "uri": None}),
            ("PUT", f"/api/cameras/{world.camera}", {"uri": None}),
            ("PUT", f"/api/cameras/{world.camera}", {"uri": "http://127.0.0.1/\0"}),
            ("POST", "/api/cameras", "[" * 100000), ("POST", "/api/cameras", '{"name":' * 5000),
            ("PUT", f"/api/cameras/{world.camera}", "\x1f"), ("GET", "/api/events?zone=%00", None),
            ("GET", "/api/events?camera=%1F&before=-9223372036854775808", None),
            ("GET", "/api/tracks?points=nan,inf%20-1e308,1e308", None)):
        status, text = world.ask_as_owner(method, path, body)
        world.count(status)
        if status >= 500 or (method != "GET" and status < 300):
            world.fail(f"{method} {path} {str(body)[:60]!r}: {status} {text[:100]}")
        json.loads(text)


def names(world):
    """Zones whose names have each control character: refused, or written so that JSON stays valid."""
    for code in (*range(1, 32), 127, 0x85, 0x2028):
        body = {"zones": f"a{chr(code)}b: 0,0 0.5,0 0.5,1"}
        status, _ = world.ask_as_owner("PUT", "/api/cameras/evil", body)
        world.count(status)
        if status >= 500:
            world.fail(f"a zone with U+{code:04X} gives {status}")
        for path in ("/api/cameras", "/api/events?limit=20", "/api/status"):
            status, text = world.ask_as_owner("GET", path)
            try:
                json.loads(text)
            except ValueError as error:
                world.fail(f"{path} is not JSON after a zone with U+{code:04X}: {error}")
        if world.stopped.wait(0.2):
            return


def ranges(world):
    status, text = world.ask_as_owner("GET", "/api/events?limit=100")
    if status != 200:
        world.fail(f"/api/events: {status} {text[:100]}")
        return
    files = [event[name] for event in json.loads(text)["events"] for name in ("picture", "clip") if event.get(name)]
    for value in ("-9223372036854775808", "-9223372036854775807", "-1", "0-", "9223372036854775807-", "5-4", "-",
                  "0-18446744073709551616", "-99999999999999999999", "0-0,1-1", "-0", "a-b", ",".join(["0-"] * 2000)):
        if not files:
            return
        status, body = world.ask_as_owner("GET", f"/media/{world.random.choice(files)}",
                                          headers={"Range": f"bytes={value}"})
        world.count(status)
        if status >= 500:
            world.fail(f"Range: bytes={value[:40]}: {status}")
        if value == "-9223372036854775808" and status not in (200, 206, 404):
            world.fail(f"a suffix longer than the file gives {status}")


def tries(world):
    """As many as wait at once, of an address that does not answer; then discovery must work again."""
    def attempt():
        try:
            status, _ = world.ask_as_owner("POST", "/api/try", {"uri": f"http://127.0.0.1:{world.silent}/"}, timeout=40)
            counts[status] += 1
        except OSError:
            counts["broken"] += 1

    counts = collections.Counter()
    threads = [threading.Thread(target=attempt, daemon=True) for _ in range(45)]
    for thread in threads:
        thread.start()
    begin = time.monotonic()
    while not world.stopped.wait(1):
        status, _ = world.ask_as_owner("GET", "/api/discover")
        world.count(f"discover {status}")
        if status != 503:
            break
        if time.monotonic() > begin + 30:
            world.fail("discovery is refused for 30 s")
            break
    for thread in threads:
        thread.join(45)
    for status, n in counts.items():
        world.count(f"try {status}", n)
    world.stopped.wait(2 * ROUND)


# --- Cameras that lie, and credentials ---

class Trap(http.server.BaseHTTPRequestHandler):
    """A camera, `own`, that gets the password, and another machine that must not see it."""

    def do_GET(self):
        world, seen = self.server.world, self.headers.get("Authorization")
        threading.current_thread().name = "credentials"
        if seen and not self.server.own:
            world.fail(f"another port got {self.path} with {seen}")
        world.count(f"{'camera' if self.server.own else 'other'} asked{' with the password' if seen else ''}")
        if not self.server.own:
            self.answer(200, "OK", b"not a picture")
        elif self.path.startswith("/evil"):
            self.answer(503, f"No{chr(world.random.randrange(1, 32))}way\x1f\x7f \"\\ \x85".replace("\n", "\x01").replace(
                "\r", "\x02"), b"")
        elif not seen and self.path.startswith("/secret"):
            self.answer(401, "Who", b"", ("WWW-Authenticate", 'Basic realm="camera"'))
        elif "redirect" in self.path:
            self.answer(302, "Found", b"", ("Location", f"http://127.0.0.1:{world.other}/redirected"))
        elif "list" in self.path:
            self.answer(200, "OK", (f"#EXTM3U\n#EXT-X-TARGETDURATION:5\n#EXTINF:5,\nfile:///etc/passwd\n#EXTINF:5,\n"
                                    f"http://127.0.0.1:{world.other}/listed\n#EXT-X-ENDLIST\n").encode(),
                        ("Content-Type", "application/vnd.apple.mpegurl"))
        else:
            self.answer(404, "\x1b[31mNo\x1f", b"")

    def answer(self, status, reason, body, *headers):
        self.send_response(status, reason)
        for name, value in (*headers, ("Content-Length", str(len(body)))):
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def credentials(world):
    """A camera with a password moves to another port, redirects, and becomes a playlist."""
    own, other = f"127.0.0.1:{world.own}", f"127.0.0.1:{world.other}"
    world.ask_as_owner("DELETE", "/api/cameras/attack")
    for path in ("secret/live", "secret/redirect", "secret/list.m3u8"):
        for method, target, body in (
                ("POST", "/api/cameras", {"name": "attack", "uri": f"http://{SECRET}@{own}/{path}"}),
                ("PUT", "/api/cameras/attack", {"uri": f"http://{other}/moved"}),
                ("PUT", "/api/cameras/attack", {"uri": f"rtsp://127.0.0.1:{world.other}/moved"}),
                ("PUT", "/api/cameras/attack", {"record-uri": f"http://{other}/recorded"}),
                ("POST", "/api/try", {"uri": f"http://{other}/tried", "camera": "attack"}),
                ("DELETE", "/api/cameras/attack", None)):
            status, _ = world.ask_as_owner(method, target, body, timeout=30)
            world.count(f"{method} {status}")
            if world.stopped.wait(1.5 if method == "POST" else 0.5):
                return


def tried_files(world):
    """/api/try reads no file by a playlist, and tells strangers nothing."""
    answers = {world.ask("POST", "/api/try", {"uri": uri}, source=f"{world.network}.250.2") for uri in
               ("file:///etc/passwd", "file:///no/such/file", "/etc/passwd", f"http://127.0.0.1:{world.other}/stranger")}
    world.count("strangers")
    if {status for status, _ in answers} - {401, 403, 503} or len(answers) != 1:
        world.fail(f"strangers learn which files exist: {answers}")
    for path in ("list.m3u8", "redirect"):
        status, text = world.ask_as_owner("POST", "/api/try", {"uri": f"http://127.0.0.1:{world.own}/{path}"}, timeout=30)
        world.count(status)
        if status == 200 or b"root:" in text:
            world.fail(f"/api/try of {path} gives {status}, {text[:100]}")


# --- WS-Discovery ---

PROBE = """<?xml version="1.0"?><e:Envelope xmlns:e="http://www.w3.org/2003/05/soap-envelope"
 xmlns:a="http://schemas.xmlsoap.org/ws/2004/08/addressing" xmlns:d="http://schemas.xmlsoap.org/ws/2005/04/discovery">
<e:Header><a:MessageID>urn:uuid:{}</a:MessageID><a:To>urn:schemas-xmlsoap-org:ws:2005:04:discovery</a:To>
<a:Action>http://schemas.xmlsoap.org/ws/2005/04/discovery/Probe</a:Action></e:Header>
<e:Body><d:Probe/></e:Body></e:Envelope>"""


def discovery(world):
    """Garbage and probes from many addresses; a client that asks with patience is answered."""
    def send(text):
        client.sendto(text, (world.group, 3702))
        world.count("bytes sent", len(text))

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.bind((world.address(), 0))
        client.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton(world.server))
        client.settimeout(0.5)
        begin = time.monotonic()
        while time.monotonic() < begin + ROUND and not world.stopped.is_set():
            for i in range(25):
                send(b"<" * world.random.choice((1, 10, 1400)) + world.random.randbytes(20))
            send(PROBE.format(world.random.getrandbits(64)).encode())
            try:
                world.count("bytes answered", len(client.recv(65536)))
                world.count("probes answered")
                break
            except OSError:
                world.count("probes not answered at once")
        else:
            if not world.stopped.is_set():
                world.fail(f"probes are not answered for {ROUND} s")
        for _ in range(100):
            send(PROBE.format(world.random.getrandbits(64)).encode())
        try:
            while True:
                world.count("bytes answered", len(client.recv(65536)))
        except OSError:
            pass


ATTACKS = ((rtsp_bodies, 0.5), (rtsp_headers, 0.5), (rtsp_one_header, 1), (rtsp_slow, 0), (rtsp_connections, 5), (http_slow, 0),
           (wrong_tokens, 5), (values, 3), (names, 2), (ranges, 2), (tries, 0), (credentials, 2), (tried_files, 5),
           (discovery, 2))


def run_always(world, attack, pause):
    while not world.stopped.wait(pause):
        try:
            attack(world)
        except (OSError, http.client.HTTPException) as error:
            world.count(f"broken: {type(error).__name__}")
        except ValueError as error:
            world.fail(f"not JSON: {error}")


def serve(world, own):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Trap)
    server.world, server.own = world, own
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_address[1]


def main():
    os.nice(5)  # attackers have machines of their own
    world = World(sys.argv[1])
    world.own, world.other = serve(world, True), serve(world, False)
    silent = socket.create_server(("127.0.0.1", 0), backlog=256)
    world.silent = silent.getsockname()[1]
    print(f"http://127.0.0.1:{world.own}/evil", flush=True)
    sys.stdin.readline()
    attacks = [(attack, pause) for attack, pause in ATTACKS if attack is not discovery or world.group]
    threads = [threading.Thread(target=run_always, args=(world, *one), name=one[0].__name__, daemon=True)
               for one in attacks]
    for thread in threads:
        thread.start()
    sys.stdin.read()
    world.stopped.set()
    for thread in threads:
        thread.join(60)
    print(json.dumps({"done": world.done, "failures": world.failures}))


if __name__ == "__main__":
    main()
