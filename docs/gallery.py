#!/usr/bin/env python3
# cudaccl - draws the pictures of docs/gallery.md
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Runs the code in docs/gallery.md, and draws the arrays before and after that it leaves.

  PYTHONPATH=build/python docs/gallery.py [--check]

--check: runs the code only. Each block of code begins with a comment, the name of its picture, and sets before and after;
labels get a colour each, outlines are drawn on what is before. Needs NumPy, for the pictures Matplotlib."""

import pathlib
import re
import sys

import numpy as np

FOLDER = pathlib.Path(__file__).resolve().parent
PAGE = FOLDER / "gallery.md"


def scene():
    """Blobs, rings and noise: a grey picture of 120 x 160."""
    rng = np.random.default_rng(7)
    y, x = np.mgrid[:120, :160]
    picture = 60 + 10 * rng.random((120, 160))
    for _ in range(14):
        cy, cx, a, b, turn = rng.uniform(8, 112), rng.uniform(8, 152), rng.uniform(4, 14), rng.uniform(3, 8), rng.uniform(0, 3)
        u = (x - cx) * np.cos(turn) + (y - cy) * np.sin(turn)
        v = (y - cy) * np.cos(turn) - (x - cx) * np.sin(turn)
        distance = np.hypot(u / a, v / b)
        picture[(distance < 1) & (distance > rng.choice([0, 0, .55]))] = rng.uniform(140, 230)
    noise = rng.random((120, 160))
    picture[noise < .01] = 200
    picture[noise > .99] = 60
    return picture.astype(np.uint8)


def run():
    """(name, before, after) of each block."""
    for code in re.findall(r"^```python\n(.*?)^```", PAGE.read_text("utf-8"), re.S | re.M):
        scope = {"picture": scene(), "np": np}
        exec(compile(code, str(PAGE), "exec"), scope)
        yield re.match(r"# (\S+)", code)[1], scope["before"], scope["after"]


def in_colours(array):
    """An array of labels in colours, another one as it is."""
    if array.dtype in (np.uint8, np.bool_) or array.ndim == 3:
        return array
    colours = np.random.default_rng(3).integers(70, 256, (int(array.max()) + 1, 3), np.uint8)
    colours[0] = 20
    return colours[array]


def draw(plt, name, before, after):
    figure, axes = plt.subplots(1, 2, figsize=(6.4, 2.5), dpi=80)
    for axis, array in zip(axes, (before, before if isinstance(after, list) else after)):
        axis.imshow(in_colours(array), cmap="gray", interpolation="nearest", extent=(0, array.shape[1], array.shape[0], 0))
        axis.axis("off")
    for contour in after if isinstance(after, list) else []:
        x, y = np.vstack([contour.polygon, contour.polygon[:1]]).T
        axes[1].plot(x, y, color="tab:red" if contour.is_hole else "tab:cyan", linewidth=1)
    figure.subplots_adjust(0, 0, 1, 1, .02)
    figure.savefig(FOLDER / "figures" / "gallery" / f"{name}.png", metadata={"Software": None})
    plt.close(figure)


def main():
    pictures = list(run())
    if "--check" in sys.argv:
        return
    import matplotlib
    matplotlib.use("agg")
    from matplotlib import pyplot
    (FOLDER / "figures" / "gallery").mkdir(exist_ok=True)
    for picture in pictures:
        draw(pyplot, *picture)


if __name__ == "__main__":
    main()
