# cudaccl - tests of the Python package
# SPDX-License-Identifier: LGPL-2.1-or-later

import array
import concurrent.futures
import ctypes
import gc
import os
import random
import resource
import subprocess
import sys
import threading
import unittest

try:
    import cudaccl
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)
try:
    import numpy as np
except ImportError:
    np = None
try:
    import scipy.ndimage as ndimage
except ImportError:
    ndimage = None

needs_numpy = unittest.skipUnless(np, "no NumPy")
FIELDS = ["label", "x", "y", "width", "height", "area", "centroid_x", "centroid_y"]


def reference(mask, neighbours):
    """The labels of a dictionary of foreground points, in raster order, by flooding."""
    labels, n = {}, 0
    for point in sorted(mask):
        if point in labels:
            continue
        n += 1
        labels[point] = n
        todo = [point]
        while todo:
            at = todo.pop()
            for step in neighbours:
                other = tuple(a + b for a, b in zip(at, step))
                if other in mask and other not in labels:
                    labels[other] = n
                    todo.append(other)
    return labels, n


def neighbourhood(dimensions, most):
    """The steps to neighbours that differ in at most @most coordinates."""
    steps = [()]
    for _ in range(dimensions):
        steps = [step + (d,) for step in steps for d in (-1, 0, 1)]
    return [step for step in steps if 0 < sum(map(abs, step)) <= most]


NEIGHBOURS = {4: neighbourhood(2, 1), 8: neighbourhood(2, 2), 6: neighbourhood(3, 1), 18: neighbourhood(3, 2),
              26: neighbourhood(3, 3)}


class WithoutNumPy(unittest.TestCase):
    """The buffer protocol alone, in a process that has no NumPy."""

    CODE = """
import sys
sys.modules["numpy"] = None
import cudaccl
mask = memoryview(bytes([1, 1, 0, 0,  0, 0, 0, 7,  0, 1, 0, 0])).cast("B", (3, 4))
labels, components = cudaccl.analyze(mask)
assert labels.tolist() == [[1, 1, 0, 0], [0, 0, 0, 2], [0, 3, 0, 0]], labels.tolist()
assert labels.format == "i" and labels[1, 3] == 2
assert components[0] == cudaccl.Component(1, 0, 0, 2, 1, 0, 2, 0.5, 0.0), components
assert components[1].centroid_x == 3 and components[1].sum_x is None
volume = memoryview(bytes([1, 0, 0, 0,  0, 0, 0, 7])).cast("B", (2, 2, 2))
assert len(cudaccl.components(volume, 26)) == 1 and len(cudaccl.components(volume, 18)) == 2
assert cudaccl.components(volume, 18)[1].z == 1
assert cudaccl.Morphology("drop2")(mask).tolist()[1] == [0, 0, 0, 0]
# Classes above 65535, as of a tensor of PyTorch, which needs no NumPy.
from cudaccl import _analyzer
small = memoryview(bytes([1, 1, 0, 2])).cast("B", (1, 4))
_analyzer._arrays.convert = lambda array, *args, **kwargs: (small, False, [0, 70000, 80000])
labels, components = cudaccl.analyze([[70000, 70000, 0, 80000]], values="equal")
assert [c.value for c in components] == [70000, 80000], components
batch = memoryview(bytes([1, 0, 2, 1])).cast("B", (2, 1, 2))
_analyzer._arrays.convert = lambda array, *args, **kwargs: (batch, False, [0, 70000, 80000])
components = cudaccl.components([], values="equal")
assert [[c.value for c in part] for part in components] == [[70000], [80000, 70000]], components
"""

    def test_process(self):
        subprocess.run([sys.executable, "-c", self.CODE], check=True)

    def test_out(self):
        out = memoryview(bytearray(4 * 6)).cast("B").cast("i", (2, 3))
        mask = memoryview(bytes([0, 9, 0, 9, 0, 9])).cast("B", (2, 3))
        self.assertIs(cudaccl.label(mask, 4, out=out), out)
        self.assertEqual(out.tolist(), [[0, 1, 0], [2, 0, 3]])


