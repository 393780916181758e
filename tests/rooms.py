#!/usr/bin/env python3
# cudaccl - check that the rooms of the tree know only those below them, and draw them
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads the includes of all C and CUDA sources and the imports of the page's scripts.

    tests/rooms.py --check [ROOT]   fails on a circle of files, an include that runs upwards, a source
                                    without a room, or an outdated docs/figures/rooms.svg
    tests/rooms.py --draw [ROOT]    writes docs/figures/rooms.svg

A file and its header are one unit: a.c and a.h may include each other's neighbours, but no circle
of units may result. Tests and benchmarks may include everything, and nothing includes them.
"""

import argparse
import collections
import fnmatch
import os
import re
import sys

# From the ground up: a room may include only those before it. A room is named by its folder; files
# that stand directly in a folder with rooms of its own may be told apart by patterns.
ROOMS = [
    ('engine/include', ['engine/include/*']),
    ('engine/shared', ['engine/shared/*']),
    ('engine: memory, errors', ['engine/account.[ch]', 'engine/aligned.[ch]', 'engine/error.[ch]']),
    ('engine/cpu: dispatch', ['engine/cpu/functions.[ch]', 'engine/cpu/tuning.[ch]',
                              'engine/cpu/clock.h', 'engine/cpu/pool.[ch]']),
    ('engine/mask', ['engine/mask/*']),
    ('engine/motion', ['engine/motion/*']),
    ('engine: backends', ['engine/backend.h', 'engine/color.[ch]']),
    ('engine/cpu/runs', ['engine/cpu/runs/*']),
    ('engine/cpu/filters', ['engine/cpu/filters/*']),
    ('engine/cpu/motion', ['engine/cpu/motion/*']),
    ('engine/cpu/simd', ['engine/cpu/simd/*']),
    ('engine/cpu', ['engine/cpu/*']),
    ('cuda/runtime', ['cuda/runtime/*']),
    ('cuda/tables', ['cuda/tables/*']),
    ('cuda/device', ['cuda/device/*']),
    ('cuda/stages', ['cuda/stages/*']),
    ('cuda/tile', ['cuda/tile/*']),
    ('cuda/papers', ['cuda/papers/*', 'cuda/algorithms/*']),
    ('cuda/filters', ['cuda/filters/*']),
    ('cuda/models', ['cuda/models/*']),
    ('cuda/crops', ['cuda/crops/*']),
    ('cuda', ['cuda/*']),
    ('engine', ['engine/*']),
    ('python', ['python/*']),
    ('gst/meta', ['gst/meta/*']),
    ('gst/base', ['gst/base/*']),
    ('gst/found', ['gst/found/*']),
    ('gst/analysis/memory', ['gst/analysis/memory/*']),
    ('gst/detect', ['gst/detect/*']),
    ('gst/analysis', ['gst/analysis/*']),
    ('gst/track', ['gst/track/*']),
    ('gst/zones', ['gst/zones/*']),
    ('gst/overlay', ['gst/overlay/*']),
    ('gst/merge', ['gst/merge/*']),
    ('gst/report', ['gst/report/*']),
    ('gst/tools', ['gst/tools/*']),
    ('apps/brokers', ['apps/brokers/*']),
    ('apps/send-lines', ['apps/send-lines/*']),
    ('apps/web', ['apps/web/*']),
    ('apps/watch/records', ['apps/watch/records/*']),
    ('apps/watch/settings', ['apps/watch/settings/*']),
    ('apps/watch/store', ['apps/watch/store/*']),
    ('apps/watch/media', ['apps/watch/media/*']),
    ('apps/watch/publish', ['apps/watch/publish/*']),
    ('apps/watch/camera', ['apps/watch/camera/*']),
    ('apps/synopsis', ['apps/synopsis/*']),
    ('apps/watch/http', ['apps/watch/http/*']),
    ('apps/watch/onvif', ['apps/watch/onvif/*']),
    ('apps/watch/page', ['apps/watch/page/*']),
    ('apps/watch', ['apps/watch/*']),
    ('apps/collect', ['apps/collect/*']),
]

# Drawn side by side, from the left.
BANDS = [('engine', 'cuda', 'python'), ('gst',), ('apps',)]

# Folders with sources; others hold builds and sites.
HOUSES = ('engine', 'cuda', 'python', 'gst', 'apps', 'pipelines', 'docs', 'tests')

PICTURE = 'docs/figures/rooms.svg'
SOURCES = ('.c', '.h', '.cu', '.cuh', '.cpp', '.js')
INCLUDE_FOLDERS = ('', 'engine/include', 'gst/meta/include')
FREE = ('tests/', 'pipelines/', 'docs/')  # may include every room


def find_sources(root):
    """Yields the paths of all sources of the tree."""
    for house in HOUSES:
        for folder, folders, files in os.walk(os.path.join(root, house)):
            folders[:] = sorted(name for name in folders if not name.startswith(('.', '__pycache__')))
            for name in sorted(files):
                if name.endswith(SOURCES):
                    yield os.path.relpath(os.path.join(folder, name), root)


def find_includes(root, sources):
    """Returns {(file, included file)} of the files of this tree."""
    patterns = {True: re.compile(r'''(?:^|;)\s*(?:import|export)\b[^;]*?from\s*'([^']+)';'''
                                 r'''|^import\s*'([^']+)';''', re.M),
                False: re.compile(r'^\s*#\s*include\s+[<"]([^">]+)[">]', re.M)}
    includes = set()
    by_name = collections.defaultdict(list)
    for path in sources:
        if path.endswith('.js'):
            by_name[os.path.basename(path)].append(path)

    for path in sources:
        script = path.endswith('.js')
        with open(os.path.join(root, path), encoding='utf-8', errors='replace') as file:
            found = patterns[script].findall(file.read())
        for target in found:
            if script:
                # The page's folders are served as one.
                name = os.path.basename(target[0] or target[1])
                beside = os.path.join(os.path.dirname(path), name)
                targets = [beside] if beside in sources else by_name[name][:1]
            else:
                places = (os.path.dirname(path),) + INCLUDE_FOLDERS
                targets = [place for place in
                           (os.path.normpath(os.path.join(folder, target)) for folder in places)
                           if place in sources][:1]
            includes.update((path, found) for found in targets)
    return includes


def get_unit(path):
    """A file and its headers, the private one included, are one unit."""
    folder, name = os.path.split(os.path.splitext(path)[0])
    if name == 'private':
        name = os.path.basename(folder)
    return os.path.join(folder, name.removesuffix('-private').removesuffix('_private'))


def find_circles(edges):
    """Returns the strongly connected components of more than one node (Tarjan 1972)."""
    graph = collections.defaultdict(set)
    for a, b in edges:
        if a != b:
            graph[a].add(b)
    index, low, stack, circles = {}, {}, [], []
    sys.setrecursionlimit(10000)

    def visit(node):
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(graph[node]):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            circle = stack[stack.index(node):]
            del stack[stack.index(node):]
            if len(circle) > 1:
                circles.append(sorted(circle))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return circles


def get_room(path):
    """Returns the index of the file's room, or None."""
    for i, (_, patterns) in enumerate(ROOMS):
        if any(fnmatch.fnmatchcase(path, pattern) for pattern in patterns):
            return i
    return None


