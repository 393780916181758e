# cudaccl - connected components of masks
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Connected components of masks, batches and volumes, on the CPU and on CUDA devices.

    labels = cudaccl.label(mask)
    components = cudaccl.components(mask)
    labels, components = cudaccl.analyze(mask)

Masks are NumPy arrays and other objects with the buffer protocol, CuPy arrays, PyTorch tensors, and
what else has `__cuda_array_interface__` or `__dlpack__`. Those of bool and uint8 are read where they
are, without a copy; other types, byte orders and strides are copied first. Components come in raster order of their
first pixels and are labelled 1...n."""

from ._analyzer import Analyzer, analyze, clear_cache, components, cuda_device_count, label
from ._motion import Morphology, Motion
from ._records import Component, VolumeComponent
from ._regions import Contour, contours, dust, largest, properties, regionprops_table
from . import _engine

__version__: str = _engine.version

__all__ = ["Analyzer", "Component", "Contour", "Morphology", "Motion", "VolumeComponent", "analyze", "clear_cache",
           "components", "contours", "cuda_device_count", "dust", "label", "largest", "properties", "regionprops_table"]
