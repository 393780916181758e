#!/usr/bin/env python3
# cclonvif's documents have the structure of ONVIF's metadatastream.xsd.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of cclonvif's documents. With CUDACCL_ONVIF, they are validated against ONVIF's schemas, too
(onvifschema.py). Exit status 77 without GStreamer."""

import pathlib
import re
import sys
import unittest
import xml.etree.ElementTree as ElementTree

try:
    import gi

    gi.require_version("Gst", "1.0")
    from gi.repository import Gst

    Gst.init(None)
except (ImportError, ValueError) as error:
    print(f"Python cannot use GStreamer here: {error}", file=sys.stderr)
    sys.exit(77)

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "lib"))
import onvifschema  # noqa: E402

TT = "{http://www.onvif.org/ver10/schema}"
WSNT = "{http://docs.oasis-open.org/wsn/b-2}"
WIDTH, HEIGHT = 320, 240

# From ONVIF's schema: for each element its required and optional attributes and its children, in
# this order, with how many there may be.
MANY = 1 << 30
SCHEMA = {
    "MetadataStream": ((), (), (("VideoAnalytics", 0, MANY), ("Event", 0, MANY))),
    "VideoAnalytics": ((), (), (("Frame", 0, MANY),)),
    "Frame": (("UtcTime",), ("Source",), (("Transformation", 0, 1), ("Object", 0, MANY))),
    "Transformation": ((), (), (("Translate", 0, 1), ("Scale", 0, 1))),
    "Translate": (("x", "y"), (), ()),
    "Scale": (("x", "y"), (), ()),
    "Event": ((), (), (("NotificationMessage", 0, MANY),)),
    "NotificationMessage": ((), (), (("Topic", 0, 1), ("Message", 1, 1))),
    "Topic": (("Dialect",), (), ()),
    "Message": ((), ("UtcTime", "PropertyOperation"),
                (("Message", 0, 1), ("Source", 0, 1), ("Key", 0, 1), ("Data", 0, 1))),
    "Source": ((), (), (("SimpleItem", 0, MANY),)),
    "Key": ((), (), (("SimpleItem", 0, MANY),)),
    "Data": ((), (), (("SimpleItem", 0, MANY),)),
    "SimpleItem": (("Name", "Value"), (), ()),
    "Object": ((), ("ObjectId",), (("Appearance", 0, 1),)),
    "Appearance": ((), (), (("Shape", 0, 1), ("Class", 0, 1), ("VehicleInfo", 0, MANY))),
    "Class": ((), (), (("Type", 0, MANY),)),
    "VehicleInfo": ((), (), (("Type", 1, 1),)),
    "Type": ((), ("Likelihood",), ()),
    "Shape": ((), (), (("BoundingBox", 1, 1), ("CenterOfGravity", 1, 1))),
    "BoundingBox": (("bottom", "top", "right", "left"), (), ()),
    "CenterOfGravity": (("x", "y"), (), ()),
}


def problems(element):
    """Lists what the schema does not allow."""
    name = element.tag.removeprefix(TT).removeprefix(WSNT)
    required, optional, children = SCHEMA[name]
    found = [f"{name} has no {key}" for key in required if key not in element.attrib]
    found += [f"{name} has {key}" for key in element.attrib if key not in required + optional]
    names = [child.tag.removeprefix(TT).removeprefix(WSNT) for child in element]
    expected = [child for child, _, _ in children]
    found += [f"{name} has {child}" for child in names if child not in expected]
    if not found and [child for child in expected for _ in range(names.count(child))] != names:
        found.append(f"{name}'s children are in the wrong order")
    for child, least, most in children:
        if not least <= names.count(child) <= most:
            found.append(f"{name} has {names.count(child)} {child}")
    for child, name in zip(element, names):
        if name in expected:
            found += problems(child)
    return found


def run(elements, coordinates="normalized"):
    """The documents of cclonvif, and the lines of components, for a ball."""
    pipeline = Gst.parse_launch(
        "videotestsrc num-buffers=20 pattern=ball ! "
        f"video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT} ! {elements} ! tee name=t "
        f"t. ! queue ! cclonvif name=onvif coordinates={coordinates} ! appsink name=xml sync=false "
        "t. ! queue ! ccljson ! appsink name=json sync=false")
    pipeline.get_by_name("onvif").set_property("source", 'gate <1> & "2" \x1f\ufffe\uffff')
    pipeline.set_state(Gst.State.PLAYING)
    found = {}
    for name in ("xml", "json"):
        found[name] = []
        while sample := pipeline.get_by_name(name).emit("pull-sample"):
            buffer = sample.get_buffer()
            found[name].append(buffer.extract_dup(0, buffer.get_size()))
    pipeline.set_state(Gst.State.NULL)
    return found


class Documents(unittest.TestCase):
    def test_structure(self):
        import json
        for elements in ("cudaccl backend=cpu ! ccltrack", "cudaccl backend=cpu attach=roi",
                         "identity"):
            found = run(elements)
            self.assertEqual(len(found["xml"]), 20)
            for text, line in zip(found["xml"], found["json"]):
                root = ElementTree.fromstring(text)
                self.assertEqual(root.tag, TT + "MetadataStream")
                self.assertEqual(problems(root), [])
                frame = root.find(f"{TT}VideoAnalytics/{TT}Frame")
                self.assertEqual(frame.get("Source"), 'gate <1> & "2"        ')
                self.assertRegex(frame.get("UtcTime"), r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z$")
                self.check_objects(frame.findall(TT + "Object"), json.loads(line)["components"])

    def check_objects(self, objects, components):
        self.assertEqual(len(objects), len(components))
        for item, component in zip(objects, components):
            box = item.find(f".//{TT}BoundingBox")
            centre = item.find(f".//{TT}CenterOfGravity")
            left, right, top, bottom = (float(box.get(name))
                                        for name in ("left", "right", "top", "bottom"))
            self.assertTrue(-1 <= left < right <= 1 and -1 <= bottom < top <= 1)
            self.assertAlmostEqual((left + 1) / 2 * WIDTH, component["x"], 3)
            self.assertAlmostEqual((1 - top) / 2 * HEIGHT, component["y"], 3)
            self.assertAlmostEqual((right - left) / 2 * WIDTH, component["width"], 3)
            self.assertAlmostEqual((top - bottom) / 2 * HEIGHT, component["height"], 3)
            self.assertAlmostEqual((float(centre.get("x")) + 1) / 2 * WIDTH - 0.5,
                                   component["centroid-x"], 2)
            self.assertAlmostEqual((1 - float(centre.get("y"))) / 2 * HEIGHT - 0.5,
                                   component["centroid-y"], 2)
            track = item.get("ObjectId")
            self.assertEqual(track and int(track), component.get("track"))

    def test_pixels(self):
        """The transformation leads from pixels to the normalised coordinates."""
        normalized, pixels = (ElementTree.fromstring(run("cudaccl backend=cpu", coordinates)["xml"][0])
                              for coordinates in ("normalized", "pixels"))
        self.assertEqual(problems(pixels), [])
        scale, translate = pixels.find(f".//{TT}Scale"), pixels.find(f".//{TT}Translate")
        for tag, names in (("BoundingBox", ("left", "top", "right", "bottom")), ("CenterOfGravity", ("x", "y"))):
            for i, name in enumerate(names):
                axis = "xy"[i % 2]
                value = float(pixels.find(f".//{TT}{tag}").get(name))
                self.assertAlmostEqual(value * float(scale.get(axis)) + float(translate.get(axis)),
                                       float(normalized.find(f".//{TT}{tag}").get(name)), 4)

    def test_events(self):
        """Every event of the lines is a message, with ONVIF's topic."""
        import json
        found = run('cudaccl backend=cpu ! ccltrack min-persistence=0 ! cclzones hysteresis=0 dwell-time=1 '
                    'zones="all <1>: 0,0 1,0 1,1 0,1" tripwires="a: .3,0 .3,1; b: 0,.4 1,.4; c: .6,0 .6,1"')
        kinds = set()
        for text, line in zip(found["xml"], found["json"]):
            root, messages = ElementTree.fromstring(text), []
            self.assertEqual(problems(root), [])
            for item in root.findall(f".//{WSNT}NotificationMessage"):
                topic = item.find(WSNT + "Topic").text.removeprefix("tns1:RuleEngine/")
                message = item.find(f".//{TT}Message")
                values = {entry.get("Name"): entry.get("Value") for entry in item.iter(TT + "SimpleItem")}
                self.assertEqual(message.get("UtcTime"), root.find(f".//{TT}Frame").get("UtcTime"))
                self.assertEqual(values["VideoSourceConfigurationToken"], 'gate <1> & "2"        ')
                messages.append((topic, values["Rule"], {key: values[key] for key in values if key not in (
                    "Rule", "VideoSourceConfigurationToken", "VideoAnalyticsConfigurationToken")}))
            expected = []
            for event in json.loads(line).get("events", []):
                kind, zone, track = event["event"], event["zone"], str(event["track"])
                kinds.add(kind)
                if kind in ("in", "out"):
                    expected.append(("LineDetector/Crossed", zone, {"ObjectId": track, "Direction": kind}))
                    expected.append(("CountAggregation/Counter", f"{zone}/{kind}", {"Count": str(event[kind])}))
                elif kind == "dwell":
                    since = messages[len(expected)][2]["Since"]
                    expected.append(("LoiteringDetector/ObjectIsLoitering", zone, {"ObjectId": track, "Since": since}))
                else:
                    expected.append(("FieldDetector/ObjectsInside", zone, {
                        "ObjectId": track, "IsInside": "true" if kind == "enter" else "false"}))
            self.assertEqual(messages, expected)
        self.assertTrue({"enter", "dwell"} < kinds and kinds & {"in", "out"}, kinds)
        self.validate(found["xml"])

    def validate(self, documents):
        self.assertEqual(onvifschema.validate("ver10/schema/metadatastream.xsd", documents), "")

    @unittest.skipUnless(all(Gst.ElementFactory.find(f"rtponvifmetadata{name}") for name in ("pay", "depay")),
                         "GStreamer's plugin rsonvif (gst-plugins-rs) is not installed")
    def test_round_trip(self):
        """Documents come out of RTP as they went in."""
        pipeline = Gst.parse_launch(
            "videotestsrc num-buffers=20 pattern=ball ! video/x-raw,format=GRAY8 ! cudaccl backend=cpu ! ccltrack ! "
            "cclonvif ! tee name=t t. ! queue ! appsink name=before sync=false "
            "t. ! queue ! rtponvifmetadatapay ! rtponvifmetadatadepay ! appsink name=after sync=false")
        pipeline.set_state(Gst.State.PLAYING)
        documents = []
        for name in ("before", "after"):
            documents.append([])
            while sample := pipeline.get_by_name(name).emit("pull-sample"):
                buffer = sample.get_buffer()
                documents[-1].append(buffer.extract_dup(0, buffer.get_size()))
        pipeline.set_state(Gst.State.NULL)
        self.assertEqual(len(documents[0]), 20)
        self.assertEqual(documents[0], documents[1])

    def test_times(self):
        """Frames are as far apart as their timestamps."""
        times = [re.search(rb'UtcTime="[^"]*:(\d\d\.\d{9})Z', text).group(1)
                 for text in run("identity")["xml"]]
        steps = {round((float(b) - float(a)) % 60, 3) for a, b in zip(times, times[1:])}
        self.assertEqual(steps, {0.033})


if __name__ == "__main__":
    if not Gst.ElementFactory.find("cclonvif"):
        print("no element cclonvif", file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=2)