def find_faults(includes, sources):
    faults = []
    free = tuple(FREE)
    for path in sources:
        if not path.startswith(free) and get_room(path) is None:
            faults.append(f'{path}: in no room of tests/rooms.py')
    for circle in find_circles({(get_unit(a), get_unit(b)) for a, b in includes}):
        faults.append('circle: ' + ', '.join(circle))
    for a, b in sorted(includes):
        if b.startswith('tests/') and not a.startswith(free):
            faults.append(f'{a}: includes {b}, a test')
        elif not a.startswith(free):
            room, other = get_room(a), get_room(b)
            if room is not None and other is not None and other > room:
                faults.append(f'{a} ({ROOMS[room][0]}): includes {b} ({ROOMS[other][0]}), '
                              'which is above it')
    return faults


def count_arrows(includes):
    """Returns {(room, lower room): number of includes}."""
    arrows = collections.Counter()
    for a, b in includes:
        room, other = get_room(a), get_room(b)
        if None not in (room, other) and room > other and not a.startswith(FREE):
            arrows[room, other] += 1
    return arrows


def leave_out_implied(arrows):
    """Drops arrows that follow from others: a to c, where a to b and b to c are there."""
    below = collections.defaultdict(set)
    for room, other in arrows:
        below[room].add(other)

    def reaches(room, other):
        return other in below[room] or any(reaches(between, other) for between in below[room])

    return {(room, other): n for (room, other), n in arrows.items()
            if not any(reaches(between, other) for between in below[room] - {other})}


