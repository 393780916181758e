#!/usr/bin/env python3
# cclonvif's documents have the structure of ONVIF's metadatastream.xsd.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of cclonvif's documents. Exit status 77 without GStreamer."""

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

TT = "{http://www.onvif.org/ver10/schema}"
WIDTH, HEIGHT = 320, 240

# From ONVIF's schema: for each element its required and optional attributes and its children, in
# this order, with how many there may be.
MANY = 1 << 30
SCHEMA = {
    "MetadataStream": ((), (), (("VideoAnalytics", 0, MANY),)),
    "VideoAnalytics": ((), (), (("Frame", 0, MANY),)),
    "Frame": (("UtcTime",), ("Source",), (("Object", 0, MANY),)),
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
    name = element.tag.removeprefix(TT)
    required, optional, children = SCHEMA[name]
    found = [f"{name} has no {key}" for key in required if key not in element.attrib]
    found += [f"{name} has {key}" for key in element.attrib if key not in required + optional]
    names = [child.tag.removeprefix(TT) for child in element]
    expected = [child for child, _, _ in children]
    found += [f"{name} has {child}" for child in names if child not in expected]
    if not found and [child for child in expected for _ in range(names.count(child))] != names:
        found.append(f"{name}'s children are in the wrong order")
    for child, least, most in children:
        if not least <= names.count(child) <= most:
            found.append(f"{name} has {names.count(child)} {child}")
    for child in element:
        if child.tag.removeprefix(TT) in expected:
            found += problems(child)
    return found


def run(elements):
    """The documents of cclonvif, and the lines of components, for a ball."""
    pipeline = Gst.parse_launch(
        "videotestsrc num-buffers=20 pattern=ball ! "
        f"video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT} ! {elements} ! tee name=t "
        "t. ! queue ! cclonvif name=onvif ! appsink name=xml sync=false "
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
