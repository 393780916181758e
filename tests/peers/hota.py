# Scores tracks by HOTA.
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Higher order tracking accuracy (Luiten 2020), as TrackEval computes it.

As a program, it compares itself with the package trackeval on random tracks, which needs that package.
"""

import numpy as np
from scipy.optimize import linear_sum_assignment

# The least IoUs that it is the mean over.
ALPHAS = np.arange(0.05, 0.99, 0.05)


def iou(a, b):
    """The IoU of each box of @a with each of @b: x, y, width, height."""
    a, b = np.array(a, float).reshape(-1, 4), np.array(b, float).reshape(-1, 4)
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, :2] + a[:, None, 2:], b[None, :, :2] + b[None, :, 2:])
    common = np.clip(high - low, 0, None).prod(axis=2)
    return common / np.maximum(a[:, None, 2:].prod(axis=2) + b[None, :, 2:].prod(axis=2) - common, 1e-9)


def index(frames):
    """Numbers the ids of frames from 0 on."""
    numbers = {}
    return [np.array([numbers.setdefault(o[0], len(numbers)) for o in objects], int) for objects in frames], numbers


def hota(truth, found):
    """HOTA of lists of frames, each a list of objects: id, x, y, width, height."""
    wanted, all_wanted = index(truth)
    got, all_got = index(found)
    likeness = [iou([o[1:5] for o in a], [o[1:5] for o in b]) for a, b in zip(truth, found)]
    counts = [np.zeros(len(all_wanted)), np.zeros(len(all_got))]
    together = np.zeros((len(all_wanted), len(all_got)))
    for a, b, s in zip(wanted, got, likeness):
        total = s.sum(0)[None, :] + s.sum(1)[:, None] - s
        np.add.at(together, (a[:, None], b[None, :]), np.divide(s, total, out=np.zeros_like(s), where=total > 1e-9))
        np.add.at(counts[0], a, 1)
        np.add.at(counts[1], b, 1)
    if not len(all_wanted) or not len(all_got):
        return 0.0
    alignment = together / (counts[0][:, None] + counts[1][None, :] - together)

    matches = np.zeros((len(ALPHAS), *together.shape))
    for a, b, s in zip(wanted, got, likeness):
        rows, columns = linear_sum_assignment(-(alignment[a[:, None], b[None, :]] * s))
        for k, alpha in enumerate(ALPHAS):
            good = s[rows, columns] >= alpha - np.finfo(float).eps
            np.add.at(matches[k], (a[rows[good]], b[columns[good]]), 1)
    hits = matches.sum(axis=(1, 2))
    shares = matches / np.maximum(counts[0][:, None] + counts[1][None, :] - matches, 1)
    association = (matches * shares).sum(axis=(1, 2)) / np.maximum(hits, 1)
    detection = hits / np.maximum(counts[0].sum() + counts[1].sum() - hits, 1)
    return float(np.sqrt(detection * association).mean())


def compare(seed):
    """HOTA of random tracks here, and in the package trackeval."""
    from trackeval.metrics import HOTA
    random = np.random.default_rng(seed)
    truth, found = [], []
    paths = random.uniform(0, 300, (8, 2)), random.uniform(-4, 4, (8, 2))
    for frame in range(60):
        boxes = np.hstack([paths[0] + frame * paths[1], np.full((8, 1), 30.0), np.full((8, 1), 70.0)])
        truth.append([(i, *boxes[i]) for i in range(8) if random.random() < 0.9])
        found.append([(i + (100 if frame > 20 + 5 * i else 0), *(boxes[i] + random.normal(0, 4, 4)))
                      for i in random.permutation(8) if random.random() < 0.8])
    wanted, all_wanted = index(truth)
    got, all_got = index(found)
    data = {'num_tracker_dets': sum(map(len, got)), 'num_gt_dets': sum(map(len, wanted)), 'num_gt_ids': len(all_wanted),
            'num_tracker_ids': len(all_got), 'gt_ids': wanted, 'tracker_ids': got,
            'similarity_scores': [iou([o[1:5] for o in a], [o[1:5] for o in b]) for a, b in zip(truth, found)]}
    return hota(truth, found), float(np.mean(HOTA().eval_sequence(data)['HOTA']))


if __name__ == '__main__':
    if not hasattr(np, 'float'):  # trackeval on NumPy 1.24 and newer
        np.float, np.int, np.bool = float, int, bool
    for number in range(20):
        ours, theirs = compare(number)
        print(f'seed {number}: {ours:.6f} {theirs:.6f}')
        assert abs(ours - theirs) < 1e-9
