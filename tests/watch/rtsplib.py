# cudaccl-watch as an ONVIF device, and a client of its streams.
# SPDX-License-Identifier: LGPL-2.1-or-later

import hashlib
import os
import random
import re
import resource
import secrets
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request

USER, PASSWORD = "viewer", "a long secret"
# Documents with events of all lines have several packets.
LINES = "; ".join(f"line-{i}: 0.5,0 0.5,1" for i in range(12))
CAMERA = f"[camera %s]\nuri = test://\nrecord = false\ntripwires = {LINES}\n"


# By default, the kernel's ephemeral ports start at 32768.
ports = iter(random.sample(range(10000, 20000), 10000))


def free_port():
    """A port that is free at all addresses, and was not given before."""
    for port in ports:
        with socket.socket() as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                one.bind(("", port))
            except OSError:
                continue
        return port
    raise OSError("all ports are taken")


def wait_for(is_done):
    end = time.monotonic() + 20
    while not is_done():
        assert time.monotonic() < end, "too late"
        time.sleep(0.05)


class Program:
    def __init__(self, program, host="127.0.0.1", onvif=True, files=1024, log=None):
        self.folder = tempfile.TemporaryDirectory()
        self.port, self.rtsp = free_port(), free_port()
        self.host = host
        self.onvif = onvif
        for name, text in (("user", f"{USER}:{PASSWORD}"), ("token", secrets.token_hex())):
            with open(f"{self.folder.name}/{name}", "w", encoding="utf-8", opener=lambda p, f: os.open(p, f, 0o600)) as file:
                file.write(text + "\n")
        self.write(CAMERA % "ball")
        self.process = subprocess.Popen([program, f"{self.folder.name}/watch.conf"], stdout=subprocess.PIPE, stderr=log, text=True,
                                        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (files, files)))
        line = self.process.stdout.readline()
        assert f":{self.port}/" in line, line

    def write(self, cameras):
        with open(f"{self.folder.name}/watch.conf", "w", encoding="utf-8") as file:
            file.write(f"[watch]\ndata = data\n[server]\nlisten = {self.host}:{self.port}\ntoken-file = token\n" + (
                f"[onvif]\ncredentials = user\nrtsp-port = {self.rtsp}\n" if self.onvif else "") + cameras)

    def get_metric(self, name):
        with open(f"{self.folder.name}/token", encoding="utf-8") as file:
            headers = {"Authorization": f"Bearer {file.read().strip()}"}
        with urllib.request.urlopen(urllib.request.Request(f"http://127.0.0.1:{self.port}/metrics", headers=headers)) as answer:
            return int(re.search(rf"^cudaccl_watch_{name} (\d+)$", answer.read().decode(), re.MULTILINE)[1])

    def end(self):
        self.process.terminate()
        status = self.process.wait(30)
        self.process.stdout.close()
        self.folder.cleanup()
        assert status == 0, status


class Reader:
    """A client of RTSP over TCP."""

    def __init__(self, port, path, password=PASSWORD, source="127.0.0.1", host="127.0.0.1"):
        self.uri, self.password, self.sequence = f"rtsp://{host}:{port}{path}" if ":" not in host else f"rtsp://[{host}]:{port}{path}", password, 0
        self.challenge, self.session = None, None
        self.socket = socket.create_connection((host, port), 20, (source, 0))
        self.file = self.socket.makefile("rb")

    def close(self):
        self.file.close()
        self.socket.close()

    def ask(self, method, uri=None, **headers):
        uri = uri or self.uri
        self.sequence += 1
        lines = [f"{method} {uri} RTSP/1.0", f"CSeq: {self.sequence}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        if self.session:
            lines.append(f"Session: {self.session}")
        if self.challenge:
            first = hashlib.md5(f"{USER}:{self.challenge['realm']}:{self.password}".encode()).hexdigest()
            second = hashlib.md5(f"{method}:{uri}".encode()).hexdigest()
            response = hashlib.md5(f"{first}:{self.challenge['nonce']}:{second}".encode()).hexdigest()
            lines.append(f'Authorization: Digest username="{USER}", realm="{self.challenge["realm"]}", '
                         f'nonce="{self.challenge["nonce"]}", uri="{uri}", response="{response}"')
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        status = int(self.file.readline().split()[1])
        found = {}
        while (line := self.file.readline().decode().strip()):
            name, value = line.split(":", 1)
            found.setdefault(name.lower(), []).append(value.strip())
        body = self.file.read(int(found.get("content-length", ["0"])[0])).decode()
        return status, found, body

    def describe(self):
        status, headers, body = self.ask("DESCRIBE")
        if status == 401:
            digest = [one for one in headers["www-authenticate"] if one.startswith("Digest")][0]
            assert len(headers["www-authenticate"]) == 1, headers
            self.challenge = dict(re.findall(r'(\w+)="([^"]*)"', digest))
            status, headers, body = self.ask("DESCRIBE")
        return status, headers, body

    def start(self):
        """Returns the description, or the status if that is not 200."""
        for _ in range(100):
            status, headers, body = self.describe()
            if status != 503:
                break
            time.sleep(0.1)  # the pipeline of the clients before is just ending
        if status != 200:
            return status
        control = re.findall(r"a=control:(\S+)", body)[-1]
        base = headers["content-base"][0]
        status, headers, _ = self.ask("SETUP", base.rstrip("/") + "/" + control,
                                      Transport="RTP/AVP/TCP;unicast;interleaved=0-1")
        assert status == 200, status
        self.session = headers["session"][0].split(";")[0]
        assert self.ask("PLAY", base)[0] == 200
        return body

    def read(self):
        """Yields documents, and the sizes of their packets."""
        document, sizes, sequence, first = b"", [], None, None
        while (head := self.file.read(4)) and len(head) == 4:
            assert head[:1] == b"$", head
            packet = self.file.read(struct.unpack(">H", head[2:])[0])
            if head[1]:
                continue  # RTCP
            assert packet[0] == 0x80, packet[0]
            assert packet[1] & 0x7f == self.type
            number, stamp = struct.unpack(">HI", packet[2:8])
            assert sequence is None or number == (sequence + 1) % 65536, (number, sequence)
            assert not document or stamp == first, "packets of a document have one time"
            sequence, first = number, stamp
            document += packet[12:]
            sizes.append(len(packet))
            if packet[1] & 0x80:
                yield document, sizes
                document, sizes = b"", []
