#!/usr/bin/env python3
"""Whether the emulation catches a seeded bug.

  caught.py FILE.bug PROGRAM PROGRAM-WITH-BUG

Runs the program with the bug with one seed after the other until it fails as expected; with that seed
the program without the bug must pass."""

import os
import re
import shlex
import subprocess
import sys

SEEDS = 20


def run(program, seed):
    environment = dict(os.environ, CCL_EMULATION=f'seed={seed}')
    command = [program, '--backend=cuda', '--tiny', f'--seed={seed}', '--dump=/nonexistent'] + options
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          stdin=subprocess.DEVNULL, check=False)
    return done.returncode, done.stdout.decode(errors='replace')


path, good, bad = sys.argv[1:]
if not os.path.exists(bad):
    print(f'SKIP: {bad} is not built; the target seeded-bugs builds all of them')
    sys.exit(77)
with open(path, encoding='utf-8') as file:
    head = file.read().split('--------\n')[0]
fields = dict(re.findall(r'^(\w+): (.*)$', head, re.M))
options = shlex.split(fields['run'])
for seed in range(1, SEEDS + 1):
    status, output = run(bad, seed)
    if status == 0:
        continue
    print(output[-3000:])
    if not re.search(fields['expect'], output):
        sys.exit(f'seed {seed}: failed otherwise than expected: {fields["expect"]}')
    status, output = run(good, seed)
    if status != 0:
        sys.exit(f'seed {seed}: fails without the bug, too:\n{output[-3000:]}')
    print(f'caught with seed {seed}; without the bug that seed passes')
    sys.exit(0)
sys.exit(f'not caught with {SEEDS} seeds')
