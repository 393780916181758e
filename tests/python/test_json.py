#!/usr/bin/env python3
# ccljson's output matches the schema in docs/json.md, which names every member.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of the schema of ccljson's lines. Exit status 77 without GStreamer or ccljson."""

import json
import pathlib
import re
import sys
import unittest

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstCcl", "1.0")
    from gi.repository import Gst, GstCcl

    Gst.init(None)
except (ImportError, ValueError) as error:
    print(f"Python cannot use GStreamer here: {error}", file=sys.stderr)
    sys.exit(77)

PAGE = pathlib.Path(__file__).resolve().parents[2] / "docs" / "json.md"
TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "null": lambda value: value is None,
    "integer": lambda value: type(value) is int,
    "number": lambda value: type(value) in (int, float),
}


def read_schema():
    text = PAGE.read_text(encoding="utf-8").split("\n## Schema\n", 1)[1]
    return json.loads(re.search(r"```json\n(.*?)```", text, re.DOTALL).group(1))


def problems(value, schema, root, place="line"):
    """Lists mismatches of value and schema; members unknown to the schema are mismatches."""
    if "oneOf" in schema:
        found = [problems(value, kind, root, place) for kind in schema["oneOf"]]
        fitting = found.count([])
        return [] if fitting == 1 else [f"{place} is of {fitting} kinds"] + min(found, key=len)
    if "$ref" in schema:
        schema = root["$defs"][schema["$ref"].rpartition("/")[2]]
    types = schema["type"] if isinstance(schema["type"], list) else [schema["type"]]
    if not any(TYPES[name](value) for name in types):
        return [f"{place} is {value!r}, not {types}"]
    if "minimum" in schema and value is not None and value < schema["minimum"]:
        return [f"{place} is {value}, below {schema['minimum']}"]
    if "maximum" in schema and value is not None and value > schema["maximum"]:
        return [f"{place} is {value}, above {schema['maximum']}"]
    if "pattern" in schema and value is not None and not re.search(schema["pattern"], value):
        return [f"{place} is {value!r}, not like {schema['pattern']}"]
    found = []
    if isinstance(value, dict):
        found += [f"{place} has no {name}" for name in schema["required"] if name not in value]
        for name, member in value.items():
            if name in schema["properties"]:
                found += problems(member, schema["properties"][name], root, f"{place}.{name}")
            else:
                found.append(f"{place} has {name}, which the schema does not name")
    elif isinstance(value, list):
        for i, item in enumerate(value):
            found += problems(item, schema["items"], root, f"{place}[{i}]")
    return found


def lines(elements, source="num-buffers=3 pattern=snow"):
    """The lines of ccljson for noise that passes through these elements."""
    pipeline = Gst.parse_launch(
        f"videotestsrc {source} ! video/x-raw,format=GRAY8,width=48,height=32 ! "
        f"{elements} ! appsink name=sink sync=false")
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    found = []
    while sample := sink.emit("pull-sample"):
        buffer = sample.get_buffer()
        found.append(json.loads(buffer.extract_dup(0, buffer.get_size())))
    pipeline.set_state(Gst.State.NULL)
    return found


def record(**members):
    """The schema of an object; names that end with _ may be missing."""
    return {"type": "object", "properties": {name.rstrip("_"): schema for name, schema in members.items()},
            "required": [name for name in members if not name.endswith("_")]}


def array(items):
    return {"type": "array", "items": items}


def text(pattern):
    return {"type": "string", "pattern": f"^{pattern}$"}


