# cudaccl - a drop-in for cc_torch
# SPDX-License-Identifier: LGPL-2.1-or-later
"""The function of the extension cc_torch that segmentation models call for their masks:

    from cudaccl.cc_torch import get_connected_components

For code that imports cc_torch itself: `sys.modules["cc_torch"] = cudaccl.cc_torch`."""

from __future__ import annotations

import torch

from ._analyzer import analyze


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
    if inputs.dtype not in (torch.bool, torch.uint8):
        inputs = inputs != 0
    labels = torch.empty(inputs.shape, dtype=torch.int32, device=inputs.device)
    if inputs.numel() == 0:
        return labels, labels.clone()
    # Not all versions of PyTorch hand out booleans.
    _, components = analyze(inputs.contiguous().view(torch.uint8), out=labels)
    parts = components if inputs.dim() > 2 else [components]
    # The areas of all masks one after another, with one of background before each.
    areas, starts = [], []
    for part in parts:
        starts.append(len(areas))
        areas.append(0)
        areas.extend(part["area"].tolist() if hasattr(part, "dtype") else [c.area for c in part])
    table = torch.tensor(areas, dtype=torch.int32, device=inputs.device)
    index = labels.long()
    if inputs.dim() > 2:
        index += torch.tensor(starts, device=inputs.device).view(-1, *[1] * (inputs.dim() - 1))
    return labels, table[index]
