#!/usr/bin/env python3
# cudaccl - tests of the Python package on arrays in device memory, without CuPy or PyTorch
# SPDX-License-Identifier: LGPL-2.1-or-later
"""With a file as an argument, the extension that is built on the emulated device (tests/emulation); else on the CUDA
device. Exit status 77 without a device or NumPy."""

import ctypes
import importlib.machinery
import importlib.util
import os
import sys
import unittest

try:
    import numpy as np

    if len(sys.argv) > 1:
        # The emulated driver's functions are looked up by name.
        sys.setdlopenflags(os.RTLD_GLOBAL | os.RTLD_NOW)
        loader = importlib.machinery.ExtensionFileLoader("cudaccl._engine", sys.argv[1])
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        sys.modules[loader.name] = module
    import cudaccl
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)


class Emulated:
    """Memory of the emulated device."""

    def __init__(self):
        self.cuda = ctypes.CDLL(sys.argv[1])

    def allocate(self, size):
        pointer = ctypes.c_void_p()
        assert self.cuda.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
        return pointer.value

    def copy(self, to, source, size):
        assert self.cuda.cudaMemcpy(ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(size), 4) == 0

    def stream(self):
        stream = ctypes.c_void_p()
        assert self.cuda.cudaStreamCreateWithFlags(ctypes.byref(stream), 1) == 0
        return stream.value

    def fill(self, to, size, stream):
        assert self.cuda.cudaMemsetAsync(ctypes.c_void_p(to), 7, ctypes.c_size_t(size), ctypes.c_void_p(stream)) == 0


class Driver:
    """Memory of the CUDA device, in its primary context."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        context = ctypes.c_void_p()
        assert self.cuda.cuInit(0) == 0
        assert self.cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0) == 0
        assert self.cuda.cuCtxSetCurrent(context) == 0

    def allocate(self, size):
        pointer = ctypes.c_void_p()
        assert self.cuda.cuMemAlloc_v2(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
        return pointer.value

    def copy(self, to, source, size):
        assert self.cuda.cuMemcpy(ctypes.c_void_p(to), ctypes.c_void_p(source), ctypes.c_size_t(size)) == 0

    def stream(self):
        stream = ctypes.c_void_p()
        assert self.cuda.cuStreamCreate(ctypes.byref(stream), 1) == 0
        return stream.value

    def fill(self, to, size, stream):
        assert self.cuda.cuMemsetD8Async(ctypes.c_void_p(to), ctypes.c_ubyte(7), ctypes.c_size_t(size),
                                         ctypes.c_void_p(stream)) == 0


class Array(bytearray):
    """A copy of an array in device memory, which is not freed. It has the buffer protocol, too, as CuPy's arrays do."""

    def __init__(self, memory, array):
        array = np.ascontiguousarray(array)
        self.memory, self.shape, self.dtype, self.size = memory, array.shape, array.dtype, array.nbytes
        self.pointer = memory.allocate(array.nbytes)
        memory.copy(self.pointer, array.ctypes.data, array.nbytes)
        self.__cuda_array_interface__ = {"shape": array.shape, "typestr": array.dtype.str, "version": 3,
                                         "data": (self.pointer, False), "stream": None}

    def on_host(self):
        array = np.empty(self.shape, self.dtype)
        self.memory.copy(array.ctypes.data, self.pointer, self.size)
        return array


