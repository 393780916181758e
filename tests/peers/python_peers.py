#!/usr/bin/env python3
# cudaccl - the Python package beside other packages for connected components
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures labels, and statistics (boxes, areas, centroids), of the same masks with cudaccl and with what is installed
of OpenCV, SciPy, scikit-image, kornia-rs and connected-components-3d; on a CUDA device also with CuPy and cc_torch.

  RAYON_NUM_THREADS=1 PYTHONPATH=build/python tests/peers/python_peers.py [--runs N] [--calls N] [--least] [--markdown]

All run in one process and in turns, on one thread (kornia-rs by RAYON_NUM_THREADS), from array to array; with --threads
cudaccl and OpenCV have more. A turn is one call, which finds what the others left in the caches; with --calls it is
several, and the first does not count. Each time is the median over the runs, with --least the least, for machines that
do other work. The numbers of components must be equal. Masks: random squares of 4x4 pixels at density 0.5; discs on an
empty picture; a label map, whose regions are measured; a volume of random cubes of 4x4x4 voxels; batches, on the CPU with up to as many threads as there are CPUs.
Needs NumPy."""

import argparse
import importlib
import os
import platform
import statistics
import sys
import time

import numpy as np

import cudaccl


def load(name):
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def squares(shape, side, density=0.5, seed=1):
    small = np.random.default_rng(seed).random([-(-n // side) for n in shape]) < density
    for axis in range(len(shape)):
        small = small.repeat(side, axis)
    return np.ascontiguousarray(small[tuple(slice(n) for n in shape)]).astype(np.uint8)


def discs(shape, columns, rows, radius):
    """columns * rows discs, apart from each other."""
    y, x = np.ogrid[:shape[0], :shape[1]]
    cell_x, cell_y = shape[1] / columns, shape[0] / rows
    x, y = x % cell_x - cell_x / 2, y % cell_y - cell_y / 2
    return (x * x + y * y <= radius * radius).astype(np.uint8)


def cpu_name():
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as file:
            return next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor()


class Table:
    def __init__(self, title, options, runs=None):
        self.title, self.runs, self.rows = title, runs or options.runs, []
        self.middle = min if options.least else statistics.median
        self.calls = options.calls

    def add(self, what, name, function, count):
        """function analyses the mask; count gets the number of components from its result."""
        self.rows.append((what, name, function, count))

    def measure(self, synchronize=lambda: None):
        times = [[] for _ in self.rows]
        counts = [count(function()) for _, _, function, count in self.rows]
        for _ in range(self.runs):
            for (_, _, function, _), measured in zip(self.rows, times):
                for call in range(self.calls):
                    synchronize()
                    start = time.perf_counter()
                    function()
                    synchronize()
                    if call > 0 or self.calls == 1:
                        measured.append(time.perf_counter() - start)
        return [self.middle(measured) * 1e6 for measured in times], counts

    def show(self, markdown, **options):
        times, counts = self.measure(**options)
        ours = {}
        for (what, name, _, _), time in zip(self.rows, times):
            if name.startswith("cudaccl"):
                ours.setdefault(what, time)
        if markdown:
            print(f"\n{self.title}\n\n| | | µs | times cudaccl's |\n|---|---|---|---|")
        else:
            print(f"\n{self.title}")
        for (what, name, _, _), microseconds, count in zip(self.rows, times, counts):
            wrong = "" if count in (None, counts[0]) else f" ({count} components, not {counts[0]})"
            ratio = microseconds / ours[what]
            if markdown:
                print(f"| {what} | `{name}`{wrong} | {microseconds:.0f} | {ratio:.1f} |")
            else:
                print(f"  {what:24} {name:52} {microseconds:10.0f} us {ratio:8.1f}{wrong}")


def add_masks(table, mask, threads):
    cv2, measure, ndimage = load("cv2"), load("skimage.measure"), load("scipy.ndimage")
    kornia, cc3d = load("kornia_rs.imgproc"), load("cc3d")
    table.add("labels and statistics", "cudaccl.analyze", lambda: cudaccl.analyze(mask, threads=threads),
              lambda r: len(r[1]))
    table.add("statistics", "cudaccl.components", lambda: cudaccl.components(mask, threads=threads), len)
    table.add("labels", "cudaccl.label", lambda: cudaccl.label(mask, threads=threads), lambda r: int(r.max()))
    if cv2:
        cv2.setNumThreads(threads)
        table.add("labels and statistics", "cv2.connectedComponentsWithStats",
                  lambda: cv2.connectedComponentsWithStats(mask), lambda r: r[0] - 1)
        table.add("statistics", "cv2.connectedComponentsWithStats", lambda: cv2.connectedComponentsWithStats(mask),
                  lambda r: r[0] - 1)
        table.add("labels", "cv2.connectedComponents", lambda: cv2.connectedComponents(mask), lambda r: r[0] - 1)
    if ndimage:
        structure = np.ones((3, 3))
        table.add("labels", "scipy.ndimage.label", lambda: ndimage.label(mask, structure), lambda r: r[1])
    if measure:
        table.add("labels", "skimage.measure.label", lambda: measure.label(mask, connectivity=2),
                  lambda r: int(r.max()))
    if kornia:
        table.add("labels", "kornia_rs.imgproc.connected_components",
                  lambda: kornia.connected_components(mask[..., None]), lambda r: int(r[1].max()))
    if cc3d:
        table.add("labels and statistics", "cc3d.connected_components, cc3d.statistics",
                  lambda: cc3d.statistics(cc3d.connected_components(mask, connectivity=8)),
                  lambda r: len(r["voxel_counts"]) - 1)
        table.add("labels", "cc3d.connected_components", lambda: cc3d.connected_components(mask, connectivity=8),
                  lambda r: int(r.max()))


def add_regions(table, labels):
    """Measures of a label map that is there."""
    measure, image = load("skimage.measure"), np.random.default_rng(1).random(labels.shape)
    for names in (("area", "bbox", "centroid"), ("axis_major_length", "eccentricity", "orientation"), ("moments_hu",),
                  ("perimeter", "euler_number"), ("solidity",), ("feret_diameter_max",), ("area_filled",),
                  ("intensity_mean",)):
        for name, function in (("cudaccl", cudaccl), ("skimage.measure", measure)):
            if function:
                table.add(", ".join(names), f"{name}.regionprops_table",
                          lambda f=function, n=names: f.regionprops_table(labels, image, n),
                          lambda r: len(next(iter(r.values()))))


def add_volume(table, mask):
    cc3d, ndimage = load("cc3d"), load("scipy.ndimage")
    table.add("labels and statistics", "cudaccl.analyze", lambda: cudaccl.analyze(mask, 26), lambda r: len(r[1]))
    table.add("labels", "cudaccl.label", lambda: cudaccl.label(mask, 26), lambda r: int(r.max()))
    if cc3d:
        table.add("labels and statistics", "cc3d.connected_components, cc3d.statistics",
                  lambda: cc3d.statistics(cc3d.connected_components(mask)), lambda r: len(r["voxel_counts"]) - 1)
        table.add("labels", "cc3d.connected_components", lambda: cc3d.connected_components(mask),
                  lambda r: int(r.max()))
    if ndimage:
        table.add("labels", "scipy.ndimage.label", lambda: ndimage.label(mask, np.ones((3, 3, 3))), lambda r: r[1])


def add_batch(table, batch):
    """With more and more threads, up to the number of CPUs. Each row keeps its analyzer: there are more than
    cudaccl.label() and the others keep for a thread."""
    cv2, out = load("cv2"), np.empty(batch.shape, np.int32)
    cpus = len(os.sched_getaffinity(0))
    for threads in [n for n in (1, 2, 4, 8, 16, 32) if n <= cpus]:
        table.add("statistics", f"cudaccl.components, threads={threads}",
                  lambda a=cudaccl.Analyzer(threads=threads): a.components(batch), lambda r: sum(map(len, r)))
        table.add("labels", f"cudaccl.label, threads={threads}",
                  lambda a=cudaccl.Analyzer(threads=threads): a.label(batch, out), lambda r: int(r.max((1, 2)).sum()))
    if cv2:
        table.add("statistics", "cv2.connectedComponentsWithStats, each",
                  lambda: [cv2.connectedComponentsWithStats(mask)[0] - 1 for mask in batch], sum)


def on_device(options):
    """With PyTorch or CuPy and a CUDA device."""
    torch, cupy, theirs = load("torch"), load("cupy"), load("cc_torch")
    batch = np.stack([discs((256, 256), 4, 4, 10 + i % 12) for i in range(64)])[:, None]
    frame = squares((1080, 1920), 4)
    if torch and torch.cuda.is_available():
        from cudaccl.cc_torch import get_connected_components
        print(f"\n{torch.cuda.get_device_name()}, PyTorch {torch.__version__}")
        masks, pixels = torch.from_numpy(batch).cuda(), torch.from_numpy(frame).cuda()
        table = Table("64 masks of 256x256 in device memory", options)
        table.add("labels and areas", "cudaccl.cc_torch.get_connected_components",
                  lambda: get_connected_components(masks), lambda r: int((r[0].amax((1, 2, 3))).sum()))
        if theirs:
            table.add("labels and areas", "cc_torch.get_connected_components",
                      lambda: theirs.get_connected_components(masks), lambda r: None)
        table.add("statistics", "cudaccl.components", lambda: cudaccl.components(masks),
                  lambda r: sum(map(len, r)))
        table.show(options.markdown, synchronize=torch.cuda.synchronize)
        table = Table("1920x1080 in device memory", options)
        table.add("labels and statistics", "cudaccl.analyze", lambda: cudaccl.analyze(pixels), lambda r: len(r[1]))
        table.add("statistics", "cudaccl.components", lambda: cudaccl.components(pixels), len)
        table.show(options.markdown, synchronize=torch.cuda.synchronize)
    if cupy and cupy.cuda.is_available():
        import cupyx.scipy.ndimage as theirs_3d
        print(f"\nCuPy {cupy.__version__}")
        pixels, structure = cupy.asarray(frame), cupy.ones((3, 3), int)
        table = Table("1920x1080 in device memory", options)
        table.add("labels", "cudaccl.label", lambda: cudaccl.label(pixels), lambda r: int(r.max()))
        table.add("labels", "cupyx.scipy.ndimage.label", lambda: theirs_3d.label(pixels, structure),
                  lambda r: int(r[1]))
        table.show(options.markdown, synchronize=cupy.cuda.Device().synchronize)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=51)
    parser.add_argument("--calls", type=int, default=1, help="of each turn (default 1)")
    parser.add_argument("--threads", type=int, default=1, help="of cudaccl and OpenCV, for the masks (default 1)")
    parser.add_argument("--least", action="store_true", help="the least of the runs, not the median")
    parser.add_argument("--markdown", action="store_true", help="tables for docs/performance.md")
    parser.add_argument("--side", type=int, default=256, help="of the volume (default 256)")
    options = parser.parse_args()
    versions = [f"{name} {getattr(module, '__version__', '')}".rstrip()
                for name in ("cv2", "scipy", "skimage", "kornia_rs", "cc3d")
                if (module := load(name))]
    print(f"{cpu_name()}, Python {platform.python_version()}, NumPy {np.__version__}, {', '.join(versions)}")
    table = Table("1920x1080, random squares of 4x4, density 0.5", options)
    add_masks(table, squares((1080, 1920), 4), options.threads)
    table.show(options.markdown)
    table = Table("768x576, 168 discs", options)
    add_masks(table, discs((576, 768), 14, 12, 12), options.threads)
    table.show(options.markdown)
    table = Table("Label map of 1920x1080, random squares of 4x4, density 0.35", options, min(options.runs, 3))
    table.calls = 1
    add_regions(table, cudaccl.label(squares((1080, 1920), 4, .35)))
    table.show(options.markdown)
    side = options.side
    table = Table(f"{side}x{side}x{side}, random cubes of 4x4x4, density 0.3, 26-connected", options,
                  max(3, options.runs // 10))
    add_volume(table, squares((side, side, side), 4, 0.3))
    table.show(options.markdown)
    table = Table("256 masks of 256x256, random squares of 16x16, density 0.5", options)
    add_batch(table, np.stack([squares((256, 256), 16, seed=i) for i in range(256)]))
    table.show(options.markdown)
    on_device(options)
    return 0


if __name__ == "__main__":
    sys.exit(main())
