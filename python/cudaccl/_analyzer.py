# cudaccl - analyzers of masks
# SPDX-License-Identifier: LGPL-2.1-or-later

from __future__ import annotations

import math
import sys
import threading
import warnings
from typing import TYPE_CHECKING, Any, Sequence, overload

from . import _arrays, _engine, _records

if TYPE_CHECKING:
    from typing import Unpack

    from numpy.typing import NDArray

    from ._types import Backend, Components, Feature, Labels, Options, Values

_FRAMES, _VOLUME = 0, 1
_BACKENDS = {"auto": 0, "cuda": 1, "cpu": 2}
_VALUES = {"above": 0, "band": 1, "equal": 2}
_FEATURES = [name for name in _records.FLAGS if name != "value"]
_MAX_CACHED = 8


def cuda_device_count() -> int:
    """Count the CUDA devices.

    Returns
    -------
    int
        0 without a driver, or if the package was built without CUDA.

    Examples
    --------
    >>> cudaccl.cuda_device_count() >= 0
    True
    """
    return _engine.cuda_device_count()


def _caller_level():
    """The stack level, of a warning of the calling function, of the line that called the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back and frame.f_globals.get("__package__") == __package__:
        level, frame = level + 1, frame.f_back
    return level


def allocate(mask):
    """Memory for the labels of an array on a CUDA device, from the library that the array is of; None for arrays in
    host memory, whose labels the extension allocates."""
    library = type(mask).__module__.partition(".")[0]
    if library == "torch":
        import torch
        return torch.empty(mask.shape, dtype=torch.int32, device=mask.device)
    if library == "cupy":
        import cupy
        with mask.device:
            return cupy.empty(mask.shape, cupy.int32)
    return None


class Analyzer:
    """Finds the components of masks of one shape with memory that is used again.

    Other shapes are welcome, but make it allocate anew. It belongs to one thread at a time.

    Contiguous rows of bool and uint8, for "band" and "equal" also of uint16, and volumes of classes also of int32 and
    uint32, are read in place. Arrays of NumPy, CuPy and PyTorch of other types, byte orders and strides are copied first.
    What numpy.ma masks is background.

    Parameters
    ----------
    connectivity : int
        4 or 8 for masks (height, width) and batches (n, height, width) or (n, 1, height, width); 6, 18 or 26 for
        volumes (depth, height, width).
    threshold : float
        Pixels above it are foreground. 0 to 255 for bool and uint8, any number for other types, of which all that is
        not 0 is above 0.
    invert : bool
        The other pixels are foreground.
    min_area, max_area, min_width, min_height : int
        In pixels. Other components are dropped, also from the labels.
    max_components : int, optional
        Keep only so many, the largest; None: all.
    features : str or sequence of str
        What else components have; see components(). "sums", "ellipse", "holes", "perimeter", "luma" or "box".
    morphology : str, optional
        Operations that clean the mask first, such as "median5,close5x11,fill,drop50"; see Morphology.
    include, exclude : str, optional
        Polygons "x,y x,y x,y; ..." in fractions of the frame: where components are looked for, and where not.
    threads : int
        That share a frame on the CPU; 0: one for each CPU.
    backend : str
        "auto": where the pixels are; "cpu"; "cuda": also those in host memory.
    device : int
        CUDA device for pixels in host memory; -1: any.
    values : str
        "above": pixels above the threshold are foreground. "band": pixels from low to high are. "equal": pixels are
        classes, as from a segmentation network: integers from 0, the background, to 2**31 - 1, in masks at most 65535
        of them different. Only pixels of the same class are connected, and components have the field value. "equal"
        has no threshold, invert and morphology, nor features but "sums", "ellipse" and "box".
    low, high : int
        The band, 0 to 65535.
    warn_copies : bool
        A RuntimeWarning tells of each array that is copied first.

    Raises
    ------
    ValueError
        If an option has no meaning, also together with the others, or cannot be read.

    Examples
    --------
    >>> analyzer = cudaccl.Analyzer(min_area=2)
    >>> analyzer.components(np.eye(3, dtype=bool))["area"]
    array([3])
    >>> analyzer.label(np.zeros((2, 3), bool))
    array([[0, 0, 0],
           [0, 0, 0]], dtype=int32)
    """

    found: int | tuple[int, ...]
    """The number of components of the last mask before max_components, or of each mask of a batch."""

    def __init__(self, connectivity: int = 8, threshold: float = 0, *, invert: bool = False, min_area: int = 1,
                 max_area: int | None = None, min_width: int = 1, min_height: int = 1,
                 max_components: int | None = None, features: Feature | Sequence[Feature] = (),
                 morphology: str | None = None, include: str | None = None, exclude: str | None = None,
                 threads: int = 1, backend: Backend = "auto", device: int = -1, values: Values = "above", low: int = 1,
                 high: int = 65535, warn_copies: bool = False) -> None:
        features = (features,) if isinstance(features, str) else features
        if connectivity not in (4, 8, 6, 18, 26):
            raise ValueError(f"connectivity {connectivity!r}; 4 or 8 for masks, 6, 18 or 26 for volumes")
        if backend not in _BACKENDS:
            raise ValueError(f"backend {backend!r}; it is one of {', '.join(_BACKENDS)}")
        for feature in features:
            if feature not in _FEATURES:
                raise ValueError(f"feature {feature!r}; there are {', '.join(_FEATURES)}")
        if not math.isfinite(threshold):
            raise ValueError(f"threshold {threshold}; it is a finite number")
        if max_components is not None and max_components < 1:
            raise ValueError("max_components is at least 1, or None for all")
        if min(min_area, min_width, min_height, max_area or 0) < 0:
            raise ValueError("min_area, min_width, min_height and max_area are at least 0")
        if values not in _VALUES:
            raise ValueError(f"values {values!r}; it is one of {', '.join(_VALUES)}")
        if not 0 <= low <= 65535 or not 0 <= high <= 65535:
            raise ValueError(f"a band from {low} to {high}; both are 0 to 65535")
        if backend == "cpu" and device >= 0:
            raise ValueError(f"device {device} is a CUDA device; backend 'cpu' has none")
        if values != "above" and threshold != 0:
            raise ValueError(f"threshold is for values 'above', not {values!r}")
        if values == "equal" and invert:
            raise ValueError("invert has no meaning for classes")
        if values != "band" and (low, high) != (1, 65535):
            raise ValueError(f"low and high are for values 'band', not {values!r}")
        volume = connectivity > 8 or connectivity == 6
        if volume:
            given = {"features": bool(features), "values": values == "band", "min_area": min_area > 1,
                     "max_area": max_area is not None, "min_width": min_width > 1, "min_height": min_height > 1,
                     "morphology": morphology, "include": include, "exclude": exclude}
            for name in (name for name, value in given.items() if value):
                raise ValueError(f"{name} is for masks; volumes have a threshold, invert, classes and max_components")
        flags = sum(_records.FLAGS[feature] for feature in set(features))
        self._records = ((_records.VOLUME if volume else 0) | flags
                         | (_records.FLAGS["value"] if values == "equal" else 0))
        self._volume = volume
        self._engine = _engine.Engine(
            kind=_VOLUME if volume else _FRAMES, connectivity=connectivity, backend=_BACKENDS[backend], device=device,
            threads=threads, max_components=max_components or 0, features=flags, operations=morphology,
            include=include, exclude=exclude, values=_VALUES[values])
        self._levels = {"threshold": threshold, "low": low, "high": high}
        self._in_place = _arrays.is_byte(threshold)
        self._engine.set(**self._engine_levels(), invert=invert, min_area=min_area, min_width=min_width,
                         min_height=min_height, **({} if max_area is None else {"max_area": max_area}))
        self._values, self._invert, self._luma, self._warn = values, invert, "luma" in features, warn_copies
        self.found = 0

    def _engine_levels(self):
        return {**self._levels, "threshold": int(self._levels["threshold"]) if self._in_place else 0}

    def _analyze(self, mask, out, labels, stream, areas=None):
        """(labels, records, counts, classes), where classes is None, or a list with the class of each value."""
        if self._in_place and not _arrays.is_masked(mask):
            try:
                return *self._run(mask, out, labels, stream, areas), None
            except (TypeError, ValueError) as error:
                problem = error
        else:
            problem = ValueError(f"threshold {self._levels['threshold']}; for bool and uint8 it is 0 to 255")
        with _arrays.on_stream(mask, stream):
            converted = _arrays.convert(mask, self._values, **self._levels, invert=self._invert, volume=self._volume)
        if converted is None:
            raise problem
        copy, foreground, classes = converted
        if foreground and self._luma:
            raise ValueError("the feature luma is for bool and uint8, whose values it has")
        if self._warn:
            warnings.warn(f"an array of {mask.dtype} is copied first", RuntimeWarning, stacklevel=_caller_level())
        if foreground:
            self._engine.set(threshold=0, low=1, high=1)
        try:
            return *self._run(copy, out, labels, stream, areas), classes
        finally:
            if foreground:
                self._engine.set(**self._engine_levels())

    def _run(self, mask, out, labels, stream, areas):
        if labels and out is None and hasattr(mask, "__dlpack_device__") and mask.__dlpack_device__()[0] in (2, 13):
            out = allocate(mask)
        memory, records, counts, self.found = self._engine.run(mask, out, labels, stream, areas)
        if labels and out is None:
            return _records.as_array(memory), records, counts
        return out, records, counts

    @overload
    def label(self, mask: NDArray[Any], out: None = None, *, areas: Any = None,
              stream: int | None = None) -> Labels: ...

    @overload
    def label(self, mask: Any, out: Any = None, *, areas: Any = None, stream: int | None = None) -> Any: ...

    def label(self, mask: Any, out: Any = None, *, areas: Any = None, stream: int | None = None) -> Any:
        """Label the pixels of a mask, a batch or a volume.

        Parameters
        ----------
        mask : array
            In any memory that its library has; see the package.
        out : array, optional
            For the labels: int32 or uint32 in the mask's shape, on its device.
        areas : array, optional
            Likewise, for the area of each pixel's component, 0 in the background. Not of volumes, nor on a CUDA device
            with values or features.
        stream : int, optional
            CUDA stream on which the mask becomes ready; by default that of its library.

        Returns
        -------
        array of int32
            In the mask's shape, 0 in the background: of NumPy, or on a CUDA device of the mask's library. Without
            NumPy a memoryview.

        Examples
        --------
        >>> cudaccl.Analyzer(connectivity=4).label(np.array([[1, 0, 1]], np.uint8))
        array([[1, 0, 2]], dtype=int32)
        """
        return self._analyze(mask, out, True, stream, areas)[0]

    def components(self, mask: Any, *, stream: int | None = None) -> Components:
        """Find the components of a mask, a batch or a volume.

        Parameters
        ----------
        mask : array
            As for label().
        stream : int, optional
            As for label().

        Returns
        -------
        structured array, or a list of one for each mask of a batch
            In the order of their first pixels. Fields of masks, in pixels: label, x, y, width, height, first_x, area,
            centroid_x, centroid_y. Of volumes: label, x, y, z, width, height, depth, volume, centroid_x, centroid_y,
            centroid_z. Of classes also value. Without NumPy a list of Component or VolumeComponent. Features add:

            "sums": sum_x, sum_y, sum_xx, sum_yy, sum_xy, of the pixels' coordinates;
            "ellipse": orientation (radians from the x axis to the major one, clockwise as y points down), major_axis,
            minor_axis, eccentricity, of the ellipse with the same second-order moments;
            "holes": holes, euler_number; "perimeter": that of the line through the border's pixels;
            "luma": luma_mean, luma_min, luma_max, of the values of the pixels;
            "box": extent (the share of the box that is filled), touches_border.

        Examples
        --------
        >>> found = cudaccl.Analyzer(features="box").components(np.ones((2, 3), bool))
        >>> found[["width", "height", "extent"]].tolist()
        [(3, 2, 1.0)]
        """
        _, records, counts, classes = self._analyze(mask, None, False, stream)
        return _records.as_components(records, self._records, counts, classes)

    @overload
    def analyze(self, mask: NDArray[Any], out: None = None, *,
                stream: int | None = None) -> tuple[Labels, Components]: ...

    @overload
    def analyze(self, mask: Any, out: Any = None, *, stream: int | None = None) -> tuple[Any, Components]: ...

    def analyze(self, mask: Any, out: Any = None, *, stream: int | None = None) -> tuple[Any, Components]:
        """Do both in one pass.

        Parameters
        ----------
        mask, out, stream
            As for label().

        Returns
        -------
        labels, components
            As from label() and components().

        Examples
        --------
        >>> labels, components = cudaccl.Analyzer().analyze(np.eye(2, dtype=bool))
        >>> int(labels.max()), len(components)
        (1, 1)
        """
        labels, records, counts, classes = self._analyze(mask, out, True, stream)
        return labels, _records.as_components(records, self._records, counts, classes)

    @property
    def info(self) -> dict[str, Any]:
        """What the last mask was analysed on: backend, algorithm, device_name, allocations, bytes."""
        return self._engine.info()


_local = threading.local()


def _cached(mask, labels, options):
    """This thread's analyzer for masks of this shape."""
    try:
        cache = _local.cache
    except AttributeError:
        cache = _local.cache = {}
    key = getattr(mask, "shape", None), labels, *options.items()
    try:
        return cache[key]
    except KeyError:
        pass
    except TypeError:  # an option or a shape that cannot be a key
        return Analyzer(**options)
    if len(cache) >= _MAX_CACHED:
        del cache[next(iter(cache))]
    analyzer = cache[key] = Analyzer(**options)
    return analyzer


