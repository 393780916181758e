#!/usr/bin/env python3
# cudaccl - regions of label maps in Python
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares measures of random label maps with scikit-image, where it is installed, and outlines with the pixels that they
enclose. Exit status 77 without NumPy. With a number: the seed."""

import inspect
import sys
import threading
import unittest
import warnings

try:
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)
try:
    from skimage import measure
    from skimage.measure._regionprops import COL_DTYPES as known  # older versions have fewer properties
except ImportError:
    measure, known = None, {}
import cudaccl
from cudaccl import _engine

has_spacing = measure and "spacing" in inspect.signature(measure.regionprops_table).parameters

SEED = int(sys.argv[1]) if len(sys.argv) > 1 else int(np.random.default_rng().integers(1 << 31))
FLAT = ["area", "area_bbox", "area_convex", "area_filled", "axis_major_length", "axis_minor_length", "bbox", "centroid",
        "centroid_local", "eccentricity", "equivalent_diameter_area", "euler_number", "extent", "feret_diameter_max",
        "inertia_tensor", "inertia_tensor_eigvals", "label", "moments", "moments_central", "moments_hu",
        "moments_normalized", "num_pixels", "orientation", "perimeter", "perimeter_crofton", "solidity"]
SOLID = ["label", "area", "num_pixels", "area_bbox", "bbox", "centroid", "centroid_local", "equivalent_diameter_area",
         "extent", "moments", "moments_central", "moments_normalized", "inertia_tensor", "inertia_tensor_eigvals",
         "axis_major_length", "axis_minor_length"]
WEIGHTED = ["intensity_mean", "intensity_min", "intensity_max", "intensity_std", "centroid_weighted",
            "centroid_weighted_local", "moments_weighted", "moments_weighted_central", "moments_weighted_normalized"]


def draw(rng, shape, kind):
    """A label map: blobs, which have holes and touch each other, parts that are not connected, or single pixels."""
    side = int(rng.integers(1, 6))
    small = rng.random([-(-n // side) for n in shape])
    blocks = np.kron(small, np.ones([side] * len(shape)))[tuple(slice(n) for n in shape)]
    blobs = blocks + rng.random(shape) * .3 > .6
    if kind == 0:
        return cudaccl.label(blobs, 8 if len(shape) == 2 else 26)
    if kind == 1:
        return np.where(blobs, rng.integers(1, 5, [1] * (len(shape) - 1) + [shape[-1]]), 0)
    return np.floor(blocks * rng.integers(1, 60)).astype(rng.choice(["int32", "int64", "uint16", "uint8"]))


class Regions(unittest.TestCase):
    def compare(self, labels, intensity, names, spacing):
        names = [name for name in names if name in known]
        if not has_spacing:
            spacing = (1,) * labels.ndim
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            expected = measure.regionprops_table(labels, intensity, properties=names,
                                                 **({"spacing": spacing} if has_spacing else {}))
        got = cudaccl.regionprops_table(labels, intensity, names, spacing=spacing)
        self.assertEqual(list(got), list(expected))
        sizes = got["area_bbox"] / np.prod(spacing)
        for name, column in expected.items():
            # Sums cancel out: what is left is judged by the largest term.
            scale = 1e-7
            if "central" in name or "inertia" in name or "weighted" in name:
                order = sum(int(n) for n in name.split("-")[1:] if n.isdigit()) + 2
                scale = 1e-9 * np.max(sizes) * np.max(np.array(labels.shape) * spacing) ** min(order, 9) + 1e-7
            if name in ("orientation", "axis_minor_length", "eccentricity") or "eigvals" in name:
                continue
            np.testing.assert_allclose(got[name], column, rtol=1e-7, atol=scale, err_msg=name)
        for name in ("axis_minor_length", "eccentricity", "inertia_tensor_eigvals-1"):
            if name in expected:
                np.testing.assert_allclose(got[name], expected[name], atol=3e-6, rtol=1e-7, err_msg=name)
        if "orientation" in expected:  # of what is round there is none
            clear = got["eccentricity"] > 1e-3
            if not has_spacing:  # older versions have the other sign for diagonals
                clear &= abs(got["inertia_tensor-0-0"] - got["inertia_tensor-1-1"]) > 1e-9
            turn = got["orientation"][clear] - expected["orientation"][clear]
            np.testing.assert_allclose(np.sin(turn), 0, atol=1e-6)

    @unittest.skipUnless(measure, "no scikit-image")
    def test_flat(self):
        rng = np.random.default_rng([SEED, 1])
        for i in range(24):
            shape = tuple(rng.integers(1, 70, 2))
            labels = draw(rng, shape, i % 3)
            if labels.max() == 0:
                continue
            with self.subTest(i=i, shape=shape, kind=i % 3):
                spacing = [(1, 1), (.5, .5), (1, 1)][i % 3]
                names = [name for name in FLAT if spacing == (1, 1) or name != "moments_hu"]
                self.compare(labels, rng.random(shape) + .1, names + WEIGHTED, spacing)
                names = [name for name in names if "perimeter" not in name and name != "moments_hu"]
                self.compare(labels, rng.integers(1, 256, shape, np.uint8), names + WEIGHTED, (2, .75))

    @unittest.skipUnless(measure, "no scikit-image")
    def test_solid(self):
        rng = np.random.default_rng([SEED, 2])
        # Of flat regions, older versions cannot take the root.
        names = SOLID[:None if has_spacing else -2] + WEIGHTED
        for i in range(15):
            shape = tuple(rng.integers(2, 20, 3))
            labels = draw(rng, shape, i % 3)
            if labels.max() > 0:
                with self.subTest(i=i, shape=shape):
                    self.compare(labels, rng.random(shape) + .1, names, [(1, 1, 1), (3, .5, 2)][i % 2])

    def test_properties(self):
        rng = np.random.default_rng([SEED, 3])
        labels, components = cudaccl.analyze(rng.random((60, 90)) < .4, features=("ellipse", "holes", "perimeter", "box"))
        found = cudaccl.properties(labels, labels * 2)
        for name in ("label", "x", "y", "width", "height", "area", "euler_number"):
            np.testing.assert_array_equal(found[name], components[name], name)
        for name in ("centroid_x", "centroid_y", "major_axis", "eccentricity", "perimeter", "extent"):
            np.testing.assert_allclose(found[name], components[name], rtol=1e-9, atol=1e-6, err_msg=name)
        clear = found["eccentricity"] > .01
        np.testing.assert_allclose(np.sin(found["orientation"] - components["orientation"])[clear], 0, atol=1e-6)
        np.testing.assert_allclose(found["intensity_mean"], 2 * found["label"])
        np.testing.assert_allclose(found["weighted_x"], found["centroid_x"])
        solid = cudaccl.label(rng.random((9, 20, 30)) < .2, 6)
        volumes, found = cudaccl.components(solid != 0, 6), cudaccl.properties(solid, spacing=(2, 1, .5))
        for name in ("x", "y", "z", "width", "height", "depth", "volume"):
            np.testing.assert_array_equal(found[name], volumes[name], name)
        for name, step in (("centroid_x", .5), ("centroid_y", 1), ("centroid_z", 2)):
            np.testing.assert_allclose(found[name], volumes[name] * step)
        self.assertEqual(cudaccl.properties(np.zeros((3, 4), int)).size, 0)

    def test_high_labels(self):
        rng = np.random.default_rng([SEED, 4])
        small = rng.integers(0, 4, (20, 30))
        names = np.array([0, 7, 1 << 31, 1 << 40])
        for labels in (small, names[small], names[small].astype(np.uint64)[::-1, ::-1][::-1, ::-1]):
            found = cudaccl.properties(labels)
            self.assertEqual(found["label"].tolist(), np.unique(labels)[1:].tolist())
            self.assertEqual(found["area"].tolist(), np.bincount(small.ravel())[1:].tolist())
            order = np.argsort(-found["area"], kind="stable")
            for k in range(5):
                kept = cudaccl.largest(labels, k)
                self.assertEqual(kept.dtype, labels.dtype)
                np.testing.assert_array_equal(kept, np.where(np.isin(labels, found["label"][order[:k]]), labels, 0))
            limit = int(np.median(found["area"]))
            small_ones = found["label"][found["area"] < limit]
            np.testing.assert_array_equal(cudaccl.dust(labels, limit), np.where(np.isin(labels, small_ones), 0, labels))
        self.assertEqual({c.label for c in cudaccl.contours(names[small])}, set(names[1:].tolist()))
        # High ones are renumbered inside, whatever their type, with and without background.
        for kind in (np.int32, np.uint32, np.int64):
            for first in (0, 1):
                labels = np.array([first, 5, 2000000], kind)[small % 3]
                areas = dict(zip(*np.unique(labels[labels > 0], return_counts=True)))
                kept = cudaccl.largest(labels)
                self.assertEqual(kept.dtype, kind)
                np.testing.assert_array_equal(kept, np.where(labels == max(areas, key=areas.get), labels, 0))
                np.testing.assert_array_equal(cudaccl.dust(labels, 0), labels)
        solid = rng.integers(0, 3, (4, 5, 6))
        np.testing.assert_array_equal(cudaccl.dust(solid, 1), solid)
        self.assertEqual(len(np.unique(cudaccl.largest(solid))), 2)

    def test_intensity(self):
        labels = np.array([[1, 1, 1, 2], [3, 3, 3, 2]])
        nan = float("nan")
        found = cudaccl.properties(labels, [[nan, 2, 3, 4], [5, nan, 6, 7]])
        for name in ("mean", "min", "max", "std"):
            np.testing.assert_array_equal(np.isnan(found["intensity_" + name]), [True, False, True], name)
        self.assertEqual(found["intensity_max"][1], 7)
        masked = np.ma.masked_equal(labels, 2)
        for function in (cudaccl.properties, lambda *a: cudaccl.regionprops_table(*a, properties=["intensity_mean"])):
            self.fails(TypeError, "masked", function, labels, masked)
            self.fails(TypeError, "complex128", function, labels, labels * 1j)
            self.fails(ValueError, "shape", function, np.zeros((0, 4), int), np.zeros((4, 0)))
        self.assertEqual(cudaccl.properties(labels, np.ma.array(labels))["intensity_mean"].tolist(), [1, 2, 3])

    def test_written_meanwhile(self):
        """Another thread writes to the label map: numbers are anything, but nothing outside of tables is touched."""
        rng = np.random.default_rng([SEED, 6])
        maps = [rng.integers(0, 2, (200, 300)), rng.integers(0, 5000, (200, 300)), np.full((200, 300), -1)]
        maps[0][100, 100] = 5000  # the other ones of the second map have no region in the first
        labels, stop = maps[0].astype(np.int32), threading.Event()

        def write():
            while not stop.is_set():
                for other in maps:
                    np.copyto(labels, other, casting="unsafe")

        writer = threading.Thread(target=write)
        writer.start()
        try:
            done = 0
            for i in range(3000):
                try:
                    _engine.measure(labels, None, 7, 1.0, 1.0)
                    _engine.rename(labels, np.arange(5001, dtype=np.int32))
                    _engine.trace(labels, i % 2 == 0)
                    done += 1
                except ValueError as error:
                    self.assertIn("not -1", str(error))
                if done == 30:
                    break
        finally:
            stop.set()
            writer.join()

    def test_contours(self):
        rng = np.random.default_rng([SEED, 5])
        for i in range(60):
            shape = tuple(rng.integers(1, 30, 2))
            labels = draw(rng, shape, i % 3) if i % 4 else rng.integers(0, 3, shape)
            for connectivity in (4, 8):
                with self.subTest(i=i, shape=shape, connectivity=connectivity):
                    self.check_contours(labels, connectivity)
        mask = rng.random((40, 50)) < .6
        for connectivity in (4, 8):
            found = cudaccl.contours(mask, connectivity)
            components = cudaccl.components(mask, connectivity, features="holes")
            self.assertEqual(sum(not c.is_hole for c in found), len(components))
            self.assertEqual(sum(c.is_hole for c in found), components["holes"].sum())

    def check_contours(self, labels, connectivity):
        areas, inside, found = {}, [], cudaccl.contours(labels, connectivity)
        for contour in found:
            x, y = contour.polygon.astype(np.int64).T
            area = (x * np.roll(y, -1) - y * np.roll(x, -1)).sum() // 2
            self.assertEqual(area < 0, contour.is_hole)
            areas[contour.label] = areas.get(contour.label, 0) + area
            # The pixels that it encloses, by the sides to the left of each: down is -1, up 1.
            crossings = np.zeros((labels.shape[0], labels.shape[1] + 1), np.int64)
            for x0, y0, y1 in zip(x, y, np.roll(y, -1)):
                if y1 != y0:
                    crossings[min(y0, y1):max(y0, y1), x0] += 1 if y1 < y0 else -1
            inside.append(crossings.cumsum(axis=1)[:, :-1])
            self.assertTrue(np.isin(inside[-1], (0, -1 if contour.is_hole else 1)).all())
            self.assertEqual(abs(inside[-1].sum()), abs(area))
        values, counts = np.unique(labels[labels > 0], return_counts=True)
        self.assertEqual({int(k): int(v) for k, v in areas.items()}, dict(zip(values.tolist(), counts.tolist())))
        # The parent is the smallest outline around; what fills a hole is inside of that.
        ranks = [(abs(pixels).sum(), contour.is_hole) for pixels, contour in zip(inside, found)]
        for i, contour in enumerate(found):
            around = [k for k in range(len(found)) if ranks[k] > ranks[i] and (inside[k] != 0)[inside[i] != 0].all()]
            if connectivity == 8 and len(values) > 1:  # regions may cross each other at corners
                around = [k for k in around if found[k].label == contour.label]
                if not contour.is_hole:
                    continue
            self.assertEqual(contour.parent, min(around, key=lambda k: ranks[k], default=None), f"{i}: {contour}")

    def fails(self, error, message, function, *args, **options):
        with self.assertRaisesRegex(error, message):
            function(*args, **options)

    def test_errors(self):
        labels = np.ones((4, 5), int)
        for function in (cudaccl.properties, cudaccl.regionprops_table, cudaccl.largest, lambda a: cudaccl.dust(a, 2)):
            self.fails(TypeError, "integers, not float64", function, labels * .5)
            self.fails(TypeError, "label\\(\\) makes one", function, labels == 1)
            self.fails(ValueError, "not -3", function, -3 * labels)
            self.fails(ValueError, "-3", function, -3 * labels.astype(np.int16))
            self.fails(ValueError, "not -1", function, np.array([[-1, 0], [0, 2000000]], np.int32))
            self.fails(ValueError, "shape", function, labels[0])
        self.fails(ValueError, "there are", cudaccl.regionprops_table, labels, properties=["are"])
        self.fails(ValueError, "intensity", cudaccl.regionprops_table, labels, properties=["intensity_mean"])
        self.fails(ValueError, "shape", cudaccl.properties, labels, np.ones((5, 4)))
        self.fails(NotImplementedError, "perimeter", cudaccl.regionprops_table, labels[None], properties=["perimeter"])
        self.fails(NotImplementedError, "one spacing", cudaccl.regionprops_table, labels, properties=["perimeter"],
                   spacing=(1, 2))
        self.fails(NotImplementedError, "moments_hu", cudaccl.regionprops_table, labels, properties=["moments_hu"],
                   spacing=2)
        for spacing in (0, (1, 2, 3), (1, -1), float("nan")):
            self.fails(ValueError, "spacing", cudaccl.properties, labels, spacing=spacing)
        self.fails(ValueError, "k is", cudaccl.largest, labels, -1)
        self.fails(ValueError, "connectivity", cudaccl.contours, labels, 6)
        self.fails(ValueError, "outlines", cudaccl.contours, labels[None])
        for shape in ((0, 4), (4, 0), (0, 0), (2, 0, 3), (0, 2, 3), (2, 3, 0)):
            empty = np.zeros(shape, int)
            self.assertEqual(len(cudaccl.properties(empty)), 0)
            self.assertEqual(len(cudaccl.properties(empty, empty)), 0)
            self.assertEqual(len(cudaccl.regionprops_table(empty)["label"]), 0)
            self.assertEqual(cudaccl.dust(empty, 3).shape, shape)
            self.assertEqual(cudaccl.largest(empty).shape, shape)
            if len(shape) == 2:
                self.assertEqual(cudaccl.contours(empty), [])


if __name__ == "__main__":
    print(f"seed {SEED}", file=sys.stderr)
    unittest.main(argv=sys.argv[:1])
