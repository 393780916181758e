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
motmetrics installed, also MOTA and IDF1 of `cclmotion ! ccltrack`. Where something has stood and left, "ghost" is
how many seconds its place still has a box. Masks of the peers are cleaned by the same operations and limits.
Figures are means over the seeds; ± is half of the range. The same seed gives the same frames.

--light scores the clean recording: ten light perturbations, and their mean.

Prints a table in Markdown. --write writes the frames of one disturbance as a file that decodebin plays.
Needs numpy and scipy, cudaccl's elements with ccljson (meson devenv), and OpenCV (cv2) and, for PBAS, bgslibrary
(pybgs) for the peers.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from fractions import Fraction

import numpy as np

from motion_scenes import DISTURBANCES, LIGHT, SAYS, Clip, Scene, is_inside
from motion_score import launch, overlaps, parse_lines, raw_source, read_truth, score

try:
    import cv2
    PEERS = {'MOG2': cv2.createBackgroundSubtractorMOG2, 'KNN': cv2.createBackgroundSubtractorKNN}
except ImportError:
    PEERS = {}

try:
    import pybgs
    PEERS['PBAS'] = pybgs.PBAS
except ImportError:
    pass

try:
    if not hasattr(np, 'asfarray'):  # motmetrics 1.4 on NumPy 2
        np.asfarray = lambda a, dtype=float: np.asarray(a, dtype)
    import motmetrics
except ImportError:
    motmetrics = None

CLEANING = 'morphology=auto'


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
           'video/x-raw,format=NV12', '!', 'videoconvert', *scale, '!', f'video/x-raw,format=I420{size}', *limit,
           '!', 'y4menc', '!', 'filesink', f'location={path}')
    return read_y4m(path)


# Pixels for which an encoder has a bit per second at 25 frames a second, in thousands.
BITS = {'bitrate': 3000, 'fog': 300}