class Device(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.memory = Emulated() if len(sys.argv) > 1 else Driver()

    def test_masks_batches_and_volumes(self):
        rng = np.random.default_rng(1)
        for shape, connectivity in (((30, 40), 8), ((30, 40), 4), ((4, 20, 30), 8), ((4, 1, 20, 30), 8),
                                    ((6, 10, 12), 26)):
            mask = (rng.random(shape) < .4).astype(np.uint8)
            pixels, out = Array(self.memory, mask), Array(self.memory, np.full(shape, 7, np.int32))
            expected_labels, expected = cudaccl.analyze(mask, connectivity)
            labels, components = cudaccl.analyze(pixels, connectivity, out=out)
            self.assertIs(labels, out)
            np.testing.assert_array_equal(out.on_host(), expected_labels)
            np.testing.assert_equal(components, expected)
            np.testing.assert_equal(cudaccl.components(mask, connectivity, backend="cuda"), expected)
            np.testing.assert_array_equal(cudaccl.label(mask, connectivity, backend="cuda"), expected_labels)
            with self.assertRaisesRegex(ValueError, "out="):
                cudaccl.label(pixels, connectivity)
            with self.assertRaisesRegex(ValueError, "different devices"):
                cudaccl.label(pixels, connectivity, out=np.zeros(shape, np.int32))
            with self.assertRaisesRegex(ValueError, "different devices"):
                cudaccl.label(mask, connectivity, out=out)

    def test_values_and_features(self):
        depth = np.random.default_rng(2).integers(0, 4000, (40, 30), np.uint16)
        options = {"values": "band", "low": 500, "high": 1500, "features": ["box", "ellipse", "holes", "perimeter"]}
        for array in (depth, np.stack([depth, depth[::-1]])):
            np.testing.assert_equal(cudaccl.components(Array(self.memory, array), **options),
                                    cudaccl.components(array, **options))
        for classes in (depth // 1000, (depth // 1000).astype(np.uint8)):
            np.testing.assert_equal(cudaccl.components(Array(self.memory, classes), values="equal", features="ellipse"),
                                    cudaccl.components(classes, values="equal", features="ellipse"))
        for kind in (np.uint8, np.uint16, np.int32):
            volume = (np.random.default_rng(4).integers(0, 3, (5, 9, 40)) * 70001 % 251).astype(kind)
            for connectivity in (6, 18, 26):
                out = Array(self.memory, np.zeros(volume.shape, np.int32))
                labels, expected = cudaccl.analyze(volume, connectivity, values="equal")
                _, got = cudaccl.analyze(Array(self.memory, volume), connectivity, values="equal", out=out)
                np.testing.assert_equal(got, expected)
                np.testing.assert_array_equal(out.on_host(), labels)

    def test_areas(self):
        for shape in ((30, 40), (4, 20, 30), (4, 1, 20, 30), (1, 20, 30)):
            mask = (np.random.default_rng(5).random(shape) < .5).astype(np.uint8)
            for options in ({}, {"min_area": 5}, {"max_components": 4}):
                expected = np.zeros(shape, np.int32)
                labels = cudaccl.label(mask, areas=expected, **options)
                out, areas = (Array(self.memory, np.full(shape, 7, np.int32)) for _ in range(2))
                for _ in range(2):
                    cudaccl.label(Array(self.memory, mask), out=out, areas=areas, **options)
                np.testing.assert_array_equal(out.on_host(), labels)
                np.testing.assert_array_equal(areas.on_host(), expected)
        with self.assertRaisesRegex(ValueError, "areas"):
            cudaccl.label(Array(self.memory, mask), out=out, areas=areas, values="equal")
        with self.assertRaisesRegex(ValueError, "different devices"):
            cudaccl.label(Array(self.memory, mask), out=out, areas=np.zeros(shape, np.int32))

    def test_info(self):
        analyzer = cudaccl.Analyzer()
        with self.assertRaisesRegex(ValueError, "no frame"):
            analyzer.info
        analyzer.components(Array(self.memory, np.ones((3, 4, 5), np.uint8)))
        self.assertEqual((analyzer.info["backend"], analyzer.info["device"]), ("cuda", 0))

    def test_out_on_another_stream(self):
        mask = (np.random.default_rng(3).random((200, 300)) < .5).astype(np.uint8)
        expected, pixels, stream = cudaccl.label(mask), Array(self.memory, mask), self.memory.stream()
        for _ in range(5):
            out = Array(self.memory, np.zeros(mask.shape, np.int32))
            out.__cuda_array_interface__["stream"] = stream
            self.memory.fill(out.pointer, out.size, stream)
            cudaccl.label(pixels, out=out)
            np.testing.assert_array_equal(out.on_host(), expected)

    def test_motion(self):
        motion, frame = cudaccl.Motion("bgr"), np.full((32, 48, 3), 90, np.uint8)
        for _ in range(3):
            self.assertEqual(len(motion(Array(self.memory, frame))), 0)
        frame[8:20, 8:20] = 200
        self.assertEqual(len(motion(Array(self.memory, frame))), 1)
        self.assertEqual((motion.info["backend"], motion.mask[10, 10]), ("cuda", 255))


if __name__ == "__main__":
    if cudaccl.cuda_device_count() == 0:
        print("skipped: no CUDA device", file=sys.stderr)
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
