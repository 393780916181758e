# cudaccl - components and tracks of GStreamer's buffers as NumPy's arrays
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Reads and attaches the metadata of the GStreamer plugin, all components of a buffer at once, and makes an element
of a detector.

Needs NumPy, GStreamer's Python bindings (Debian: python3-gi, gir1.2-gst-plugins-base-1.0) and the introspection data of
libgstccl. docs/python.md in the sources has programs around it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Sequence

import gi
import numpy as np

gi.require_version("Gst", "1.0")
gi.require_version("GstBase", "1.0")
gi.require_version("GstVideo", "1.0")
gi.require_version("GstCcl", "1.0")
from gi.repository import GLib, Gst, GstBase, GstCcl, GstVideo  # noqa: E402

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

if not Gst.is_initialized():
    Gst.init(None)

COMPONENT = np.dtype({
    "names": ["label", "x", "y", "width", "height", "area", "centroid_x", "centroid_y", "track", "static_age", "age",
              "velocity_x", "velocity_y", "class_id", "flags", "confidence", "features", "holes", "perimeter",
              "orientation", "major_axis", "minor_axis", "luma_mean", "luma_min", "luma_max"],
    "formats": ["u4", "u4", "u4", "u4", "u4", "u8", "f8", "f8", "u4", "u4", "u8", "f8", "f8", "u4", "u4", "f8", "u4",
                "u4", "f8", "f8", "f8", "f8", "f8", "u4", "u4"],
    "offsets": [0, 4, 8, 12, 16, 24, 32, 40, 48, 52, 56, 64, 72, 80, 84, 88, 96, 100, 104, 112, 120, 128, 136, 144,
                148],
    "itemsize": 152})
"""The fields of GstCclComponent: pixels, pixels per second, nanoseconds, radians; track and class_id are 0 without
one; static_age is in milliseconds. Fields from holes on are known if features, GstCcl.CclFeatures, says so; flags are
those of GstCcl.CclComponentFlags."""

EVENT = np.dtype([("type", "U8"), ("zone", "O"), ("track", "u4"), ("dwell", "u8"), ("x", "f8"), ("y", "f8"),
                  ("in", "u8"), ("out", "u8"), ("inside", "u4"), ("frame_age", "i8"), ("class_id", "u4")])
"""The fields of GstCclZoneEvent, with the names of the type, such as "enter", and of the zone: pixels, nanoseconds."""


def components(buffer: Any) -> NDArray[np.void] | None:
    """Read the components, or behind ccltrack the objects, of a buffer.

    Parameters
    ----------
    buffer : Gst.Buffer

    Returns
    -------
    array of COMPONENT, or None
        None if nothing has analysed it.
    """
    meta = GstCcl.buffer_get_ccl_meta(buffer)
    if meta is None:
        return None
    return np.frombuffer(meta.get_bytes().get_data() or b"", COMPONENT)


def class_names(buffer: Any) -> list[str]:
    """Read the names of the classes of a buffer's components.

    Parameters
    ----------
    buffer : Gst.Buffer

    Returns
    -------
    list of str
        names[class_id - 1].
    """
    meta = GstCcl.buffer_get_ccl_meta(buffer)
    names = meta.get_class_names() if meta else None
    return [names.get_name(i) for i in range(1, names.get_n_names() + 1)] if names else []


def events(buffer: Any) -> NDArray[np.void]:
    """Read what happened at the zones and tripwires of cclzones in the frame of a buffer.

    Parameters
    ----------
    buffer : Gst.Buffer

    Returns
    -------
    array of EVENT
        In their order; empty without events.
    """
    meta = GstCcl.buffer_get_ccl_zones_meta(buffer)
    return np.array([(GstCcl.ccl_zone_event_type_get_name(event.type), meta.get_zone(event.zone).name, event.track,
                      event.dwell, event.x, event.y, event.in_, event.out, event.inside, event.frame_age, event.class_id)
                     for event in (meta.get_events() if meta else [])], EVENT)


