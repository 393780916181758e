#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of ONVIF in cudaccl-watch, as a client sees it: onvif-client.py PROGRAM

With CUDACCL_ONVIF, answers and documents are validated against ONVIF's schemas (onvifschema.py). With the
package onvif-python, its client finds the stream, too."""

import base64
import datetime
import functools
import hashlib
import http.client
import json
import os
import pathlib
import re
import secrets
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.request
import xml.etree.ElementTree as ElementTree

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "lib"))
import onvifschema  # noqa: E402
import rtsplib  # noqa: E402
from rtsplib import CAMERA, PASSWORD, USER, Reader, wait_for  # noqa: E402

try:
    import requests
except ImportError:
    requests = None
try:
    from onvif import ONVIFClient
except ImportError:
    ONVIFClient = None

Program = functools.partial(rtsplib.Program, sys.argv.pop(1))
SOAP = "http://www.w3.org/2003/05/soap-envelope"
DEVICE, MEDIA = "http://www.onvif.org/ver10/device/wsdl", "http://www.onvif.org/ver20/media/wsdl"
TT = "{http://www.onvif.org/ver10/schema}"
WSSE = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-secext-1.0.xsd"
WSU = "http://docs.oasis-open.org/wss/2004/01/oasis-200401-wss-wssecurity-utility-1.0.xsd"


def make_token(password=PASSWORD, age=0, nonce=None, user=USER, created=None):
    """The header with a UsernameToken that is age seconds old."""
    nonce = nonce or secrets.token_bytes(16)
    if created is None:
        created = (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(seconds=age)).strftime("%Y-%m-%dT%H:%M:%SZ")
    digest = hashlib.sha1(nonce + created.encode() + password.encode()).digest()
    return (f'<w:Security xmlns:w="{WSSE}" xmlns:u="{WSU}"><u:Timestamp><u:Created>1999-01-01T00:00:00Z</u:Created>'
            f"</u:Timestamp><w:UsernameToken><w:Username>{user}</w:Username>"
            f"<w:Password>{base64.b64encode(digest).decode()}</w:Password>"
            f"<w:Nonce>{base64.b64encode(nonce).decode()}</w:Nonce><u:Created>{created}</u:Created>"
            "</w:UsernameToken></w:Security>")


def make_envelope(space, operation, content="", header=""):
    return (f'<?xml version="1.0"?><e:Envelope xmlns:e="{SOAP}"><e:Header>{header}</e:Header><e:Body>'
            f'<{operation} xmlns="{space}">{content}</{operation}></e:Body></e:Envelope>').encode()


def make_probe(number):
    return make_envelope("http://schemas.xmlsoap.org/ws/2005/04/discovery", "Probe", "<Types>x:NetworkVideoTransmitter</Types>",
                         f'<MessageID xmlns="http://schemas.xmlsoap.org/ws/2004/08/addressing">uuid:{number}</MessageID>')


def parse_challenge(headers):
    return dict(re.findall(r'(\w+)="?([^",]*)', headers.get("WWW-Authenticate", "")))


class Credentials:
    """Makes headers for HTTP digest."""

    def __init__(self, nonce, algorithm="MD5", qop="auth", password=PASSWORD):
        self.nonce, self.algorithm, self.qop, self.password, self.count = nonce, algorithm, qop, password, 1

    def make(self, uri, body):
        def digest(*parts):
            return hashlib.new(self.algorithm.replace("-", ""), b":".join(parts)).hexdigest().encode()

        first = digest(USER.encode(), b"cudaccl-watch", self.password.encode())
        second = digest(b"POST", uri.encode(), *([digest(body)] if self.qop == "auth-int" else []))
        count = f"{self.count:08x}"
        middle = [count.encode(), b"c", self.qop.encode()] if self.qop else []
        response = digest(first, self.nonce.encode(), *middle, second).decode()
        return (f'Digest username="{USER}", realm="cudaccl-watch", nonce="{self.nonce}", uri="{uri}", response="{response}", '
                f"algorithm={self.algorithm}" + (f', qop={self.qop}, nc={count}, cnonce="c"' if self.qop else ""))


class OnvifTest(unittest.TestCase):
    maxDiff = None

    @classmethod
    def setUpClass(cls):
        cls.program = Program()

    @classmethod
    def tearDownClass(cls):
        cls.program.end()

    def post(self, path, body, source="127.0.0.1", headers=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.program.port, timeout=20, source_address=(source, 0))
        connection.request("POST", path, body, {"Content-Type": "application/soap+xml; charset=utf-8", **(headers or {})})
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, answer.headers, text

    def call(self, space, operation, content="", header=None, source="127.0.0.1"):
        """Returns the status, and what the body has."""
        path = "/onvif/device_service" if space == DEVICE else "/onvif/media2_service"
        status, headers, text = self.post(
            path, make_envelope(space, operation, content, make_token() if header is None else header), source)
        self.assertEqual(headers["Content-Type"], "application/soap+xml; charset=utf-8", text)
        return status, ElementTree.fromstring(text).find(f"{{{SOAP}}}Body")[0]

    def fault(self, space, operation, content="", header=None, source="127.0.0.1"):
        """Returns the status, and the codes of the fault."""
        status, fault = self.call(space, operation, content, header, source)
        self.assertEqual(fault.tag, f"{{{SOAP}}}Fault", operation)
        self.assertTrue(fault.find(f"{{{SOAP}}}Reason/{{{SOAP}}}Text").text)
        return status, [one.text for one in fault.iter(f"{{{SOAP}}}Value")][1:]

    def test_calls(self):
        token = "<ProfileToken>ball</ProfileToken>"
        calls = {
            DEVICE: [("GetSystemDateAndTime", ""), ("GetDeviceInformation", ""), ("GetScopes", ""), ("GetHostname", ""),
                     ("GetServices", "<IncludeCapability>false</IncludeCapability>"),
                     ("GetServices", "<IncludeCapability>true</IncludeCapability>"), ("GetServiceCapabilities", ""),
                     ("GetCapabilities", "<Category>All</Category>")],
            MEDIA: [("GetServiceCapabilities", ""), ("GetProfiles", ""), ("GetProfiles", "<Type>All</Type>"),
                    ("GetProfiles", "<Token>ball</Token><Type>VideoSource</Type><Type>Metadata</Type>"),
                    ("GetMetadataConfigurations", ""), ("GetMetadataConfigurations", token),
                    ("GetMetadataConfigurationOptions", ""), ("SetSynchronizationPoint", token),
                    ("GetVideoSourceConfigurations", ""), ("GetVideoEncoderConfigurations", ""),
                    ("GetAudioSourceConfigurations", ""), ("GetAudioEncoderConfigurations", ""),
                    ("GetAudioOutputConfigurations", ""), ("GetAudioDecoderConfigurations", ""),
                    ("GetAnalyticsConfigurations", ""), ("GetStreamUri", "<Protocol>RTSP</Protocol>" + token)],
        }
        for space, wsdl in ((DEVICE, "ver10/device/wsdl/devicemgmt.wsdl"), (MEDIA, "ver20/media/wsdl/media.wsdl")):
            answers = []
            for operation, content in calls[space]:
                status, answer = self.call(space, operation, content)
                self.assertEqual((status, answer.tag), (200, f"{{{space}}}{operation}Response"))
                answers.append(ElementTree.tostring(answer))
            self.assertEqual(onvifschema.validate(wsdl, answers), "")

    def test_what_is_told(self):
        here = f"http://127.0.0.1:{self.program.port}/onvif/"
        services = self.call(DEVICE, "GetServices", "<IncludeCapability>false</IncludeCapability>")[1]
        self.assertEqual([[part.text for part in service[:2]] for service in services],
                         [[DEVICE, here + "device_service"], [MEDIA, here + "media2_service"]])
        self.assertEqual(self.call(DEVICE, "GetCapabilities")[1].find(f".//{TT}XAddr").text, here + "device_service")
        date = self.call(DEVICE, "GetSystemDateAndTime", header="")[1].find(f".//{TT}UTCDateTime")
        told = datetime.datetime(*(int(date.find(f".//{TT}{part}").text) for part in (
            "Year", "Month", "Day", "Hour", "Minute", "Second")), tzinfo=datetime.timezone.utc)
        self.assertLess(abs((datetime.datetime.now(datetime.timezone.utc) - told).total_seconds()), 5)
        serials = {self.call(DEVICE, "GetDeviceInformation")[1][3].text for _ in range(2)}
        self.assertRegex(serials.pop(), "^[0-9a-f]{8}-[0-9a-f]{4}-8[0-9a-f]{3}-a[0-9a-f]{3}-[0-9a-f]{12}$")
        self.assertFalse(serials, "the serial number stays")
        for types, has in (("", False), ("<Type>VideoSource</Type>", False), ("<Type>Metadata</Type>", True)):
            profile, = self.call(MEDIA, "GetProfiles", types)[1]
            self.assertEqual(profile.attrib, {"token": "ball", "fixed": "true"})
            self.assertEqual(profile.find(f".//{{{MEDIA}}}Metadata") is not None, has, types)
        uri = self.call(MEDIA, "GetStreamUri", "<Protocol>RtspUnicast</Protocol><ProfileToken>ball</ProfileToken>")[1][0]
        self.assertEqual(uri.text, f"rtsp://127.0.0.1:{self.program.rtsp}/ball")

    def test_faults(self):
        stream = "<Protocol>%s</Protocol><ProfileToken>%s</ProfileToken>"
        cases = (
            (DEVICE, "SetHostname", "", ["ter:ActionNotSupported"]),
            (DEVICE, "GetProfiles", "", ["ter:ActionNotSupported"]),
            (DEVICE, "GetCapabilities", "<Category>PTZ</Category>", ["ter:ActionNotSupported", "ter:NoSuchService"]),
            (MEDIA, "GetProfiles", "<Token>none</Token>", ["ter:InvalidArgVal", "ter:NoProfile"]),
            (MEDIA, "GetMetadataConfigurations", "<ConfigurationToken>x</ConfigurationToken>",
             ["ter:InvalidArgVal", "ter:NoConfig"]),
            (MEDIA, "GetMetadataConfigurations", "<ProfileToken>x</ProfileToken>",
             ["ter:InvalidArgVal", "ter:NoProfile"]),
            (MEDIA, "GetStreamUri", stream % ("RTSP", "none"), ["ter:InvalidArgVal", "ter:NoProfile"]),
            (MEDIA, "GetStreamUri", "<Protocol>RTSP</Protocol>", ["ter:InvalidArgVal", "ter:NoProfile"]),
            (MEDIA, "GetStreamUri", stream % ("RtspMulticast", "ball"), ["ter:InvalidArgVal", "ter:InvalidStreamSetup"]),
        )
        for space, operation, content, codes in cases:
            self.assertEqual(self.fault(space, operation, content), (400, codes), operation + content)
        for body in (b" ", b"{}", b"<Envelope><Body/></Envelope>", b"\xff", b"<a>" * 9999,
                     b'<!DOCTYPE a [<!ENTITY b "c">]>' + make_envelope(DEVICE, "GetSystemDateAndTime", "&b;")):
            status, _, text = self.post("/onvif/device_service", body)
            self.assertEqual(status, 400, text)
        self.assertEqual(self.post("/onvif/device_service", b" " * 300000)[0], 413)

    def test_authentication(self):
        refused = (401, ["ter:NotAuthorized"])
        self.assertEqual(self.fault(DEVICE, "GetScopes", header=""), refused)
        self.assertEqual(self.fault(MEDIA, "GetProfiles", header=""), refused)
        self.assertEqual(self.fault(DEVICE, "Unknown", header=""), refused)
        self.assertEqual(self.fault(DEVICE, "GetScopes", header=make_token(age=600)), refused)
        self.assertEqual(self.fault(DEVICE, "GetScopes", header=make_token(age=-600)), refused)
        self.assertEqual(self.call(DEVICE, "GetScopes", header=make_token(age=200))[0], 200)
        token = make_token()
        self.assertEqual(self.call(DEVICE, "GetScopes", header=token)[0], 200)
        self.assertEqual(self.fault(DEVICE, "GetScopes", header=token), refused, "a token is used once")
        other = token.replace("</w:Nonce>", " =</w:Nonce>")  # the same bytes
        self.assertEqual(self.fault(DEVICE, "GetScopes", header=other), refused, "the same token")
        # Whoever has the password chooses nonce and time: each token has to be new and of now.
        there = {"source": "127.0.0.9"}
        for created in ("", "1", "now", "2000-01-01", "9999-12-31T23:59:59Z", "99999999999-01-01T00:00:00Z", "2026-13-41T25:61:61Z",
                        "1970-01-01T00:00:00.999999999999999999Z", "2026-01-01T00:00:00+99:99"):
            self.assertEqual(self.fault(DEVICE, "GetScopes", header=make_token(created=created), **there), refused, created)
        self.assertEqual(self.fault(DEVICE, "GetScopes", header=make_token(nonce=b"\0").replace("AA==", ""), **there), refused)
        for header in (make_token() * 2, make_token().replace("<w:Nonce>", "<w:Nonce>AAAA</w:Nonce><w:Nonce>")):
            self.assertEqual(self.fault(DEVICE, "GetScopes", header=header, source="127.0.0.10"), refused)

    def test_guessing(self):
        there = {"source": "127.0.0.2"}  # whose failures are counted alone
        for token in (make_token("wrong"), make_token(user="someone"), make_token(""),
                      make_token("wrong"), make_token(PASSWORD[:-1])):
            self.assertEqual(self.fault(DEVICE, "GetScopes", header=token, **there), (401, ["ter:NotAuthorized"]))
        self.assertEqual(self.fault(DEVICE, "GetScopes", **there), (429, ["ter:NotAuthorized"]))
        self.assertEqual(self.call(DEVICE, "GetSystemDateAndTime", header="", **there)[0], 200)
        self.assertEqual(self.call(DEVICE, "GetScopes")[0], 200)

    def test_large_rtsp_body(self):
        """A stranger's body is refused as it is announced, and closes the connection."""
        with socket.create_connection(("127.0.0.1", self.program.rtsp), 10) as one:
            one.sendall(f"OPTIONS rtsp://127.0.0.1:{self.program.rtsp}/ball RTSP/1.0\r\nCSeq: 1\r\n"
                        "Content-Length: 100000000\r\n\r\n".encode())
            one.settimeout(5)
            answer = b""
            try:
                while data := one.recv(4096):
                    answer += data
                    if b"\r\n\r\n" in answer:
                        break
            except ConnectionError:
                pass
        self.assertNotIn(b" 200 ", answer)

    def test_guessing_rtsp(self):
        def is_refused(password, source):
            reader = Reader(self.program.rtsp, "/ball", password, source)
            status = reader.describe()[0]
            reader.close()
            return status == 401

        for password, refused in (("wrong", True),) * 4 + ((PASSWORD, False),) + (("wrong", True),) * 5 + ((PASSWORD, True),):
            self.assertEqual(is_refused(password, "127.0.0.4"), refused)
        self.assertFalse(is_refused(PASSWORD, "127.0.0.1"))

    def test_names(self):
        """Without the password, cameras that are there cannot be told from others; with it, they can."""
        transport = {"Transport": "RTP/AVP/TCP;unicast;interleaved=0-1"}
        description = {"Content-Type": "application/sdp", "Content-Length": 0}
        for method, path, headers, before in (("DESCRIBE", "", {}, 401), ("SETUP", "/stream=0", transport, 401),
                                              ("ANNOUNCE", "", description, 401), ("OPTIONS", "", {}, 200)):
            readers = [Reader(self.program.rtsp, name + path, source="127.0.0.6") for name in ("/ball", "/none")]
            answers = [reader.ask(method, **headers) for reader in readers]
            self.assertEqual([(status, sorted(found)) for status, found, _ in answers], [(before, sorted(answers[0][1]))] * 2, method)
            for reader in readers:
                reader.describe()
            self.assertEqual([reader.ask(method, **headers)[0] == 404 for reader in readers], [False, before == 401], method)
            for reader in readers:
                reader.close()

    def test_old_challenge(self):
        """Clients that connect again with the challenge of a closed connection are not guessing."""
        reader = Reader(self.program.rtsp, "/ball", source="127.0.0.5")
        reader.describe()
        old = reader.challenge
        reader.close()
        for _ in range(6):
            reader = Reader(self.program.rtsp, "/ball", source="127.0.0.5")
            reader.challenge = old
            reader.ask("DESCRIBE")
            reader.close()
        reader = Reader(self.program.rtsp, "/ball", source="127.0.0.5")
        self.assertIn(reader.describe()[0], (200, 503))  # 503: the pipeline is just ending
        reader.close()

    def ask_digest(self, credentials, body, sent=None, uri="/onvif/media2_service", source="127.0.0.1"):
        """Sends body, or another than the header is for. Returns the status, and the parameters of the first challenge."""
        status, headers, _ = self.post("/onvif/media2_service", sent or body, source, {"Authorization": credentials.make(uri, body)})
        return status, parse_challenge(headers)

    def get_credentials(self, **options):
        headers = self.post("/onvif/media2_service", make_envelope(MEDIA, "GetProfiles"))[1]
        self.assertTrue(all(one.startswith("Digest realm=") for one in headers.get_all("WWW-Authenticate")), headers)
        return Credentials(parse_challenge(headers)["nonce"], **options)

    def test_http_digest(self):
        uri = f"http://127.0.0.1:{self.program.port}/onvif/media2_service"
        body = make_envelope(MEDIA, "GetProfiles")
        passwords = urllib.request.HTTPPasswordMgrWithDefaultRealm()
        passwords.add_password(None, uri, USER, PASSWORD)
        opener = urllib.request.build_opener(urllib.request.HTTPDigestAuthHandler(passwords))
        for _ in range(3):
            with opener.open(urllib.request.Request(uri, body)) as answer:
                self.assertEqual(answer.status, 200)
                self.assertIn(b'token="ball"', answer.read())
        if requests:
            with requests.Session() as session:
                session.auth = requests.auth.HTTPDigestAuth(USER, PASSWORD)
                answers = [session.post(uri, body) for _ in range(3)]
            self.assertEqual([answer.status_code for answer in answers], [200] * 3)
            self.assertEqual([len(answer.history) for answer in answers], [1, 0, 0], "the nonce is used again")
        if shutil.which("curl"):
            command = ["curl", "-s", "--digest", "-u", f"{USER}:{PASSWORD}", "--data-binary", body.decode(), uri, uri]
            text = subprocess.run(command, stdout=subprocess.PIPE, check=True, timeout=20).stdout
            self.assertEqual(text.count(b'token="ball"'), 2, text)

    def test_hostile_digest(self):
        """Neither a nonce of the client's nor a header that was seen before gets in, and neither counts as a guess."""
        there = {"source": "127.0.0.3"}
        body, other = make_envelope(MEDIA, "GetProfiles"), make_envelope(MEDIA, "GetMetadataConfigurations")
        for _ in range(6):
            status, found = self.ask_digest(Credentials("0" * 64), body, **there)
            self.assertEqual((status, found.get("stale")), (401, "true"), "a nonce that the client invented")
        for options in ({}, {"algorithm": "SHA-256"}, {"qop": "auth-int"}, {"algorithm": "SHA-256", "qop": "auth-int"}, {"qop": None}):
            credentials = self.get_credentials(**options)
            self.assertEqual(self.ask_digest(credentials, body, **there)[0], 200, options)
            for same in (body, other, body):
                status, found = self.ask_digest(credentials, body, sent=same, **there)
                self.assertEqual((status, found.get("stale")), (401, "true"), "a header that was used")
            credentials = Credentials(found["nonce"], **options)
            self.assertEqual(self.ask_digest(credentials, body, **there)[0], 200, "what stale asks for")
            credentials.count += 1
            self.assertEqual(self.ask_digest(credentials, body, **there)[0], 401 if "qop" in options and not options["qop"] else 200)
        credentials = self.get_credentials()
        status, found = self.ask_digest(credentials, body, uri="/onvif/device_service", **there)
        self.assertEqual((status, "stale" in found), (401, False), "the header is for another path")
        self.assertEqual(self.ask_digest(credentials, body, **there)[0], 200, "and used no count")
        self.assertEqual(self.ask_digest(self.get_credentials(qop="auth-int"), other, sent=body, **there)[0], 401)
        for given in ("Basic " + base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode(), "Digest", "Digest nonce",
                      'Digest username="' + "a" * 5000):
            status, headers, _ = self.post("/onvif/media2_service", body, "127.0.0.3", {"Authorization": given})
            self.assertEqual(status, 401)
            self.assertEqual(len(headers.get_all("WWW-Authenticate")), 2, headers)
        # Five wrong passwords count, and the right one does not help then.
        statuses = [self.ask_digest(self.get_credentials(password="wrong"), body, source="127.0.0.8")[0] for _ in range(5)]
        statuses.append(self.ask_digest(self.get_credentials(), body, source="127.0.0.8")[0])
        self.assertEqual(statuses, [401] * 5 + [429])

    def test_stream(self):
        readers = [Reader(self.program.rtsp, "/ball") for _ in range(2)]
        documents, packets, times = [], set(), []
        for reader in readers:
            description = reader.start()
            media = re.search(r"m=application 0 RTP/AVP (\d+)", description)
            self.assertRegex(description, f"a=rtpmap:{media[1]} VND.ONVIF.METADATA/90000")
            reader.type = int(media[1])
        end = time.monotonic() + 40
        for document, sizes in readers[0].read():
            documents.append(document)
            packets.add(len(sizes))
            self.assertLessEqual(max(sizes), 1400)
            root = ElementTree.fromstring(document)
            times.append(root.find(f".//{TT}Frame").get("UtcTime"))
            self.assertLess(time.monotonic(), end, "no events")
            if len(documents) > 20 and b"LineDetector/Crossed" in document:
                break
        self.assertGreater(max(packets), 1, "a document of several packets")
        self.assertEqual(times, sorted(times))
        self.assertTrue(any(b'Source="ball"><tt:Object ObjectId="' in one for one in documents))
        events = documents[-1].count(b"CountAggregation/Counter")
        self.assertEqual(events, 12)
        self.assertEqual(onvifschema.validate("ver10/schema/metadatastream.xsd", documents), "")
        others = {document for document, _ in (next(readers[1].read()) for _ in range(10))}
        self.assertTrue(others & set(documents), "clients share the documents")
        for reader in readers:
            reader.close()
        for path, password, status in (("/ball", "wrong", 401), ("/none", PASSWORD, 404)):
            reader = Reader(self.program.rtsp, path, password)
            self.assertEqual(reader.start(), status, path)
            reader.close()

    def test_vanished_client(self):
        """The pipeline for clients ends with the last, and that of the next begins with an empty document."""
        for _ in range(3):
            reader = Reader(self.program.rtsp, "/ball")
            reader.type = int(re.search(r"RTP/AVP (\d+)", reader.start())[1])
            documents = reader.read()
            self.assertNotIn(b"<tt:Object ", next(documents)[0])
            self.assertTrue(any(b"<tt:Object " in next(documents)[0] for _ in range(100)))
            reader.close()
            time.sleep(0.5)
            other = Reader(self.program.rtsp, "/ball")
            other.describe()
            other.session = reader.session
            self.assertEqual(other.ask("GET_PARAMETER")[0], 454, "its session has ended")
            other.close()

    def test_cameras_come_and_go(self):
        def tokens():
            return [profile.get("token") for profile in self.call(MEDIA, "GetProfiles")[1]]

        def wait_for(expected):
            self.program.process.send_signal(signal.SIGHUP)
            end = time.monotonic() + 20
            while tokens() != expected and time.monotonic() < end:
                time.sleep(0.05)
            self.assertEqual(tokens(), expected)

        self.program.write(CAMERA % "ball" + CAMERA % "door")
        wait_for(["ball", "door"])
        reader = Reader(self.program.rtsp, "/door")
        reader.type = int(re.search(r"RTP/AVP (\d+)", reader.start())[1])
        next(reader.read())
        self.program.write(CAMERA % "ball")
        wait_for(["ball"])
        other = Reader(self.program.rtsp, "/door")
        self.assertEqual(other.start(), 404)
        other.close()
        reader.close()

    @unittest.skipUnless(ONVIFClient, "onvif-python is not installed")
    def test_client(self):
        client = ONVIFClient("127.0.0.1", self.program.port, USER, PASSWORD)
        self.assertEqual(client.devicemgmt().GetDeviceInformation().Model, "cudaccl-watch")
        profile, = client.media2().GetProfiles(Type=["All"])
        self.assertTrue(profile.Configurations.Metadata.Analytics)
        uri = client.media2().GetStreamUri(Protocol="RTSP", ProfileToken=profile.token)
        self.assertEqual(uri, f"rtsp://127.0.0.1:{self.program.rtsp}/ball")
        with self.assertRaises(Exception):
            ONVIFClient("127.0.0.1", self.program.port, USER, "wrong").devicemgmt().GetScopes()


