#!/usr/bin/env python3
# Measures what cclmotion says of things that stand, and of those that were removed.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Puts things into a recording of a fixed camera, and looks at the static components of cclmotion.

VIDEO is such a recording; TRUTH, if given, has its objects as for motion_disturbances.py, so that things are put where
few come. Scenes are random, by their seeds:

  bag       somebody puts down a bag, and leaves; later somebody takes it
  busy      the same, while others walk past in front of it
  parks     a car parks, and leaves
  stands    a person stands, and walks on
  removed   something that was there from the start is taken away

A scene is right if the thing is static, and removed or not as it should be, from --static-time and 3 seconds after it
has stopped on, in 95 % of the frames until it leaves, and no longer than 3 seconds after that. Where it comes and goes by
itself, `one id` says whether ccltrack gives it a single one. `others` are static components elsewhere, as in the
recording itself (none).

Prints a table in Markdown. Needs numpy and scipy, and cudaccl's elements with ccljson (meson devenv).
"""

import argparse
import json
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor

import numpy as np

from motion_disturbances import decode, read_y4m
from motion_scenes import free_place, make_car, make_person, paste, texture
from motion_score import launch, overlaps, read_truth


class Scene:
    """`place` of the thing, the frames in which it has `stopped`, `left` and is `gone` from there, and whether it was `removed`."""

    def __init__(self, draw=None, place=None, stopped=0, left=0, gone=0, removed=False):
        self.draw, self.place, self.stopped, self.left, self.removed = draw, place, stopped, left, removed
        self.gone = gone or left
        self.drawn = {}  # the box of what drives or walks in, and on, by frame


def walk(clip, rng, n, place, through, way):
    """Draws a person who is at the place in frame @through, and walks."""
    def draw(planes, n):
        x = place[0] + place[2] / 2 - shape.shape[1] / 2 + way * (n - through) * step
        paste(planes, sprite, shape, int(x), int(place[1] + place[3] - shape.shape[0] + 2))
    sprite, shape = make_person(clip, rng)
    step = clip.width / clip.fps / rng.uniform(7, 12)
    return draw


def make_bag(clip, rng):
    width, height = (int(clip.width * rng.uniform(0.03, 0.06)) & ~1 for _ in range(2))
    return [texture(rng, (height, width), rng.choice([40, 210]), rng.uniform(2, 12)),
            *np.full((2, height, width), rng.uniform(110, 146))], np.ones((height, width))


def bag(clip, rng, passers=0):
    sprite, shape = make_bag(clip, rng)
    height, width = shape.shape
    x, y = free_place(clip, rng, width, height)
    place = [x, y, width, height]
    put = int(clip.count * rng.uniform(0.12, 0.2))
    taken = int(clip.count * rng.uniform(0.75, 0.82))
    times = [put, taken, *rng.uniform(put + clip.fps * 2, taken - clip.fps * 2, passers).astype(int)]
    people = [walk(clip, rng, n, place, n, rng.choice([-1, 1])) for n in times]

    def draw(n, planes):
        if put <= n < taken:
            paste(planes, sprite, shape, x, y)
        for person in people:
            person(planes, n)
    return Scene(draw, place, put + int(clip.fps * 2), taken)


def busy(clip, rng):
    return bag(clip, rng, 6)


def visit(clip, rng, sprite, shape, seconds):
    height, width = shape.shape
    x, y = free_place(clip, rng, width, height)
    way = 1 if x + width / 2 > clip.width / 2 else -1
    path = (clip.width - x if way > 0 else x + width) + 2
    ride = int(3 * clip.fps)
    stop = int(clip.count * rng.uniform(0.15, 0.25))
    leave = stop + int(seconds * clip.fps)

    def draw(n, planes):
        away = max(stop - n, n - leave, 0) / ride
        if away < 1:
            scene.drawn[n] = paste(planes, sprite, shape, int(x + way * away * path), y)
    scene = Scene(draw, [x, y, width, height], stop, leave, leave + ride * width // path + 1)
    return scene


def parks(clip, rng):
    return visit(clip, rng, *make_car(clip, rng), rng.uniform(20, 40))


def stands(clip, rng):
    return visit(clip, rng, *make_person(clip, rng), rng.uniform(9, 20))


def removed(clip, rng):
    sprite, shape = make_bag(clip, rng)
    x, y = free_place(clip, rng, shape.shape[1], shape.shape[0])
    place = [x, y, *shape.shape[::-1]]
    taken = int(clip.count * rng.uniform(0.3, 0.4))
    person = walk(clip, rng, 0, place, taken, rng.choice([-1, 1]))

    def draw(n, planes):
        if n < taken:
            paste(planes, sprite, shape, x, y)
        person(planes, n)
    return Scene(draw, place, taken + int(clip.fps * 2), clip.count, removed=True)


SCENES = {'none': lambda clip, rng: Scene(), 'bag': bag, 'busy': busy, 'parks': parks, 'stands': stands,
          'removed': removed}


def run(options, path, folder):
    """The static components of each frame: x, y, width, height, removed."""
    lines = os.path.join(folder, 'lines')
    launch('filesrc', f'location={path}', '!', 'y4mdec', '!', 'cclmotion', 'backend=cpu',
           f'static-time={int(options.static_time * 1e9)}', *options.properties.split(), '!', 'ccltrack', '!', 'ccljson',
           '!', 'filesink', f'location={lines}')
    found, tracks = [], []
    with open(lines, encoding='utf-8') as file:
        for line in file:
            tracks.append([[c['x'], c['y'], c['width'], c['height'], c.get('removed'), c.get('track', 0)]
                           for c in json.loads(line)['components']])
            found.append([b for b in tracks[-1] if b[4] is not None])
    return found, tracks


def follow(clip, scene, found):
    """The ids of the thing's tracks: before it stops, while it is static, and after it has left."""
    ids = [set(), set(), set()]
    for n, boxes in enumerate(found):
        box = scene.drawn.get(n)
        if not box or not boxes:
            continue
        best = max(boxes, key=lambda b: overlaps([b[:4]], [box])[0, 0])
        if overlaps([best[:4]], [box])[0, 0] < 0.5 or not best[5]:
            continue
        ids[0 if n < scene.stopped else 1 if n <= scene.left else 2].add(best[5])
    return ids