def encode(path, pixels):
    """Sends the frames of a file through an encoder."""
    coded = path + '.mkv'
    clip = read_y4m(path)
    bits = max(clip.width * clip.height // pixels, 32)  # kbit/s
    launch('filesrc', f'location={path}', '!', 'y4mdec', '!', 'x264enc', f'bitrate={int(bits * clip.fps / 25) + 1}',
           'speed-preset=veryfast', 'threads=1', '!', 'matroskamux', '!', 'filesink', f'location={coded}')
    decode(coded, None, False, path)


def disturb(clip, name, seed, path):
    """Writes the disturbed frames, and returns the clip of them: `kept`, the numbers of its frames in the recording,
    `truth`, the objects of each, `first`, the first one that is scored, and `scene`."""
    rng = np.random.default_rng([seed, list(DISTURBANCES).index(name)])
    kept = kept_frames(name, clip.count)
    scene = DISTURBANCES[name](clip, rng)
    if not isinstance(scene, Scene):
        scene = Scene(scene)
    rate = clip.rate if name != 'halfrate' else '{}:{}'.format(*np.array(clip.rate.split('/'), int) * (1, 2))
    truth = {}
    with open(path, 'wb') as file:
        file.write(f'YUV4MPEG2 W{clip.width} H{clip.height} F{rate.replace("/", ":")} Ip A1:1 C420\n'.encode())
        for i, n in enumerate(kept):
            frame, objects = clip.frames[n].copy(), clip.boxes.get(n, [])
            scene.apply(n, clip.planes(frame))
            truth[i] = scene.objects(n, objects) if scene.objects else objects
            file.write(b'FRAME\n' + frame.tobytes())
    if name in BITS:
        encode(path, BITS[name])
    disturbed = read_y4m(path)
    disturbed.kept, disturbed.truth, disturbed.first, disturbed.scene = kept, truth, len(kept) // 2, scene
    return disturbed


def counted(clip, i, objects):
    """The found objects that count in frame @i."""
    box = clip.scene.ignored and clip.scene.ignored(clip.kept[i])
    if not box:
        return objects
    wanted = [o[1:] for o in clip.truth[i]]
    return [o for o in objects if overlaps([o[1:]], [box])[0, 0] < 0.5
            or wanted and overlaps([o[1:]], wanted).max() >= 0.5]


class Boxes:
    """Boxes as the truth."""

    def __init__(self, frames):
        self.frames = frames
        self.has_ids = any(o[0] > 0 for objects in frames.values() for o in objects)

    def last(self):
        return max(self.frames)

    def score(self, clip, found, masks):
        """F and false boxes, of far and near ones apart if there are such, and the seconds of a ghost."""
        boxes = [counted(clip, i, objects) for i, objects in enumerate(found)]
        first, end = clip.first, min(len(clip.kept), len(boxes))
        place, parts = clip.scene.inset, [lambda o: True]
        if place:
            parts = [lambda o: is_inside(o[1:], place), lambda o: not is_inside(o[1:], place)]
        values = []
        for part in parts:
            values += score({i: list(filter(part, o)) for i, o in clip.truth.items()},
                            [list(filter(part, o)) for o in boxes], first, end)
        if clip.scene.place:
            values.append(self.ghost(clip, found))
        return values

    def ghost(self, clip, found):
        """For how many seconds after something has left there are boxes in its place, and no true object."""
        scene, frames = clip.scene, 0
        for i, n in enumerate(clip.kept[:len(found)]):
            if n <= scene.left or any(overlaps([o[1:]], [scene.place])[0, 0] > 0 for o in clip.truth[i]):
                continue
            frames += any(is_inside(o[1:], scene.place) and overlaps([o[1:]], [scene.place])[0, 0] > 0.2
                          for o in found[i])
        return frames / clip.fps

    def score_tracks(self, clip, found):
        accumulator = motmetrics.MOTAccumulator(auto_id=True)
        for i in range(clip.first, min(len(clip.kept), len(found))):
            wanted, got = clip.truth[i], counted(clip, i, found[i])
            distance = motmetrics.distances.iou_matrix([o[1:] for o in wanted], [o[1:] for o in got],
                                                       max_iou=0.5)
            accumulator.update([o[0] for o in wanted], [o[0] for o in got], distance)
        result = motmetrics.metrics.create().compute(accumulator, metrics=['mota', 'idf1'], name='t')
        return [result['mota'].iloc[0], result['idf1'].iloc[0]]


class Pixels:
    """Masks as the truth, of disturbances that move nothing."""

    has_ids = False

    def __init__(self, path):
        data = np.load(path)
        self.width, self.first = int(data['width']), int(data['first'])
        self.foreground = data['foreground']
        self.ignored = data['ignored'] if 'ignored' in data else np.zeros_like(self.foreground)

    def last(self):
        return self.first + len(self.foreground) - 1

    def score(self, clip, found, masks):
        if clip.scene.objects:
            return []
        hits = total = 0
        for i, n in enumerate(clip.kept):
            if i < max(clip.first, 0) or n < self.first or n > self.last() or i >= len(masks):
                continue
            wanted, used = (np.unpackbits(bits[n - self.first], axis=1)[:, :self.width].astype(bool)
                            for bits in (self.foreground, ~self.ignored))
            got = masks[i] & used
            wanted &= used
            hits += 2 * int((got & wanted).sum())
            total += int(got.sum()) + int(wanted.sum())
        return [hits / max(total, 1)]


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
    """Boxes and masks of another model."""
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


def measure(options, clip, truth, name, seed):
    """The figures of cclmotion, of each peer, and of tracks, under one disturbance."""
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'disturbed.y4m')
        clip = disturb(clip, name, seed, path)
        boxes, tracks, masks = run_ours(path, options.cleaning.split(), folder)
        if not truth:
            return [boxes]
        cells = [truth.score(clip, boxes, map_masks(masks, clip))]
        for make in PEERS.values() if options.peers else []:
            found, masks = run_peer(make, path, options.peer_cleaning.split(), folder)
            cells.append(truth.score(clip, found, map_masks(masks, clip)))
        if is_tracked(truth):
            cells.append(truth.score_tracks(clip, tracks))
        return cells


