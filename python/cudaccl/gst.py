# cudaccl - components and tracks of GStreamer's buffers as NumPy's arrays
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads and attaches the metadata of the GStreamer plugin, all components of a buffer at once.

Needs NumPy, GStreamer's Python bindings (Debian: python3-gi) and the introspection data of libgstccl.
docs/python.md in the sources has programs around it."""

import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstCcl", "1.0")
from gi.repository import GLib, Gst, GstCcl  # noqa: E402

if not Gst.is_initialized():
    Gst.init(None)

COMPONENT = np.dtype({
    "names": ["label", "x", "y", "width", "height", "area", "centroid_x", "centroid_y", "track", "age", "velocity_x",
              "velocity_y", "class_id", "confidence", "features", "holes", "perimeter", "orientation", "major_axis",
              "minor_axis", "luma_mean", "luma_min", "luma_max"],
    "formats": ["u4", "u4", "u4", "u4", "u4", "u8", "f8", "f8", "u4", "u8", "f8", "f8", "u4", "f8", "u4",
                "u4", "f8", "f8", "f8", "f8", "f8", "u4", "u4"],
    "offsets": [0, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64, 72, 80, 88, 96, 100, 104, 112, 120, 128, 136, 144, 148],
    "itemsize": 152})
"""The fields of GstCclComponent: pixels, pixels per second, nanoseconds, radians; track and class_id are 0 without
one. Fields from holes on are known if features, GstCcl.CclFeatures, says so."""


def components(buffer):
    """The components, or behind ccltrack the objects, of a Gst.Buffer: an array of COMPONENT. None if nothing has
    analysed it."""
    meta = GstCcl.buffer_get_ccl_meta(buffer)
    if meta is None:
        return None
    return np.frombuffer(meta.get_bytes().get_data() or b"", COMPONENT)


def class_names(buffer):
    """The names of the classes of a buffer's components: names[class_id - 1]."""
    meta = GstCcl.buffer_get_ccl_meta(buffer)
    names = meta.get_class_names() if meta else None
    return [names.get_name(i) for i in range(1, names.get_n_names() + 1)] if names else []


def attach(buffer, width, height, boxes, class_ids=0, scores=0, names=None):
    """Attaches boxes, such as those of a detector, to a writable Gst.Buffer of a frame of width by height pixels.
    Replaces its components.

    boxes: numbers (n, 4): x, y, width, height in pixels; rounded outwards, and clipped to the frame; boxes outside
        of it are dropped.
    class_ids: from 1 on; 0: none. scores: above 0 and up to 1; 0: not known. One number for all, or n.
    names: of the classes, names[class_id - 1].

    Returns the array of COMPONENT that was attached."""
    boxes = np.asarray(boxes, np.float64).reshape(-1, 4)
    if not np.isfinite(boxes).all():
        raise ValueError("boxes must be finite")
    left, top = np.floor(np.clip(boxes[:, :2], 0, (width, height))).T
    right, bottom = np.ceil(np.clip(boxes[:, :2] + boxes[:, 2:], 0, (width, height))).T
    found = np.zeros(len(boxes), COMPONENT)
    found["x"], found["y"], found["width"], found["height"] = left, top, np.maximum(right - left, 0), np.maximum(
        bottom - top, 0)
    found["area"] = found["width"].astype(np.uint64) * found["height"]
    found["centroid_x"] = boxes[:, 0] + (boxes[:, 2] - 1) / 2
    found["centroid_y"] = boxes[:, 1] + (boxes[:, 3] - 1) / 2
    found["class_id"], found["confidence"] = class_ids, scores
    found = found[found["area"] > 0]
    found = found[np.lexsort((found["x"], found["y"]))]  # canonical order
    found["label"] = np.arange(1, len(found) + 1)
    meta = GstCcl.buffer_add_ccl_meta_from_bytes(buffer, width, height, GLib.Bytes.new(found.tobytes()))
    if meta is None:
        raise ValueError("the buffer is not writable; attach boxes to a buffer of your own, such as a copy for appsrc")
    if names is not None:
        meta.set_class_names(GstCcl.CclClassNames.new(list(names)))
    return found
