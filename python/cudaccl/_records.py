# cudaccl - arrays of components
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The engine's results as NumPy's arrays, or without NumPy as memoryviews and named tuples."""

import collections
import struct

# Fields and formats of the extension's records (src/records.h), without gaps; a field without a name is padding. A
# component has those of _BASE, then those of its features in this order.
_BASE = [("label", "i"), ("x", "i"), ("y", "i"), ("width", "i"), ("height", "i"), ("first_x", "i"), ("area", "q"),
         ("centroid_x", "d"), ("centroid_y", "d")]
_PARTS = {
    "sums": [("sum_x", "q"), ("sum_y", "q"), ("sum_xx", "q"), ("sum_yy", "q"), ("sum_xy", "q")],
    "ellipse": [("orientation", "d"), ("major_axis", "d"), ("minor_axis", "d"), ("eccentricity", "d")],
    "holes": [("holes", "q"), ("euler_number", "q")],
    "perimeter": [("perimeter", "d")],
    "luma": [("luma_mean", "d"), ("luma_min", "i"), ("luma_max", "i")],
    "box": [("extent", "d"), ("touches_border", "?"), ("", "7x")],
    "value": [("value", "q")],
}
_VOLUME = [("label", "i"), ("x", "i"), ("y", "i"), ("z", "i"), ("width", "i"), ("height", "i"), ("depth", "i"),
           ("", "4x"), ("volume", "q"), ("centroid_x", "d"), ("centroid_y", "d"), ("centroid_z", "d")]
_CODES = {"i": "i4", "q": "i8", "d": "f8", "?": "?"}
FLAGS = {name: 1 << i for i, name in enumerate(_PARTS)}
VOLUME = 1 << len(_PARTS)


def _fields(kind):
    return (_VOLUME if kind & VOLUME else _BASE) + [field for name, part in _PARTS.items() if kind & FLAGS[name] for field in part]


def _names(fields):
    return [name for name, _ in fields if name]


Component = collections.namedtuple("Component", _names(_fields(VOLUME - 1)),
                                   defaults=[None] * (len(_names(_fields(VOLUME - 1))) - len(_BASE)))
Component.__doc__ = "A component of a mask; what components() returns a list of without NumPy."
VolumeComponent = collections.namedtuple("VolumeComponent", _names(_VOLUME) + ["value"], defaults=[None])
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
    return _numpy or None


def _dtype(np, kind):
    names, formats, offsets, at = [], [], [], 0
    for name, code in _fields(kind):
        if name:
            names.append(name)
            formats.append(_CODES[code])
            offsets.append(at)
        at += struct.calcsize(code)
    return np.dtype({"names": names, "formats": formats, "offsets": offsets, "itemsize": at})


def as_array(memory):
    """Memory of the extension as an array of its shape."""
    np = _numpy or numpy()
    return np.asarray(memory) if np else memoryview(memory)


def as_components(memory, kind, counts, classes=None):
    """Records of the extension as an array, or as one for each frame of a batch. kind: flags of features, and VOLUME.
    classes: a list with the class of each value, or None."""
    np = _numpy or numpy()
    if np:
        dtype = _dtypes.get(kind)
        if dtype is None:
            dtype = _dtypes[kind] = _dtype(np, kind)
        records = np.frombuffer(memory, dtype) if len(memoryview(memory)) else np.empty(0, dtype)
        if classes:
            records["value"] = np.array(classes, np.int64)[records["value"]]
    else:
        fields = _fields(kind)
        names = _names(fields)
        make = VolumeComponent if kind & VOLUME else Component
        layout = "=" + "".join(code for _, code in fields)
        records = [make(**dict(zip(names, row))) for row in struct.iter_unpack(layout, memory)]
        if classes:
            records = [record._replace(value=classes[record.value]) for record in records]
    if isinstance(counts, int):
        return records
    parts, at = [], 0
    for count in counts:
        parts.append(records[at:at + count])
        at += count
    return parts