def judge(options, clip, scene, found):
    """What is wrong, or None."""
    late = scene.stopped + int((options.static_time + 3) * clip.fps)
    kinds, hits = [], []
    for n, boxes in enumerate(found):
        near = [b for b in boxes if overlaps([b[:4]], [scene.place])[0, 0] >= 0.3]
        hits.append(bool(near))
        kinds += [b[4] for b in near]
    if not any(hits):
        return 'never'
    if hits.index(True) > late:
        return 'late'
    if np.mean(np.array(kinds) == scene.removed) < 0.95:
        return 'kind'
    if np.mean(hits[late:scene.left]) < 0.95:
        return 'lost'
    end = scene.gone + int(3 * clip.fps)
    if end < len(hits) and any(hits[end:]):
        return 'stays'
    return None


def count_others(scene, found):
    """Static components that are not the thing's, each counted once."""
    known, others = {}, []
    for n, boxes in enumerate(found):
        for box in boxes:
            if scene.place and overlaps([box[:4]], [scene.place])[0, 0] >= 0.1:
                continue
            if box[5] not in known or known[box[5]] < n - 20:
                others.append([n, *box])
            known[box[5]] = n
    return others


def measure(options, clip, name, seed):
    rng = np.random.default_rng([seed, list(SCENES).index(name)])
    scene = SCENES[name](clip, rng)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, 'scene.y4m')
        with open(path, 'wb') as file:
            file.write(f'YUV4MPEG2 W{clip.width} H{clip.height} F{clip.rate.replace("/", ":")} Ip A1:1 C420\n'.encode())
            for n in range(clip.count):
                frame = clip.frames[n].copy()
                if scene.draw:
                    scene.draw(n, clip.planes(frame))
                file.write(b'FRAME\n' + frame.tobytes())
        found, tracks = run(options, path, folder)
    return (judge(options, clip, scene, found) if scene.place else None, count_others(scene, found),
            follow(clip, scene, tracks))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument('video', metavar='VIDEO')
    parser.add_argument('truth', metavar='TRUTH', nargs='?')
    parser.add_argument('--only', metavar='NAME,...', type=lambda text: text.split(','), default=list(SCENES))
    parser.add_argument('--seed', type=int, default=1, help='the first one (1)')
    parser.add_argument('--seeds', type=int, default=3, help='how many (3)')
    parser.add_argument('--jobs', type=int, default=os.cpu_count(), help='at a time')
    parser.add_argument('--static-time', type=float, default=5, help='seconds (5)')
    parser.add_argument('--properties', default='', help='other properties of cclmotion')
    parser.add_argument('--verbose', action='store_true')
    options = parser.parse_args()
    if set(options.only) - set(SCENES):
        sys.exit('scenes are ' + ', '.join(SCENES))

    with tempfile.TemporaryDirectory() as folder:
        clip = decode(os.path.abspath(options.video), None, False, os.path.join(folder, 'frames.y4m'))
        if options.truth:
            clip.boxes = read_truth(options.truth)
        print('| scene | right | one id | others a minute | wrong |\n|---|---|---|---|---|')
        minutes = clip.count / clip.fps / 60
        with ProcessPoolExecutor(options.jobs) as pool:
            for name in options.only:
                seeds = range(options.seed, options.seed + (options.seeds if name != 'none' else 1))
                results = list(pool.map(measure, *zip(*[(options, clip, name, seed) for seed in seeds])))
                wrong = [f'{reason} ({seed})' for seed, (reason, *_) in zip(seeds, results) if reason]
                others = np.mean([len(o) for _, o, _ in results]) / minutes
                right = f'{len(results) - len(wrong)} of {len(results)}' if name != 'none' else ''
                moving = [ids for *_, ids in results if ids[0] and ids[2]]
                kept = sum(len(set.union(*ids)) == 1 for ids in moving)
                kept = f'{kept} of {len(moving)}' if moving else ''
                print(f'| {name} | {right} | {kept} | {others:.1f} | {", ".join(wrong)} |', flush=True)
                for seed, (_, o, ids) in zip(seeds, results):
                    if options.verbose:
                        print('  ', seed, o, ids)


if __name__ == '__main__':
    main()
