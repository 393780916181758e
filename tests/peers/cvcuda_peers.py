#!/usr/bin/env python3
# Compares operations on masks with CV-CUDA's and OpenCV's.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares median, opening and closing of masks on a CUDA device with CV-CUDA, and with OpenCV on the CPU.

All get the same masks: noise, half of it foreground, and random ellipses with 1 % of the pixels flipped.
Prints a table in Markdown of medians in microseconds:

  OpenCV    one thread, wall clock
  CV-CUDA   device time: operations in a row, from bytes to bytes, while the device is kept busy
            until all of them are enqueued; objects are reused and buffers allocated before
  alone     device time of cudaccl's cleaning as a stage between two events, from bytes · from bits
  added     how much longer the analysis takes with the operation than that of the cleaned mask, both as a
            graph, from bytes · from bits
  ×         CV-CUDA's time divided by cudaccl's from bytes: alone · added
  CV-CUDA's its result compared with OpenCV's, byte by byte

cudaccl's times are those of ccl-bench morphology, which compares all results with the CPU's.

Needs NumPy, OpenCV, CuPy and CV-CUDA (packages opencv-python-headless, cupy-cuda13x and cvcuda-cu13, or
those for another CUDA), and ccl-bench. Exit status: 0, 1 if a result of cudaccl is wrong or a program fails,
77 without CV-CUDA, CuPy or a CUDA device.
"""

import argparse
import importlib
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time

OPERATIONS = "median3,median5,open3x3,open5x5,open5x11,open11x11,close3x3,close5x5,close5x11,close11x11"
SPIN = r"""
extern "C" __global__ void
spin (unsigned long long duration)
{
  unsigned long long start, now;

  asm volatile ("mov.u64 %0, %%globaltimer;" : "=l"(start));
  do
    asm volatile ("mov.u64 %0, %%globaltimer;" : "=l"(now));
  while (now - start < duration);
}
"""
MAX_SPIN = 2_000_000_000  # ns
LINE = re.compile(r"(\S+)\s+(\S+)\s+cuda (bytes|bits)\s+([-\d.]+) us cleaning,\s+[-\d.]+ us with analysis,"
                  r"\s+([-\d.]+) us of it cleaning\s+cpu, (same|DIFFERS)")


def fail(message, status=1):
    print(f"cvcuda_peers.py: {message}", file=sys.stderr)
    sys.exit(status)


def load(name, package):
    """A module, or the end with a message that names the package."""
    try:
        return importlib.import_module(name)
    except ImportError as error:
        fail(f"no module {name} ({error}); install {package}", 77)


def size(text):
    match = re.fullmatch(r"([1-9]\d{0,4})x([1-9]\d{0,4})", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not a size such as 1920x1080")
    return int(match[1]), int(match[2])


def operation(text):
    """Name, kind, width and height."""
    match = re.fullmatch(r"median([35])|(open|close)(\d+)x(\d+)", text)
    if not match:
        raise argparse.ArgumentTypeError(f"'{text}' is not median3, median5, openWxH or closeWxH")
    if match[1]:
        return text, "median", int(match[1]), int(match[1])
    width, height = int(match[3]), int(match[4])
    if width % 2 == 0 or height % 2 == 0 or width > 255 or height > 255:
        raise argparse.ArgumentTypeError(f"'{text}': the sides must be odd and at most 255")
    return text, match[2], width, height


def positive(text):
    if not text.isdecimal() or int(text) == 0:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return int(text)


def list_of(kind):
    return lambda text: [kind(item) for item in text.split(",")]


def draw_noise(np, cv2, random, width, height):
    return (random.random((height, width)) < 0.5).astype(np.uint8) * 255


def draw_blobs(np, cv2, random, width, height):
    mask = np.zeros((height, width), np.uint8)
    for _ in range(max(1, width * height // 20000)):
        centre = int(random.integers(width)), int(random.integers(height))
        axes = int(random.integers(4, 60)), int(random.integers(4, 60))
        cv2.ellipse(mask, centre, axes, float(random.integers(180)), 0, 360, 255, -1)
    return mask ^ (random.random((height, width)) < 0.01).astype(np.uint8) * 255


class OpenCV:
    def __init__(self, np, cv2, mask):
        self.np, self.cv2, self.mask = np, cv2, mask
        self.result = np.empty_like(mask)

    def run(self, kind, width, height):
        cv2 = self.cv2
        if kind == "median":
            cv2.medianBlur(self.mask, width, dst=self.result)
            return
        code = cv2.MORPH_OPEN if kind == "open" else cv2.MORPH_CLOSE
        cv2.morphologyEx(self.mask, code, self.np.ones((height, width), self.np.uint8), dst=self.result)

    def measure(self, what, runs):
        times = []
        for _ in range(runs + 3):
            start = time.perf_counter()
            self.run(*what)
            times.append(time.perf_counter() - start)
        return statistics.median(times[3:]) * 1e6


class CvCuda:
    def __init__(self, np, cupy, cvcuda, mask):
        self.np, self.cupy, self.cvcuda = np, cupy, cvcuda
        self.pixels = [cupy.asarray(mask[:, :, None]) for _ in range(3)]
        cupy.cuda.Device().synchronize()
        self.source, self.work, self.target = (cvcuda.as_tensor(p, "HWC") for p in self.pixels)
        self.stream = cvcuda.Stream()
        self.queue = cupy.cuda.ExternalStream(self.stream.handle)  # from_external() is not in all versions
        self.spin = cupy.RawKernel(SPIN, "spin")
        self.duration = 1_000_000

    def run(self, kind, width, height):
        cvcuda = self.cvcuda
        if kind == "median":
            cvcuda.median_blur_into(self.target, self.source, (width, height), stream=self.stream)
            return
        # The border is the neutral element then, as OpenCV's is.
        code = cvcuda.MorphologyType.OPEN if kind == "open" else cvcuda.MorphologyType.CLOSE
        cvcuda.morphology_into(self.target, self.source, code, (width, height), (-1, -1), workspace=self.work,
                               border=cvcuda.Border.CONSTANT, stream=self.stream)

    def measure_row(self, what, count):
        """Time of one of @count operations, or None if the device waited for the host."""
        start, end = self.cupy.cuda.Event(), self.cupy.cuda.Event()
        with self.queue:
            self.spin((1,), (1,), (self.np.uint64(self.duration),))
        start.record(self.queue)
        for _ in range(count):
            self.run(*what)
        end.record(self.queue)
        waited = start.done
        end.synchronize()
        return None if waited else self.cupy.cuda.get_elapsed_time(start, end) * 1e3 / count

    def measure(self, what, runs, count):
        times = []
        for _ in range(10):
            self.run(*what)
        self.stream.sync()
        while len(times) < runs + 3:
            elapsed = self.measure_row(what, count)
            if elapsed is not None:
                times.append(elapsed)
                continue
            self.duration *= 2
            if self.duration > MAX_SPIN:
                fail("CV-CUDA waits for the device in each operation: no device times")
        return statistics.median(times[3:])

    def result(self, what):
        self.run(*what)
        self.stream.sync()
        return self.cupy.asnumpy(self.pixels[2])[:, :, 0]


def compare(np, kind, width, height, got, expected):
    """Where two results differ: nowhere, as far from the border as the operation reaches, or inside."""
    passes = 1 if kind == "median" else 2
    x, y = passes * (width // 2), passes * (height // 2)
    different = got != expected
    total = np.count_nonzero(different)
    inside = np.count_nonzero(different[y:different.shape[0] - y, x:different.shape[1] - x])
    if total == 0:
        return "same"
    if inside == 0:
        return f"pixels that differ: {total}, all near the border"
    return f"DIFFERS in {total} pixels, {inside} of them not near the border"


def measure_ours(program, folder, names, operations, runs):
    """By mask, operation and form: time alone, and time added to the analysis."""
    command = [program, "morphology", "--backend=cuda", f"--runs={runs}",
               "--operations=" + ",".join(name for name, *_ in operations)]
    command += [f"--images={os.path.join(folder, name)}.pgm" for name in names]
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    except OSError as error:
        fail(f"{program}: {error.strerror}; build it, or say where it is with --bench")
    if done.returncode == 77:
        sys.exit(77)  # it has said why
    times = {}
    for match in LINE.finditer(done.stdout):
        times[match[2].removesuffix(".pgm"), match[1], match[3]] = float(match[4]), float(match[5])
        if match[6] != "same":
            fail(f"cudaccl's result of {match[1]} on {match[2]} is wrong")
    if done.returncode != 0:
        fail(f"{program} ended with {done.returncode}:\n{done.stdout}")
    return times


def ratio(theirs, ours):
    return f"{theirs / ours:.1f}" if ours > 0 else "–"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--bench", metavar="PROGRAM", default="build/tests/bench/ccl-bench",
                        help="default: build/tests/bench/ccl-bench")
    parser.add_argument("--size", metavar="WxH,...", type=list_of(size), default="1920x1080,3840x2160")
    parser.add_argument("--operations", metavar="NAME,...", type=list_of(operation), default=OPERATIONS)
    parser.add_argument("--seed", type=int, default=1, help="of the masks; default: 1")
    parser.add_argument("--runs", type=positive, default=21, help="of which the median counts; default: 21")
    parser.add_argument("--row", type=positive, default=50,
                        help="CV-CUDA's operations in a row, in each run; default: 50")
    arguments = parser.parse_args()

    np = load("numpy", "numpy")
    cv2 = load("cv2", "opencv-python-headless")
    cupy = load("cupy", "cupy-cuda13x, or the one for your CUDA")
    try:
        device = cupy.cuda.runtime.getDeviceProperties(0)["name"].decode()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        fail(f"no CUDA device: {error}", 77)
    cvcuda = load("cvcuda", "cvcuda-cu13, or the one for your CUDA")

    cv2.setNumThreads(1)
    masks = {}
    for width, height in arguments.size:
        for kind, draw in ("noise", draw_noise), ("blobs", draw_blobs):
            random = np.random.default_rng(arguments.seed)
            masks[f"{kind}-{width}x{height}"] = draw(np, cv2, random, width, height)
    with tempfile.TemporaryDirectory() as folder:
        for name, mask in masks.items():
            cv2.imwrite(os.path.join(folder, name + ".pgm"), mask)
        ours = measure_ours(arguments.bench, folder, masks, arguments.operations, arguments.runs)

    print(f"{device}, CV-CUDA {cvcuda.__version__}, OpenCV {cv2.__version__}, seed {arguments.seed}\n")
    columns = ["mask", "operation", "OpenCV", "CV-CUDA", "alone", "added", "×", "CV-CUDA's"]
    print("| " + " | ".join(columns) + " |")
    print("|---" * len(columns) + "|")
    for name, mask in masks.items():
        on_cpu, on_device = OpenCV(np, cv2, mask), CvCuda(np, cupy, cvcuda, mask)
        for text, *what in arguments.operations:
            if (name, text, "bytes") not in ours or (name, text, "bits") not in ours:
                fail(f"{arguments.bench} printed no times of {text} on {name}")
            alone, added = ours[name, text, "bytes"]
            alone_bits, added_bits = ours[name, text, "bits"]
            cpu = on_cpu.measure(what, arguments.runs)
            theirs = on_device.measure(what, arguments.runs, arguments.row)
            cells = [name, f"`{text}`", f"{cpu:.0f}", f"{theirs:.1f}", f"{alone:.1f} · {alone_bits:.1f}",
                     f"{added:.1f} · {added_bits:.1f}", f"{ratio(theirs, alone)} · {ratio(theirs, added)}",
                     compare(np, *what, on_device.result(what), on_cpu.result)]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
