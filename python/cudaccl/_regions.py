# cudaccl - regions of a label map
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Measures, selections and outlines of existing label maps, from here or from elsewhere."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple, Sequence

from . import _engine, _records

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_MOMENTS, _OUTLINE, _HULL = 1, 2, 4
_TABLES = ("label", "area", "box", "sums", "central", "outline", "hull", "values", "weighted")
_ROOT = math.sqrt(2)
# Of the configurations of 2 x 2 pixels, in the order of scikit-image.
_EULER = (0, 0, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0, 0, -1, 0)
_CROFTON = tuple(math.pi / 4 * part for part in (0, 1 + 1 / _ROOT, 1 / _ROOT, _ROOT, 0, 1 + 1 / _ROOT, 0, 1 / _ROOT, 1, 2,
                                                 1 / _ROOT, 1 / _ROOT, 1, 2, 0, 0))
_BORDER = (1, _ROOT, (1 + _ROOT) / 2)


def _numpy():
    np = _records.numpy()
    if np is None:
        raise ImportError("label maps are measured with NumPy, which is missing")
    return np


def _take(labels, mask=False):
    """(int32 without gaps, None or the label of each number in it, the array as it came)."""
    np = _numpy()
    array = np.ma.filled(labels, 0) if isinstance(labels, np.ma.MaskedArray) else np.asarray(labels)
    if array.ndim not in (2, 3):
        raise ValueError(f"a label map of shape {array.shape}; it is (height, width) or (depth, height, width)")
    if array.dtype == bool and mask:
        return np.ascontiguousarray(array, np.int32), None, array
    if array.dtype.kind not in "iu":
        raise TypeError(f"a label map is of integers, not {array.dtype}; label() makes one of a mask")
    names = None
    if array.size and array.dtype.itemsize > 2:
        high = int(array.max())
        low = int(array.min()) if array.dtype.itemsize > 4 else 0  # see _engine.measure()
        if low < 0:
            raise ValueError(f"labels are at least 0, not {low}; 0 is background")
        if high > 4 * array.size + 65536:  # a table of all numbers would be mostly empty
            names, places = np.unique(array, return_inverse=True)
            if names[0] < 0:
                raise ValueError(f"labels are at least 0, not {int(names[0])}; 0 is background")
            if names[0] != 0:
                names, places = np.concatenate([np.zeros(1, names.dtype), names]), places + 1
            return np.ascontiguousarray(places.reshape(array.shape), np.int32), names, array
    return np.require(array, np.int32, "CA"), names, array


def _spacing(spacing, axes):
    np = _numpy()
    steps = np.ones(axes) if spacing is None else np.asarray(spacing, float)
    if steps.ndim == 0:
        steps = np.full(axes, steps)
    if steps.shape != (axes,) or not np.isfinite(steps).all() or steps.min() <= 0:
        raise ValueError(f"spacing {spacing!r}; it is a number above 0, or one for each of {axes} axes")
    return steps


def _take_intensity(intensity, shape):
    np = _numpy()
    if np.ma.is_masked(intensity):
        raise TypeError("the intensity has masked pixels; set their labels to 0, and pass its data")
    intensity = np.asarray(intensity)
    if intensity.dtype.kind not in "biuf":
        raise TypeError(f"the intensity is of real numbers, not {intensity.dtype}")
    if intensity.shape != shape:
        raise ValueError(f"the intensity has the shape {intensity.shape}, not the label map's, {shape}")
    return np.require(intensity, np.float64, "CA")