@needs_numpy
class Results(unittest.TestCase):
    def check(self, mask, connectivity, **options):
        points = set(zip(*(axis.tolist() for axis in np.nonzero(mask))))
        expected, n = reference(points, NEIGHBOURS[connectivity])
        labels, components = cudaccl.analyze(mask, connectivity, **options)
        self.assertEqual((labels.dtype, labels.shape), (np.int32, mask.shape))
        self.assertEqual(len(components), n)
        self.assertEqual({p: int(labels[p]) for p in points}, expected)
        self.assertEqual(np.count_nonzero(labels), len(points))
        np.testing.assert_array_equal(cudaccl.label(mask, connectivity, **options), labels)
        np.testing.assert_array_equal(cudaccl.components(mask, connectivity, **options), components)
        return labels, components

    def test_random(self):
        rng = np.random.default_rng(1)
        for case in range(80):
            size = rng.integers(1, 40, 2)
            mask = rng.random(size) < rng.random()
            labels, components = self.check(mask, 4 if case % 2 else 8, threads=1 + case % 3)
            for c in components:
                y, x = np.nonzero(labels == c["label"])
                self.assertEqual((c["x"], c["y"], c["width"], c["height"], c["area"]),
                                 (x.min(), y.min(), np.ptp(x) + 1, np.ptp(y) + 1, len(x)))
                self.assertAlmostEqual(c["centroid_x"], x.mean())
                self.assertAlmostEqual(c["centroid_y"], y.mean())

    def test_random_volumes(self):
        rng = np.random.default_rng(2)
        for case in range(30):
            mask = rng.random(rng.integers(1, 14, 3)) < rng.random()
            labels, components = self.check(mask, (6, 18, 26)[case % 3])
            for c in components:
                z, y, x = np.nonzero(labels == c["label"])
                self.assertEqual((c["z"], c["depth"], c["volume"]), (z.min(), np.ptp(z) + 1, len(x)))
                self.assertAlmostEqual(c["centroid_z"], z.mean())

    @unittest.skipUnless(ndimage, "no SciPy")
    def test_scipy(self):
        rng = np.random.default_rng(3)
        for case in range(60):
            mask = np.kron(rng.random(rng.integers(1, 60, 2)) < rng.random(), np.ones((3, 2), bool))
            connectivity = 4 if case % 2 else 8
            expected, n = ndimage.label(mask, None if connectivity == 4 else np.ones((3, 3)))
            labels, components = cudaccl.analyze(mask, connectivity)
            np.testing.assert_array_equal(labels, expected)
            self.assertEqual(len(components), n)
            if n:
                centres = np.array(ndimage.center_of_mass(mask, expected, range(1, n + 1)))
                np.testing.assert_allclose(centres[:, 0], components["centroid_y"])

    def test_threshold(self):
        mask = np.array([[0, 127, 128, 255]], np.uint8)
        self.assertEqual(cudaccl.label(mask).tolist(), [[0, 1, 1, 1]])
        self.assertEqual(cudaccl.label(mask, threshold=127).tolist(), [[0, 0, 1, 1]])
        self.assertEqual(cudaccl.label(mask, threshold=127, invert=True).tolist(), [[1, 1, 0, 0]])

    def test_filters(self):
        mask = np.array([[1, 0, 1, 1, 0, 1, 1, 1]], np.uint8)
        self.assertEqual(cudaccl.label(mask, min_area=2).tolist(), [[0, 0, 1, 1, 0, 2, 2, 2]])
        self.assertEqual(cudaccl.components(mask, max_area=2)["area"].tolist(), [1, 2])
        self.assertEqual(cudaccl.components(mask, min_width=3)["x"].tolist(), [5])
        self.assertEqual(len(cudaccl.components(mask, min_height=2)), 0)
        analyzer = cudaccl.Analyzer(max_components=1)
        self.assertEqual(analyzer.components(mask)["area"].tolist(), [3])
        self.assertEqual(analyzer.found, 3)
        self.assertEqual(analyzer.label(mask).max(), 1)

    def test_many(self):
        """More components than the engine has room for at first."""
        mask = np.zeros((300, 300), np.uint8)
        mask[::2, ::2] = 1
        labels, components = cudaccl.analyze(mask)
        self.assertEqual(len(components), 150 * 150)
        self.assertEqual(labels.max(), 150 * 150)
        self.assertEqual(len(cudaccl.components(mask[:10, :10])), 25)

    def test_batches(self):
        rng = np.random.default_rng(4)
        batch = rng.random((5, 20, 30)) < .4
        batch[2] = False
        labels, components = cudaccl.analyze(batch)
        self.assertEqual((labels.shape, len(components)), (batch.shape, 5))
        for n in (5, 2):  # threads share the frames
            for ours, theirs in zip(cudaccl.analyze(batch[:n], threads=3), (labels[:n], components[:n])):
                for one, other in zip(ours, theirs, strict=True):
                    np.testing.assert_array_equal(one, other)
        for i, mask in enumerate(batch):
            np.testing.assert_array_equal(labels[i], cudaccl.label(mask))
            np.testing.assert_array_equal(components[i], cudaccl.components(mask))
        again = cudaccl.analyze(batch[:, None])
        self.assertEqual(again[0].shape, (5, 1, 20, 30))
        np.testing.assert_array_equal(again[0][:, 0], labels)
        analyzer = cudaccl.Analyzer()
        analyzer.components(batch)
        self.assertEqual(analyzer.found, tuple(map(len, components)))
        # A single frame may have any stride: PyTorch makes it 1.
        out = np.lib.stride_tricks.as_strided(np.empty((20, 30), np.int32), (1, 20, 30), (4, 120, 4))
        np.testing.assert_array_equal(cudaccl.label(batch[:1], out=out), labels[:1])
        backwards = cudaccl.label(batch[::-1])
        np.testing.assert_array_equal(backwards[::-1], labels)

    def test_strides(self):
        frame = np.random.default_rng(5).random((40, 60)) < .5
        part = frame[5:31, 7:50]
        np.testing.assert_array_equal(cudaccl.label(part), cudaccl.label(part.copy()))
        np.testing.assert_array_equal(cudaccl.label(frame[::2]), cudaccl.label(frame[::2].copy()))
        out = np.full((40, 60), 9, np.int32)
        cudaccl.label(part, out=out[5:31, 7:50])
        np.testing.assert_array_equal(out[5:31, 7:50], cudaccl.label(part))
        self.assertTrue((out[:5] == 9).all() and (out[:, 50:] == 9).all())
        np.testing.assert_array_equal(cudaccl.label(frame[:1, ::60]), cudaccl.label(frame[:1, :1]))

    def test_sums(self):
        mask = np.random.default_rng(6).random((30, 20)) < .5
        labels, components = cudaccl.analyze(mask, features="sums")
        for c in components:
            y, x = np.nonzero(labels == c["label"])
            self.assertEqual((c["sum_x"], c["sum_yy"], c["sum_xy"]), (x.sum(), (y * y).sum(), (x * y).sum()))

    def test_features(self):
        mask = np.zeros((12, 40), np.uint8)
        mask[2:9, 3:10] = 80
        mask[4:7, 5:8] = 0
        mask[10, 20:40] = range(100, 120)
        features = ["box", "ellipse", "holes", "luma", "perimeter"]
        ring, line = cudaccl.components(mask, features=features)
        self.assertEqual((ring["holes"], ring["euler_number"], line["holes"], line["euler_number"]), (1, 0, 0, 1))
        self.assertEqual((ring["extent"], ring["touches_border"], line["touches_border"]), (40 / 49, False, True))
        self.assertEqual((line["luma_mean"], line["luma_min"], line["luma_max"], ring["luma_min"]), (109.5, 100, 119, 80))
        self.assertEqual((line["orientation"], line["eccentricity"], line["minor_axis"]), (0, 1, 0))
        self.assertAlmostEqual(line["major_axis"], 4 * np.sqrt((20 * 20 - 1) / 12))
        self.assertEqual((ring["perimeter"], line["perimeter"]), (28, 18))
        self.assertEqual(cudaccl.components(mask, features="holes").dtype.names[-2:], ("holes", "euler_number"))
        batch = cudaccl.components(np.stack([mask, mask[:, ::-1]]), features=features)
        self.assertEqual(batch[0][0], ring)
        self.assertEqual((len(batch[1]), batch[1][1]["luma_mean"]), (2, 109.5))

    def test_features_like_skimage(self):
        try:
            from skimage import measure
        except ImportError:
            self.skipTest("no scikit-image")
        rng = np.random.default_rng(14)
        values = np.kron(rng.integers(0, 3, (40, 50)), np.ones((3, 2), int)) * rng.integers(1, 80, (120, 100))
        mask = values.astype(np.uint8)
        labels, components = cudaccl.analyze(mask, features=["box", "ellipse", "holes", "luma", "perimeter"])
        for c, r in zip(components, measure.regionprops(labels, mask)):
            self.assertEqual((c["area"], c["euler_number"], c["luma_min"], c["luma_max"], c["extent"]),
                             (r.area, r.euler_number, r.intensity_min, r.intensity_max, r.extent))
            np.testing.assert_allclose(
                [c["luma_mean"], c["perimeter"], c["major_axis"], c["minor_axis"], c["eccentricity"]],
                [r.intensity_mean, r.perimeter, r.axis_major_length, r.axis_minor_length, r.eccentricity], atol=1e-6)

    def test_classes(self):
        rng = np.random.default_rng(13)
        for dtype, values in ((np.uint8, [0, 1, 2, 255]), (np.uint16, [0, 1, 256, 257, 65535])):
            classes = np.kron(rng.choice(values, (20, 30)), np.ones((2, 3))).astype(dtype)
            for connectivity in (4, 8):
                labels, components = cudaccl.analyze(classes, connectivity, values="equal", features="box", threads=2)
                expected = np.zeros_like(labels)
                for value in values[1:]:
                    expected += cudaccl.label(classes == value, connectivity) + (classes == value) * 10000 * value
                self.assertEqual(len(components), len(np.unique(expected)) - 1)
                self.assertEqual(len(np.unique(expected * 10000 + labels)), len(components) + 1)
                for c in components:
                    self.assertEqual(set(classes[labels == c["label"]]), {c["value"]})
            batch = cudaccl.components(np.stack([classes, classes[::-1]]), values="equal")
            self.assertEqual(batch[0].tolist(), cudaccl.components(classes, values="equal").tolist())

    def test_areas(self):
        rng = np.random.default_rng(17)
        for shape in ((30, 40), (1, 1), (4, 20, 30), (3, 1, 20, 30)):
            mask = rng.random(shape) < .5
            for options in ({}, {"threads": 3}, {"min_area": 5}, {"max_components": 4}, {"features": "holes"},
                            {"values": "equal"}):
                areas = np.full(shape, 7, np.int32)
                labels = cudaccl.label(mask, areas=areas, **options)
                for one, area in zip(labels.reshape(-1, *shape[-2:]), areas.reshape(-1, *shape[-2:])):
                    counts = np.bincount(one.ravel())
                    counts[0] = 0
                    np.testing.assert_array_equal(area, counts[one])
        gaps = np.full((20, 50), 7, np.int32)
        cudaccl.label(mask[0, 0], areas=gaps[:, 5:35])
        self.assertTrue((gaps[:, :5] == 7).all() and (gaps[:, 35:] == 7).all() and (gaps[:, 5:35] != 7).any())

    def test_volumes_of_classes(self):
        rng = np.random.default_rng(16)
        for dtype, values in ((bool, [0, 1]), (np.uint8, [0, 1, 255]), (np.uint16, [0, 256, 257]),
                              (np.int32, [0, 1, 65537, (1 << 31) - 1]), (np.uint32, [0, 65536, 1 << 24]),
                              (np.int64, [0, 3, 70000]), (">i4", [0, 3, 70000])):
            classes = np.kron(rng.choice(values, (5, 9, 20)), np.ones((2, 2, 3), int)).astype(dtype)
            for connectivity in (6, 18, 26):
                labels, components = cudaccl.analyze(classes, connectivity, values="equal", threads=2)
                pairs = np.zeros_like(labels)
                for value in values[1:]:
                    part = cudaccl.label(classes == value, connectivity)
                    pairs += np.where(part > 0, part + pairs.max(), 0)
                self.assertEqual(len(components), pairs.max())
                self.assertEqual(len(np.unique(np.stack([pairs.ravel(), labels.ravel()]), axis=1).T), pairs.max() + 1)
                np.testing.assert_array_equal(np.bincount(labels.ravel())[1:], components["volume"])
                places = np.flatnonzero(np.diff(np.maximum.accumulate(np.append(0, labels.ravel()))))
                np.testing.assert_array_equal(classes.ravel()[places], components["value"])
            swapped = np.asfortranarray(classes)
            np.testing.assert_array_equal(cudaccl.label(swapped, 6, values="equal"),
                                          cudaccl.label(classes, 6, values="equal"))
        shifted = np.zeros(4 * 27 + 1, np.uint8)[1:].view(np.int32).reshape(3, 3, 3)
        shifted[1, 1] = 70000, 70000, 9
        self.assertEqual(cudaccl.components(shifted, 26, values="equal")["value"].tolist(), [70000, 9])

    def test_band(self):
        depth = np.random.default_rng(15).integers(0, 65536, (30, 40), np.uint16)
        for low, high in ((0, 20000), (20000, 40000), (50000, 65535), (3, 2)):
            for invert in (False, True):
                inside = ((depth >= low) & (depth <= high)) != invert
                np.testing.assert_array_equal(
                    cudaccl.label(depth, values="band", low=low, high=high, invert=invert), cudaccl.label(inside))
        gray = (depth >> 8).astype(np.uint8)
        np.testing.assert_array_equal(cudaccl.label(gray, values="band", low=20, high=99),
                                      cudaccl.label((gray >= 20) & (gray <= 99)))

    def test_cleaning(self):
        mask = np.zeros((9, 12), np.uint8)
        mask[1:8, 1:8] = 255
        mask[4, 4] = 0
        mask[4, 10] = 255
        clean = cudaccl.Morphology("fill,drop2")(mask)
        self.assertEqual((clean.dtype, clean[4, 4], clean[4, 10]), (np.uint8, 255, 0))
        self.assertEqual(cudaccl.Morphology("drop2")(mask > 0).dtype, bool)
        self.assertIs(cudaccl.Morphology("drop2")(mask, mask), mask)
        self.assertEqual(mask[4, 10], 0)
        components = cudaccl.components(mask, morphology="fill", include="0,0 0.5,0 0.5,1 0,1")
        self.assertEqual(components["area"].tolist(), [7 * 5])

    def test_memory_is_used_again(self):
        mask = np.ones((200, 300), np.uint8)
        analyzer = cudaccl.Analyzer()
        first = analyzer.label(mask).__array_interface__["data"]
        allocations = analyzer.info["allocations"]
        for _ in range(10):
            again = analyzer.label(mask).__array_interface__["data"]
        self.assertEqual(again, first)
        self.assertEqual(analyzer.info["allocations"], allocations)
        volumes = cudaccl.Analyzer(26)
        volumes.components(np.ones((3, 4, 5), np.uint8))
        self.assertEqual(volumes.info["backend"], "cpu")
        kept = [analyzer.label(mask * i) for i in (0, 1, 0)]
        self.assertEqual([int(labels.max()) for labels in kept], [0, 1, 0])

    def test_dlpack(self):
        class Foreign:
            """Only DLPack, as tensors of PyTorch on the CPU."""

            def __init__(self, data):
                self.data = data

            def __dlpack__(self, **options):
                return self.data.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.data.__dlpack_device__()

        mask = (np.random.default_rng(7).random((17, 23)) < .5).astype(np.uint8)
        out = np.zeros(mask.shape, np.int32)
        before = sys.getrefcount(mask), sys.getrefcount(out)
        result = cudaccl.label(Foreign(mask), out=(foreign := Foreign(out)))
        self.assertIs(result, foreign)
        np.testing.assert_array_equal(out, cudaccl.label(mask))
        np.testing.assert_array_equal(cudaccl.label(Foreign(mask[::2])), cudaccl.label(mask[::2].copy()))
        del result, foreign
        self.assertEqual((sys.getrefcount(mask), sys.getrefcount(out)), before)


