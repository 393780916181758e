# Disturbances of recordings, for motion_disturbances.py.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Each disturbance is a function that takes a Clip and a generator of random numbers and returns a Scene, or a
function `apply(n, planes)` that changes the planes of frame @n in place. Places, times and strengths are random, so
that nothing fits one of them."""

import math
from fractions import Fraction

import numpy as np
from scipy import ndimage


class Clip:
    """Frames in I420, [count, height * 3 / 2, width], in a file that is mapped into memory. `boxes` has the true
    objects of each frame, [id, x, y, width, height], if they are known."""

    def __init__(self, frames, height, rate):
        self.frames, self.rate, self.boxes = frames, rate, {}
        self.count, self.height, self.width = len(frames), height, frames.shape[2]
        self.fps = float(Fraction(rate.replace(':', '/')))

    def planes(self, frame):
        """Luma and the two planes of chroma, as views."""
        height, width = self.height, self.width
        chroma = frame[height:].reshape(2, height // 2, width // 2)
        return frame[:height], chroma[0], chroma[1]


class Scene:
    """A disturbance and how it changes the truth. `objects(n, objects)` returns the true objects of a frame. Found
    boxes on `ignored(n)`, a box or None, do not count. `place` is where something has left at frame `left`. Objects
    whose centres lie in `inset` are far, the others near."""

    def __init__(self, apply, objects=None, ignored=None, place=None, left=None, inset=None):
        self.apply, self.objects, self.ignored = apply, objects, ignored
        self.place, self.left, self.inset = place, left, inset


def to_bytes(values):
    return np.clip(values + 0.5, 0, 255).astype(np.uint8)


def set_levels(planes, gain, gamma=1.0):
    """Changes the light of the whole picture; chroma goes with it, upwards by less."""
    levels = np.arange(256)
    luma = to_bytes(255 * (levels / 255) ** gamma * gain)
    chroma = to_bytes(128 + (levels - 128.0) * (gain if gain < 1 else 1 + (gain - 1) * 0.7))
    for plane, table in zip(planes, (luma, chroma, chroma)):
        plane[:] = table[plane]


# Each takes a clip and a generator of random numbers, and returns a function that changes a frame's
# planes in place, given its number.

def none(clip, rng):
    return lambda n, planes: None


def jump(clip, rng):
    """A gain and gamma from the middle on, others from three quarters on."""
    gains = rng.uniform(1.2, 1.3), rng.uniform(0.65, 0.75)
    gammas = rng.uniform(0.78, 0.85), rng.uniform(1.1, 1.2)

    def apply(n, planes):
        step = int(n >= clip.count / 2) + int(n >= clip.count * 3 / 4)
        if step:
            set_levels(planes, gains[step - 1], gammas[step - 1])
    return apply


def ramp(clip, rng):
    """From a quarter on, the light goes down to .35 within a third of the recording."""
    begin = clip.count * rng.uniform(0.2, 0.3)

    def apply(n, planes):
        set_levels(planes, 1 - 0.65 * min(max((n - begin) / (clip.count * 0.35), 0), 1))
    return apply


def half(clip, rng):
    """A lamp lights the left half from the middle on; the right half darkens from three quarters on."""
    share = (clip.width / 2 - np.arange(clip.width)) / (clip.width / 20)
    lit = np.clip(share, 0, 1) * rng.uniform(0.4, 0.5)
    dark = np.where(share < 0, rng.uniform(0.55, 0.65), 1)

    def apply(n, planes):
        if n >= clip.count / 2:
            planes[0][:] = to_bytes(planes[0] * (1 + lit) + 18 * lit)
        if n >= clip.count * 3 / 4:
            planes[0][:] = to_bytes(planes[0] * dark)
    return apply


def shadows(clip, rng):
    """Three soft shadows of clouds cross the picture."""
    width, height = clip.width, clip.height
    phase = rng.uniform(0, width, 3)
    xs, ys = np.arange(width)[None, :], np.arange(height)[:, None]

    def apply(n, planes):
        for k in range(3):
            x = (n * (2.5 + k) * width / 768 + phase[k]) % (width * 1.5) - width * 0.25
            y = height * (0.3 + 0.2 * k)
            r = np.hypot((xs - x) / (width * (0.12 + 0.026 * k)), (ys - y) / (height * 0.18))
            planes[0][:] = to_bytes(planes[0] * (1 - 0.45 * np.clip((1.3 - r) / 0.6, 0, 1)))
    return apply


def moved(plane, dy, dx):
    rows, columns = (np.clip(np.arange(size) + by, 0, size - 1) for size, by in zip(plane.shape, (dy, dx)))
    return plane[rows[:, None], columns]


def shake(clip, rng, reach=1):
    """Each frame is moved by whole pixels, and chroma by half of that, which may be half a sample."""
    def apply(n, planes):
        dx, dy = (int(v) for v in rng.integers(-reach, reach + 1, 2))
        planes[0][:] = moved(planes[0], dy, dx)
        for plane in planes[1:]:
            plane[:] = to_bytes(np.mean([moved(plane, y, x) for y in {dy // 2, -(-dy // 2)}
                                         for x in {dx // 2, -(-dx // 2)}], axis=0))
    return apply


def noise(clip, rng, sigma=5.0):
    def apply(n, planes):
        for plane, deviation in zip(planes, (sigma, sigma / 2, sigma / 2)):
            plane[:] = to_bytes(plane + deviation * rng.standard_normal(plane.shape, np.float32))
    return apply


def pumping(clip, rng):
    """The exposure goes up and down by 15 % in 40 frames."""
    phase = rng.uniform(0, 2 * math.pi)
    return lambda n, planes: set_levels(planes, 1 + 0.15 * math.sin(n * math.pi / 20 + phase))


def rain(clip, rng):
    """Bright streaks, others in each frame."""
    count = clip.width * clip.height // 2500

    def apply(n, planes):
        luma = planes[0]
        for x, y, length in zip(rng.integers(0, clip.width, count), rng.integers(0, clip.height, count),
                                rng.integers(8, 26, count)):
            streak = luma[y:y + length, x]
            streak[:] = to_bytes(streak + (230.0 - streak) * 0.35)
    return apply


def waving(clip, rng):
    """A fifth of the picture waves as a tree does."""
    top, left = (int(size * rng.uniform(0.05, 0.5)) for size in (clip.height, clip.width))
    height, width = clip.height * 2 // 5, clip.width // 2

    def apply(n, planes):
        for i, plane in enumerate(planes):
            size = 1 if i == 0 else 2
            y, x, h, w = top // size, left // size, height // size, width // size
            part = plane[y:y + h, x:x + w]
            rows, columns = np.arange(part.shape[0])[:, None], np.arange(part.shape[1])[None, :]
            move = 3 / size * np.sin(rows * size / 9 + n * 0.9) * np.sin(columns * size / 13 + n * 0.4)
            part[:] = part[rows, np.clip(columns + np.rint(move).astype(int), 0, part.shape[1] - 1)]
    return apply


def smooth(rng, shape, size):
    pattern = ndimage.gaussian_filter(rng.standard_normal(shape), size)
    return pattern / pattern.std()


def foliage(rng, shape, unit, share, level):
    """A layer of leaves and how it moves: luma, coverage, and where a frame shows it from. Three waves of .5 to 3 s go
    through it, which are not quite periodic."""
    leaves = smooth(rng, shape, rng.uniform(1.5, 3.5) * unit)
    cover = ndimage.gaussian_filter((leaves > np.quantile(leaves, 1 - share)).astype(float), 0.6 * unit)
    luma = level + 14 * smooth(rng, shape, 2 * unit)
    periods, reach = np.exp(rng.uniform(math.log(0.5), math.log(3), 3)), rng.uniform(1, 2.6, 3) * unit
    phases = [2 * smooth(rng, shape, 18 * unit) + rng.uniform(0, 2 * math.pi) for _ in range(6)]
    rows, columns = np.indices(shape)
    drift = np.zeros(3)

    def show(seconds, gust):
        nonlocal drift
        drift = drift + 0.06 * rng.standard_normal(3)
        turns = 2 * math.pi * seconds / periods + drift
        dx, dy = (gust * part * sum(r * np.sin(t + phase) for r, t, phase in zip(reach, turns, phases[i:]))
                  for i, part in ((0, 1), (3, 0.5)))
        at = (np.clip(np.rint(rows + dy).astype(int), 0, shape[0] - 1),
              np.clip(np.rint(columns + dx).astype(int), 0, shape[1] - 1))
        return luma[at], cover[at]
    return show


def trees(clip, rng):
    """Behind the objects, the leaves of trees wave in gusts, in a third of the picture."""
    height, width = clip.height & ~1, clip.width // 3 & ~1
    left, unit = int(rng.uniform(0, clip.width - width)) & ~1, clip.height / 120
    layers = [foliage(rng, (height, width), unit, share, level + rng.uniform(-15, 15))
              for share, level in ((0.4, 60), (0.35, 110))]
    gusts, phases = rng.uniform(3, 15, 2), rng.uniform(0, 2 * math.pi, 2)
    part = slice(left, left + width)
    empty = np.median(clip.frames[::max(clip.count // 31, 1), :clip.height, part], axis=0).astype(int)

    def apply(n, planes):
        seconds = n / clip.fps
        luma = planes[0][:, part]
        objects = np.zeros(luma.shape, bool)
        for _, x, y, w, h in clip.boxes.get(n, []):
            rows, columns = (slice(max(int(a), 0), max(int(a + b), 0)) for a, b in ((y, h), (x - left, w)))
            objects[rows, columns] = np.abs(luma[rows, columns] - empty[rows, columns]) > 12
        objects = ndimage.binary_closing(objects, iterations=2)
        gust = max(0.55 + 0.45 * math.prod(math.sin(2 * math.pi * seconds / g + p) for g, p in zip(gusts, phases)), 0.1)
        for show in layers:
            leaves, cover = show(seconds, gust)
            cover = np.where(objects, 0, cover)
            luma[:] = to_bytes(luma + cover * (leaves - luma))
            for plane, level in zip(planes[1:], (116, 120)):
                chroma = plane[:, left // 2:(left + width) // 2]
                chroma[:] = to_bytes(chroma + cover[::2, ::2] * (level - chroma.astype(float)))
    return apply


def night(clip, rng):
    """The camera switches to infrared in the middle: grey, other levels, some noise."""
    sigma = rng.uniform(3, 5)

    def apply(n, planes):
        if n < clip.count / 2:
            return
        planes[0][:] = to_bytes(255 * (planes[0] / 255) ** 1.3 * 0.8
                                + sigma * rng.standard_normal(planes[0].shape, np.float32))
        for plane in planes[1:]:
            plane[:] = 128
    return apply


def flicker(clip, rng):
    """Lamps light the rows in bands of 6 % that roll, as a shutter shows mains of 50 or 60 Hz."""
    period, step = clip.height * rng.uniform(0.4, 1.3), rng.uniform(0.1, 0.9)
    rows = np.arange(clip.height)

    def apply(n, planes):
        gain = (1 + 0.06 * np.sin(2 * math.pi * (rows / period + n * step)))[:, None]
        planes[0][:] = to_bytes(planes[0] * gain)
        for plane in planes[1:]:
            plane[:] = to_bytes(128 + (plane - 128.0) * gain[::2])
    return apply


def fog(clip, rng):
    """From a quarter on, contrast falls to .3 within a quarter of the recording; some noise."""
    begin, veil = clip.count * rng.uniform(0.2, 0.3), rng.uniform(170, 205)

    def apply(n, planes):
        left = 1 - 0.7 * min(max((n - begin) / (clip.count / 4), 0), 1)
        planes[0][:] = to_bytes(veil + (planes[0] - veil) * left + 2 * rng.standard_normal(planes[0].shape, np.float32))
        for plane in planes[1:]:
            plane[:] = to_bytes(128 + (plane - 128.0) * left)
    return apply


def ircut(clip, rng):
    """The filter opens in the middle: grey, brighter or darker, with noise; from three quarters on it is closed
    again, and the exposure settles within a second."""
    gain = rng.choice([rng.uniform(0.6, 0.8), rng.uniform(1.15, 1.3)])
    gamma, sigma = rng.uniform(0.8, 1.3), rng.uniform(3, 5)
    back, settled = clip.count * 3 / 4, rng.uniform(1.15, 1.3)

    def apply(n, planes):
        if n >= back:
            set_levels(planes, 1 + (settled - 1) * max(1 - (n - back) / clip.fps, 0))
        elif n >= clip.count / 2:
            planes[0][:] = to_bytes(255 * (planes[0] / 255) ** gamma * gain
                                    + sigma * rng.standard_normal(planes[0].shape, np.float32))
            for plane in planes[1:]:
                plane[:] = 128
    return apply


def headlights(clip, rng):
    """At .4 of the light, beams sweep across the ground every few seconds, two lamps in front of each."""
    cars, start = [], 0
    while start < clip.count:
        start += int(clip.fps * rng.uniform(3, 7))
        cars.append((start, int(clip.fps * rng.uniform(3, 6)), rng.uniform(0.3, 0.8), rng.choice([-1, 1])))
    xs, ys = np.arange(clip.width)[None, :], np.arange(clip.height)[:, None]

    def apply(n, planes):
        set_levels(planes, 0.4)
        light, lamps = np.zeros(planes[0].shape, np.float32), np.zeros(planes[0].shape, bool)
        for first, length, row, way in cars:
            if not first <= n < first + length:
                continue
            x = (n - first) / length * 1.5 * clip.width - clip.width * 0.25
            x, y = (x if way > 0 else clip.width - x), row * clip.height
            beam = np.hypot((xs - x - way * 0.14 * clip.width) / (0.16 * clip.width), (ys - y) / (0.09 * clip.height))
            light += np.clip(1.3 - beam, 0, 1)
            for k in (-1, 1):
                lamps |= np.hypot(xs - x, ys - y - k * 0.015 * clip.height) < 0.008 * clip.width
        planes[0][:] = to_bytes(planes[0] * (1 + 1.2 * light) + 8 * light)
        planes[0][lamps] = 240
    return apply


def turned(planes, angle, zoom, dx, dy):
    """Turns by @angle degrees and zooms about the centre, then moves; returns where a point goes."""
    c, s = math.cos(math.radians(angle)) * zoom, math.sin(math.radians(angle)) * zoom
    inverse = np.linalg.inv([[c, s], [-s, c]])
    size = np.array(planes[0].shape)
    for plane in planes:
        scale = planes[0].shape[0] / plane.shape[0]
        middle, move = size / scale / 2, np.array([dy, dx]) / scale
        plane[:] = ndimage.affine_transform(plane, inverse, middle - inverse @ (middle + move), order=1, mode='nearest')
    return lambda x, y: (np.array([[c, s], [-s, c]]) @ ([y - size[0] / 2, x - size[1] / 2]) + size / 2 + [dy, dx])[::-1]


def move_boxes(objects, to):
    """The objects, whose centres go where @to says."""
    moved = []
    for number, x, y, width, height in objects:
        cx, cy = to(x + width / 2, y + height / 2)
        moved.append([number, cx - width / 2, cy - height / 2, width, height])
    return moved


def knocked(clip, rng, degrees=0.5, pixels=6):
    """Somebody knocks the camera at .55 of the recording: it is turned, and so many pixels away."""
    begin, angle, way = clip.count * 0.55, degrees * rng.choice([-1, 1]), rng.uniform(0, 2 * math.pi)
    where = {}

    def apply(n, planes):
        if n >= begin:
            where['to'] = turned(planes, angle, 1, pixels * math.cos(way), pixels * math.sin(way))

    def objects(n, given):
        return move_boxes(given, where['to']) if n >= begin else given
    return Scene(apply, objects)


def sway(clip, rng):
    """Each frame is turned by up to .4°, zoomed by up to .4 % and moved by up to 1 pixel."""
    where = {}

    def apply(n, planes):
        angle, zoom, dx, dy = rng.uniform(-1, 1, 4)
        where[n] = turned(planes, 0.4 * angle, 1 + 0.004 * zoom, dx, dy)
    return Scene(apply, lambda n, given: move_boxes(given, where[n]))


def mast(clip, rng):
    """The camera's mast sways slowly by two pixels."""
    phase, seconds = rng.uniform(0, 2 * math.pi, 2), rng.uniform(2, 5, 2)
    where = {}

    def apply(n, planes):
        dx, dy = (reach * math.sin(2 * math.pi * n / clip.fps / s + p) for reach, s, p in zip((2, 1), seconds, phase))
        where[n] = turned(planes, 0, 1, dx, dy)
    return Scene(apply, lambda n, given: move_boxes(given, where[n]))