def is_tracked(truth):
    return motmetrics and truth.has_ids


def say(runs, names):
    """The cells of a row: means over the runs, and half of the range of F."""
    cells = []
    for name, values in zip(names, zip(*runs)):
        if not values[0]:
            cells.append('')
            continue
        means, spread = np.mean(values, axis=0), np.ptp(values, axis=0) / 2
        digits = 2 if name == 'tracks' else 3
        words = [f'{m:.{digits}f}' + (f' ± {s:.{digits}f}' if len(runs) > 1 else '') for m, s in zip(means, spread)]
        if name == 'tracks':
            cells.append(' · '.join(words))
            continue
        cell = '; '.join(f'{word} ({means[2 * i + 1]:.1f})' for i, word in enumerate(words[:len(words) // 2 * 2:2]))
        if len(words) % 2:
            cell = f'{cell}, ghost {means[-1]:.1f} s' if cell else words[0]
        cells.append(cell)
    return ' | '.join(cells)


def print_table(options, clip, truth):
    if not truth:
        truth = Boxes(dict(enumerate(measure(options, clip, None, 'none', options.seed)[0])))
    clip.boxes = truth.frames if isinstance(truth, Boxes) else {}
    names = ['cclmotion', *(PEERS if options.peers else [])] + ['tracks'] * bool(is_tracked(truth))
    seeds = range(options.seed, options.seed + options.seeds)
    if options.light:
        rows = [(f'{SAYS[name]}' + f', seed {options.seed + more}' * bool(more), [(name, options.seed + more)])
                for name, more in LIGHT]
    else:
        rows = [(SAYS[name], [(name, seed) for seed in seeds]) for name in options.only or DISTURBANCES]
    head = [name.replace('tracks', 'MOTA · IDF1') for name in names]
    print('| disturbance | ' + ' | '.join(head) + ' |\n' + '|---' * (len(names) + 1) + '|', flush=True)
    everything = []
    with ProcessPoolExecutor(options.jobs) as pool:
        pending = [(row, [pool.submit(measure, options, clip, truth, *task) for task in tasks]) for row, tasks in rows]
        for row, futures in pending:
            runs = [future.result() for future in futures]
            everything += runs
            print(f'| {row} | {say(runs, names)} |', flush=True)
    if options.light:
        print(f'| **mean** | {say(everything, names)} |')


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('video', metavar='VIDEO', nargs='?')
    parser.add_argument('truth', metavar='TRUTH', nargs='?')
    parser.add_argument('--only', metavar='NAME,...', type=lambda text: text.split(','), default=[],
                        help='some of: ' + ', '.join(DISTURBANCES))
    parser.add_argument('--light', action='store_true', help='ten light perturbations of the clean recording')
    parser.add_argument('--seed', type=int, default=1, help='the first one (1)')
    parser.add_argument('--seeds', type=int, default=1, help='how many (1)')
    parser.add_argument('--jobs', type=int, default=os.cpu_count(), help='at a time')
    parser.add_argument('--frames', type=int, help='at most so many frames')
    parser.add_argument('--halved', action='store_true', help='halves the width and the height first')
    parser.add_argument('--cleaning', metavar='PROPERTIES', default=CLEANING,
                        help=f'properties of cclmotion ({CLEANING})')
    parser.add_argument('--peer-cleaning', metavar='PROPERTIES', default=CLEANING,
                        help=f'properties of the element that cleans the masks of the peers ({CLEANING})')
    parser.add_argument('--no-peers', dest='peers', action='store_false')
    parser.add_argument('--write', metavar='FILE.y4m', help='writes the frames of the one in --only')
    options = parser.parse_args()
    unknown = set(options.only) - set(DISTURBANCES)
    if unknown:
        parser.error('no such disturbance: ' + ', '.join(sorted(unknown)))
    if options.write and len(options.only) != 1:
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
            clip.boxes = truth.frames if isinstance(truth, Boxes) else {}
            disturb(clip, options.only[0], options.seed, options.write)
        else:
            print_table(options, clip, truth)


if __name__ == '__main__':
    main()