class _Regions:
    """The tables of a label map, and what follows from them. Methods have the names of scikit-image's properties."""

    def __init__(self, labels, intensity, spacing, parts):
        np = self.np = _numpy()
        numbers, names, array = _take(labels)
        self.axes = numbers.ndim
        self.spacing = _spacing(spacing, self.axes)
        if intensity is not None:
            intensity = _take_intensity(intensity, array.shape)
        if numbers.size == 0:  # as a map of background, which has no regions either
            numbers = np.zeros((1,) * self.axes, np.int32)
            intensity = None if intensity is None else np.zeros((1,) * self.axes)
        tables = _engine.measure(numbers, intensity, parts, self.spacing[0], self.spacing[1])
        self.tables = {name: None if memory is None else np.asarray(memory) for name, memory in zip(_TABLES, tables)}
        self.numbers = numbers
        self.label = self.tables["label"][:, 0].astype(np.int64)
        if names is not None:
            self.label = names[self.label]
        self.pixels = self.tables["area"][:, 0]
        self.box = self.tables["box"]
        self.cached = {}

    def __getitem__(self, name):
        if name not in self.cached:
            self.cached[name] = getattr(self, "get_" + name)()
        return self.cached[name]

    def _scale(self, moments):
        """Moments of coordinates in pixels, in units of the spacing; (n, 4, 4) or (n, 4, 4, 4)."""
        moments = moments.reshape((-1,) + (4,) * self.axes)
        for axis, step in enumerate(self.spacing):
            if step != 1:
                moments = moments * (step ** self.np.arange(4)).reshape((4,) + (1,) * (self.axes - 1 - axis))
        return moments

    def _isotropic(self, name):
        if len(set(self.spacing)) > 1:
            raise NotImplementedError(f"{name} has one spacing for all axes")
        return self.spacing[0]

    def get_label(self):
        return self.label

    def get_num_pixels(self):
        return self.pixels

    def get_area(self):
        return self.pixels * math.prod(self.spacing)

    def get_bbox(self):
        return self.box

    def get_area_bbox(self):
        sizes = self.box[:, self.axes:] - self.box[:, :self.axes]
        return self.np.prod(sizes, axis=1) * math.prod(self.spacing)

    def get_extent(self):
        return self["area"] / self["area_bbox"]

    def get_equivalent_diameter_area(self):
        return (2 * self.axes * self["area"] / math.pi) ** (1 / self.axes)

    def get_centroid(self):
        return self.tables["sums"] / self.pixels[:, None] * self.spacing

    def get_centroid_local(self):
        corner = self.box[:, :self.axes]
        return (self.tables["sums"] - corner * self.pixels[:, None]) / self.pixels[:, None] * self.spacing

    def get_moments_central(self):
        return self._scale(self.tables["central"])

    def get_moments(self):
        """From the central ones: all terms of the shift are of coordinates at least 0."""
        np, moments = self.np, self["moments_central"]
        for axis in range(self.axes):
            at = self["centroid_local"][:, axis]
            shift = np.zeros((len(at), 4, 4))
            for p in range(4):
                for i in range(p + 1):
                    shift[:, p, i] = math.comb(p, i) * at ** (p - i)
            moments = np.moveaxis(np.einsum("npi,ni...->np...", shift, np.moveaxis(moments, axis + 1, 1)), 1, axis + 1)
        return moments

    def _normalize(self, central):
        powers = self.np.indices((4,) * self.axes).sum(axis=0)
        first = central[(slice(None),) + (0,) * self.axes].reshape((-1,) + (1,) * self.axes)
        with self.np.errstate(divide="ignore", invalid="ignore"):
            moments = central / min(self.spacing) ** powers / first ** (powers / self.axes + 1)
        moments[:, powers < 2] = self.np.nan
        return moments

    def get_moments_normalized(self):
        return self._normalize(self["moments_central"])

    def _hu(self, nu, name):
        if (self.spacing != 1).any():
            raise NotImplementedError(f"{name} has no spacing")
        nu = nu.transpose(1, 2, 0)
        a, b = nu[3, 0] + nu[1, 2], nu[2, 1] + nu[0, 3]
        c, d = nu[3, 0] - 3 * nu[1, 2], 3 * nu[2, 1] - nu[0, 3]
        total, across, mixed = nu[2, 0] + nu[0, 2], nu[2, 0] - nu[0, 2], nu[1, 1]
        e, f = a * (a * a - 3 * b * b), b * (3 * a * a - b * b)
        return self.np.stack([total, across ** 2 + 4 * mixed ** 2, c * c + d * d, a * a + b * b, c * e + d * f,
                              across * (a * a - b * b) + 4 * mixed * a * b, d * e - c * f], axis=1)

    def get_moments_hu(self):
        return self._hu(self["moments_normalized"], "moments_hu")

    def get_inertia_tensor(self):
        np, central = self.np, self["moments_central"]
        count = central[(slice(None),) + (0,) * self.axes]
        tensor = np.zeros((len(count), self.axes, self.axes))
        unit = np.eye(self.axes, dtype=int)
        squares = [central[(slice(None), *(2 * unit[i]))] for i in range(self.axes)]
        for i in range(self.axes):
            tensor[:, i, i] = (sum(squares) - squares[i]) / count
            for k in range(i):
                tensor[:, i, k] = tensor[:, k, i] = -central[(slice(None), *(unit[i] + unit[k]))] / count
        return tensor

    def get_inertia_tensor_eigvals(self):
        return self.np.clip(self.np.linalg.eigvalsh(self["inertia_tensor"])[:, ::-1], 0, None)

    def get_axis_major_length(self):
        values = self["inertia_tensor_eigvals"]
        if self.axes == 2:
            return 4 * self.np.sqrt(values[:, 0])
        return self.np.sqrt(self.np.maximum(10 * (values[:, 0] + values[:, 1] - values[:, 2]), 0))

    def get_axis_minor_length(self):
        values = self["inertia_tensor_eigvals"]
        if self.axes == 2:
            return 4 * self.np.sqrt(values[:, 1])
        return self.np.sqrt(self.np.maximum(10 * (values[:, 1] + values[:, 2] - values[:, 0]), 0))

    def get_eccentricity(self):
        large, small = self["inertia_tensor_eigvals"].T
        return self.np.sqrt(1 - self.np.divide(small, large, out=self.np.ones_like(large), where=large > 0))

    def get_orientation(self):
        np, tensor = self.np, self["inertia_tensor"]
        a, b, c = tensor[:, 0, 0], tensor[:, 0, 1], tensor[:, 1, 1]
        return np.where(a == c, np.where(b < 0, math.pi / 4, -math.pi / 4), 0.5 * np.arctan2(-2 * b, c - a))

    def get_perimeter(self):
        return self.tables["outline"][:, 16:] @ self.np.array(_BORDER) * self._isotropic("perimeter")

    def get_perimeter_crofton(self):
        return self.tables["outline"][:, :16] @ self.np.array(_CROFTON) * self._isotropic("perimeter_crofton")

    def get_euler_number(self):
        return self.tables["outline"][:, :16] @ self.np.array(_EULER)

    def get_area_convex(self):
        return self.tables["hull"][:, 0] * math.prod(self.spacing)

    def get_solidity(self):
        return self["area"] / self["area_convex"]

    def get_feret_diameter_max(self):
        return self.np.sqrt(self.tables["hull"][:, 1])

    def get_area_filled(self):
        """The sum of the areas within outlines that are not within others of their label."""
        np = self.np
        label, parent, _, _, area = np.asarray(_engine.trace(self.numbers, False)[0]).T
        outermost, at = np.ones(len(label), bool), parent
        while (at >= 0).any():
            outermost &= (at < 0) | (label[at] != label)
            at = np.where(at >= 0, parent[at], -1)
        sums = np.zeros(1 + max(label.max(initial=0), self.tables["label"].max(initial=0)), np.int64)
        np.add.at(sums, label[outermost], area[outermost])
        return sums[self.tables["label"][:, 0]] * math.prod(self.spacing)

    def get_intensity_mean(self):
        return self.tables["values"][:, 0] / self.pixels

    def get_intensity_min(self):
        return self.tables["values"][:, 1]

    def get_intensity_max(self):
        return self.tables["values"][:, 2]

    def get_intensity_std(self):
        return self.np.sqrt(self.tables["values"][:, 3] / self.pixels)

    def get_moments_weighted(self):
        return self._scale(self.tables["weighted"][:, :4 ** self.axes])

    def get_moments_weighted_central(self):
        return self._scale(self.tables["weighted"][:, 4 ** self.axes:])

    def get_moments_weighted_normalized(self):
        return self._normalize(self["moments_weighted_central"])

    def get_moments_weighted_hu(self):
        return self._hu(self["moments_weighted_normalized"], "moments_weighted_hu")

    def get_centroid_weighted_local(self):
        moments, unit = self["moments_weighted"], self.np.eye(self.axes, dtype=int)
        with self.np.errstate(divide="ignore", invalid="ignore"):
            return self.np.stack([moments[(slice(None), *unit[i])] / moments[(slice(None),) + (0,) * self.axes]
                                  for i in range(self.axes)], axis=1)

    def get_centroid_weighted(self):
        return self["centroid_weighted_local"] + self.box[:, :self.axes] * self.spacing


