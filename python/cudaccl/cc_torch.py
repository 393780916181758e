# cudaccl - a drop-in for cc_torch
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The function of the extension cc_torch that segmentation models call for their masks:

    from cudaccl.cc_torch import get_connected_components

For code that imports cc_torch itself: `sys.modules["cc_torch"] = cudaccl.cc_torch`. From PyTorch 2.4 on it is the operator
`torch.ops.cudaccl.connected_components`, which torch.compile and torch.export take."""

from __future__ import annotations

import torch

from ._analyzer import label


def _connected_components(inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    if inputs.dtype not in (torch.bool, torch.uint8):
        inputs = inputs != 0
    labels = torch.empty(inputs.shape, dtype=torch.int32, device=inputs.device)
    areas = torch.empty_like(labels)
    if inputs.numel() > 0:
        # Not all versions of PyTorch hand out booleans.
        label(inputs.contiguous().view(torch.uint8), out=labels, areas=areas)
    return labels, areas


if hasattr(torch.library, "custom_op"):
    _operator = torch.library.custom_op("cudaccl::connected_components", _connected_components, mutates_args=(),
                                        schema="(Tensor inputs) -> (Tensor, Tensor)")

    @_operator.register_fake
    def _(inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return (torch.empty(inputs.shape, dtype=torch.int32, device=inputs.device),
                torch.empty(inputs.shape, dtype=torch.int32, device=inputs.device))
else:
    _operator = _connected_components


def get_connected_components(inputs: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Label the components of a batch of masks with 8-connectivity, and count their pixels.

    Parameters
    ----------
    inputs : tensor of uint8 or bool
        (n, 1, height, width), (n, height, width) or (height, width), on the CPU or a CUDA device.

    Returns
    -------
    labels, counts : tensors of int32
        In the same shape, on the same device: the label of each pixel's component, which begin with 1 in each mask,
        and the component's number of pixels. Both are 0 in the background.
    """
    labels, areas = _operator(inputs)
    return labels, areas
