#!/usr/bin/env python3
# Components read from Python, as typed values, and compared with the regions of interest.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Tests of libgstccl's introspection. Exit status 77 without GStreamer's Python bindings."""

import gc
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

try:
    import gi

    gi.require_version("Gst", "1.0")
    gi.require_version("GstVideo", "1.0")
    gi.require_version("GstCcl", "1.0")
    from gi.repository import GObject, Gst, GstCcl, GstVideo

    Gst.init(None)
except (ImportError, ValueError) as error:
    print(f"Python cannot use GStreamer here: {error}", file=sys.stderr)
    sys.exit(77)

try:
    import cudaccl.gst
    import numpy
except ImportError as error:
    cudaccl = None
    print(f"without the tests of arrays: {error}", file=sys.stderr)

WIDTH, HEIGHT = 320, 240
FIELDS = ("label", "x", "y", "width", "height", "area", "centroid_x", "centroid_y")


def component(*values):
    """A component with these values, in the order of FIELDS."""
    result = GstCcl.CclComponent()
    for name, value in zip(FIELDS, values):
        setattr(result, name, value)
    return result


def values(item):
    """The values of a component, in the order of FIELDS."""
    return tuple(getattr(item, name) for name in FIELDS)


SAMPLES = [
    (1, 3, 4, 5, 6, 21, 5.25, 6.5),
    (2, 0, 7, 1, 1, 1, 0.0, 7.0),
    (7, 4294967295, 0, 4294967295, 2, 2**63 + 1, 1e9, 0.5),
]


def sample_meta(found=9):
    """A buffer with the samples; the buffer must live as long as its metadata is used."""
    buffer = Gst.Buffer.new()
    meta = GstCcl.buffer_add_ccl_meta(buffer, 64, 48, found, [component(*s) for s in SAMPLES])
    return buffer, meta


def frames(pipeline):
    """Runs a pipeline with an appsink named sink and yields its buffers."""
    sink = pipeline.get_by_name("sink")
    pipeline.set_state(Gst.State.PLAYING)
    try:
        while sample := sink.emit("pull-sample"):
            yield sample.get_buffer()
        message = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
        if message:
            raise AssertionError(message.parse_error())
    finally:
        pipeline.set_state(Gst.State.NULL)


def rois(buffer):
    """The regions of interest of a buffer, with the values and order of FIELDS."""
    found = []
    while roi := GstVideo.buffer_get_video_region_of_interest_meta_id(buffer, len(found)):
        param = roi.get_param("cudaccl")
        found.append(
            (
                param.get_uint("label").value,
                roi.x,
                roi.y,
                roi.w,
                roi.h,
                param.get_uint64("area").value,
                param.get_double("centroid-x").value,
                param.get_double("centroid-y").value,
            )
        )
    return found


def zone_values(meta):
    """What GstCclZonesMeta says, as numbers and strings."""
    zones = [(zone.name, zone.tripwire, zone.get_points(), zone.in_, zone.out, zone.inside)
             for zone in meta.get_zones()]
    events = [(GstCcl.ccl_zone_event_type_get_name(event.type), event.zone, event.track, event.dwell,
               event.x, event.y, event.in_, event.out, event.inside, event.frame_age,
               meta.get_class_name(event.class_id))
              for event in meta.get_events()]
    return zones, events


ZONES = [("gate", True, [1.0, 2.5, 3.0, 4.0], 0, 0, 0), ("lawn", False, [0.5] * 6, 0, 0, 0)]
EVENTS = [("out", 0, 2**32 - 1, 2**63, 2.5, -1.0, 2**64 - 1, 3, 4, -5, "car")]


def sample_zones():
    """A buffer with zones and an event."""
    event = GstCcl.CclZoneEvent()
    event.type, event.track, event.dwell = GstCcl.CclZoneEventType.OUT, 2**32 - 1, 2**63
    event.x, event.y, event.in_, event.out, event.inside, event.frame_age = EVENTS[0][4:10]
    event.class_id = 2
    buffer = Gst.Buffer.new()
    zones = [GstCcl.CclZone.new(*zone[:3]) for zone in ZONES]
    meta = GstCcl.buffer_add_ccl_zones_meta(buffer, 64, 48, zones, [event])
    meta.set_class_names(GstCcl.CclClassNames.new(["person", "car"]))
    return buffer, meta


