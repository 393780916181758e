#!/usr/bin/env python3
# Compares the CPU's volumes with connected-components-3d.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Compares the components of volumes on the CPU, one thread, with connected-components-3d.

Both get the same masks of SIZE voxels a side: noise of several densities, and balls. Prints a table in
Markdown of the best times of some turns, in milliseconds, by the host's clock:

  statistics    cudaccl's components (voxels, boxes, centroids), without a label map
  with labels   the same, and the label map
  cc3d labels   connected_components(binary_image=True)
  cc3d both     the same and statistics(no_slice_conversion=True), which needs the label map
  ×             cc3d both divided by cudaccl's with labels, and by its statistics

ccl-bench volume compares cudaccl's results with the reference; the numbers of components must agree.

Needs NumPy and cc3d (package connected-components-3d), and ccl-bench.
"""

import argparse
import pathlib
import re
import subprocess
import tempfile
import time

import cc3d
import numpy as np


def balls(size, count, rng):
    """Balls of radii up to a tenth of the side."""
    mask = np.zeros((size, size, size), bool)
    z, y, x = np.ogrid[:size, :size, :size]
    for _ in range(count):
        center, radius = rng.integers(0, size, 3), rng.integers(2, max(3, size // 10))
        low = np.maximum(center - radius, 0)
        part = tuple(slice(a, a + 2 * radius + 1) for a in low)
        mask[part] |= (z[part[0]] - center[0]) ** 2 + (y[:, part[1]] - center[1]) ** 2 + (
            x[:, :, part[2]] - center[2]
        ) ** 2 <= radius**2
    return mask


def measure_ours(bench, folder, connectivity, *options):
    output = subprocess.run(
        [bench, "volume", f"--images={folder}", "--backend=cpu", f"--neighbours={connectivity}",
         "--runs=3", "--max-components=100000000", *options],
        stdout=subprocess.PIPE, check=True, text=True).stdout
    match = re.search(r"runs +cpu +([\d.]+) us.* (\d+) objects", output)
    return float(match[1]) / 1000, int(match[2])


def measure_cc3d(mask, connectivity):
    start = time.perf_counter()
    labels = cc3d.connected_components(mask, connectivity=connectivity, binary_image=True)
    middle = time.perf_counter()
    cc3d.statistics(labels, no_slice_conversion=True)
    end = time.perf_counter()
    return 1000 * (middle - start), 1000 * (end - start), int(labels.max())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bench", help="the program ccl-bench")
    parser.add_argument("--size", type=int, default=256)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--connectivity", type=int, nargs="+", default=[26, 18, 6])
    parser.add_argument("--no-check", action="store_true", help="trust cudaccl's results")
    options = parser.parse_args()
    rng = np.random.default_rng(1)
    n = options.size
    shape = (n, n, n)
    volumes = {f"noise {share:.0%}": rng.random(shape) < share for share in (0.02, 0.1, 0.3, 0.5)}
    volumes["noise of 4, 30%"] = np.kron(rng.random((n // 4,) * 3) < 0.3, np.ones((4, 4, 4), bool))
    volumes["balls"] = balls(n, 200, rng)

    print("| volume | connectivity | components | statistics | with labels | cc3d labels | cc3d both | × |")
    print("|---|---|---|---|---|---|---|---|")
    for name, mask in volumes.items():
        with tempfile.TemporaryDirectory() as folder:
            for z, plane in enumerate(mask):
                header = f"P5 {mask.shape[2]} {mask.shape[1]} 255\n".encode()
                pathlib.Path(folder, f"{z:05}.pgm").write_bytes(header + (plane * np.uint8(255)).tobytes())
            for connectivity in options.connectivity:
                times = []
                for turn in range(options.turns):
                    check = ["--no-check"] if options.no_check or turn > 0 else []
                    fast, found = measure_ours(options.bench, folder, connectivity, *check)
                    both, _ = measure_ours(options.bench, folder, connectivity, "--no-check", "--labels")
                    label, peer, count = measure_cc3d(mask, connectivity)
                    assert count == found, f"{count} components of cc3d, {found} of cudaccl"
                    times.append((fast, both, label, peer))
                fast, both, label, peer = map(min, zip(*times))
                print(f"| {name} | {connectivity} | {found} | {fast:.1f} | {both:.1f} | {label:.1f} | "
                      f"{peer:.1f} | {peer / both:.1f} · {peer / fast:.1f} |", flush=True)


if __name__ == "__main__":
    main()