@needs_numpy
class Moving(unittest.TestCase):
    def frames(self):
        for i in range(30):
            frame = np.random.default_rng(i).integers(90, 94, (96, 128), np.uint8)
            if i > 20:
                frame[40:60, 3 * i:3 * i + 14] = 220
            yield frame

    def check(self, motion, convert):
        for frame in self.frames():
            found = motion(convert(frame))
        self.assertEqual(len(found), 1)
        self.assertLess(abs(int(found["x"][0]) - 87), 4)
        self.assertEqual(motion.mask.shape, (96, 128))
        self.assertEqual(motion.mask[50, 94], 255)
        self.assertEqual(motion.shadows.shape, (96, 128))
        self.assertLess(motion.background.max(), 110)
        return motion

    def test_gray(self):
        motion = self.check(cudaccl.Motion("gray", morphology="median5"), lambda frame: frame)
        self.assertEqual(motion.info["starts"], 1)
        motion.freeze = True
        motion.reset()
        motion(np.zeros((96, 128), np.uint8))
        self.assertEqual(motion.info["starts"], 2)

    def test_disturbances(self):
        """The model counts what it did about light, shake and flicker."""
        picture = np.kron(np.random.default_rng(5).integers(60, 180, (24, 32)), np.ones((8, 8))).astype(np.uint8)
        for name in ("none", "relit", "aligned", "flickered"):
            motion = cudaccl.Motion("gray")
            for i in range(150):
                frame = picture
                if name == "relit" and i >= 75:
                    frame = (picture * 1.3).astype(np.uint8)
                elif name == "aligned" and i >= 75:
                    frame = np.roll(picture, (0, 1, 3, 2)[i % 4], axis=1)
                elif name == "flickered":
                    frame = (picture * (1.1 if i % 2 else 0.9)).astype(np.uint8)
                motion(frame, elapsed=0.04)
            counts = {key: motion.info[key] for key in ("relit", "aligned", "flickered", "displaced")}
            self.assertEqual([key for key, count in counts.items() if count], [] if name == "none" else [name], counts)

    def test_colours(self):
        self.check(cudaccl.Motion("bgr", morphology="median5"), lambda frame: np.dstack([frame] * 3))
        self.check(cudaccl.Motion("nv12", morphology="median5"),
                   lambda frame: np.vstack([frame, np.full((48, 128), 128, np.uint8)]))

    def test_red_and_blue(self):
        """A change of colour that luma alone does not show."""
        def frame(red, blue):
            return np.dstack([np.full((64, 64), value, np.uint8) for value in (blue, 100, red)])

        for name, turn in (("bgr", lambda f: f), ("rgb", lambda f: f[:, :, ::-1].copy())):
            motion = cudaccl.Motion(name)
            for _ in range(20):
                motion(turn(frame(100, 100)))
            changed = frame(100, 100)
            changed[16:32, 16:32] = (202, 100, 61)
            self.assertEqual(len(motion(turn(changed))), 1)


