"""attitude(value, as_) converts attitudes: quaternions x y z w, matrices, rotation vectors, Euler angles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pydantic
from numpy.typing import NDArray

from pliant.engine.arguments import as_flag, as_numbers
from pliant.errors import ModelError
from pliant.model.attitudes import TABLES, Attitude, attitude_matrix
from pliant.model.messages import explain, quoted, shown
from pliant.model.quantities import parse_angle
from pliant.model.rotations import (
    SEQUENCES,
    euler_matrix,
    matrix_euler,
    matrix_quaternion,
    matrix_rotation_vector,
    quaternion_matrix,
    rotation_vector_matrix,
)

Array = NDArray[np.float64]
FORMS = 'quaternion, matrix, rotation_vector, or "euler:" and axes such as "euler:zyx" or "euler:xyz:fixed"'
WIDTHS = {"quaternion": (4,), "matrix": (3, 3), "rotation_vector": (3,), "euler": (3,)}


def attitude(value: Any, as_: str = "quaternion", *, from_: str | None = None, unwrap: bool = False) -> Array:
    """An attitude, or an array of them, in another form: "quaternion" (x y z w, w >= 0), "matrix" (its columns are the
    rotated axes), "rotation_vector" (axis times angle, 0 to pi), or "euler:zyx" with any of the twelve sequences, about
    the body's own axes, or about fixed ones: "euler:xyz:fixed". Angles in radians.

    value: arrays in the form from_ with any leading dimensions; without from_ what model files take (a quaternion, a
    matrix, or a table such as {"euler": "zyx", "angles": ["30 deg", 0, 0]}), or arrays (.., 4) or (.., 3, 3).
    unwrap: rows are one motion, and are continued without jumps from one to the next."""
    is_followed = as_flag(unwrap, "unwrap")
    found = express(_as_matrix(value, from_), as_)
    return follow(found, as_) if is_followed else found


def express(R: Array, as_: str) -> Array:
    """Rotation matrices (.., 3, 3) in a form."""
    form, sequence, is_fixed = _parse(as_, "as_")
    if form == "euler":
        return matrix_euler(sequence, R, is_fixed)
    if form == "rotation_vector":
        return matrix_rotation_vector(R)
    return matrix_quaternion(R) if form == "quaternion" else R.copy()


def _parse(form: Any, what: str) -> tuple[str, str, bool]:
    """(form, sequence, whether its axes are fixed)."""
    words = form.split(":") if isinstance(form, str) else [""]
    if words[0] == "euler" and len(words) in (2, 3):
        if words[1] in SEQUENCES and words[2:] in ([], ["body"], ["fixed"]):
            return "euler", words[1], words[2:] == ["fixed"]
        raise ModelError(
            f"{what}: {quoted(form)} found; the sequences are {', '.join(SEQUENCES)}, with :fixed for fixed axes"
        )
    if words[0] in WIDTHS and words != ["euler"] and len(words) == 1:
        return words[0], "", False
    raise ModelError(f"{what}: {quoted(form)} is no form of attitudes; give {FORMS}")


def _as_matrix(value: Any, from_: str | None) -> Array:
    if from_ is None and isinstance(value, (dict, *TABLES)):
        try:
            return attitude_matrix(pydantic.TypeAdapter(Attitude).validate_python(value))
        except pydantic.ValidationError as error:
            raise ModelError(explain(error, "attitude", value)) from None
    has_angles = from_ is not None and _parse(from_, "from_")[0] not in ("quaternion", "matrix")
    try:
        array = as_numbers(_in_radians(value) if has_angles else value, "attitude")
    except (ValueError, RecursionError) as error:
        raise ModelError(f"attitude: {shown(value)} is no array of numbers ({error}); give numbers") from None
    if from_ is None:
        if array.shape[-2:] != (3, 3) and array.shape[-1:] != (4,):
            raise ModelError(
                f"attitude: shape {array.shape} found; give (.., 4) or (.., 3, 3), or say what it is by from_: {FORMS}"
            )
        from_ = "matrix" if array.shape[-2:] == (3, 3) else "quaternion"
    form, sequence, is_fixed = _parse(from_, "from_")
    width = WIDTHS[form]
    if array.shape[-len(width) :] != width:
        listed = ", ".join(str(n) for n in width)
        raise ModelError(f"attitude: shape {array.shape} found; {from_!r} takes (.., {listed})")
    if not np.all(np.isfinite(array)):
        raise ModelError("attitude: some numbers are not finite; give finite ones")
    if form == "quaternion":
        if np.linalg.norm(array, axis=-1).min(initial=1.0) < 1e-6:
            raise ModelError("attitude: a quaternion has no length; give x y z w, (0, 0, 0, 1) for no rotation")
        return quaternion_matrix(array)
    if form == "matrix":
        off = np.abs(np.swapaxes(array, -1, -2) @ array - np.eye(3)).max(initial=0.0)
        if off > 1e-6 or np.linalg.det(array).min(initial=1.0) < 0:
            raise ModelError(
                f"attitude: a matrix is no rotation (R^T R is off by {off:.2g}, or it mirrors); give one whose columns "
                "are unit vectors at right angles, the third the cross product of the others"
            )
        return array
    return rotation_vector_matrix(array) if form == "rotation_vector" else euler_matrix(sequence, array, is_fixed)


def _in_radians(value: Any) -> Any:
    """Texts such as "30 deg" in lists as numbers."""
    if isinstance(value, (list, tuple)):
        return [_in_radians(item) for item in value]
    return parse_angle(value)


# --- without jumps ----------------------------------------------------------------------------------------------


def follow(rows: Array, form: str) -> Array:
    """Rows of one motion, each in the way of writing it that is nearest to the row before."""
    kind, sequence, _ = _parse(form, "as_")
    if kind == "matrix" or len(rows) < 2 or rows.ndim != 2:
        return rows
    choices = {"quaternion": _both_signs, "rotation_vector": _more_turns, "euler": _both_branches}[kind]
    out = rows.copy()
    for k in range(1, len(out)):
        ways = choices(out[k], out[k - 1], sequence)
        out[k] = ways[np.argmin(np.linalg.norm(ways - out[k - 1], axis=1))]
    return out


def _both_signs(row: Array, before: Array, _: str) -> Array:
    return np.array([row, -row])


def _more_turns(row: Array, before: Array, _: str) -> Array:
    """The same axis with whole revolutions more; without a rotation of its own the axis of the row before."""
    angle = np.linalg.norm(row)
    axis = row / angle if angle > 0 else before / (np.linalg.norm(before) or 1.0)
    turns = np.round((before @ axis - angle) / (2 * np.pi))
    return np.array([(angle + 2 * np.pi * turns) * axis])


def _both_branches(row: Array, before: Array, sequence: str) -> Array:
    """Both triples of angles that mean the same, each with whole revolutions more."""
    middle = -row[1] if sequence[0] == sequence[2] else np.pi - row[1]
    ways = np.array([row, [row[0] + np.pi, middle, row[2] + np.pi]])
    return np.asarray(ways + 2 * np.pi * np.round((before - ways) / (2 * np.pi)))
