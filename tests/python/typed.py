# cudaccl - a program that uses the whole package, for type checkers
# SPDX-License-Identifier: LGPL-2.1-or-later
"""mypy --strict accepts it: an error that an ignored line does not have is one, too. Without NumPy, whose stubs take a
minute."""

from typing import Any

import cudaccl


def masks(mask: Any) -> int:
    labels: Any = cudaccl.label(mask, connectivity=4)
    labels = cudaccl.label(mask, threshold=127, min_area=9, morphology="median3,fill", max_components=None)
    labels, found = cudaccl.analyze(mask, features=("ellipse", "box"), include="0,0 1,0 1,1")
    areas: Any = cudaccl.components(mask, 8, 0, threads=0, stream=None)["area"]
    cudaccl.label(mask, out=mask, areas=mask)
    cudaccl.label(mask, min_are=9)  # type: ignore[call-overload]
    cudaccl.label(mask, values="equals")  # type: ignore[call-overload]
    cudaccl.components(mask, min_area="9")  # type: ignore[arg-type]
    cudaccl.components(mask, minarea=9)  # type: ignore[call-arg]
    cudaccl.clear_cache()
    return int(labels.max()) + len(found) + int(areas.sum())


def analyzers(mask: Any) -> dict[str, Any]:
    analyzer = cudaccl.Analyzer(26, values="above", backend="cpu", device=-1, warn_copies=True)
    labels: Any = analyzer.label(mask)
    labels, found = analyzer.analyze(mask)
    print(labels.shape, found["volume"], analyzer.found, cudaccl.cuda_device_count() + 1, cudaccl.__version__.split("."))
    cudaccl.Analyzer(features="colour")  # type: ignore[arg-type]
    return analyzer.info


def regions(labels: Any) -> list[cudaccl.Contour]:
    found: Any = cudaccl.properties(labels, intensity=labels, spacing=(1, .5))
    table: Any = cudaccl.regionprops_table(labels, properties=("bbox", "solidity"), spacing=2)
    kept: Any = cudaccl.dust(cudaccl.largest(labels, 9), n=20)
    cudaccl.dust(labels, "9")  # type: ignore[arg-type]
    cudaccl.regionprops_table(labels, propertis=("bbox",))  # type: ignore[call-arg]
    print(found["area"], table["bbox-0"])
    return [contour for contour in cudaccl.contours(kept, connectivity=4) if not contour.is_hole]


def motion(frame: Any) -> Any:
    model = cudaccl.Motion("nv12", learning_time=5, morphology="close5x11", scale=2)
    for component in model(frame, elapsed=0.04):
        print(component["x"])
    model.freeze = True
    model.reset()
    clean: Any = cudaccl.Morphology("median3")(model.mask, threshold=1)
    print(model.background.shape, model.shadows.shape, model.info["veil"], clean.any())
    cudaccl.Motion("yuv")  # type: ignore[arg-type]
    return model.mask
