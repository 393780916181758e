# cudaccl - tests of arrays that the Python package copies
# SPDX-License-Identifier: LGPL-2.1-or-later

import sys
import types
import unittest
import warnings
from unittest import mock

try:
    import cudaccl
    import numpy as np
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)


class AnyArray(unittest.TestCase):
    """Other types, byte orders and strides give what the mask made by hand gives."""

    TYPES = ["?", "i1", "<i2", ">i2", "<u2", ">u2", "<i4", ">i4", "<u4", "<i8", ">i8", "<u8", "e", "f", ">f4", "d", ">f8"]
    LAYOUTS = [("rows", lambda a: a), ("columns", np.asfortranarray), ("backwards", lambda a: a[::-1, ::-1]),
               ("every other", lambda a: np.repeat(a, 2, 1)[:, ::2]), ("transposed", lambda a: a.T.copy().T),
               ("repeated", lambda a: np.broadcast_to(a[0], (5, a.shape[1])))]

    def test_masks(self):
        rng = np.random.default_rng(21)
        for kind in self.TYPES:
            array = (rng.integers(-3, 4, (20, 33)) * (rng.random((20, 33)) < .5)).astype(kind)
            for layout, change in self.LAYOUTS:
                changed = change(array)
                for threshold in (0, 1, 1.5) if array.dtype.kind == "f" else (0, 1):
                    expected = changed != 0 if threshold == 0 else changed > threshold
                    for invert in (False, True):
                        with self.subTest(kind, layout=layout, threshold=threshold, invert=invert):
                            labels, components = cudaccl.analyze(changed, threshold=threshold, invert=invert)
                            again = cudaccl.analyze(np.ascontiguousarray(expected != invert))
                            np.testing.assert_array_equal(labels, again[0])
                            np.testing.assert_array_equal(components, again[1])
        wide = np.array([[256, 0, 65536, 1 << 40]])
        self.assertEqual(cudaccl.label(wide).tolist(), [[1, 0, 2, 2]])
        volume = rng.integers(-2, 2, (4, 5, 6))
        np.testing.assert_array_equal(cudaccl.label(volume.T, 26), cudaccl.label(np.ascontiguousarray(volume.T != 0), 26))

    def test_bands(self):
        array = np.random.default_rng(22).uniform(-10, 70000, (20, 30))
        for low, high in ((1, 65535), (0, 20000), (300, 300)):
            for kind in ("f", "i4", ">u4", "<u2", ">u2"):
                values = array.clip(0, 65535).astype(kind) if kind.endswith("2") else array.astype(kind)
                np.testing.assert_array_equal(cudaccl.label(values.T, values="band", low=low, high=high),
                                              cudaccl.label(((values >= low) & (values <= high)).T.copy()))

    def test_classes(self):
        rng = np.random.default_rng(23)
        names = np.array([0, 1, 255, 256, 65535, 65536, 70000, (1 << 31) - 1])
        for most in (3, 5, len(names)):
            small = np.kron(rng.integers(0, most, (12, 20)), np.ones((2, 3), int))
            for kind in ("<i4", ">i4", "<i8", "<u4", "<u8"):
                classes = names[small].astype(kind)
                for change in (lambda a: a, lambda a: a.T):
                    labels, components = cudaccl.analyze(change(classes), values="equal")
                    again = cudaccl.analyze(change(small).astype(np.uint8), values="equal")
                    np.testing.assert_array_equal(labels, again[0])
                    self.assertEqual(components["value"].tolist(), names[again[1]["value"]].tolist())
        self.assertEqual(cudaccl.components(np.array([[70000, 5, 65536]]), values="equal")["value"].tolist(),
                         [70000, 5, 65536])

    def test_masked(self):
        rng = np.random.default_rng(24)
        for kind in ("?", "u1", "<i4", "f"):
            covered = rng.random((20, 30)) < .3
            data = rng.integers(0, 3, (20, 30)).astype(kind)
            array = np.ma.array(data, mask=covered)
            for invert in (False, True):
                for threshold in (0, 1):
                    expected = ((data != 0 if threshold == 0 else data > threshold) != invert) & ~covered
                    np.testing.assert_array_equal(cudaccl.label(array, threshold=threshold, invert=invert),
                                                  cudaccl.label(expected))
            np.testing.assert_array_equal(array.data, data)
        classes = np.ma.array([[1, 2, 3]], mask=[[False, True, False]])
        self.assertEqual(cudaccl.components(classes, values="equal")["value"].tolist(), [1, 3])
        gray = np.ma.array(np.array([[9, 5, 7]], np.uint8), mask=[[False, True, False]])
        self.assertEqual(cudaccl.components(gray, features="luma")["luma_mean"].tolist(), [9, 7])

    def test_warnings(self):
        mask = np.ones((4, 6), np.uint8)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            cudaccl.label(mask.astype(float))
            cudaccl.label(mask[1:3, 1:4], warn_copies=True)
        for array, text in ((mask.astype(float), "float64"), (mask[:, ::2], "uint8")):
            analyzer = cudaccl.Analyzer(warn_copies=True)
            for call in (lambda: cudaccl.label(array, warn_copies=True), lambda: cudaccl.components(array, warn_copies=True),
                         lambda: cudaccl.analyze(array, warn_copies=True), lambda: analyzer.label(array),
                         lambda: analyzer.components(array), lambda: analyzer.analyze(array)):
                with self.assertWarnsRegex(RuntimeWarning, text) as warned:
                    call()
                # The line of the call, not one of the package, nor of who called this.
                self.assertEqual((warned.filename, warned.lineno), (__file__, call.__code__.co_firstlineno))

    def test_again(self):
        """A copied array changes nothing for the next one."""
        mask = np.array([[0, 127, 128, 255]], np.uint8)
        analyzer = cudaccl.Analyzer(threshold=127)
        self.assertEqual(analyzer.label(mask.astype(float)).tolist(), [[0, 0, 1, 1]])
        self.assertEqual(analyzer.label(mask).tolist(), [[0, 0, 1, 1]])


