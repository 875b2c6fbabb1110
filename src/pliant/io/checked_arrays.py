"""Arrays in NetCDF files, with sums by which damage is found; result.nc and the rows of studies are made of them."""

from __future__ import annotations

import hashlib
import json
from typing import Any

import numpy as np


def put_array(group: Any, name: str, values: Any, axes: tuple[str, ...]) -> None:
    """Write one array, or a text, into a group of a file."""
    for axis, size in zip(axes, values.shape, strict=True):
        if axis not in group.dimensions:
            group.dimensions[axis] = size
    group.create_variable(name, axes, data=values, dtype=text_type() if values.dtype == object else values.dtype)


def array_sum(values: Any) -> str:
    """Of one array."""
    data = json.dumps(values.tolist()).encode() if values.dtype == object else np.ascontiguousarray(values).data
    return f"{values.shape} {hashlib.blake2b(data, digest_size=16).hexdigest()}"


def text_type() -> Any:
    """Of variables that hold texts."""
    import h5py

    return h5py.string_dtype()


def taken_array(variable: Any) -> Any:
    """What a variable holds, as it was put there."""
    values = np.asarray(variable[...])
    return np.array(values.tolist(), dtype=object) if values.dtype.kind in "OSU" else values