def receive(path):
    """Run in another process: prints the components and zones of a frame received through a
    socket."""
    GstCcl.CclMeta.get_info()
    GstCcl.CclZonesMeta.get_info()
    pipeline = Gst.parse_launch(f"unixfdsrc socket-path={path} ! appsink name=sink sync=false")
    buffer = next(frames(pipeline))
    meta, zones = GstCcl.buffer_get_ccl_meta(buffer), GstCcl.buffer_get_ccl_zones_meta(buffer)
    print(json.dumps([[values(c) for c in meta.get_components()] if meta else None,
                      zone_values(zones) if zones else None]))


class MetaTest(unittest.TestCase):
    """Metadata made and read in Python."""

    def test_nothing(self):
        self.assertIsNone(GstCcl.buffer_get_ccl_meta(Gst.Buffer.new()))
        self.assertIsNone(GstCcl.buffer_get_ccl_zones_meta(Gst.Buffer.new()))

    def test_values(self):
        buffer, _ = sample_meta()
        meta = GstCcl.buffer_get_ccl_meta(buffer)
        self.assertEqual((meta.width, meta.height, meta.found, meta.n_components), (64, 48, 9, 3))
        self.assertEqual(meta.get_n_components(), 3)
        self.assertEqual([values(c) for c in meta.get_components()], SAMPLES)
        self.assertEqual([values(meta.get_component(i)) for i in range(3)], SAMPLES)
        self.assertIsNone(meta.get_component(3))

    def test_tracks(self):
        item = component(*SAMPLES[0])
        item.track, item.age, item.velocity_x, item.velocity_y = 2**32 - 1, 2**63, 1.5, -2.25
        buffer = Gst.Buffer.new()
        meta = GstCcl.buffer_add_ccl_meta(buffer, 64, 48, 1, [item])
        got = meta.get_component(0)
        self.assertEqual((got.track, got.age, got.velocity_x, got.velocity_y),
                         (2**32 - 1, 2**63, 1.5, -2.25))

    def test_standing(self):
        item = component(*SAMPLES[0])
        item.flags, item.static_age = GstCcl.CclComponentFlags.STATIC, 2**32 - 1
        buffer = Gst.Buffer.new()
        got = GstCcl.buffer_add_ccl_meta(buffer, 64, 48, 1, [item]).get_component(0)
        self.assertEqual((got.flags, got.static_age), (GstCcl.CclComponentFlags.STATIC, 2**32 - 1))

    def test_classes(self):
        item = component(*SAMPLES[0])
        item.class_id, item.confidence = 2, 0.75
        buffer = Gst.Buffer.new()
        meta = GstCcl.buffer_add_ccl_meta(buffer, 64, 48, 1, [item])
        self.assertIsNone(meta.get_class_names())
        self.assertIsNone(meta.get_class_name(2))
        meta.set_class_names(GstCcl.CclClassNames.new(["person", "B\u00e4r"]))
        copy = buffer.copy_deep()
        del buffer, meta, item
        gc.collect()
        meta = GstCcl.buffer_get_ccl_meta(copy)
        got = meta.get_component(0)
        self.assertEqual((got.class_id, got.confidence), (2, 0.75))
        self.assertEqual([meta.get_class_name(i) for i in range(4)], [None, "person", "B\u00e4r", None])
        names = meta.get_class_names()
        del copy, meta
        gc.collect()
        self.assertEqual((names.get_n_names(), names.get_name(1)), (2, "person"))

    def test_zones(self):
        pipeline = Gst.parse_launch(
            "videotestsrc pattern=ball num-buffers=4 ! video/x-raw,format=GRAY8,width=320,height=240 "
            "! cudaccl backend=cpu ! ccltrack min-persistence=1 "
            "! cclzones zones=\"all: 0,0 1,0 1,1 0,1\" tripwires=\"wire: 0,0.5 1,0.5\" "
            "! appsink name=sink sync=false")
        events = []
        for buffer in frames(pipeline):
            meta = GstCcl.buffer_get_ccl_zones_meta(buffer)
            zones = [meta.get_zone(i) for i in range(meta.get_n_zones())]
            self.assertEqual([zone.name for zone in zones], ["all", "wire"])
            self.assertEqual([zone.tripwire for zone in zones], [False, True])
            self.assertEqual(zones[1].get_points(), [0, 120, 320, 120])
            self.assertEqual(zones[0].inside, 1)
            self.assertIsNone(meta.get_zone(2))
            events += [(event.type, event.zone, event.track) for event in meta.get_events()]
        self.assertEqual(events, [(GstCcl.CclZoneEventType.ENTER, 0, 1)])

    def test_zone_values(self):
        buffer, meta = sample_zones()
        copy = buffer.copy_deep()
        self.assertEqual(zone_values(meta), (ZONES, EVENTS))
        self.assertEqual((meta.get_n_zones(), meta.get_n_events()), (2, 1))
        self.assertEqual(meta.get_event(0).track, 2**32 - 1)
        self.assertIsNone(meta.get_event(1))
        zones, one, events = meta.get_zones(), meta.get_zone(1).copy(), meta.get_events()
        del buffer, meta
        gc.collect()
        churn = [sample_zones() for _ in range(100)]
        self.assertEqual([(zone.name, zone.get_points()) for zone in zones],
                         [(zone[0], zone[2]) for zone in ZONES])
        self.assertEqual((one.name, events[0].x), ("lawn", 2.5))
        del churn
        meta = GstCcl.buffer_get_ccl_zones_meta(copy)
        self.assertTrue(meta.crop(1, 2, 20, 20))
        self.assertFalse(meta.crop(1, 2, 20, 20))
        self.assertEqual(meta.get_zone(0).get_points(), [0.0, 0.5, 2.0, 2.0])
        self.assertEqual((meta.get_event(0).x, meta.get_event(0).y), (1.5, -3.0))

    def test_empty(self):
        buffer = Gst.Buffer.new()
        GstCcl.buffer_add_ccl_meta(buffer, 64, 48, 0, [])
        meta = GstCcl.buffer_get_ccl_meta(buffer)
        self.assertEqual(meta.get_components(), [])
        self.assertIsNone(meta.get_component(0))

    def test_values_outlive_the_buffer(self):
        buffer, meta = sample_meta()
        kept, one = meta.get_components(), meta.get_component(1).copy()
        del buffer, meta
        gc.collect()
        churn = [sample_meta(found=1000 + i) for i in range(100)]
        self.assertEqual([values(c) for c in kept], SAMPLES)
        self.assertEqual(values(one), SAMPLES[1])
        del churn

    def test_copies_of_buffers(self):
        buffer, _ = sample_meta()
        copy = buffer.copy_deep()
        del buffer, _
        meta = GstCcl.buffer_get_ccl_meta(copy)
        self.assertEqual(meta.found, 9)
        self.assertEqual([values(c) for c in meta.get_components()], SAMPLES)

    def test_crop(self):
        buffer = Gst.Buffer.new()
        meta = GstCcl.buffer_add_ccl_meta(buffer, 64, 48, 2, [component(*s) for s in SAMPLES[:2]])
        self.assertFalse(meta.crop(60, 0, 5, 5))
        self.assertTrue(meta.crop(2, 2, 20, 20))
        self.assertEqual([values(c) for c in meta.get_components()], [(1, 1, 2, 5, 6, 21, 3.25, 4.5)])
        self.assertEqual((meta.width, meta.height, meta.found), (20, 20, 1))

    def test_types(self):
        self.assertEqual(GObject.type_name(GstCcl.CclComponent.__gtype__), "GstCclComponent")
        self.assertEqual(GObject.type_name(GstCcl.ccl_meta_api_get_type()), "GstCclMetaAPI")

    def test_colors(self):
        self.assertEqual(GstCcl.ccl_label_get_color(0), 0)
        self.assertEqual(GstCcl.ccl_label_get_color(1), 0xff0000)
        self.assertEqual(GstCcl.ccl_label_get_color(1 + GstCcl.CCL_N_COLORS), 0xff0000)


