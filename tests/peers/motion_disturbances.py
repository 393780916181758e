#!/usr/bin/env python3
# Measures cclmotion under disturbances: light, shadows, shake, noise and others.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Disturbs a recording in many ways, and measures cclmotion, and OpenCV's MOG2 and KNN, on each.

VIDEO is a recording of a fixed camera; without it, scripts/find-recording.sh finds vtest.avi. TRUTH has a
line "frame,id,x,y,width,height" for each object, with frames from 0, or is a file of NumPy's with the
pixels that are foreground: `foreground` and, if there are any, `ignored`, [frames, height, bytes of a row]
as numpy.packbits makes them, `first`, the number of their first frame, and `width`. Without TRUTH, what
cclmotion finds in the undisturbed recording counts as the truth: the numbers then tell how much a
disturbance changes.

Each disturbance begins within the recording, and the latter half of the recording is scored: F of boxes
(IoU 0.5) or of pixels, and in brackets the false boxes of a frame; with boxes and ids as the truth, and
motmetrics installed, also MOTA of `cclmotion ! ccltrack`. Masks of the peers are cleaned by the same
operations and limits. The same seed gives the same frames.

Prints a table in Markdown. --write writes the frames of one disturbance as a file that decodebin plays.
Needs numpy and scipy, cudaccl's elements with ccljson (meson devenv), and OpenCV (cv2) for the peers.
"""

import argparse
import math
import os
import subprocess
import sys
import tempfile
from fractions import Fraction

import numpy as np

from motion_score import launch, parse_lines, raw_source, read_truth, score

try:
    import cv2
    PEERS = {'MOG2': cv2.createBackgroundSubtractorMOG2, 'KNN': cv2.createBackgroundSubtractorKNN}
except ImportError:
    PEERS = {}

try:
    if not hasattr(np, 'asfarray'):  # motmetrics 1.4 on NumPy 2
        np.asfarray = lambda a, dtype=float: np.asarray(a, dtype)
    import motmetrics
except ImportError:
    motmetrics = None

CLEANING = 'morphology=auto'


class Clip:
    """Frames in I420, [count, height * 3 / 2, width], in a file that is mapped into memory."""

    def __init__(self, frames, height, rate):
        self.frames, self.rate = frames, rate
        self.count, self.height, self.width = len(frames), height, frames.shape[2]

    def planes(self, frame):
        """Luma and the two planes of chroma, as views."""
        height, width = self.height, self.width
        chroma = frame[height:].reshape(2, height // 2, width // 2)
        return frame[:height], chroma[0], chroma[1]


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
}


def kept_frames(name, count):
    """The numbers of the frames that remain."""
    return range(0, count, 2 if name == 'halfrate' else 1)


def read_y4m(path):
    """The frames of a file that y4menc made."""
    with open(path, 'rb') as file:
        header = file.readline()
    words = header.decode().split()
    width, height = (int(next(w for w in words if w[0] == key)[1:]) for key in 'WH')
    rate = next(w for w in words if w[0] == 'F')[1:].replace(':', '/')
    size, mark = width * height * 3 // 2, len(b'FRAME\n')
    if width % 8 or height % 2:
        sys.exit(f'frames of {width}x{height}: the width must be a multiple of 8, the height even')
    data = np.memmap(path, np.uint8, 'r', offset=len(header))
    count = len(data) // (size + mark)
    frames = data[:count * (size + mark)].reshape(count, size + mark)[:, mark:]
    return Clip(frames.reshape(count, height * 3 // 2, width), height, rate)


def decode(video, count, halved, path):
    """The first frames of a recording, all if @count is None."""
    scale, size = [], ''
    if halved:
        probe = os.path.join(os.path.dirname(path), 'probe')
        first = decode(video, 1, False, probe)
        scale = ['!', 'videoscale', 'method=bilinear2']
        size = f',width={first.width // 2},height={first.height // 2}'
    limit = ['!', 'identity', f'eos-after={count + 1}'] if count else []
    # Conversions drop the padding of decoders, which y4menc would write.
    launch('filesrc', f'location={video}', '!', 'decodebin', '!', 'videoconvert', '!',
           'video/x-raw,format=NV12', '!', 'videoconvert', *scale, '!', f'video/x-raw,format=I420{size}', *limit, '!', 'y4menc', '!', 'filesink', f'location={path}')
    return read_y4m(path)


def encode(path):
    """Sends the frames of a file through an encoder with very few bits."""
    coded = path + '.mkv'
    clip = read_y4m(path)
    bits = max(clip.width * clip.height // 3000, 32)  # kbit/s
    rate = float(Fraction(clip.rate))
    launch('filesrc', f'location={path}', '!', 'y4mdec', '!', 'x264enc', f'bitrate={int(bits * rate / 25) + 1}',
           'speed-preset=veryfast', 'threads=1', '!', 'matroskamux', '!', 'filesink', f'location={coded}')
    decode(coded, None, False, path)


def disturb(clip, name, seed, path):
    """Writes the disturbed frames."""
    rng = np.random.default_rng([seed, list(DISTURBANCES).index(name)])
    kept = kept_frames(name, clip.count)
    apply = DISTURBANCES[name](clip, rng)
    rate = clip.rate if name != 'halfrate' else '{}:{}'.format(*np.array(clip.rate.split('/'), int) * (1, 2))
    with open(path, 'wb') as file:
        file.write(f'YUV4MPEG2 W{clip.width} H{clip.height} F{rate.replace("/", ":")} Ip A1:1 C420\n'.encode())
        for n in kept:
            frame = clip.frames[n].copy()
            apply(n, clip.planes(frame))
            file.write(b'FRAME\n' + frame.tobytes())
    if name == 'bitrate':
        encode(path)


class Boxes:
    """Boxes as the truth."""

    def __init__(self, frames):
        self.frames = frames
        self.has_ids = any(o[0] > 0 for objects in frames.values() for o in objects)

    def last(self):
        return max(self.frames)

    def select(self, kept):
        """The truth of the frames @kept."""
        return {i: self.frames.get(n, []) for i, n in enumerate(kept)}

    def score(self, kept, boxes, masks, first):
        return '{:.3f} ({:.1f})'.format(*score(self.select(kept), boxes, first, min(len(kept), len(boxes))))

    def score_tracks(self, kept, tracks, first):
        truth = self.select(kept)
        accumulator = motmetrics.MOTAccumulator(auto_id=True)
        for n in range(first, min(len(kept), len(tracks))):
            wanted, got = truth[n], tracks[n]
            distance = motmetrics.distances.iou_matrix([o[1:] for o in wanted], [o[1:] for o in got],
                                                       max_iou=0.5)
            accumulator.update([o[0] for o in wanted], [o[0] for o in got], distance)
        found = motmetrics.metrics.create().compute(accumulator, metrics=['mota', 'idf1'], name='t')
        return '{:.2f} · {:.2f}'.format(found['mota'].iloc[0], found['idf1'].iloc[0])


class Pixels:
    """Masks as the truth."""

    has_ids = False

    def __init__(self, path):
        data = np.load(path)
        self.width, self.first = int(data['width']), int(data['first'])
        self.foreground = data['foreground']
        self.ignored = data['ignored'] if 'ignored' in data else np.zeros_like(self.foreground)

    def last(self):
        return self.first + len(self.foreground) - 1

    def score(self, kept, boxes, masks, first):
        hits = total = 0
        for i, n in enumerate(kept):
            if i < max(first, 0) or n < self.first or n > self.last() or i >= len(masks):
                continue
            wanted, used = (np.unpackbits(bits[n - self.first], axis=1)[:, :self.width].astype(bool)
                            for bits in (self.foreground, ~self.ignored))
            got = masks[i] & used
            wanted &= used
            hits += 2 * int((got & wanted).sum())
            total += int(got.sum()) + int(wanted.sum())
        return f'{hits / max(total, 1):.3f}'


def run_ours(path, cleaning, folder):
    """Boxes, tracks and masks of cclmotion."""
    boxes, tracks, masks = (os.path.join(folder, name) for name in ('boxes', 'tracks', 'masks'))
    source = ['filesrc', f'location={path}', '!', 'y4mdec', '!']
    launch(*source, 'cclmotion', 'backend=cpu', *cleaning, '!', 'tee', 'name=t', '!', 'queue', '!', 'ccljson', '!',
           'filesink', f'location={boxes}', 't.', '!', 'queue', '!', 'ccltrack', '!', 'ccljson', '!', 'filesink',
           f'location={tracks}')
    launch(*source, 'cclmask', 'backend=cpu', *cleaning, '!', 'filesink', f'location={masks}')
    return [*(parse_lines(open(p, encoding='utf-8').read()) for p in (boxes, tracks)), masks]


def run_peer(make, path, cleaning, folder):
    """Boxes and masks of a model of OpenCV."""
    clip, model = read_y4m(path), make()
    raw, masks, boxes = (os.path.join(folder, name) for name in ('raw', 'masks', 'boxes'))
    with open(raw, 'wb') as file:
        for frame in clip.frames:
            mask = model.apply(cv2.cvtColor(np.ascontiguousarray(frame), cv2.COLOR_YUV2BGR_I420))
            file.write(np.where(mask > 127, 255, 0).astype(np.uint8).tobytes())
    launch(*raw_source(raw, 'gray8', clip.width, clip.height, clip.rate), 'cclcolor', 'backend=cpu', *cleaning,
           '!', 'tee', 'name=t', '!', 'queue', '!', 'ccljson', '!', 'filesink', f'location={boxes}', 't.', '!',
           'queue', '!', 'videoconvert', '!', 'video/x-raw,format=GRAY8', '!', 'filesink', f'location={masks}')
    return parse_lines(open(boxes, encoding='utf-8').read()), masks


def map_masks(path, clip):
    """Masks of GRAY8 as booleans; the colours of components are brighter than 16."""
    return np.memmap(path, np.uint8, 'r').reshape(-1, clip.height, clip.width) > 16


def measure(options, clip, truth, folder):
    """Prints the table."""
    path = os.path.join(folder, 'disturbed.y4m')
    cleaning = options.cleaning.split()
    names = ['cclmotion', *(PEERS if options.peers else {})]
    tracked = motmetrics and truth and truth.has_ids
    print('| disturbance | ' + ' | '.join(names) + (' | MOTA · IDF1 |' if tracked else ' |'))
    print('|---' * (len(names) + 1 + bool(tracked)) + '|')
    if not truth:
        disturb(clip, 'none', options.seed, path)
        truth = Boxes(dict(enumerate(run_ours(path, cleaning, folder)[0])))
    for name in options.only.split(',') if options.only else DISTURBANCES:
        disturb(clip, name, options.seed, path)
        kept = kept_frames(name, clip.count)
        first = len(kept) // 2
        boxes, tracks, masks = run_ours(path, cleaning, folder)
        cells = [truth.score(kept, boxes, map_masks(masks, clip), first)]
        for peer in names[1:]:
            found, masks = run_peer(PEERS[peer], path, options.peer_cleaning.split(), folder)
            cells.append(truth.score(kept, found, map_masks(masks, clip), first))
        if tracked:
            cells.append(truth.score_tracks(kept, tracks, first))
        print(f'| {SAYS[name]} | ' + ' | '.join(cells) + ' |', flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('video', metavar='VIDEO', nargs='?')
    parser.add_argument('truth', metavar='TRUTH', nargs='?')
    parser.add_argument('--only', metavar='NAME,...', default='',
                        help='some of: ' + ', '.join(DISTURBANCES))
    parser.add_argument('--seed', type=int, default=1)
    parser.add_argument('--frames', type=int, help='at most so many frames')
    parser.add_argument('--halved', action='store_true', help='halves the width and the height first')
    parser.add_argument('--cleaning', metavar='PROPERTIES', default=CLEANING,
                        help=f'properties of cclmotion ({CLEANING})')
    parser.add_argument('--peer-cleaning', metavar='PROPERTIES', default=CLEANING,
                        help=f'properties of the element that cleans the masks of the peers ({CLEANING})')
    parser.add_argument('--no-peers', dest='peers', action='store_false')
    parser.add_argument('--write', metavar='FILE.y4m', help='writes the frames of the one in --only')
    options = parser.parse_args()
    unknown = set(filter(None, options.only.split(','))) - set(DISTURBANCES)
    if unknown:
        parser.error('no such disturbance: ' + ', '.join(sorted(unknown)))
    if options.write and options.only not in DISTURBANCES:
        parser.error('--write needs one disturbance: --only NAME')
    if not options.video:
        find = os.path.join(os.path.dirname(__file__), '..', '..', 'scripts', 'find-recording.sh')
        options.video = subprocess.run([find], check=True, stdout=subprocess.PIPE, text=True).stdout.strip()
    truth = None
    if options.truth:
        truth = Pixels(options.truth) if options.truth.endswith('.npz') else Boxes(read_truth(options.truth))

    with tempfile.TemporaryDirectory() as folder:
        count = min(filter(None, (options.frames, truth and truth.last() + 1)), default=None)
        clip = decode(os.path.abspath(options.video), count, options.halved, os.path.join(folder, 'frames.y4m'))
        clip.frames = clip.frames[:count]
        clip.count = len(clip.frames)
        if options.write:
            disturb(clip, options.only, options.seed, options.write)
        else:
            measure(options, clip, truth, folder)


if __name__ == '__main__':
    main()
