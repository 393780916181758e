"""What ccl-bench morphology runs for SciPy: fills the holes of masks that come through standard input.

Each request is a line with width and height and then the pixels; the answer is a line with the
nanoseconds and then the filled mask.
"""

import sys
import time

import numpy
from scipy.ndimage import binary_fill_holes

print('ready', flush=True)
while line := sys.stdin.buffer.readline():
    width, height = (int(number) for number in line.split())
    pixels = sys.stdin.buffer.read(width * height)
    mask = numpy.frombuffer(pixels, dtype=numpy.uint8).reshape(height, width)
    start = time.perf_counter_ns()
    filled = binary_fill_holes(mask)
    end = time.perf_counter_ns()
    sys.stdout.buffer.write(b'%d\n' % (end - start))
    sys.stdout.buffer.write((filled * numpy.uint8(255)).tobytes())
    sys.stdout.buffer.flush()