class PageTest(unittest.TestCase):
    """The code in docs/classes.md."""

    def test_classes(self):
        page = pathlib.Path(__file__).resolve().parents[2] / "docs" / "classes.md"
        printed = []
        scope = {"Gst": Gst, "GstCcl": GstCcl, "print": printed.append}
        for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            exec(code, scope)  # pylint: disable=exec-used
        pipeline = Gst.parse_launch(
            "appsrc name=source caps=video/x-raw,format=GRAY8,width=64,height=48,framerate=1/1 "
            "! ccltrack min-persistence=1 ! identity name=last ! appsink name=sink sync=false")
        pipeline.get_by_name("last").get_static_pad("src").add_probe(Gst.PadProbeType.BUFFER,
                                                                     scope["on_buffer"])
        buffer = Gst.Buffer.new_allocate(None, 64 * 48, None)
        scope["attach"](buffer, 64, 48, [(1, 2, 10, 20, 1, 0.5), (30, 2, 10, 20, 1, 0.5),
                                         (50, 2, 10, 20, 2, 0.9)])
        pipeline.get_by_name("source").emit("push-buffer", buffer)
        pipeline.get_by_name("source").emit("end-of-stream")
        del buffer
        self.assertEqual(len(list(frames(pipeline))), 1)
        self.assertEqual(printed, [{"person": 2, "car": 1}])


