#!/usr/bin/env python3
# cudaccl - compares shapes with scikit-image's
# SPDX-License-Identifier: LGPL-2.1-or-later
"""test_shapes.py PRINTSHAPES: compares the shapes of noise, blobs and rings with those of scikit-image's
regionprops. Exit status 77 (skipped) without scikit-image."""

import math
import subprocess
import sys

try:
    import numpy as np
    from skimage import measure
except ImportError as error:
    print(f"skipped: {error}")
    sys.exit(77)


def pictures(rng):
    yield np.zeros((3, 5), bool)
    yield np.ones((9, 70), bool)
    for share in (0.1, 0.4, 0.6, 0.9):
        yield rng.random((40, 131)) < share
        yield np.kron(rng.random((12, 30)) < share, np.ones((5, 5), bool))
    y, x = np.mgrid[:120, :200]
    for _ in range(4):
        mask = np.zeros(x.shape, bool)
        for _ in range(12):
            cx, cy, radius, turn = rng.integers(200), rng.integers(120), rng.integers(3, 25), rng.random() * math.pi
            u = (x - cx) * math.cos(turn) + (y - cy) * math.sin(turn)
            v = (y - cy) * math.cos(turn) - (x - cx) * math.sin(turn)
            distance = np.hypot(u, 2 * v)
            mask |= (distance < radius) & (distance > radius * rng.integers(2) / 2)
        yield mask


def near(a, b):
    return math.isclose(a, b, rel_tol=1e-7, abs_tol=1e-6)


def check(line, region, connectivity):
    euler, edges = int(line[2]), int(line[3])
    perimeter, major, minor, orientation, eccentricity, extent = map(float, line[4:10])
    image = np.pad(region.image, 1)
    sides = sum(int(np.count_nonzero(np.diff(image.astype(np.int8), axis=axis))) for axis in (0, 1))

    assert euler == measure.euler_number(region.image, connectivity=2 if connectivity == 8 else 1)
    assert edges == sides, (edges, sides)
    assert near(perimeter, region.perimeter), (perimeter, region.perimeter)
    assert near(major, region.axis_major_length) and near(minor, region.axis_minor_length)
    assert near(eccentricity, region.eccentricity) and near(extent, region.extent)
    assert (int(line[10]), int(line[11])) == (region.intensity_min, region.intensity_max)
    assert near(float(line[12]), region.intensity_mean)
    if major - minor > 1e-6:
        # from the rows' axis, the other way round; a line has no direction. At 45°, scikit-image 0.19 has the
        # other sign.
        rows, both, _, columns = region.inertia_tensor.flat
        theirs = region.orientation if rows != columns else math.atan2(-2 * both, 0) / 2
        difference = orientation - (math.pi / 2 - theirs)
        assert near(math.remainder(difference, math.pi), 0), (orientation, theirs)


def main():
    rng = np.random.default_rng(1)
    n = 0

    for mask in pictures(rng):
        grey = np.where(mask, rng.integers(128, 256, mask.shape), rng.integers(0, 128, mask.shape)).astype(np.uint8)
        for connectivity in (4, 8):
            height, width = mask.shape
            lines = subprocess.run([sys.argv[1], str(width), str(height), str(connectivity)],
                                   input=grey.tobytes(), stdout=subprocess.PIPE, check=True).stdout.splitlines()
            labels = measure.label(mask, connectivity=2 if connectivity == 8 else 1)
            regions = {region.label: region for region in measure.regionprops(labels, intensity_image=grey)}
            assert len(lines) == len(regions), (len(lines), len(regions))
            for line in map(bytes.split, lines):
                check(line, regions[labels[int(line[0]), int(line[1])]], connectivity)
            n += len(lines)
    print(f"{n} components have the shapes of scikit-image {__import__('skimage').__version__}")


if __name__ == "__main__":
    main()