_NEEDS = {
    0: ("label", "num_pixels", "area", "bbox", "area_bbox", "extent", "equivalent_diameter_area", "centroid",
        "centroid_local"),
    _MOMENTS: ("moments", "moments_central", "moments_normalized", "moments_hu", "inertia_tensor",
               "inertia_tensor_eigvals", "axis_major_length", "axis_minor_length", "eccentricity", "orientation",
               "moments_weighted", "moments_weighted_central", "moments_weighted_normalized", "moments_weighted_hu",
               "centroid_weighted", "centroid_weighted_local"),
    _OUTLINE: ("perimeter", "perimeter_crofton", "euler_number"),
    _HULL: ("area_convex", "solidity", "feret_diameter_max"),
    8: ("area_filled", "intensity_mean", "intensity_min", "intensity_max", "intensity_std"),  # no part of measure()
}
_PARTS = {name: part for part, names in _NEEDS.items() for name in names}
_FLAT = {*_NEEDS[_OUTLINE], *_NEEDS[_HULL], "area_filled", "moments_hu", "moments_weighted_hu", "eccentricity",
         "orientation"}


def _check_names(names, axes, intensity):
    parts = 0
    for name in names:
        if name not in _PARTS:
            raise ValueError(f"property {name!r}; there are {', '.join(sorted(_PARTS))}")
        if axes == 3 and name in _FLAT:
            raise NotImplementedError(f"{name} is for label maps (height, width)")
        if intensity is None and ("intensity" in name or "weighted" in name):
            raise ValueError(f"{name} needs an intensity image")
        parts |= _PARTS[name] & 7
    return parts