@needs_numpy
class Errors(unittest.TestCase):
    def fails(self, exception, text, *args, function=cudaccl.label, **kwargs):
        with self.assertRaisesRegex(exception, text):
            function(*args, **kwargs)

    def test_arrays(self):
        mask = np.ones((4, 6), np.uint8)
        for dtype in (complex, object, "S1"):
            self.fails((TypeError, ValueError), "", mask.astype(dtype), values="equal")
        self.fails(TypeError, "pass a NumPy array", [[1, 0]])
        self.fails(TypeError, "pass a NumPy array", None)
        for shape in ((480, 640, 3), (5, 5, 4)):
            self.fails(ValueError, "image in colour", np.ones(shape, np.uint8))
        self.assertEqual(cudaccl.label(np.ones((5, 4, 3), np.uint8)).shape, (5, 4, 3))
        self.fails(ValueError, r"shape \(24,\)", mask.ravel())
        self.fails(ValueError, r"pass a mask", np.ones((2, 3, 4, 5), bool))
        self.fails(ValueError, "5 dimensions", np.ones((1, 1, 1, 4, 5), bool))
        self.fails(ValueError, "volumes", mask, 6)
        for shape in ((0, 4), (4, 0), (0, 4, 4), (0, 0)):
            self.fails(ValueError, "1 to 2\\*\\*32", np.ones(shape, bool))
        large = np.lib.stride_tricks.as_strided(mask, (1 << 16, 1 << 16), (1 << 16, 1))
        self.fails(ValueError, "1 to 2\\*\\*32", large)

    def test_out(self):
        mask = np.ones((4, 6), np.uint8)
        out = np.zeros((4, 6), np.int32)
        out.flags.writeable = False
        self.fails(ValueError, "read-only", mask, out=out)
        self.fails(TypeError, "int32", mask, out=np.zeros((4, 6), np.int64))
        self.fails(ValueError, "shape", mask, out=np.zeros((6, 4), np.int32))
        self.fails(ValueError, "shape", mask, out=np.zeros((1, 4, 6), np.int32))
        self.fails(ValueError, "ascontiguousarray", mask, out=np.zeros((4, 12), np.int32)[:, ::2])
        self.fails(TypeError, "pass a NumPy array", mask, out=[[]])
        backwards = np.zeros((2, 4, 6), np.int32)[::-1]
        self.fails(ValueError, "overlap", np.ones((2, 4, 6), bool), out=backwards)

    def test_what_to_do(self):
        """Every wrong input, given to every function that takes it, gets an exception that says what to do."""
        mask, out = np.ones((4, 6), np.uint8), np.zeros((4, 6), np.int32)
        fixed = out.copy()
        fixed.flags.writeable = False
        odd = np.zeros(4 * 6 * 4 + 1, np.uint8)[1:].view(np.int32).reshape(4, 6)
        strided = np.lib.stride_tricks.as_strided
        masks = [
            ("list", TypeError, "pass a NumPy array", mask.tolist()),
            ("no pixels", ValueError, "1 to 2\\*\\*32 - 1 pixels", mask[:0]),
            ("too many pixels", ValueError, "1 to 2\\*\\*32 - 1 pixels", strided(mask, (1 << 16, 1 << 16), (1 << 16, 1))),
        ]
        outs = [
            ("dtype", TypeError, "int32", out.astype(np.float32)),
            ("read-only", ValueError, "read-only", fixed),
            ("shape", ValueError, "shape", out[:3]),
            ("columns backwards", ValueError, "ascontiguousarray", out[:, ::-1]),
            ("rows backwards", ValueError, "ascontiguousarray", out[::-1]),
            ("at an odd address", ValueError, "aligned", odd),
        ]
        for what, exception, text, wrong in masks:
            for function in (cudaccl.label, cudaccl.components, cudaccl.analyze, cudaccl.Analyzer().label,
                             cudaccl.Morphology("median3")):
                with self.subTest(what, function=function):
                    self.fails(exception, text, wrong, function=function)
        for what, exception, text, wrong in outs:
            for function in (cudaccl.label, cudaccl.analyze):
                with self.subTest(f"out: {what}", function=function):
                    self.fails(exception, text, mask, out=wrong, function=function)
        self.assertFalse(fixed.any())

    def test_foreign_devices(self):
        """DLPack of devices that are no CUDA devices."""
        class Foreign:
            def __init__(self, kind):
                self.kind = kind

            def __dlpack_device__(self):
                return self.kind, 0

            def __dlpack__(self, **kwargs):
                raise AssertionError("not asked for")

        for kind in (4, 7, 8, 10, 14):  # OpenCL, Vulkan, Metal, ROCm, oneAPI
            for function in (cudaccl.label, cudaccl.components, cudaccl.Motion("gray")):
                self.fails(TypeError, f"kind {kind}; move it to the CPU", Foreign(kind), function=function)

    def test_options(self):
        mask = np.ones((4, 6), np.uint8)
        self.fails(ValueError, "connectivity 5", mask, 5)
        self.fails(ValueError, "backend", mask, backend="gpu")
        self.fails(ValueError, "feature", mask, features="moon")
        for option in ({"features": "sums"}, {"values": "band"}, {"min_area": 2}, {"max_area": 9}, {"min_width": 2},
                       {"min_height": 2}, {"morphology": "fill"}, {"include": "hello"}, {"exclude": "0,0 1,0 1,1"}):
            self.fails(ValueError, f"{next(iter(option))} is for masks", np.ones((2, 4, 6), bool), 26, **option)
        areas = np.zeros((4, 6), np.int32)
        self.fails(ValueError, "areas", mask, areas=areas[:2])
        self.fails(TypeError, "areas", mask, areas=areas.astype(np.int64))
        self.fails(ValueError, "areas are for masks", np.ones((2, 4, 6), bool), 26,
                   areas=np.zeros((2, 4, 6), np.int32))
        for option, message in (
                ({"include": "hello"}, "include|polygon|corner|hello"), ({"exclude": "0,0 1,1"}, ""),
                ({"morphology": "medain3"}, "median3"), ({"threads": 1000}, "threads"),
                ({"values": "equal", "features": "holes"}, "classes"),
                ({"values": "equal", "morphology": "fill"}, "classes"),
                ({"values": "equal", "threshold": 3}, "threshold"), ({"values": "band", "threshold": 3}, "threshold"),
                ({"values": "equal", "invert": True}, "invert"), ({"low": 3}, "low"), ({"high": 3}, "high"),
                ({"values": "equal", "low": 3}, "low"), ({"backend": "cpu", "device": 0}, "device")):
            with self.subTest(option):
                self.fails(ValueError, message, function=cudaccl.Analyzer, **option)
        for option in ({"scale": 3}, {"connectivity": 6}, {"include": "hello"}, {"morphology": "medain3"},
                       {"backend": "gpu"}, {"threads": 1000}, {"backend": "cpu", "device": 0}, {"noise_floor": 256},
                       {"learning_time": -1}):
            with self.subTest(option):
                self.fails(ValueError, "", function=cudaccl.Motion, **option)
        for operations in ("medain3", "open3x3,,fill", "x"):
            self.fails(ValueError, "", operations, function=cudaccl.Morphology)
        self.fails(ValueError, "connectivity 6", "fill", 6, function=cudaccl.Morphology)
        self.fails(ValueError, "values 'same'", mask, values="same")
        self.fails(ValueError, "a band", mask, values="band", low=-1)
        for threshold in (-1, 256, 0.5, float("nan"), float("inf")):
            self.fails(ValueError, "threshold", memoryview(mask), threshold=threshold)
        self.fails(TypeError, "classes are integers", mask / 2, values="equal")
        self.fails(ValueError, "not -1", np.full((2, 2), -1), values="equal")
        self.fails(ValueError, "not 2147483648", np.full((2, 2), 1 << 31), values="equal")
        for connectivity in (6, 18, 26):
            for array, found in ((np.full((2, 2, 2), -1), "-1"), (np.full((2, 2, 2), -7, np.int32), "-7"),
                                 (np.full((2, 2, 2), 1 << 31, np.uint32), "2147483648")):
                self.fails(ValueError, f"not {found};", array, connectivity, values="equal")
        self.fails(ValueError, "65536 different classes", np.arange(70000, 135536).reshape(256, 256), values="equal")
        self.fails(ValueError, "luma", mask.astype(int), features="luma")
        self.fails(ValueError, "operations", mask, values="equal", morphology="median3")
        self.fails(ValueError, "shapes", mask, values="equal", features="holes")
        self.fails(ValueError, "threads", mask, threads=1000)
        self.fails(ValueError, "position", mask, morphology="median4")
        self.fails(TypeError, "colour", mask, colour=3)
        self.fails(ValueError, "gray frames", mask[0], function=cudaccl.Motion("gray"))
        self.fails(ValueError, "height, width, 3", mask, function=cudaccl.Motion("bgr"))
        self.fails(ValueError, "NV12", np.ones((4, 6), np.uint8), function=cudaccl.Motion("nv12"))
        with self.assertRaisesRegex(ValueError, "no frame"):
            cudaccl.Motion().background

    def test_cuda(self):
        class Device:
            """An array on a device that is not there."""
            shape = (4, 6)
            __cuda_array_interface__ = {"shape": (4, 6), "typestr": "|u1", "data": (4096, True), "version": 3,
                                        "stream": None}

        class Swapped:
            __cuda_array_interface__ = dict(Device.__cuda_array_interface__, typestr=">u2")

        self.fails(ValueError, "backend='cpu'", Device(), backend="cpu")
        self.fails(TypeError, "uint16", Swapped(), values="equal", function=cudaccl.components)
        self.fails(ValueError, "out=", Device())
        self.fails(ValueError, "different devices", Device(), out=np.zeros((4, 6), np.int32))
        if cudaccl.cuda_device_count() == 0:
            self.fails((RuntimeError, ValueError), "CUDA|device|driver", Device(), function=cudaccl.components)
            self.fails((RuntimeError, ValueError), "CUDA|device|driver", np.ones((3, 3), bool), backend="cuda")
        self.assertEqual(cudaccl.label(np.ones((2, 2), bool)).max(), 1)

    def test_random_objects(self):
        """Whatever comes, an exception or a result."""
        rng = random.Random(8)
        values = [None, 0, -1, 4, 8, 26, 255, 256, 1 << 40, "8", 3.5, (), b"abc", object(), np.ones((3, 5), bool),
                  np.ones((2, 3, 5), np.uint8), np.zeros((3, 5), np.int32), memoryview(b"abcdef"),
                  array.array("f", [1, 2]), np.ones((3, 5), "V1"), np.ones((3, 5), "datetime64[s]"), ctypes.c_char()]
        options = ["connectivity", "threshold", "out", "threads", "invert", "min_area", "max_area", "min_width",
                   "max_components", "features", "morphology", "include", "backend", "device", "stream", "values",
                   "low", "high"]
        for _ in range(3000):
            kwargs = {name: rng.choice(values) for name in rng.sample(options, rng.randrange(4))}
            try:
                cudaccl.analyze(rng.choice(values), **kwargs)
            except (TypeError, ValueError, OverflowError, BufferError, RuntimeError, MemoryError, AttributeError):
                pass