class PipelineTest(unittest.TestCase):
    """Metadata attached by cudaccl."""

    def analyse(self, source, properties="", after=""):
        return frames(
            Gst.parse_launch(
                f"{source} ! video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT} "
                f"! cudaccl backend=cpu {properties} ! {after} appsink name=sink sync=false"
            )
        )

    def test_ball(self):
        count = 0
        for buffer in self.analyse("videotestsrc pattern=ball num-buffers=5"):
            meta = GstCcl.buffer_get_ccl_meta(buffer)
            self.assertEqual((meta.width, meta.height, meta.found), (WIDTH, HEIGHT, 1))
            (ball,) = meta.get_components()
            self.assertIsInstance(ball.area, int)
            self.assertIsInstance(ball.centroid_x, float)
            self.assertTrue(ball.x <= ball.centroid_x < ball.x + ball.width)
            self.assertTrue(ball.y <= ball.centroid_y < ball.y + ball.height)
            self.assertTrue(0 < ball.area <= ball.width * ball.height)
            count += 1
        self.assertEqual(count, 5)

    def test_same_as_regions_of_interest(self):
        for properties in ("", "connectivity=4", "max-components=7", "min-area=3 invert=true"):
            with self.subTest(properties=properties):
                count = 0
                for buffer in self.analyse("videotestsrc pattern=snow num-buffers=3", properties):
                    meta = GstCcl.buffer_get_ccl_meta(buffer)
                    components = [values(c) for c in meta.get_components()]
                    self.assertGreater(len(components), 1)
                    self.assertGreaterEqual(meta.found, len(components))
                    self.assertEqual(components, rois(buffer))
                    self.assertEqual([c[0] for c in components], list(range(1, len(components) + 1)))
                    count += 1
                self.assertEqual(count, 3)

    def test_scaled(self):
        source = "videotestsrc pattern=ball num-buffers=2"
        after = f"videoscale ! video/x-raw,width={2 * WIDTH},height={2 * HEIGHT} !"
        whole = [values(GstCcl.buffer_get_ccl_meta(b).get_component(0)) for b in self.analyse(source)]
        for buffer, ball in zip(self.analyse(source, after=after), whole):
            meta = GstCcl.buffer_get_ccl_meta(buffer)
            scaled = meta.get_component(0)
            self.assertEqual((meta.width, meta.height), (2 * WIDTH, 2 * HEIGHT))
            self.assertEqual((scaled.x, scaled.y), (2 * ball[1], 2 * ball[2]))
            self.assertEqual((scaled.width, scaled.height), (2 * ball[3], 2 * ball[4]))
            self.assertEqual(scaled.area, 4 * ball[5])

    @unittest.skipUnless(Gst.ElementFactory.find("unixfdsink"), "no unixfdsink")
    def test_other_process(self):
        source = (
            "videotestsrc pattern=checkers-8 is-live=true ! video/x-raw,format=GRAY8,width=320,"
            "height=240 ! cudaccl backend=cpu connectivity=4 ! cclzones tripwires=\"gate: 0,0 1,1\" !"
        )
        here = next(frames(Gst.parse_launch(f"{source} appsink name=sink")))
        expected = [values(c) for c in GstCcl.buffer_get_ccl_meta(here).get_components()]
        self.assertGreater(len(expected), 1)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "socket"
            sender = Gst.parse_launch(f"{source} unixfdsink socket-path={path}")
            sender.set_state(Gst.State.PLAYING)
            sender.get_state(Gst.SECOND)
            try:
                command = [sys.executable, __file__, "--receive", str(path)]
                output = subprocess.run(command, stdout=subprocess.PIPE, check=True)
            finally:
                sender.set_state(Gst.State.NULL)
        components, zones = json.loads(output.stdout)
        self.assertEqual([tuple(c) for c in components], expected)
        self.assertEqual(zones, [[["gate", True, [0.0, 0.0, 320.0, 240.0], 0, 0, 0]], []])



