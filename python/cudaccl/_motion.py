# cudaccl - background models, and cleaning of masks
# SPDX-License-Identifier: LGPL-2.1-or-later

from . import _engine, _records
from ._analyzer import _BACKENDS

_FORMATS = {"gray": 2, "bgr": 3, "rgb": 4, "nv12": 5}
_SECOND = 1_000_000_000


class Morphology:
    """Operations that clean a mask, in their order: median3, median5, erodeWxH, dilateWxH, openWxH, closeWxH, fill,
    fillN, dropN. Bit-exact with OpenCV and SciPy.

    connectivity: 4 or 8, of the foreground. threads: that share a mask; 0: one for each CPU."""

    def __init__(self, operations, connectivity=8, *, threads=1):
        if connectivity not in (4, 8):
            raise ValueError(f"connectivity {connectivity!r}; it is 4 or 8")
        _engine.Engine(operations=operations)  # raises for what it cannot parse
        self.operations, self.connectivity, self.threads = operations, connectivity, threads

    def __call__(self, mask, out=None, *, threshold=0):
        """The cleaned mask, bool for bool and 0 and 255 for uint8; written to out if that is given, which may be the
        mask itself. mask: (height, width) in host memory."""
        result = _engine.clean(mask, out, self.operations, self.connectivity, self.threads, threshold)
        return _records.as_array(result) if out is None else out


class Motion:
    """Finds what moves in the frames of a fixed camera, with a background model that learns from them.

    format: of the frames, uint8: "gray" (height, width), "bgr" or "rgb" (height, width, 3), "nv12"
        (height * 3 / 2, width).
    learning_time: seconds that an object must stand still to become background.
    warm_up: seconds without components after each start.
    noise_floor: grey levels; the least difference of foreground.
    light_change: percent; more foreground than this is a change of light; 0: never.
    shadows: shadows are foreground. freeze: the model stays as it is.
    scale: 1, 2 or 4: the model has a pixel for scale x scale of the frame's.
    max_components: keep only so many, the largest. The others are those of Analyzer."""

    def __init__(self, format="bgr", *, learning_time=10.0, warm_up=0.0, noise_floor=14, light_change=60,
                 shadows=False, freeze=False, scale=1, connectivity=8, morphology=None, include=None, exclude=None,
                 min_area=1, max_components=1024, threads=1, backend="auto", device=-1):
        if format not in _FORMATS:
            raise ValueError(f"format {format!r}; it is one of {', '.join(_FORMATS)}")
        if max_components is None or max_components < 1 or min_area < 0:
            raise ValueError("max_components is at least 1, min_area at least 0")
        self._engine = _engine.Engine(
            kind=_FORMATS[format], connectivity=connectivity, backend=_BACKENDS[backend], device=device,
            threads=threads, max_components=max_components, operations=morphology, include=include, exclude=exclude,
            scale=scale, shadows=True, mask=True)
        self._engine.set(learning_time=round(learning_time * _SECOND), warm_up=round(warm_up * _SECOND),
                         noise_floor=noise_floor, light_change=light_change, keep_shadows=shadows, freeze=freeze,
                         min_area=min_area)
        self._freeze = freeze

    def __call__(self, frame, elapsed=0.04, *, stream=None):
        """The components of what moves, as from Analyzer.components(). elapsed: seconds since the last frame."""
        if elapsed < 0:
            raise ValueError("elapsed is the time since the last frame, at least 0")
        self._engine.set(elapsed=round(elapsed * _SECOND))
        _, records, counts, _ = self._engine.run(frame, None, False, stream)
        return _records.as_components(records, 0, counts)

    @property
    def mask(self):
        """What moved in the last frame, cleaned: 255, else 0."""
        return _records.as_array(self._engine.mask(255, False))

    @property
    def shadows(self):
        """The shadows of the last frame that were dropped: 255, else 0."""
        return _records.as_array(self._engine.mask(255, True))

    @property
    def background(self):
        """The luma of the background, of the frame's size divided by scale."""
        return _records.as_array(self._engine.background())

    @property
    def freeze(self):
        """Whether the model stays as it is; may change between frames."""
        return self._freeze

    @freeze.setter
    def freeze(self, freeze):
        self._engine.set(freeze=freeze)
        self._freeze = freeze

    def reset(self):
        """Forgets the background: the next frame is its first."""
        self._engine.reset()

    @property
    def info(self):
        """The device of the last frame, and the model's state: its foreground and light_change; starts of the
        model, and the numbers of frames that were relit, aligned (the camera shakes) and flickered; veil, the grey
        levels that fog adds to all others; and displaced, how often the camera was moved for good."""
        return self._engine.info()