def steps(clip, rng):
    """The exposure changes by up to 8 % at once, every three seconds."""
    gains = rng.uniform(0.92, 1.08, int(clip.count / clip.fps / 3) + 1)
    return lambda n, planes: set_levels(planes, gains[int(n / clip.fps / 3)])


def insects(clip, rng):
    """Something blurred flies past the lens about every two seconds."""
    flights, start = [], 0
    while start < clip.count:
        start += int(clip.fps * rng.uniform(1, 3))
        flights.append((start, int(clip.fps * rng.uniform(0.4, 1.5)) + 1, rng.uniform(0, 1, 4) * 1.4 - 0.2,
                        rng.uniform(0.03, 0.08), rng.choice([40, 225])))
    xs, ys = np.arange(clip.width)[None, :], np.arange(clip.height)[:, None]

    def apply(n, planes):
        for first, length, (x0, y0, x1, y1), radius, level in flights:
            if first <= n < first + length:
                t = (n - first) / length
                r = np.hypot(xs / clip.width - x0 - (x1 - x0) * t,
                             (ys / clip.height - y0 - (y1 - y0) * t) * clip.height / clip.width) / radius
                share = 0.7 * np.clip((1.2 - r) / 0.8, 0, 1)
                planes[0][:] = to_bytes(planes[0] + (level - planes[0].astype(float)) * share)
    return apply


