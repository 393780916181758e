# cudaccl - background models, and cleaning of masks
# SPDX-License-Identifier: LGPL-2.1-or-later

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from . import _engine, _records
from ._analyzer import _BACKENDS

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from ._types import Backend, Components, Format, Mask

_FORMATS = {"gray": 2, "bgr": 3, "rgb": 4, "nv12": 5}
_SECOND = 1_000_000_000


class Morphology:
    """Operations that clean a mask, bit-exact with OpenCV and SciPy.

    Parameters
    ----------
    operations : str
        In their order, with commas: median3, median5, erodeWxH, dilateWxH, openWxH, closeWxH, fill (holes), fillN
        (holes of up to N pixels), dropN (components of less than N pixels).
    connectivity : int
        4 or 8, of the foreground.
    threads : int
        That share a mask; 0: one for each CPU.

    Raises
    ------
    ValueError
        If there is no such operation.

    Examples
    --------
    >>> clean = cudaccl.Morphology("drop2")
    >>> clean(np.array([[1, 1, 0, 1]], bool))
    array([[ True,  True, False, False]])
    """

    def __init__(self, operations: str, connectivity: int = 8, *, threads: int = 1) -> None:
        if connectivity not in (4, 8):
            raise ValueError(f"connectivity {connectivity!r}; it is 4 or 8")
        _engine.Engine(operations=operations)  # raises for what it cannot parse
        self.operations, self.connectivity, self.threads = operations, connectivity, threads

    @overload
    def __call__(self, mask: NDArray[Any], out: None = None, *, threshold: int = 0) -> NDArray[Any]: ...

    @overload
    def __call__(self, mask: Any, out: Any = None, *, threshold: int = 0) -> Any: ...

    def __call__(self, mask: Any, out: Any = None, *, threshold: int = 0) -> Any:
        """Clean a mask.

        Parameters
        ----------
        mask : array of bool or uint8, (height, width)
            In host memory.
        out : array, optional
            For the result; may be the mask itself.
        threshold : int
            Pixels above it are foreground.

        Returns
        -------
        array
            out, or a new array: bool for bool, 0 and 255 for uint8.
        """
        result = _engine.clean(mask, out, self.operations, self.connectivity, self.threads, threshold)
        return _records.as_array(result) if out is None else out


class Motion:
    """Finds what moves in the frames of a fixed camera, with a background model that learns from them.

    Parameters
    ----------
    format : str
        Of the frames, uint8: "gray" (height, width), "bgr" or "rgb" (height, width, 3), "nv12"
        (height * 3 / 2, width).
    learning_time : float
        Seconds that an object must stand still to become background.
    warm_up : float
        Seconds without components after each start.
    noise_floor : int
        Grey levels; the least difference of foreground.
    light_change : int
        Percent; more foreground than this is a change of light; 0: never.
    shadows : bool
        Shadows are foreground.
    freeze : bool
        The model stays as it is.
    scale : int
        1, 2 or 4: the model has a pixel for scale x scale of the frame's.
    max_components : int
        Keep only so many, the largest.
    connectivity, morphology, include, exclude, min_area, threads, backend, device
        As for Analyzer.

    Examples
    --------
    >>> motion = cudaccl.Motion("gray")
    >>> scene = np.full((48, 64), 90, np.uint8)
    >>> for _ in range(25):
    ...     _ = motion(scene)
    >>> scene[10:30, 20:40] = 200
    >>> len(motion(scene))
    1
    """

    def __init__(self, format: Format = "bgr", *, learning_time: float = 10.0, warm_up: float = 0.0,
                 noise_floor: int = 14, light_change: int = 60, shadows: bool = False, freeze: bool = False,
                 scale: int = 1, connectivity: int = 8, morphology: str | None = None, include: str | None = None,
                 exclude: str | None = None, min_area: int = 1, max_components: int = 1024, threads: int = 1,
                 backend: Backend = "auto", device: int = -1) -> None:
        if format not in _FORMATS:
            raise ValueError(f"format {format!r}; it is one of {', '.join(_FORMATS)}")
        if backend not in _BACKENDS:
            raise ValueError(f"backend {backend!r}; it is one of {', '.join(_BACKENDS)}")
        if backend == "cpu" and device >= 0:
            raise ValueError(f"device {device} is a CUDA device; backend 'cpu' has none")
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

    def __call__(self, frame: Any, elapsed: float = 0.04, *, stream: int | None = None) -> Components:
        """Find what moves in the next frame.

        Parameters
        ----------
        frame : array of uint8
            In the shape of the format.
        elapsed : float
            Seconds since the last frame.
        stream : int, optional
            As for Analyzer.label().

        Returns
        -------
        structured array
            As from Analyzer.components().
        """
        if elapsed < 0:
            raise ValueError("elapsed is the time since the last frame, at least 0")
        self._engine.set(elapsed=round(elapsed * _SECOND))
        _, records, counts, _ = self._engine.run(frame, None, False, stream)
        return _records.as_components(records, 0, counts)

    @property
    def mask(self) -> Mask:
        """What moved in the last frame, cleaned: 255, else 0."""
        return _records.as_array(self._engine.mask(255, False))

    @property
    def shadows(self) -> Mask:
        """The shadows of the last frame that were dropped: 255, else 0."""
        return _records.as_array(self._engine.mask(255, True))

    @property
    def background(self) -> Mask:
        """The luma of the background, of the frame's size divided by scale."""
        return _records.as_array(self._engine.background())

    @property
    def freeze(self) -> bool:
        """Whether the model stays as it is; may change between frames."""
        return self._freeze

    @freeze.setter
    def freeze(self, freeze: bool) -> None:
        self._engine.set(freeze=freeze)
        self._freeze = freeze

    def reset(self) -> None:
        """Forgets the background: the next frame is its first."""
        self._engine.reset()

    @property
    def info(self) -> dict[str, Any]:
        """The device of the last frame, and the model's state.

        foreground and light_change; the starts of the model, and the numbers of frames that were relit, aligned (the
        camera shakes) and flickered; veil, the grey levels that fog adds to all others; displaced, how often the
        camera was moved for good; and waves, whether leaves wave."""
        return self._engine.info()
