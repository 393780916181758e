# cudaccl - arrays of components
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The engine's results as NumPy's arrays, or without NumPy as memoryviews and named tuples."""

import collections
import struct

# Fields and formats of the extension's records (src/engine.c), with native alignment.
_BASE = [("label", "i"), ("x", "i"), ("y", "i"), ("width", "i"), ("height", "i"), ("first_x", "i"), ("area", "q"),
         ("centroid_x", "d"), ("centroid_y", "d")]
_SUMS = [("sum_x", "q"), ("sum_y", "q"), ("sum_xx", "q"), ("sum_yy", "q"), ("sum_xy", "q")]
_VOLUME = [("label", "i"), ("x", "i"), ("y", "i"), ("z", "i"), ("width", "i"), ("height", "i"), ("depth", "i"),
           ("reserved", "i"), ("volume", "q"), ("centroid_x", "d"), ("centroid_y", "d"), ("centroid_z", "d")]
_FIELDS = {"base": _BASE, "sums": _BASE + _SUMS, "volume": _VOLUME}
_HIDDEN = ("reserved",)

Component = collections.namedtuple("Component", [name for name, _ in _BASE + _SUMS], defaults=[None] * len(_SUMS))
Component.__doc__ = "A component of a mask; what components() returns a list of without NumPy."
VolumeComponent = collections.namedtuple("VolumeComponent", [name for name, _ in _VOLUME if name not in _HIDDEN])
VolumeComponent.__doc__ = "A component of a volume; what components() returns a list of without NumPy."

_numpy = None
_dtypes = {}


def numpy():
    """NumPy, or None where it is missing."""
    global _numpy
    if _numpy is None:
        try:
            import numpy as module
        except ImportError:
            module = False
        _numpy = module
        if module:
            for kind, fields in _FIELDS.items():
                names, formats, offsets, at = [], [], [], 0
                for name, code in fields:
                    if name not in _HIDDEN:
                        names.append(name)
                        formats.append({"i": "i4", "q": "i8", "d": "f8"}[code])
                        offsets.append(at)
                    at += struct.calcsize(code)
                _dtypes[kind] = module.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": at})
    return _numpy or None


def as_array(memory):
    """Memory of the extension as an array of its shape."""
    np = _numpy or numpy()
    return np.asarray(memory) if np else memoryview(memory)


def as_components(memory, kind, counts):
    """Records of the extension as an array, or as one for each frame of a batch."""
    np = _numpy or numpy()
    if np:
        records = np.frombuffer(memory, _dtypes[kind]) if len(memoryview(memory)) else np.empty(0, _dtypes[kind])
    else:
        fields = _FIELDS[kind]
        shown = [i for i, (name, _) in enumerate(fields) if name not in _HIDDEN]
        make = VolumeComponent if kind == "volume" else Component
        layout = "=" + "".join(code for _, code in fields)
        records = [make(*[row[i] for i in shown]) for row in struct.iter_unpack(layout, memory)]
    if isinstance(counts, int):
        return records
    parts, at = [], 0
    for count in counts:
        parts.append(records[at:at + count])
        at += count
    return parts