def regionprops_table(label_image: Any, intensity_image: Any = None, properties: Sequence[str] = ("label", "bbox"), *,
                      separator: str = "-", spacing: float | Sequence[float] | None = None) -> dict[str, NDArray[Any]]:
    """Measure the regions of a label map, with the names of scikit-image.

    The results are those of skimage.measure.regionprops_table() within rounding, much faster. All properties that are
    numbers exist for two dimensions, but for the median of the intensity; three dimensions have sizes, places, moments
    and intensities.

    Parameters
    ----------
    label_image : array of int
        (height, width) or (depth, height, width); 0 is background. Regions need not be connected.
    intensity_image : array, optional
        Of the same shape, one channel.
    properties : sequence of str
        Such as "area", "bbox", "centroid", "axis_major_length", "solidity", "feret_diameter_max", "moments_hu",
        "euler_number", "perimeter", "intensity_mean".
    separator : str
        Between names and numbers of columns.
    spacing : float or sequence of float, optional
        The distance of pixels, for each axis in the order of the shape.

    Returns
    -------
    dict of str to array
        A column for each property, or for each of its numbers, such as "bbox-0"; in the order of labels.

    Raises
    ------
    NotImplementedError
        If a property has no meaning in three dimensions, or with that spacing.

    Examples
    --------
    >>> labels = np.array([[1, 1, 0], [0, 0, 7]])
    >>> cudaccl.regionprops_table(labels, properties=("label", "area", "centroid"))["centroid-1"]
    array([0.5, 2. ])
    """
    np = _numpy()
    parts = _check_names(properties, np.ndim(label_image), intensity_image)
    weighted = any("intensity" in name or "weighted" in name for name in properties)
    regions = _Regions(label_image, intensity_image if weighted else None, spacing, parts)
    table = {}
    for name in properties:
        value = np.asarray(regions[name])
        if value.ndim == 1:
            table[name] = value
            continue
        for place in np.ndindex(value.shape[1:]):
            table[separator.join([name, *map(str, place)])] = value[(slice(None), *place)]
    return table