class Library(types.ModuleType):
    """CuPy or PyTorch, as far as the package uses them, without a device. It notes the streams on which arrays are
    made, None for its own. As in PyTorch, a number becomes one of the array's type before they are compared, or both
    become floating point."""

    def __init__(self, name, old=False):
        super().__init__(name)
        library, self.made, self.current = self, [], None

        class ExternalStream:
            def __init__(self, number, device=None):
                self.number = number

            @classmethod
            def from_external(cls, stream):
                return cls(stream.__cuda_stream__()[1])

            def __enter__(self):
                library.current = self.number

            def __exit__(self, *error):
                library.current = None

        class Array:
            __module__ = name
            device, is_cuda, flags = mock.MagicMock(), True, types.SimpleNamespace(c_contiguous=True)

            def __init__(self, data):
                self.data, self.shape, self.dtype = data, data.shape, data.dtype
                library.made.append(library.current)

            def __and__(self, other):
                return Array(self.data & other.data)

            def astype(self, kind):
                return Array(self.data.astype(kind))

            def is_contiguous(self):
                return True

            def contiguous(self):
                return self

            def __invert__(self):
                return Array(~self.data)

            def compared(self, function, other):
                data = self.data
                if isinstance(other, Array):
                    other = other.data
                elif isinstance(other, int):
                    other = np.array(other & (1 << 64) - 1, np.uint64).astype(data.dtype)
                else:
                    data, other = data.astype(np.float32), np.float32(other)
                return Array(getattr(data, function)(other))

            def min(self):
                return self.data.min()

            def max(self):
                return self.data.max()

            to = astype

        for function in ("__eq__", "__ne__", "__gt__", "__ge__", "__le__", "__lt__"):
            setattr(Array, function, lambda self, other, function=function: self.compared(function, other))
        self.Array, self.uint8, self.uint16 = Array, np.uint8, np.uint16
        self.ascontiguousarray = lambda array: array
        self.cuda = types.SimpleNamespace(ExternalStream=ExternalStream, stream=lambda stream: stream,
                                          Stream=object if old else ExternalStream)

    def analyzer(self, **options):
        """An analyzer that reads this library's arrays of uint8 in place, and notes the streams that it waits for."""
        analyzer, waits = cudaccl.Analyzer(**options), []
        run = analyzer._run

        def read(array, out, labels, stream, areas):
            if array.dtype != np.uint8 and array is self.given:
                raise TypeError("not in place")
            waits.append(stream)
            return run(array.data, out, labels, None, areas)

        analyzer._run = read
        return analyzer, waits