@needs_numpy
class OnDevice(unittest.TestCase):
    """With PyTorch or CuPy, where there is a device."""

    def check(self, to_device, to_host):
        rng = np.random.default_rng(11)
        for shape, connectivity in (((50, 70), 8), ((50, 70), 4), ((6, 30, 40), 8), ((6, 1, 30, 40), 8),
                                    ((12, 20, 30), 26)):
            for dtype in (bool, np.uint8):
                mask = (rng.random(shape) < .4).astype(dtype)
                pixels = to_device(mask)
                labels, components = cudaccl.analyze(pixels, connectivity)
                expected_labels, expected = cudaccl.analyze(mask, connectivity)
                self.assertIs(type(labels), type(pixels))
                np.testing.assert_array_equal(to_host(labels), expected_labels)
                np.testing.assert_equal(components, expected)
                out = to_device(np.full(shape, 7, np.int32))
                self.assertIs(cudaccl.label(pixels, connectivity, out=out), out)
                np.testing.assert_array_equal(to_host(out), expected_labels)
        with self.assertRaisesRegex(ValueError, "different devices"):
            cudaccl.label(pixels, 26, out=np.zeros(shape, np.int32))

    def check_operator(self, torch, function, masks):
        """torch.compile and torch.export keep the function as one operator."""
        class Model(torch.nn.Module):
            def forward(self, x):
                labels, counts = function(x > 0.5)
                return torch.where(counts >= 3, labels, 0)

        pixels = masks.float()
        expected = Model()(pixels)
        compiled = torch.compile(Model(), backend="aot_eager", fullgraph=True)
        self.assertTrue(torch.equal(compiled(pixels), expected))
        program = torch.export.export(Model(), (pixels,))
        self.assertIn("cudaccl.connected_components", str(program.graph))
        self.assertTrue(torch.equal(program.module()(pixels), expected))
        torch.library.opcheck(torch.ops.cudaccl.connected_components, (masks,))

    def check_types(self, to_library, to_host):
        """Types and strides that are copied first."""
        rng = np.random.default_rng(25)
        for kind in (np.int32, np.int64, np.float32):
            array = (rng.integers(-2, 3, (40, 30)) * (rng.random((40, 30)) < .6)).astype(kind)
            for change in (lambda a: a, lambda a: a.T):
                expected = cudaccl.analyze(change(array))
                labels, components = cudaccl.analyze(change(to_library(array)))
                np.testing.assert_array_equal(to_host(labels), expected[0])
                np.testing.assert_array_equal(components, expected[1])
        for kind, threshold in ((np.uint8, 300), (np.uint8, -1), (np.int8, 200), (np.int8, -200), (np.int64, 1 << 63)):
            array = np.array([[0, 1, 44, 100]], kind)
            np.testing.assert_array_equal(to_host(cudaccl.label(to_library(array), threshold=threshold)),
                                          [[int(threshold < 0)] * 4])
        classes = rng.choice([0, 1, 70000, (1 << 31) - 1], (20, 30))
        expected = cudaccl.analyze(classes, values="equal")
        labels, components = cudaccl.analyze(to_library(classes), values="equal")
        np.testing.assert_array_equal(to_host(labels), expected[0])
        np.testing.assert_array_equal(components, expected[1])

    def check_stream(self, make, to_host, stream, number):
        """An array that is copied first, and becomes ready on another stream than that of its library."""
        for i in range(20):
            with stream:
                array = make((2000, 2000))
                for k in range(40):
                    array = array * 3 - array * 2 + (k == 39) * (i + 1)
            labels = [cudaccl.label(array, threshold=i + extra, stream=number) for extra in (0, 1)]
            self.assertEqual([int(to_host(one).max()) for one in labels], [1, 0])

    def test_cupy(self):
        try:
            import cupy
            cupy.cuda.Device().synchronize()
        except Exception as error:
            self.skipTest(f"no CuPy with a device: {error}")
        self.check(cupy.asarray, cupy.asnumpy)
        self.check_types(cupy.asarray, cupy.asnumpy)
        stream = cupy.cuda.Stream(non_blocking=True)
        with stream:
            for i in range(20):  # the mask is made on the stream that CuPy has then
                mask = cupy.zeros((2000, 2000), bool)
                for _ in range(20):
                    mask = mask ^ (i % 2 == 0)
                mask[:, 1000] = True
                mask[0, 0] = True
                self.assertEqual(len(cudaccl.components(mask)), 2)
        self.check_stream(lambda shape: cupy.zeros(shape, np.int32), cupy.asnumpy, stream, stream.ptr)

    def test_torch(self):
        try:
            import torch
        except ImportError:
            self.skipTest("no PyTorch")
        from cudaccl.cc_torch import get_connected_components
        self.check_types(torch.from_numpy, np.asarray)
        places = [torch.device("cpu")] + ([torch.device("cuda")] if torch.cuda.is_available() else [])
        for place in places:
            masks = np.random.default_rng(12).random((5, 1, 40, 50)) < .4
            masks[1] = False
            for convert in (lambda t: t, lambda t: t.to(torch.uint8), lambda t: t.float()):
                labels, counts = get_connected_components(convert(torch.from_numpy(masks).to(place)))
                self.assertEqual((labels.dtype, counts.dtype, labels.device.type), (torch.int32, torch.int32, place.type))
                expected = cudaccl.label(masks)
                np.testing.assert_array_equal(labels.cpu().numpy(), expected)
                for i in range(5):
                    areas = np.bincount(expected[i].ravel())
                    areas[0] = 0
                    np.testing.assert_array_equal(counts[i].cpu().numpy(), areas[expected[i]])
            self.assertEqual([t.shape for t in get_connected_components(torch.zeros((0, 1, 4, 5)))], [(0, 1, 4, 5)] * 2)
            if hasattr(torch.library, "custom_op"):
                self.check_operator(torch, get_connected_components, torch.from_numpy(masks).to(place))
        if len(places) > 1:
            def to_device(array):
                return torch.from_numpy(array).cuda()

            def to_host(tensor):
                return tensor.cpu().numpy()

            self.check(to_device, to_host)
            self.check_types(to_device, to_host)
            stream = torch.cuda.Stream()
            self.check_stream(lambda shape: torch.zeros(shape, dtype=torch.int32, device="cuda"), to_host,
                              torch.cuda.stream(stream), stream.cuda_stream)