_FIELDS = [("area", "area"), ("extent", "extent"), ("equivalent_diameter", "equivalent_diameter_area"),
           ("major_axis", "axis_major_length"), ("minor_axis", "axis_minor_length")]
_FIELDS_FLAT = [("eccentricity", "eccentricity"), ("euler_number", "euler_number"), ("solidity", "solidity"),
                ("feret_diameter", "feret_diameter_max"), ("perimeter", "perimeter")]
_FIELDS_INTENSITY = [("intensity_" + name, "intensity_" + name) for name in ("mean", "std", "min", "max")]


def properties(labels: Any, intensity: Any = None,
               spacing: float | Sequence[float] | None = None) -> NDArray[np.void]:
    """Measure the regions of an existing label map.

    Parameters
    ----------
    labels : array of int
        (height, width) or (depth, height, width); 0 is background. Regions need not be connected, and may touch.
    intensity : array, optional
        Of the same shape, one channel.
    spacing : float or sequence of float, optional
        The distance of pixels, for each axis in the order of the shape. Boxes stay in pixels.

    Returns
    -------
    structured array
        In the order of labels: label, x, y, width, height, area, extent, equivalent_diameter, major_axis, minor_axis,
        orientation (as with components()), eccentricity, euler_number, solidity, feret_diameter, perimeter (NaN if the
        spacing differs between axes), centroid_x and centroid_y; with an intensity intensity_mean, _std, _min and
        _max, weighted_x and weighted_y. In three dimensions label, x, y, z, width, height, depth, volume, extent,
        equivalent_diameter, the axes, centroids and intensities.

    Examples
    --------
    >>> found = cudaccl.properties([[1, 1, 0], [0, 0, 7]], intensity=[[1, 3, 0], [0, 0, 5]])
    >>> found[["label", "area", "intensity_mean"]].tolist()
    [(1, 2.0, 2.0), (7, 1.0, 5.0)]
    """
    np = _numpy()
    fields = _FIELDS + (_FIELDS_FLAT if np.ndim(labels) == 2 else [])
    fields += _FIELDS_INTENSITY if intensity is not None else []
    regions = _Regions(labels, intensity, spacing, 7 if np.ndim(labels) == 2 else _MOMENTS)
    columns = {"label": regions.label}
    axes = "xyz"[:regions.axes]
    for i, (name, size) in enumerate(zip(axes, ("width", "height", "depth"))):
        columns[name] = regions.box[:, -1 - i - regions.axes]
        columns[size] = regions.box[:, -1 - i] - columns[name]
    for field, name in fields:
        columns["volume" if name == "area" and regions.axes == 3 else field] = (
            np.full(len(regions.label), np.nan) if name == "perimeter" and len(set(regions.spacing)) > 1 else regions[name])
    if regions.axes == 2:
        central = regions["moments_central"]
        columns["orientation"] = 0.5 * np.arctan2(2 * central[:, 1, 1], central[:, 0, 2] - central[:, 2, 0])
    for kind, name in (("centroid", "centroid"), ("weighted", "centroid_weighted")):
        for i, axis in enumerate(axes if kind == "centroid" or intensity is not None else ""):
            columns[f"{kind}_{axis}"] = regions[name][:, -1 - i]
    records = np.empty(len(regions.label), [(name, column.dtype) for name, column in columns.items()])
    for name, column in columns.items():
        records[name] = column
    return records