class OthersTest(unittest.TestCase):
    def test_off(self):
        program = Program(onvif=False)
        connection = http.client.HTTPConnection("127.0.0.1", program.port, timeout=20)
        connection.request("POST", "/onvif/device_service", make_envelope(DEVICE, "GetSystemDateAndTime"))
        self.assertEqual(connection.getresponse().status, 404)
        connection.close()
        with self.assertRaises(ConnectionRefusedError):
            Reader(program.rtsp, "/ball")
        program.end()

    def test_many_connections(self):
        """Those of RTSP leave files for all else, and those without a login leave connections for other addresses."""
        with tempfile.TemporaryFile("w+") as log:
            program = Program(files=200, log=log)
            ones, readers = [], []

            def count_open():
                return sum(not select.select([one], [], [], 0)[0] for one in ones)

            def log_in():
                """Returns the status, or None if the connection is refused."""
                reader = Reader(program.rtsp, "/ball", source="127.0.0.3")
                self.addCleanup(reader.close)
                readers.append(reader)
                try:
                    return reader.describe()[0]
                except (ConnectionError, IndexError):
                    return None

            # The kernel takes them, even if the program is busy.
            program.process.send_signal(signal.SIGSTOP)
            for _ in range(80):
                ones.append(socket.create_connection(("127.0.0.1", program.rtsp), 20, ("127.0.0.2", 0)))
            program.process.send_signal(signal.SIGCONT)
            wait_for(lambda: count_open() == 12)
            self.assertTrue(select.select([ones[67]], [], [], 0)[0], "the oldest have given way")
            # Of 50. Strangers give way to those that have logged in, which do not count as such.
            self.assertEqual([log_in() for _ in range(38)], [200] * 38)
            self.assertEqual(count_open(), 12)
            self.assertEqual([log_in() for _ in range(13)], [200] * 12 + [None])
            self.assertEqual(count_open(), 0)
            self.assertEqual(program.get_metric("rtsp_refused_total"), 68 + 13)
            for one in ones:
                one.close()
            readers[0].close()
            wait_for(lambda: log_in() == 200)
            program.end()
            log.seek(0)
            self.assertIn(log.read().count(" is closed: "), range(1, 10))

    def test_busy_connections(self):
        """Neither a refusal nor the end of the program closes a connection while a thread reads from it."""
        request = b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n"

        def ask_always(port):
            while not ended.is_set():
                try:
                    with socket.create_connection(("127.0.0.1", port), 20) as one:
                        one.sendall(5 * request)
                        while one.recv(65536):
                            one.sendall(5 * request)
                except OSError:
                    pass

        for _ in range(6):
            program, ended = Program(files=200), threading.Event()
            # 12 strangers may have one address: the others' connections are closed as they ask.
            threads = [threading.Thread(target=ask_always, args=(program.rtsp,)) for _ in range(16)]
            for thread in threads:
                thread.start()
            wait_for(lambda: program.get_metric("rtsp_refused_total") > 20)
            try:
                program.end()
            finally:
                ended.set()
                for thread in threads:
                    thread.join()

    def test_discovery(self):
        program = Program(host="0.0.0.0")
        envelope = make_probe(7)
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                one.settimeout(5)
                try:
                    one.sendto(envelope, ("239.255.255.250", 3702))
                except OSError as error:
                    self.skipTest(f"no network with multicast: {error}")
                text = b""
                while f":{program.port}/onvif/device_service".encode() not in text:
                    text = one.recv(65536)  # others may answer, too
            self.assertIn(b":RelatesTo>uuid:7<", text)
            host = ElementTree.fromstring(text).find(".//{*}XAddrs").text.split("/")[2].split(":")[0]
            connection = http.client.HTTPConnection(host, program.port, timeout=20)
            connection.request("POST", "/onvif/device_service", make_envelope(DEVICE, "GetSystemDateAndTime"))
            self.assertEqual(connection.getresponse().status, 200)
            connection.close()
        finally:
            program.end()

    def test_hosts(self):
        """Addresses have the host that the client used, or the one it reached; IPv6 in brackets."""
        try:
            with socket.socket(socket.AF_INET6) as one:
                one.bind(("::1", 0))
        except OSError as error:
            self.skipTest(f"no IPv6: {error}")
        program = Program(host="[::]")
        self.addCleanup(program.end)

        def ask(address, host, space, operation, content=""):
            """Returns the addresses in the answer, or the status."""
            connection = http.client.HTTPConnection(address, program.port, timeout=20)
            connection.putrequest("POST", f"/onvif/{'device' if space == DEVICE else 'media2'}_service", skip_host=True)
            body = make_envelope(space, operation, content, make_token())
            for name, value in (("Host", host), ("Content-Length", len(body)), ("Content-Type", "application/soap+xml")):
                connection.putheader(name, value)
            connection.endheaders(body)
            answer = connection.getresponse()
            text = answer.read()
            connection.close()
            if answer.status != 200:
                return answer.status
            return [one.text for one in ElementTree.fromstring(text).iter() if one.tag.endswith(("XAddr", "}Uri"))]

        for address, host, shown in (("::1", "[::1]:%d", "[::1]:%d"), ("127.0.0.1", "127.0.0.1:%d", "127.0.0.1:%d"),
                                     ("::1", "watch:%d", "watch:%d"), ("::1", "[2001:db8::7]:%d", "[2001:db8::7]:%d"),
                                     ("::1", "", "[::1]:%d"), ("127.0.0.1", "", "127.0.0.1:%d"),
                                     ("::1", "[::1", None), ("::1", "::1", None), ("::1", "[::1]:99999", None)):
            host = host % program.port if "%" in host else host
            found = ask(address, host, DEVICE, "GetServices"), ask(
                address, host, MEDIA, "GetStreamUri", "<Protocol>RTSP</Protocol><ProfileToken>ball</ProfileToken>")
            if shown:
                services = [f"http://{shown % program.port}/onvif/{name}_service" for name in ("device", "media2")]
                self.assertEqual(found, (services, [f"rtsp://{shown % program.rtsp}/ball"]))
            else:
                self.assertEqual(found, (400, 400), host)
        for address in ("::1", "127.0.0.1"):
            with socket.create_connection((address, program.rtsp), 20) as one:
                one.sendall(b"OPTIONS * RTSP/1.0\r\nCSeq: 1\r\n\r\n")
                self.assertTrue(one.recv(4096).startswith(b"RTSP/1.0 200 "))

    def test_hostile_device(self):
        """A device is where its answer comes from: what is entered for it goes to no address that it gives."""
        program = Program()
        answer = make_envelope("http://schemas.xmlsoap.org/ws/2005/04/discovery", "ProbeMatches", "<ProbeMatch><Scopes>"
                               "onvif://www.onvif.org/name/hostile</Scopes><XAddrs>http://127.0.0.9/a</XAddrs></ProbeMatch>")
        senders = []

        def run():
            while not ended.is_set():
                try:
                    one.sendto(answer, (sender := one.recvfrom(65536)[1]))
                    senders.append(sender[0])
                except socket.timeout:
                    pass

        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
                one.settimeout(0.1)
                try:
                    one.bind(("239.255.255.250", 3702))
                    one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, socket.inet_aton("239.255.255.250") + bytes(4))
                except OSError as error:
                    self.skipTest(f"no network with multicast: {error}")
                ended, thread = threading.Event(), threading.Thread(target=run)
                thread.start()
                try:
                    with open(f"{program.folder.name}/token", encoding="utf-8") as file:
                        headers = {"Authorization": f"Bearer {file.read().strip()}"}
                    request = urllib.request.Request(f"http://127.0.0.1:{program.port}/api/discover", headers=headers)
                    with urllib.request.urlopen(request, timeout=20) as found:
                        devices = json.load(found)["devices"]
                finally:
                    ended.set()
                    thread.join()
            found = [device["address"] for device in devices if device.get("name") == "hostile"]
            self.assertTrue(not senders or found, devices)
            self.assertNotIn("127.0.0.9", found)
        finally:
            program.end()

    def test_hostile_discovery(self):
        """Garbage before a probe does not silence the program, which amplifies nothing much."""
        program = Program(host="0.0.0.0")
        short = b"<Envelope><Body><Probe/></Body></Envelope>"
        try:
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
                one.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))
                one.settimeout(5)
                for _ in range(60):
                    one.sendto(short, ("239.255.255.250", 3702))
                    one.sendto(b"garbage", ("239.255.255.250", 3702))
                for _ in range(2):
                    one.sendto(make_probe(8), ("239.255.255.250", 3702))
                answers = []
                try:
                    while True:
                        answers.append(one.recv(65536))
                        one.settimeout(1)
                except socket.timeout:
                    pass
            answers = [one for one in answers if f":{program.port}/".encode() in one]
            self.assertEqual(len(answers), 1)
            self.assertIn(b":RelatesTo>uuid:8<", answers[0])
            self.assertLess(len(answers[0]), 4 * len(make_probe(8)))
        finally:
            program.end()


if __name__ == "__main__":
    unittest.main(verbosity=2)