def free_place(clip, rng, width, height):
    """A place where few objects come, of 60 random ones."""
    best = None
    objects = [o for n in range(0, clip.count, 5) for o in clip.boxes.get(n, [])]
    for _ in range(60):
        x, y = (int(rng.uniform(0.02, 0.98 - size / full) * full) & ~1
                for size, full in ((width, clip.width), (height, clip.height)))
        cost = sum(max(min(x + width, o[1] + o[3]) - max(x, o[1]), 0)
                   * max(min(y + height, o[2] + o[4]) - max(y, o[2]), 0) for o in objects)
        if best is None or cost < best[0]:
            best = cost, x, y
    return best[1:]


def paste(planes, sprite, shape, x, y):
    """Draws @sprite, three planes in the size of luma, where @shape is above 0, with its corner at (x, y)."""
    height, width = shape.shape
    top, left = max(-y, 0), max(-x, 0)
    bottom, right = min(height, planes[0].shape[0] - y), min(width, planes[0].shape[1] - x)
    if top >= bottom or left >= right:
        return None
    for i, plane in enumerate(planes):
        s = 1 if i == 0 else 2
        rows, columns = (np.arange(-(-a // s) * s, b, s) for a, b in ((top, bottom), (left, right)))
        rows, columns = rows[(rows + y) // s < plane.shape[0]], columns[(columns + x) // s < plane.shape[1]]
        part = plane[((rows + y) // s)[:, None], ((columns + x) // s)[None, :]]
        share = shape[rows[:, None], columns]
        plane[((rows + y) // s)[:, None], ((columns + x) // s)[None, :]] = to_bytes(
            part + (sprite[i][rows[:, None], columns] - part.astype(float)) * share)
    return [x + left, y + top, right - left, bottom - top]


def texture(rng, shape, level, contrast):
    """A smooth random pattern."""
    pattern = ndimage.gaussian_filter(rng.standard_normal(shape), 2)
    return level + contrast * pattern / (pattern.std() + 1e-9)


def make_car(clip, rng):
    width, height = int(clip.width * 0.17) & ~1, int(clip.height * 0.12) & ~1
    shape = np.ones((height, width))
    shape[:height // 3, :width // 5] = shape[:height // 3, -width // 5:] = 0
    luma = texture(rng, shape.shape, rng.choice([60, 190]), 8)
    luma[height // 8:height // 3, width // 4:-width // 4] = 40
    luma[-height // 4:, width // 8:width // 4] = luma[-height // 4:, -width // 4:-width // 8] = 20
    return [luma, np.full(shape.shape, rng.uniform(110, 146)), np.full(shape.shape, rng.uniform(110, 146))], shape


def make_person(clip, rng):
    sizes = [(o[3], o[4]) for objects in clip.boxes.values() for o in objects]
    width, height = (int(v) & ~1 for v in (np.median(sizes, axis=0) if sizes else (clip.width / 20, clip.height / 7)))
    ys, xs = np.mgrid[0:height, 0:width] / np.array([height, width])[:, None, None]
    head = np.hypot((xs - 0.5) / 0.22, (ys - 0.09) / 0.09) < 1
    body = (np.abs(xs - 0.5) < 0.36) & (ys > 0.17) & (ys < 0.55)
    legs = (np.abs(np.abs(xs - 0.5) - 0.17) < 0.13) & (ys >= 0.55)
    luma = texture(rng, (height, width), rng.choice([50, 200]), 10)
    luma[legs] = rng.uniform(30, 90)
    luma[head] = 150
    chroma = [np.full((height, width), rng.uniform(105, 150)) for _ in range(2)]
    return [luma, *chroma], (head | body | legs).astype(float)


def visit(clip, rng, sprite, shape, seconds):
    """Something comes, stands for @seconds, and leaves. What leaves is gone by three quarters of the recording, if
    that is long enough."""
    height, width = shape.shape
    x, y = free_place(clip, rng, width, height)
    begin = int(max(clip.count * 0.72 - (seconds + 6) * clip.fps, clip.count * 0.05))
    way = 1 if x + width / 2 > clip.width / 2 else -1
    path = (clip.width - x if way > 0 else x + width) + 2
    walk = int(3 * clip.fps)
    stop, leave = begin + walk, begin + walk + int(seconds * clip.fps)
    drawn = {}

    def apply(n, planes):
        away = max(stop - n, n - leave, 0) / walk
        drawn[n] = paste(planes, sprite, shape, int(x + way * away * path), y) if away < 1 else None

    def objects(n, given):
        moving = drawn.get(n) and not stop <= n <= leave
        return given + [[9001, *drawn[n]]] if moving and drawn[n][2] > width / 3 else given

    def ignored(n):
        return drawn[n] if drawn.get(n) else None
    cleared = leave + math.ceil(walk * width / path)
    return Scene(apply, objects, ignored, [x, y, width, height], cleared)


def parks(clip, rng):
    """A car parks for 22 s and leaves."""
    return visit(clip, rng, *make_car(clip, rng), 22)


def stands(clip, rng):
    """A person stands for 12.5 s and leaves."""
    return visit(clip, rng, *make_person(clip, rng), 12.5)


def door(clip, rng):
    """A door opens within a second, at half of the recording, and stays open."""
    width, height = int(clip.width * 0.06) & ~1, int(clip.height * 0.2) & ~1
    x, y = free_place(clip, rng, width, height)
    begin = clip.count * rng.uniform(0.45, 0.55)
    sprite = [texture(rng, (height, width), rng.choice([45, 200]), 12), *np.full((2, height, width), 128.0)]

    def apply(n, planes):
        part = int(width * min(max((n - begin) / clip.fps, 0), 1)) & ~1
        if part:
            paste(planes, [plane[:, :part] for plane in sprite], np.ones((height, part)), x, y)
    return apply


def inset(clip, rng):
    """The recording itself at a third of its size, later by a sixth of it, in a place where few objects come."""
    height, width = clip.height // 3 & ~1, clip.width // 3 & ~1
    x, y = free_place(clip, rng, width, height)
    late = clip.count // 6
    place = [x, y, width, height]

    def apply(n, planes):
        other = clip.planes(clip.frames[(n + late) % clip.count])
        small = [ndimage.zoom(ndimage.uniform_filter(plane.astype(np.float32), 3),
                              (height / clip.height, width / clip.width), order=1) for plane in other]
        for i, plane in enumerate(planes):
            s = 1 if i == 0 else 2
            h, w = height // s, width // s
            plane[y // s:y // s + h, x // s:x // s + w] = to_bytes(small[i][:h, :w])

    def objects(n, given):
        scale = (width / clip.width, height / clip.height)
        far = [[o[0] + 1000, x + o[1] * scale[0], y + o[2] * scale[1], o[3] * scale[0], o[4] * scale[1]]
               for o in clip.boxes.get((n + late) % clip.count, [])]
        return [o for o in given if not is_inside(o[1:], place)] + far
    return Scene(apply, objects, inset=place)


def is_inside(box, place):
    """Whether the box's centre lies in the place."""
    return all(p <= b + size / 2 < p + length for b, size, p, length in zip(box, box[2:], place, place[2:]))


DISTURBANCES = {
    'none': none,
    'jump': jump,
    'ramp': ramp,
    'half': half,
    'shadows': shadows,
    'shake1': shake,
    'shake2': lambda clip, rng: shake(clip, rng, 2),
    'noise5': noise,
    'noise10': lambda clip, rng: noise(clip, rng, 10.0),
    'noise20': lambda clip, rng: noise(clip, rng, 20.0),
    'pumping': pumping,
    'rain': rain,
    'bitrate': none,  # see encode()
    'waving': waving,
    'halfrate': none,  # see kept_frames()
    'night': night,
    'flicker': flicker,
    'fog': fog,  # see encode()
    'ircut': ircut,
    'headlights': headlights,
    'knocked': knocked,
    'sway': sway,
    'insects': insects,
    'parks': parks,
    'stands': stands,
    'door': door,
    'inset': inset,
    'steps': steps,
    'mast': mast,
    'knocked16': lambda clip, rng: knocked(clip, rng, 1, 16),
    'trees': trees,
}

SAYS = {
    'none': 'none',
    'jump': 'jump of gain and gamma, twice',
    'ramp': 'slow ramp to .35 of the light',
    'half': 'light switched in half of the picture',
    'shadows': 'soft moving shadows',
    'shake1': 'shake of 1 pixel',
    'shake2': 'shake of 2 pixels',
    'noise5': 'sensor noise, σ = 5',
    'noise10': 'sensor noise, σ = 10',
    'noise20': 'sensor noise, σ = 20',
    'pumping': 'exposure that pumps',
    'rain': 'rain',
    'bitrate': 'low bitrate',
    'waving': 'a waving region',
    'halfrate': 'half of the frames',
    'night': 'switch to infrared at night',
    'flicker': 'lamps that flicker, ±6 %',
    'fog': 'fog, contrast to .3',
    'ircut': 'IR-cut filter with gain, and back',
    'headlights': 'headlights at .4 of the light',
    'knocked': 'camera knocked, 6 pixels and .5°',
    'sway': 'shake with .4° and .4 % zoom',
    'insects': 'insects near the lens',
    'parks': 'a car parks 22 s and leaves',
    'stands': 'a person stands 12.5 s and leaves',
    'door': 'a door opens and stays',
    'inset': 'near and far (far; near)',
    'steps': 'steps of exposure',
    'mast': 'a swaying mast',
    'knocked16': 'camera knocked, 16 pixels and 1°',
    'trees': 'leaves that wave in a third of the picture',
}

# Light perturbations of a clean recording, and the seed of each beside the given one.
LIGHT = [('noise5', 0), ('noise5', 1), ('noise10', 0), ('shake1', 0), ('shake1', 1), ('pumping', 0), ('bitrate', 0),
         ('rain', 0), ('steps', 0), ('mast', 0)]