def _keep(labels, choose):
    """The label map without those regions that choose(areas) leaves out, in the type that it came in."""
    np = _numpy()
    numbers, names, array = _take(labels)
    if array.size == 0:
        return array.copy()
    tables = _engine.measure(numbers, None, 0, 1.0, 1.0)
    kept, areas = np.asarray(tables[0])[:, 0], np.asarray(tables[1])[:, 0]
    table = np.zeros(int(kept[-1]) + 1 if len(kept) else 1, np.int32)
    kept = kept[choose(areas)]
    table[kept] = kept
    result = np.asarray(_engine.rename(numbers, table))
    if array.dtype == np.int32 and names is None:
        return result
    return np.where(result > 0, array, array.dtype.type(0))


def largest(labels: Any, k: int = 1) -> NDArray[Any]:
    """Keep only the largest regions of a label map.

    Parameters
    ----------
    labels : array of int
        (height, width) or (depth, height, width); 0 is background.
    k : int
        How many; of equally large ones, those with the lowest labels.

    Returns
    -------
    array
        A copy, 0 in all other regions.

    Examples
    --------
    >>> cudaccl.largest([[1, 0, 2], [0, 2, 2]])
    array([[0, 0, 2],
           [0, 2, 2]])
    """
    np = _numpy()
    if k < 0:
        raise ValueError(f"k is {k}; it is at least 0")
    return _keep(labels, lambda areas: np.sort(np.argsort(-areas, kind="stable")[:k]))


def dust(labels: Any, n: int) -> NDArray[Any]:
    """Drop the small regions of a label map.

    Parameters
    ----------
    labels : array of int
        (height, width) or (depth, height, width); 0 is background.
    n : int
        Regions with fewer pixels go.

    Returns
    -------
    array
        A copy, 0 in these regions.

    Examples
    --------
    >>> cudaccl.dust([[1, 0, 2], [0, 2, 2]], 2)
    array([[0, 0, 2],
           [0, 2, 2]])
    """
    return _keep(labels, lambda areas: areas >= n)


class Contour(NamedTuple):
    """An outline of a region; what contours() returns a list of."""

    label: int
    parent: int | None
    is_hole: bool
    polygon: Any


def contours(labels: Any, connectivity: int = 8) -> list[Contour]:
    """Find the outlines of the regions of a label map, and of their holes, as a tree.

    Outlines run between pixels, so that the area of a polygon is that of its pixels.

    Parameters
    ----------
    labels : array of int or bool
        (height, width); 0 is background. Parts of a region that do not touch have an outline each.
    connectivity : int
        8: pixels that touch at a corner are within one outline; 4: they are not.

    Returns
    -------
    list of Contour
        In the order of their first pixels. label; parent, the index of the outline around it, None if there is none: of
        a hole that of its region, of others that of a hole or None; is_hole; polygon, the corners (n, 2) as x, y,
        clockwise, those of holes counterclockwise.

    Examples
    --------
    >>> ring = np.ones((3, 3), int)
    >>> ring[1, 1] = 0
    >>> [(c.label, c.parent, c.polygon.tolist()) for c in cudaccl.contours(ring)]
    [(1, None, [[0, 0], [3, 0], [3, 3], [0, 3]]), (1, 0, [[1, 2], [2, 2], [2, 1], [1, 1]])]
    """
    np = _numpy()
    if connectivity not in (4, 8):
        raise ValueError(f"connectivity {connectivity!r}; it is 4 or 8")
    numbers, names, array = _take(labels, mask=True)
    if array.ndim != 2:
        raise ValueError(f"a label map of shape {array.shape}; outlines are of (height, width)")
    if array.size == 0:
        return []
    outlines, points = (np.asarray(memory) for memory in _engine.trace(numbers, connectivity == 8))
    rows = outlines.tolist()
    ends = [row[3] for row in rows[1:]] + [len(points)]
    return [Contour(label if names is None else int(names[label]), None if parent < 0 else parent, bool(hole),
                    points[first:end]) for (label, parent, hole, first, _), end in zip(rows, ends)]