@needs_numpy
class Life(unittest.TestCase):
    def test_threads(self):
        """Eight threads, each with its own cached analyzers; the GIL is released."""
        masks = [np.random.default_rng(i).random((60 + i, 80)) < .5 for i in range(8)]
        expected = [cudaccl.label(mask) for mask in masks]

        def work(i):
            for k in range(50):
                which = (i + k) % 8
                np.testing.assert_array_equal(cudaccl.label(masks[which], threads=1 + k % 2), expected[which])

        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            list(pool.map(work, range(8)))

    def test_shared_analyzer(self):
        analyzer = cudaccl.Analyzer()
        mask = np.random.default_rng(9).random((600, 800)) < .5
        results = []

        def work():
            for _ in range(30):
                try:
                    results.append(len(analyzer.components(mask)))
                except RuntimeError as error:
                    results.append(str(error))

        threads = [threading.Thread(target=work) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertLessEqual({type(r) for r in results}, {int, str})
        self.assertEqual(len({r for r in results if isinstance(r, int)}), 1)

    def test_leaks(self):
        """Calls of many kinds, wrong ones among them, end with the memory that they began with."""
        mask = np.random.default_rng(10).random((30, 40)) < .5
        batch = np.stack([mask, ~mask])
        out = np.zeros(mask.shape, np.int32)
        calls = int(os.environ.get("CUDACCL_TEST_CALLS", 3000))
        sizes = []
        for i in range(calls):
            cudaccl.analyze(mask if i % 3 else batch)
            cudaccl.label(mask, out=out)
            try:
                cudaccl.label(mask.T)
            except ValueError:
                pass
            if i % 10 == 0:
                cudaccl.Analyzer(morphology="median3").components(mask)
                cudaccl.Motion("gray")(mask.view(np.uint8))
                cudaccl.Morphology("fill")(mask)
            if i in (calls // 2, calls - 1):
                gc.collect()
                sizes.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
        self.assertLess(sizes[1] - sizes[0], 2048, "KiB more")


def edges(*extra):
    """Numbers around which C's types end."""
    powers = [1 << bits for bits in (8, 16, 31, 32, 40, 63, 64, 65)]
    return sorted({sign * power + step for power in powers for sign in (1, -1) for step in (-1, 0, 1)} | set(extra))


class Integers(unittest.TestCase):
    """An integer is taken as it is, or refused by name; none wraps around."""

    MASK = memoryview(bytes([1, 0, 1, 1, 0, 1, 1, 1])).cast("B", (2, 4))
    # Name, and how many components there are with a value; None: such a value is refused.
    ANALYZER = {
        "connectivity": lambda v: None,
        "threshold": lambda v: 0 if 0 < v <= 255 else None,
        "threads": lambda v: 2 if 0 <= v <= 256 else None,
        "device": lambda v: 2 if -1 <= v < 1 << 31 else None,
        "max_components": lambda v: 2 if 0 < v < 1 << 32 else None,
        "min_area": lambda v: 0 if 6 < v < 1 << 64 else None,
        "max_area": lambda v: 2 if 6 < v < 1 << 64 else None,
        "min_width": lambda v: 0 if 4 < v < 1 << 32 else None,
        "min_height": lambda v: 0 if 4 < v < 1 << 32 else None,
    }

    def check(self, call, name, value, expected):
        with self.subTest(name, value=value):
            if expected is not None:
                self.assertEqual(call(), expected)
                return
            with self.assertRaisesRegex(ValueError, name):
                call()

    def test_analyzer(self):
        for name, count in self.ANALYZER.items():
            for value in edges():
                options = {"connectivity": 4, name: value}
                self.check(lambda: len(cudaccl.Analyzer(**options).components(self.MASK)), name, value, count(value))

    def test_band(self):
        for name in ("low", "high"):
            for value in edges():
                if not 0 <= value <= 65535:
                    self.check(lambda: cudaccl.Analyzer(values="band", **{name: value}), "band", value, None)

    def test_motion(self):
        frame = memoryview(bytes(64)).cast("B", (8, 8))
        for name, most in (("noise_floor", 255), ("light_change", 100), ("scale", 4), ("connectivity", 8),
                           ("threads", 256), ("device", (1 << 31) - 1), ("max_components", (1 << 32) - 1),
                           ("min_area", (1 << 64) - 1)):
            for value in edges():
                if not 0 <= value <= most and (name, value) != ("device", -1):
                    self.check(lambda: cudaccl.Motion("gray", **{name: value})(frame), name, value, None)
        for name in ("learning_time", "warm_up"):
            for value in (-1, 1 << 40, 1 << 64):
                self.check(lambda: cudaccl.Motion("gray", **{name: value}), name, value, None)
        self.check(lambda: cudaccl.Motion("gray")(frame, 1 << 40), "elapsed", 1 << 40, None)

    def test_morphology(self):
        for value in edges():
            if value != 8:
                self.check(lambda: cudaccl.Morphology("fill", value)(self.MASK), "connectivity", value, None)
            if not 0 <= value <= 256:
                self.check(lambda: cudaccl.Morphology("fill", threads=value)(self.MASK), "threads", value, None)
            if not 0 <= value <= 255:
                self.check(lambda: cudaccl.Morphology("fill")(self.MASK, threshold=value), "threshold", value, None)

    def test_extension(self):
        """The arguments that the package chooses itself."""
        engine = cudaccl._engine.Engine
        for name in ("kind", "backend", "features", "values"):
            for value in edges(128):
                self.check(lambda: engine(**{name: value}), name, value, None)
        analyzer = engine(mask=True)
        analyzer.run(self.MASK, None, False, None)
        for value in edges():
            if not 0 <= value <= 255:
                self.check(lambda: analyzer.mask(value, False), "value", value, None)

    def test_stream(self):
        class Device:
            shape = (2, 4)
            __cuda_array_interface__ = {"shape": (2, 4), "typestr": "|u1", "data": (4096, True), "version": 3,
                                        "stream": None}
        for value in edges():
            if not 0 <= value < 1 << 64:
                self.check(lambda: cudaccl.components(Device(), stream=value), "stream", value, None)


class Tensor(ctypes.Structure):
    _fields_ = [("data", ctypes.c_void_p), ("device_type", ctypes.c_int32), ("device_id", ctypes.c_int32),
                ("ndim", ctypes.c_int32), ("code", ctypes.c_uint8), ("bits", ctypes.c_uint8),
                ("lanes", ctypes.c_uint16), ("shape", ctypes.POINTER(ctypes.c_int64)),
                ("strides", ctypes.POINTER(ctypes.c_int64)), ("offset", ctypes.c_uint64)]


class Managed(ctypes.Structure):
    pass


DELETER = ctypes.CFUNCTYPE(None, ctypes.POINTER(Managed))
Managed._fields_ = [("tensor", Tensor), ("context", ctypes.c_void_p), ("deleter", DELETER)]
new_capsule = ctypes.pythonapi.PyCapsule_New
new_capsule.restype, new_capsule.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]


class Owner:
    """Makes capsules for a mask of 2 x 4, and counts how often they are released."""

    def __init__(self, again=False, null_deleter=False, **fields):
        self.released, self.made = 0, []
        self.pixels = (ctypes.c_uint8 * 8)(1, 0, 1, 1, 0, 1, 1, 1)
        self.shape, self.strides = (ctypes.c_int64 * 4)(2, 4), (ctypes.c_int64 * 4)(4, 1)
        self.again, self.fields = again, fields
        self.deleter = DELETER() if null_deleter else DELETER(self.release)

    def release(self, managed):
        self.released += 1

    def __dlpack_device__(self):
        return 1, 0

    def __dlpack__(self, **kwargs):
        if self.made and self.again:
            return self.made[0][1]
        fields = {"data": ctypes.addressof(self.pixels), "device_type": 1, "ndim": 2, "code": 1, "bits": 8, "lanes": 1,
                  "shape": self.shape, "strides": self.strides, **self.fields}
        for name in ("shape", "strides"):
            if isinstance(fields[name], tuple):
                fields[name] = (ctypes.c_int64 * 4)(*fields[name])
        managed = Managed(Tensor(**fields), None, self.deleter)
        self.made.append((managed, new_capsule(ctypes.addressof(managed), b"dltensor", None)))
        return self.made[-1][1]


class DLPack(unittest.TestCase):
    def test_once(self):
        owner = Owner()
        for i in range(1, 4):
            self.assertEqual(len(cudaccl.components(owner, 4)), 2)
            self.assertEqual((owner.released, len(owner.made)), (i, i))
        self.assertEqual(len(cudaccl.components(Owner(null_deleter=True), 4)), 2)
        self.assertEqual(len(cudaccl.components(Owner(strides=None), 4)), 2)

    def test_twice(self):
        owner = Owner(again=True)
        self.assertEqual(len(cudaccl.components(owner, 4)), 2)
        for _ in range(3):
            with self.assertRaisesRegex(ValueError, "consumed before"):
                cudaccl.components(owner, 4)
        self.assertEqual(owner.released, 1)
        with self.assertRaisesRegex(ValueError, "no capsule named dltensor"):
            class Nothing(Owner):
                def __dlpack__(self, **kwargs):
                    return 8
            cudaccl.components(Nothing(), 4)

    def test_lies(self):
        lies = [{"ndim": n} for n in (-1, -2 ** 31, 5, 2 ** 31 - 1)] + [{"shape": None}, {"data": None}]
        lies += [{"shape": (2, value)} for value in (-1, -2 ** 63, 2 ** 62, 2 ** 63 - 1)]
        lies += [{"strides": (value, 1)} for value in (2 ** 62, -2 ** 62, 2 ** 63 - 1, -2 ** 63, 2 ** 48)]
        lies += [{"strides": (4, 2 ** 62)}, {"offset": 2 ** 63}, {"offset": 2 ** 64 - 1},
                 {"shape": (2 ** 32, 2 ** 32), "strides": None}, {"shape": (2, 2 ** 62), "strides": (0, 0)}]
        for lie in lies:
            with self.subTest(str(lie)):
                owner = Owner(**lie)
                with self.assertRaisesRegex(ValueError, "dimensions|spans|address is 0|pixels"):
                    cudaccl.components(owner, 4)
                self.assertEqual(owner.released, len(owner.made))

    def test_interface(self):
        for change in ({"shape": (2, -1)}, {"shape": (2, 1 << 62)}, {"strides": (1 << 62, 1)}, {"data": (0, True)},
                       {"shape": (1 << 64, 1)}, {"typestr": "|u0"}, {"typestr": "|u-1"}, {"shape": (1,) * 5}):
            class Device:
                __cuda_array_interface__ = {"shape": (2, 4), "typestr": "|u1", "data": (4096, True), "version": 3,
                                            "stream": None, **change}
            with self.subTest(str(change)):
                with self.assertRaises((ValueError, OverflowError, TypeError)):
                    cudaccl.components(Device(), 4, backend="cpu")


if __name__ == "__main__":
    unittest.main(verbosity=2)  # says which are skipped, and why