def clear_cache() -> None:
    """Free the analyzers of this thread's calls of label(), components() and analyze().

    Memory that waits for their next results is freed, too.
    """
    getattr(_local, "cache", {}).clear()
    _engine.trim()


@overload
def label(mask: NDArray[Any], connectivity: int = 8, threshold: float = 0, *, out: None = None, areas: Any = None,
          threads: int = 1, stream: int | None = None, **options: Unpack[Options]) -> Labels: ...


@overload
def label(mask: Any, connectivity: int = 8, threshold: float = 0, *, out: Any = None, areas: Any = None,
          threads: int = 1, stream: int | None = None, **options: Unpack[Options]) -> Any: ...


def label(mask: Any, connectivity: int = 8, threshold: float = 0, *, out: Any = None, areas: Any = None,
          threads: int = 1, stream: int | None = None, **options: Any) -> Any:
    """Label the pixels of a mask, a batch or a volume.

    Parameters
    ----------
    mask, out, areas, stream
        As for Analyzer.label().
    connectivity, threshold, threads, **options
        As for Analyzer.

    Returns
    -------
    array of int32
        In the mask's shape, 0 in the background; see Analyzer.label().

    Examples
    --------
    >>> mask = np.array([[1, 0, 1], [0, 1, 0]], np.uint8)
    >>> cudaccl.label(mask)
    array([[1, 0, 1],
           [0, 1, 0]], dtype=int32)
    >>> cudaccl.label(mask, connectivity=4)
    array([[1, 0, 2],
           [0, 3, 0]], dtype=int32)
    """
    options.update(connectivity=connectivity, threshold=threshold, threads=threads)
    return _cached(mask, True, options).label(mask, out, areas=areas, stream=stream)


