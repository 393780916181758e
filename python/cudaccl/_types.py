# cudaccl - types of arguments and results
# SPDX-License-Identifier: LGPL-2.1-or-later
"""For type checkers. Arrays of other libraries than NumPy are Any, so that none of them is imported."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, Sequence, TypeAlias, TypedDict

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Labels: TypeAlias = NDArray[np.int32]
    Mask: TypeAlias = NDArray[np.uint8]

Feature = Literal["sums", "ellipse", "holes", "perimeter", "luma", "box"]
Backend = Literal["auto", "cpu", "cuda"]
Values = Literal["above", "band", "equal"]
Format = Literal["gray", "bgr", "rgb", "nv12"]

# A structured array, a list of one for each mask of a batch, or lists of tuples without NumPy.
Components: TypeAlias = Any


class Options(TypedDict, total=False):
    """The options of Analyzer that label(), components() and analyze() pass on."""

    invert: bool
    min_area: int
    max_area: int | None
    min_width: int
    min_height: int
    max_components: int | None
    features: Feature | Sequence[Feature]
    morphology: str | None
    include: str | None
    exclude: str | None
    backend: Backend
    device: int
    values: Values
    low: int
    high: int
    warn_copies: bool