class Streams(unittest.TestCase):
    """Copies are made on the stream that the analysis waits for."""

    def test_copies(self):
        data = np.array([[0, 5, 0, 9]], np.int32)
        for name, old in (("cupy", False), ("cupy", True), ("torch", False)):
            library = Library(name, old)
            with mock.patch.dict(sys.modules, {name: library}):
                for values in ("above", "band", "equal"):
                    # PyTorch has no stream 1.
                    for stream, expected in ((None, None), (7, 7), (0, 0), (1, 0 if name == "torch" else 1)):
                        with self.subTest(name, old=old, values=values, stream=stream):
                            analyzer, waits = library.analyzer(values=values)
                            library.given = library.Array(data)
                            library.made.clear()
                            labels = analyzer.label(library.given, stream=stream)
                            self.assertEqual(labels.tolist(), [[0, 1, 0, 2]])
                            self.assertEqual((set(library.made), waits), ({expected}, [stream]))
                            self.assertIsNone(library.current)

    def test_refused(self):
        for name in ("cupy", "torch"):
            library = Library(name)
            with mock.patch.dict(sys.modules, {name: library}):
                analyzer, _ = library.analyzer()
                library.given = library.Array(np.ones((2, 2), np.int32))
                for stream, error in ((-1, ValueError), (1 << 64, ValueError), (1.5, TypeError), ("7", TypeError)):
                    with self.assertRaises(error):
                        analyzer.label(library.given, stream=stream)


class Numbers(unittest.TestCase):
    """Integers are compared with any number as mathematics does it."""

    LEVELS = [level + step for power in (7, 8, 15, 16, 24, 31, 53, 63, 64) for level in (1 << power, -1 << power)
              for step in (-1, -.5, 0, 1)] + [-300, -2, -1, -.5, .5, 1, 44, 300]

    def check(self, kind, is_foreground, **options):
        info = np.iinfo(kind)
        numbers = sorted({n for n in (*range(-300, 301), info.min, info.max, (1 << 24) + 1, (1 << 53) + 1, 70000)
                          if info.min <= n <= info.max})
        data = np.array([numbers], kind)
        expected = [is_foreground(n) for n in numbers]
        for name in ("numpy", "cupy", "torch"):
            library = np if name == "numpy" else Library(name)
            with self.subTest(name, kind=kind, **options), mock.patch.dict(sys.modules, {name: library}):
                if name == "numpy":
                    labels = cudaccl.label(data, **options)
                else:
                    analyzer, _ = library.analyzer(**options)
                    library.given = library.Array(data)
                    labels = analyzer.label(library.given)
                self.assertEqual((labels[0] > 0).tolist(), expected)

    def test_thresholds(self):
        for kind in ("int8", "uint8", "int16", "int32", "int64"):
            for level in self.LEVELS:
                self.check(kind, lambda n: n > level, threshold=level)

    def test_bands(self):
        for kind in ("int8", "uint8", "int16", "int32", "int64"):
            for low, high in ((0, 65535), (1, 300), (0, 0), (127, 128), (200, 255), (255, 256), (300, 400), (5, 4)):
                self.check(kind, lambda n: low <= n <= high, values="band", low=low, high=high)


if __name__ == "__main__":
    unittest.main(verbosity=2)