def attach(buffer: Any, width: int, height: int, boxes: ArrayLike, class_ids: ArrayLike = 0, scores: ArrayLike = 0,
           names: Sequence[str] | None = None) -> NDArray[np.void]:
    """Attach boxes, such as those of a detector, to a buffer. Replaces its components.

    Parameters
    ----------
    buffer : Gst.Buffer
        Writable.
    width, height : int
        Of the frame, in pixels.
    boxes : numbers, (n, 4)
        x, y, width, height in pixels; rounded outwards, and clipped to the frame. Boxes outside of it are dropped.
    class_ids : int, or n of them
        From 1 on; 0: none.
    scores : float, or n of them
        Above 0 and up to 1; 0: not known.
    names : sequence of str, optional
        Of the classes: names[class_id - 1].

    Returns
    -------
    array of COMPONENT
        What was attached, in raster order.

    Raises
    ------
    ValueError
        If a number is out of its range, or the buffer is not writable.
    """
    boxes = np.asarray(boxes, np.float64).reshape(-1, 4)
    if not np.isfinite(boxes).all():
        raise ValueError("boxes must be finite")
    classes, certain = np.asarray(class_ids), np.asarray(scores, np.float64)
    wrong = certain[~((certain >= 0) & (certain <= 1))]
    if wrong.size:
        raise ValueError(f"scores are 0 to 1, not {wrong[0]:g}")
    most = len(names) if names is not None else 2**32 - 1
    wrong = classes[(classes < 0) | (classes > most)]
    if wrong.size:
        raise ValueError(f"class_ids are 1 to {most}, 0 for none, not {wrong[0]}"
                         f"{'; names has no more' if names is not None else ''}")
    left, top = np.floor(np.clip(boxes[:, :2], 0, (width, height))).T
    right, bottom = np.ceil(np.clip(boxes[:, :2] + boxes[:, 2:], 0, (width, height))).T
    found = np.zeros(len(boxes), COMPONENT)
    found["x"], found["y"], found["width"], found["height"] = left, top, np.maximum(right - left, 0), np.maximum(
        bottom - top, 0)
    found["area"] = found["width"].astype(np.uint64) * found["height"]
    found["centroid_x"] = boxes[:, 0] + (boxes[:, 2] - 1) / 2
    found["centroid_y"] = boxes[:, 1] + (boxes[:, 3] - 1) / 2
    found["class_id"], found["confidence"] = classes, certain
    found = found[found["area"] > 0]
    found = found[np.lexsort((found["x"], found["y"]))]  # canonical order
    found["label"] = np.arange(1, len(found) + 1)
    meta = GstCcl.buffer_add_ccl_meta_from_bytes(buffer, width, height, GLib.Bytes.new(found.tobytes()))
    if meta is None:
        raise ValueError("the buffer is not writable; attach boxes to a copy, buffer.copy_deep(), for appsrc, or in a "
                         "Detector")
    if names is not None:
        meta.set_class_names(GstCcl.CclClassNames.new(list(names)))
    return found


_CHANNELS = {"GRAY8": 1, "RGB": 3, "BGR": 3, "RGBx": 4, "BGRx": 4, "RGBA": 4, "BGRA": 4}
_CAPS = Gst.Caps.from_string(f"video/x-raw,format={{{','.join(_CHANNELS)}}}")


class Detector(GstBase.BaseTransform):  # type: ignore[misc]
    """A detector as an element of a pipeline: its boxes are components, for ccltrack and all elements behind it.

    A subclass has detect() and may have names. Add it to a pipeline with Gst.Bin.add(), and link it.

    Parameters
    ----------
    **properties
        Of Gst.Element, such as name.
    """

    names: Sequence[str] | None = None
    """Of the classes: names[class_id - 1]."""

    def detect(self, frame: NDArray[np.uint8]) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
        """Find objects in a frame.

        Parameters
        ----------
        frame : array of uint8, (height, width) or (height, width, channels)
            In the format of the caps. Valid, and not to be written, until this returns.

        Returns
        -------
        boxes, class_ids, scores
            As for attach().
        """
        raise NotImplementedError

    def do_set_caps(self, incaps: Any, outcaps: Any) -> bool:
        self._info = GstVideo.VideoInfo.new_from_caps(incaps)
        return self._info is not None

    def _detect(self, buffer: Any) -> tuple[ArrayLike, ArrayLike, ArrayLike]:
        info, meta = self._info, GstVideo.buffer_get_video_meta(buffer)
        channels = _CHANNELS[info.finfo.name]
        offset, stride = (meta.offset[0], meta.stride[0]) if meta else (info.offset[0], info.stride[0])
        row = info.width * channels
        mapped, memory = buffer.map(Gst.MapFlags.READ)
        if not mapped:
            raise ValueError("the frame is not in host memory")
        try:
            if stride < row or offset + stride * (info.height - 1) + row > memory.size:
                raise ValueError("the frame has less pixels than its caps say")
            shape, strides = (info.height, info.width, channels), (stride, channels, 1)
            axes = 2 if channels == 1 else 3
            return self.detect(np.ndarray(shape[:axes], np.uint8, memory.data, offset, strides[:axes]))
        finally:
            buffer.unmap(memory)

    def do_transform_ip(self, buffer: Any) -> Any:
        try:
            boxes, class_ids, scores = self._detect(buffer)
            attach(buffer, self._info.width, self._info.height, boxes, class_ids, scores, self.names)
        except Exception as error:  # it would be lost in GStreamer's thread
            self.message_full(Gst.MessageType.ERROR, Gst.StreamError.quark(), Gst.StreamError.FAILED,
                              f"{type(error).__name__}: {error}", None, __file__, "do_transform_ip", 0)
            return Gst.FlowReturn.ERROR
        return Gst.FlowReturn.OK


# Not __gstmetadata__ and __gsttemplates__, which need gst-python's overrides. Subclasses inherit them.
Detector.set_metadata("Detector", "Filter/Analyzer/Video", "Attaches the boxes of a detector in Python", "cudaccl")
for _name, _direction in (("sink", Gst.PadDirection.SINK), ("src", Gst.PadDirection.SRC)):
    Detector.add_pad_template(Gst.PadTemplate.new(_name, _direction, Gst.PadPresence.ALWAYS, _CAPS))