SHARE = {"type": "number", "minimum": 0, "maximum": 1}
MICROSECONDS = text(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
TRACK = text("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")
CLASS = record(type=text(".+"), score=SHARE)
CHANNEL = {"type": "integer", "minimum": 1}
DEEPSTREAM = {"type": "object", "required": ["version", "id", "@timestamp", "sensorId", "objects"], "properties": {
    "version": text(r"4\.0"), "id": {"type": "integer", "minimum": 0}, "sensorId": text(".+"),
    "@timestamp": text(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"),
    # The id, four sides, the type, and perhaps attributes, of which the last is the confidence.
    "objects": array(text(r"\d+(\|\d+){4}\|[^|]*(\|#(\|[^|]*)*\|(0\.\d+|1\.0+))?"))}}
AXIS_FRAME = record(channel_id=CHANNEL, timestamp=MICROSECONDS, detections_=array(record(
    bounding_box=record(left=SHARE, top=SHARE, right=SHARE, bottom=SHARE), object_track_id_=TRACK, class_=CLASS)))
AXIS_TRACK = record(channel_id=CHANNEL, id=TRACK, start_time_=MICROSECONDS, end_time_=MICROSECONDS,
                    duration_={"type": "number", "minimum": 0}, classes_=array(CLASS))


class Foreign(unittest.TestCase):
    """Lines as others describe theirs, in our words."""

    def test_deepstream(self):
        for frame in lines("cudaccl backend=cpu ! ccltrack min-persistence=1 ! ccljson schema=deepstream-minimal"):
            self.assertEqual(problems(frame, DEEPSTREAM, DEEPSTREAM), [])
            self.assertTrue(frame["objects"])
        self.assertTrue(problems({**frame, "objects": ["1|2|3|4|car"]}, DEEPSTREAM, DEEPSTREAM))

    def test_axis(self):
        found = lines("cudaccl backend=cpu ! ccltrack ! ccljson schema=axis lines=frames+tracks",
                      "num-buffers=100 pattern=ball")
        frames = [line for line in found if "detections" in line]
        tracks = [line for line in found if "detections" not in line]
        for line in frames:
            self.assertEqual(problems(line, AXIS_FRAME, AXIS_FRAME), [])
        for line in tracks:
            self.assertEqual(problems(line, AXIS_TRACK, AXIS_TRACK), [])
        seen = {one["object_track_id"] for line in frames for one in line["detections"] if "object_track_id" in one}
        self.assertTrue(seen)
        self.assertEqual({line["id"] for line in tracks}, seen)
        self.assertTrue(problems({**tracks[0], "id": "1"}, AXIS_TRACK, AXIS_TRACK))


class Schema(unittest.TestCase):
    def setUp(self):
        self.schema = read_schema()

    def test_frames(self):
        for elements, components in (("cudaccl backend=cpu ! ccljson source=gate", True),
                                     ("cudaccl backend=cpu attach=roi ! ccljson", True),
                                     ("ccljson", False)):
            with self.subTest(elements):
                frames = lines(elements)
                self.assertEqual(len(frames), 3)
                for frame in frames:
                    self.assertEqual(problems(frame, self.schema, self.schema), [])
                    self.assertEqual(bool(frame["components"]), components)
                    self.assertEqual("source" in frame, "source=" in elements)

    def test_features(self):
        names = {"ellipse": ("orientation", "major-axis", "minor-axis"), "holes": ("holes",),
                 "perimeter": ("perimeter",), "luma": ("luma-mean", "luma-min", "luma-max")}
        for features in ("ellipse", "holes", "perimeter", "luma", "ellipse+holes+perimeter+luma"):
            expected = {name for feature in features.split("+") for name in names[feature]}
            for frame in lines(f"cudaccl backend=cpu features={features} ! ccljson"):
                self.assertEqual(problems(frame, self.schema, self.schema), [])
                for item in frame["components"]:
                    self.assertEqual({name for group in names.values() for name in group} & set(item), expected)

    def test_classes(self):
        """Components of a detector, with what it knows of them."""
        pipeline = Gst.parse_launch(
            "appsrc name=source caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=1/1 ! "
            "ccljson ! appsink name=sink sync=false")
        components = []
        for class_id, confidence in ((0, 0), (1, 0.5), (2, 1), (3, 0)):
            component = GstCcl.CclComponent()
            component.width = component.height = component.area = 1
            component.class_id, component.confidence = class_id, confidence
            components.append(component)
        buffer = Gst.Buffer.new()
        meta = GstCcl.buffer_add_ccl_meta(buffer, 64, 48, 4, components)
        meta.set_class_names(GstCcl.CclClassNames.new(["person", "car"]))
        pipeline.set_state(Gst.State.PLAYING)
        pipeline.get_by_name("source").emit("push-buffer", buffer)
        buffer = pipeline.get_by_name("sink").emit("pull-sample").get_buffer()
        line = json.loads(buffer.extract_dup(0, buffer.get_size()))
        pipeline.set_state(Gst.State.NULL)
        self.assertEqual(problems(line, self.schema, self.schema), [])
        self.assertEqual([tuple(item.get(name) for name in ("class-id", "class", "confidence"))
                          for item in line["components"]],
                         [(None, None, None), (1, "person", 0.5), (2, "car", 1.0), (3, None, None)])
        line["components"][1]["confidence"] = 1.5
        self.assertNotEqual(problems(line, self.schema, self.schema), [])

    def test_live(self):
        frames = lines("cudaccl backend=cpu ! ccljson", "num-buffers=3 is-live=true")
        self.assertEqual([frame["frame"] for frame in frames], [0, 1, 2])
        for frame in frames:
            self.assertEqual(problems(frame, self.schema, self.schema), [])
            self.assertIsNotNone(frame["utc"])
        self.assertIsNone(lines("ccljson")[0]["utc"])

    def test_events(self):
        """A ball that moves through a zone: the file's lines have what the messages say."""
        frames = lines('cudaccl backend=cpu ! ccltrack ! cclzones zones="left: 0,0 0.5,0 0.5,1 0,1" ! '
                       'ccljson', "num-buffers=300 pattern=ball")
        events = [event for frame in frames for event in frame.get("events", [])]
        self.assertIn("enter", [event["event"] for event in events])
        self.assertIn("leave", [event["event"] for event in events])
        for frame in frames:
            self.assertEqual(problems(frame, self.schema, self.schema), [])
            self.assertNotEqual(frame.get("events"), [])

    def test_kinds(self):
        """Tracks and events on lines of their own say what the frames' lines do."""
        zones = 'cudaccl backend=cpu ! ccltrack ! cclzones zones="left: 0,0 0.5,0 0.5,1 0,1" ! '
        source = "num-buffers=300 pattern=ball"
        frames = lines(zones + "ccljson", source)
        others = lines(zones + "ccljson lines=tracks+events source=gate", source)
        for line in others:
            self.assertEqual(problems(line, self.schema, self.schema), [])
            self.assertEqual(line["source"], "gate")

        expected = [{**event, "frame": frame["frame"]} for frame in frames
                    for event in frame.get("events", [])]
        events = [line for line in others if "event" in line]
        self.assertGreater(len(events), 1)
        self.assertEqual([{name: event.get(name) for name in expected[0]} for event in events],
                         expected)

        tracks = [line for line in others if "first" in line]
        self.assertEqual(len(tracks) + len(events), len(others))
        self.assertTrue(tracks)
        for track in tracks:
            found = [(frame["frame"], component) for frame in frames
                     for component in frame["components"] if component.get("track") == track["track"]]
            self.assertEqual(track["frames"], len(found))
            for name, (number, component) in (("first", found[0]), ("last", found[-1])):
                self.assertEqual(track[name]["frame"], number)
                self.assertEqual(track[name]["component"], component)

    def test_identity(self):
        """No line is like another one, whatever starts again."""
        everything = [line for _ in range(2) for kinds in ("frames", "frames+tracks+events")
                      for line in lines(f"cudaccl backend=cpu ! ccltrack min-persistence=1 ! "
                                        f"ccljson source=gate lines={kinds}")]
        identities = {(line["source"], line["session"], line["line"]) for line in everything}
        self.assertEqual(len(identities), len(everything))
        frames = [line for line in everything if "components" in line]
        self.assertEqual(len({(line["source"], line["session"], line["frame"]) for line in frames}),
                         len(frames))
        self.assertEqual(len({line["session"] for line in everything}), 4)

    def test_misfits(self):
        frame = lines("cudaccl backend=cpu ! ccljson")[0]
        for change in ({"width": 0}, {"found": 1.5}, {"new": 1}, {"utc": "today"}, {"components": None},
                       {"components": [{"label": 1}]}, {"session": "today"}, {"line": None}):
            self.assertNotEqual(problems({**frame, **change}, self.schema, self.schema), [], change)
        del frame["count"]
        self.assertEqual(problems(frame, self.schema, self.schema), ["line is of 0 kinds", "line has no count"])


if __name__ == "__main__":
    if not Gst.ElementFactory.find("ccljson"):
        print("no element ccljson", file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=2)