def get_house(room):
    return re.split('[/:]', ROOMS[room][0])[0]


def draw(arrows):
    """Returns the picture as SVG: each room on the floor above the highest that it includes."""
    rooms = sorted({room for arrow in arrows for room in arrow})
    floors = {}
    for room in rooms:
        floors[room] = 1 + max([floors[other] for r, other in arrows if r == room], default=-1)
    shown = leave_out_implied(arrows)
    lines = collections.defaultdict(list)
    for room in rooms:
        lines[floors[room]].append(room)
    width, height, gap, row = 128, 28, 10, 72
    place = {}
    left = gap
    for houses in BANDS:
        bands = {floor: [room for room in line if get_house(room) in houses]
                 for floor, line in lines.items()}
        span = max(map(len, bands.values())) * (width + gap)
        for floor, line in bands.items():
            for i, room in enumerate(line):
                place[room] = (left + span * (i + .5) / len(line), (max(lines) - floor) * row + 20)
        left += span + 3 * gap
    total = left - 2 * gap
    bottom = (max(lines) + 1) * row
    colours = {'engine': '#cfe3f7', 'cuda': '#d7efd3', 'python': '#f3e6c4', 'gst': '#f7d9cf',
               'apps': '#e4d8f2'}
    svg = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {total:.0f} {bottom}" '
           'font-family="sans-serif" font-size="11">',
           '<title>The rooms of the tree: an arrow is an include, and all run downwards</title>',
           '<defs><marker id="head" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
           'markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path d="M0 0L8 4L0 8z" fill="#777"/></marker></defs>',
           '<rect width="100%" height="100%" fill="#fff"/>']
    for (room, other), n in sorted(shown.items()):
        (x, y), (u, v) = place[room], place[other]
        thick = min(3.0, .8 + .12 * n)
        svg.append(f'<path d="M{x:.0f} {y + height}C{x:.0f} {y + height + 22} {u:.0f} {v - 24} '
                   f'{u:.0f} {v}" fill="none" stroke="#999" stroke-width="{thick:.1f}" '
                   f'marker-end="url(#head)"><title>{ROOMS[room][0]} to {ROOMS[other][0]}: {n}'
                   '</title></path>')
    for room in rooms:
        x, y = place[room]
        name = ROOMS[room][0]
        colour = colours[get_house(room)]
        svg.append(f'<rect x="{x - width / 2:.0f}" y="{y}" width="{width}" height="{height}" rx="4" '
                   f'fill="{colour}" stroke="#666"/><text x="{x:.0f}" y="{y + 18}" '
                   f'text-anchor="middle">{name}</text>')
    return '\n'.join(svg + ['</svg>', ''])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    mode = parser.add_mutually_exclusive_group(required=True)
    mode.add_argument('--check', action='store_true')
    mode.add_argument('--draw', action='store_true')
    parser.add_argument('root', nargs='?', default=os.path.join(os.path.dirname(__file__), '..'))
    arguments = parser.parse_args()

    sources = set(find_sources(arguments.root))
    includes = find_includes(arguments.root, sources)
    faults = find_faults(includes, sources)
    for fault in faults:
        print(fault)
    if any(fault.startswith('circle') for fault in faults):
        return 1
    picture = draw(count_arrows(includes))
    path = os.path.join(arguments.root, PICTURE)
    if arguments.draw:
        with open(path, 'w', encoding='utf-8') as file:
            file.write(picture)
    else:
        with open(path, encoding='utf-8') as file:
            if file.read() != picture:
                faults.append('outdated')
                print(f'{PICTURE} is outdated: run tests/rooms.py --draw')
        print(f'{len(sources)} sources, {len(includes)} includes, {len(ROOMS)} rooms')
    return 1 if faults else 0


if __name__ == '__main__':
    sys.exit(main())