def components(mask: Any, connectivity: int = 8, threshold: float = 0, *, threads: int = 1,
               stream: int | None = None, **options: Unpack[Options]) -> Components:
    """Find the components of a mask, a batch or a volume.

    Parameters
    ----------
    mask, stream
        As for Analyzer.label().
    connectivity, threshold, threads, **options
        As for Analyzer.

    Returns
    -------
    structured array, or a list of one for each mask of a batch
        See Analyzer.components().

    Examples
    --------
    >>> volume = np.zeros((3, 4, 5), bool)
    >>> volume[1:, 2, 3:] = True
    >>> cudaccl.components(volume, connectivity=6)["volume"]
    array([4])
    """
    every: dict[str, Any] = {**options, "connectivity": connectivity, "threshold": threshold, "threads": threads}
    return _cached(mask, False, every).components(mask, stream=stream)


@overload
def analyze(mask: NDArray[Any], connectivity: int = 8, threshold: float = 0, *, out: None = None, threads: int = 1,
            stream: int | None = None, **options: Unpack[Options]) -> tuple[Labels, Components]: ...


@overload
def analyze(mask: Any, connectivity: int = 8, threshold: float = 0, *, out: Any = None, threads: int = 1,
            stream: int | None = None, **options: Unpack[Options]) -> tuple[Any, Components]: ...


def analyze(mask: Any, connectivity: int = 8, threshold: float = 0, *, out: Any = None, threads: int = 1,
            stream: int | None = None, **options: Any) -> tuple[Any, Components]:
    """Label the pixels and find the components, in one pass.

    Parameters
    ----------
    mask, out, stream
        As for Analyzer.label().
    connectivity, threshold, threads, **options
        As for Analyzer.

    Returns
    -------
    labels, components
        As from label() and components().

    Examples
    --------
    >>> labels, components = cudaccl.analyze(np.array([[5, 5, 7]]), values="equal")
    >>> labels.tolist(), components["value"].tolist()
    ([[1, 1, 2]], [5, 7])
    """
    options.update(connectivity=connectivity, threshold=threshold, threads=threads)
    return _cached(mask, True, options).analyze(mask, out, stream=stream)
