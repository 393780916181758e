# cudaccl - arrays that the engine does not read in place
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Other types, byte orders and strides than those of the engine, and NumPy's masked arrays, become copies that it reads."""

import contextlib
import math
import operator
import sys

_MAX_CLASS = (1 << 31) - 1
_MAX_CLASSES = 65535


def is_byte(threshold):
    """Whether the engine can compare bytes with it."""
    return 0 <= threshold <= 255 and threshold == int(threshold)


def is_masked(array):
    """Whether it is one of numpy.ma, which the engine would read without its mask."""
    return type(array).__module__.startswith("numpy.ma")


def _library(array):
    """The module of an array that can be copied here, or None."""
    name = type(array).__module__.partition(".")[0]
    module = sys.modules.get(name) if name in ("numpy", "cupy", "torch") else None
    return module if module and hasattr(array, "dtype") else None


class _Stream:
    """A stream in CUDA's protocol for Python."""

    def __init__(self, number):
        self.number = number

    def __cuda_stream__(self):
        return 0, self.number


@contextlib.contextmanager
def on_stream(array, stream):
    """Copies of an array on a CUDA device are made on the stream, a number; None: that of its library."""
    library = _library(array)
    if stream is None or library is None or library.__name__ == "numpy":
        yield
        return
    stream = operator.index(stream)
    if not 0 <= stream < 1 << 64:
        raise ValueError(f"stream is {stream}; it is 0 to {(1 << 64) - 1}")
    if library.__name__ == "cupy":
        # Version 14 deprecates ExternalStream.
        external = getattr(library.cuda.Stream, "from_external", None)
        with array.device, external(_Stream(stream)) if external else library.cuda.ExternalStream(stream):
            yield
    elif array.is_cuda:
        # PyTorch knows its default stream as 0 only; CUDA also numbers it 1.
        with library.cuda.stream(library.cuda.ExternalStream(0 if stream == 1 else stream, array.device)):
            yield
    else:
        yield


def _contiguous(library, array):
    if library.__name__ == "torch":
        return array.contiguous()
    array = library.ascontiguousarray(array)
    return array if getattr(array.flags, "aligned", True) else array.copy()


def _is_contiguous(library, array):
    if library.__name__ == "torch":
        return array.is_contiguous()
    return array.flags.c_contiguous and getattr(array.flags, "aligned", True)


def _type(array):
    """The name of its type, such as int32; another one in the other byte order."""
    name = getattr(array.dtype, "name", None) or str(array.dtype).rpartition(".")[2]
    return name if getattr(array.dtype, "isnative", True) else "swapped " + name


def _as_type(library, array, name):
    kind = getattr(library, name, None)
    if kind is None:
        raise TypeError(f"classes above 255 need {name}, which this version of {library.__name__} lacks")
    return array.to(kind) if library.__name__ == "torch" else array.astype(kind)


def _classes(library, array, volume):
    """Returns the classes as uint8 or uint16, those of volumes also as int32, and a list with the class of each value, or
    None if they are the same."""
    name = _type(array)
    if not any(kind in name for kind in ("int", "bool")):
        raise TypeError(f"classes are integers, not {name}; round them first, or label array > level")
    if "bool" in name or 0 in array.shape:
        return _as_type(library, array, "uint8"), None
    low, high = array.min().item(), array.max().item()
    if low < 0 or high > _MAX_CLASS:
        raise ValueError(f"classes are 0 to 2**31 - 1, not {low if low < 0 else high}; 0 is background")
    if high <= 255:
        return _as_type(library, array, "uint8"), None
    if high <= _MAX_CLASSES:
        return _as_type(library, array, "uint16"), None
    if volume:
        return _as_type(library, array, "int32"), None
    values, places = library.unique(array, return_inverse=True)
    values = values.tolist()
    first = 0 if values[0] == 0 else 1
    if len(values) + first > _MAX_CLASSES + 1:
        raise ValueError(f"{len(values)} different classes; there may be {_MAX_CLASSES}")
    name = "uint8" if len(values) + first <= 256 else "uint16"
    return _as_type(library, places.reshape(array.shape) + first, name), [0] * first + values


def _above(array, threshold):
    """Returns which pixels are above the threshold. Integers are compared exactly: libraries would convert the threshold
    to the array's type, where it wraps around, or both to floating point."""
    name = _type(array)
    if "int" not in name:
        return array > threshold
    threshold = math.floor(threshold)
    bits = int(name.rpartition("int")[2])
    least, most = (0, (1 << bits) - 1) if "uint" in name else (-1 << bits - 1, (1 << bits - 1) - 1)
    if threshold < least:
        return array == array
    return array > threshold if threshold < most else array != array


def _foreground(array, values, threshold, low, high):
    if values == "above":
        return array != 0 if threshold == 0 else _above(array, threshold)
    if "int" in _type(array):
        return _above(array, low - 1) & ~_above(array, high)
    return (array >= low) & (array <= high)


def _cover(library, array, covered, value):
    """A copy with @value where it is covered."""
    array = array.copy()
    array[covered] = value
    return array


def convert(array, values, threshold, low, high, invert, volume):
    """Returns (copy, whether it is foreground already, classes), or None if there is nothing to convert. classes: see
    _classes(). Raises TypeError and ValueError for what no copy can mend."""
    library, covered = _library(array), None
    if library is None:
        return None
    if is_masked(array):
        covered, array = library.ma.getmaskarray(array), array.data
    name = _type(array)
    native = (name in ("bool", "uint8") or (name == "uint16" and values != "above")
              or (name in ("int32", "uint32") and values == "equal" and volume))
    if values == "equal":
        if native and covered is None and _is_contiguous(library, array):
            return None
        if covered is not None:
            array = _cover(library, array, covered, 0)
        array, classes = (array, None) if native else _classes(library, array, volume)
        return _contiguous(library, array), False, classes
    if native and (values == "band" or is_byte(threshold)):
        if covered is None:
            return None if _is_contiguous(library, array) else (_contiguous(library, array), False, None)
        if values == "above" and not invert:
            return _cover(library, array, covered, 0), False, None
    foreground = _foreground(array, values, threshold, low, high)
    if covered is not None:
        foreground = _cover(library, foreground, covered, invert)
    if library.__name__ == "torch":  # older versions have no booleans in DLPack
        foreground = foreground.to(library.uint8)
    return _contiguous(library, foreground), True, None
