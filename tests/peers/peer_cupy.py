"""What ccl-bench's peer 'cupy' runs: labels images that come through standard input.

Commands are single bytes: l and an image's pixels: load it; r: label it, answered by the time on
the device; f: answered by the number of components of the last run.
"""

import sys

import cupy
import cupyx.scipy.ndimage

width, height, connectivity = (int(argument) for argument in sys.argv[1:4])
structure = cupy.ones((3, 3), dtype=bool)
if connectivity == 4:
    structure[::2, ::2] = False


def answer(word, number):
    """One line for ccl-bench."""
    print(word, int(number), flush=True)


image = None
found = 0
start, end = cupy.cuda.Event(), cupy.cuda.Event()
answer('ready', cupy.cuda.runtime.runtimeGetVersion())
while command := sys.stdin.buffer.read(1):
    if command == b'l':
        pixels = sys.stdin.buffer.read(width * height)
        image = cupy.asarray(bytearray(pixels), dtype=cupy.uint8).reshape(height, width)
        answer('loaded', image.size)
    elif command == b'r':
        start.record()
        _, found = cupyx.scipy.ndimage.label(image, structure)
        end.record()
        end.synchronize()
        answer('ns', cupy.cuda.get_elapsed_time(start, end) * 1e6)
    elif command == b'f':
        answer('found', found)