@unittest.skipUnless(cudaccl, "no NumPy, or no package")
class ArraysTest(unittest.TestCase):
    def test_components(self):
        buffer, meta = sample_meta()
        found = cudaccl.gst.components(buffer)
        self.assertEqual([tuple(row[name].item() for name in FIELDS) for row in found], SAMPLES)
        for item, row in zip(meta.get_components(), found):
            for name in cudaccl.gst.COMPONENT.names:
                self.assertEqual(getattr(item, name), row[name], name)
        self.assertIsNone(cudaccl.gst.components(Gst.Buffer.new()))
        buffer = Gst.Buffer.new()
        GstCcl.buffer_add_ccl_meta(buffer, 64, 48, 0, [])
        self.assertEqual(len(cudaccl.gst.components(buffer)), 0)

    def test_attach(self):
        buffer = Gst.Buffer.new()
        boxes = [(10, 20, 5, 6), (-3, 2.5, 8, 4), (70, 1, 5, 5), (60, 0, 30, 3)]
        attached = cudaccl.gst.attach(buffer, 64, 48, boxes, [2, 1, 1, 0], [0.5, 1, 0.1, 0.25], ["person", "car"])
        found = cudaccl.gst.components(buffer)
        numpy.testing.assert_array_equal(found, attached)
        self.assertEqual(found[["label", "x", "y", "width", "height", "class_id", "confidence"]].tolist(),
                         [(1, 60, 0, 4, 3, 0, 0.25), (2, 0, 2, 5, 5, 1, 1), (3, 10, 20, 5, 6, 2, 0.5)])
        self.assertEqual((found["centroid_x"][2], found["centroid_y"][2]), (12, 22.5))
        self.assertEqual(cudaccl.gst.class_names(buffer), ["person", "car"])
        cudaccl.gst.attach(buffer, 64, 48, [])
        self.assertEqual(len(cudaccl.gst.components(buffer)), 0)
        sample = Gst.Sample.new(buffer, None, None, None)
        with self.assertRaisesRegex(ValueError, "not writable"):
            cudaccl.gst.attach(buffer, 64, 48, [])
        del sample
        for boxes, classes, scores, names, problem in [
                ([(0, 0, float("nan"), 1)], 1, 1, None, "finite"), ([(0, 0, 1, 1)], 1, 1.5, None, "scores .* 1.5"),
                ([(0, 0, 1, 1)], 1, float("nan"), None, "scores .* nan"), ([(0, 0, 1, 1)], -1, 1, None, "class_ids .* -1"),
                ([(0, 0, 1, 1)], 2**32, 1, None, "class_ids"), ([(0, 0, 1, 1)], 3, 1, ["a", "b"], "names has no more")]:
            with self.assertRaisesRegex(ValueError, problem):
                cudaccl.gst.attach(buffer, 64, 48, boxes, classes, scores, names)

    def test_events(self):
        buffer, meta = sample_zones()
        found = cudaccl.gst.events(buffer)
        self.assertEqual(len(found), meta.get_n_events())
        for row, event in zip(found, meta.get_events()):
            self.assertEqual(row["type"], GstCcl.ccl_zone_event_type_get_name(event.type))
            self.assertEqual(row["zone"], meta.get_zone(event.zone).name)
            for name in ("track", "dwell", "x", "y", "out", "inside", "frame_age", "class_id"):
                self.assertEqual(row[name], getattr(event, name), name)
            self.assertEqual(row["in"], event.in_)
        self.assertEqual(len(cudaccl.gst.events(Gst.Buffer.new())), 0)

    def test_detector(self):
        """Frames of any stride and format arrive as they are; an exception is an error of the element."""
        for form, width, detect, text in [
                ("GRAY8", 33, lambda frame: ([(1, 2, frame.shape[1] - 1, 3)], 1, 0.5), None),
                ("BGR", 33, lambda frame: ([(1, 2, frame.shape[1] - 1, frame.shape[2])], 1, 0.5), None),
                ("GRAY8", 33, lambda frame: 1 / 0, "ZeroDivisionError: division by zero"),
                ("GRAY8", 33, lambda frame: (frame.fill(0), 1, 1), "read-only"),
                ("GRAY8", 33, lambda frame: ([(0, 0, 1, 1)], 1, 7), "scores are 0 to 1")]:
            pipeline = Gst.parse_launch(f"videotestsrc num-buffers=2 ! capsfilter name=before caps=video/x-raw,format={form},"
                                        f"width={width},height=20   appsink name=sink sync=false")
            detector = type("Own", (cudaccl.gst.Detector,), {"detect": lambda self, frame: detect(frame), "names": ["a"]})()
            pipeline.add(detector)
            self.assertTrue(pipeline.get_by_name("before").link(detector))
            self.assertTrue(detector.link(pipeline.get_by_name("sink")))
            pipeline.set_state(Gst.State.PLAYING)
            if text:
                message = pipeline.get_bus().timed_pop_filtered(10 * Gst.SECOND, Gst.MessageType.ERROR)
                self.assertIn(text, message.parse_error()[0].message)
            else:
                sample = pipeline.get_by_name("sink").emit("pull-sample")
                found = cudaccl.gst.components(sample.get_buffer())
                self.assertEqual(found[["x", "y", "width", "height", "class_id", "confidence"]].tolist(),
                                 [(1, 2, width - 1, 3, 1, 0.5)])
            pipeline.set_state(Gst.State.NULL)

    def test_pipeline(self):
        """Boxes of a program become tracks."""
        pipeline = Gst.parse_launch("appsrc name=source format=time caps=video/x-raw,format=GRAY8,width=64,height=48,"
                                    "framerate=25/1 ! ccltrack min-persistence=2 ! appsink name=sink sync=false")
        source, sink = pipeline.get_by_name("source"), pipeline.get_by_name("sink")
        pipeline.set_state(Gst.State.PLAYING)
        tracks = []
        for i in range(12):
            buffer = Gst.Buffer.new_wrapped(bytes(64 * 48))
            buffer.pts, buffer.duration = i * 40 * Gst.MSECOND, 40 * Gst.MSECOND
            cudaccl.gst.attach(buffer, 64, 48, [(5 + i, 10, 12, 9)], 1, 0.9, ["person"])
            source.emit("push-buffer", buffer)
            objects = cudaccl.gst.components(sink.emit("pull-sample").get_buffer())
            tracks += objects["track"].tolist()
        self.assertGreater(len(tracks), 6)
        self.assertEqual(len(set(tracks)), 1)
        self.assertGreater(objects["velocity_x"][0], 10)
        self.assertEqual((objects["class_id"][0], round(float(objects["confidence"][0]), 3)), (1, 0.9))
        pipeline.set_state(Gst.State.NULL)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--receive"]:
        receive(sys.argv[2])
        sys.exit()
    if not Gst.ElementFactory.find("cudaccl"):
        sys.exit("the plugin cudaccl is not in GST_PLUGIN_PATH")
    if not all(Gst.ElementFactory.find(name) for name in ("appsink", "videotestsrc", "videoscale")):
        print("GStreamer's base plugins are not here", file=sys.stderr)
        sys.exit(77)
    unittest.main(verbosity=2)
