"""pliant simulates robots whose links and joints bend and which hit things.

Names are resolved on first use: importing pliant imports neither numba nor scipy."""

import importlib
from typing import Any

__version__ = "0.1.0"

_HOME = {
    "pliant.command.loading": ("load", "load_grid"),
    "pliant.simulation.simulate": ("simulate",),
    "pliant.simulation.prepared_run": ("prepare_run", "PreparedRun"),
    "pliant.simulation.many_runs": ("simulate_many", "Runs"),
    "pliant.result": ("Result",),
    "pliant.errors": ("PliantError", "ModelError", "SimulationError", "AccuracyWarning"),
    "pliant.engine.prepared": ("prepare", "Prepared"),
    "pliant.queries.dynamics": (
        "forward_dynamics",
        "inverse_dynamics",
        "mass_matrix",
        "reactions",
        "energy",
        "momentum",
    ),
    "pliant.queries.frames": ("jacobian", "jacobian_rate", "frame_placement", "frame_velocity"),
    "pliant.queries.space_robots": (
        "rate_names",
        "generalised_jacobian",
        "free_velocity",
        "reaction_null_basis",
        "reaction_null_projector",
        "reaction_null_velocity",
    ),
    "pliant.queries.equilibrium": ("equilibrium",),
    "pliant.model.model": ("Model", "Base", "Load", "Crossing", "Output"),
    "pliant.model.control": ("Controller",),
    "pliant.model.bodies": ("Body", "Surface", "Frame", "Rod", "Tube", "Box", "Sphere"),
    "pliant.model.attitudes": ("AxisAngle", "RollPitchYaw", "EulerAngles", "RotationVector", "Pose"),
    "pliant.queries.attitude": ("attitude",),
    "pliant.model.flexible": (
        "Beam",
        "Bending",
        "Damping",
        "Material",
        "PointMass",
        "ShapeSource",
        "Rectangle",
        "Circle",
        "RoundTube",
        "BoxTube",
        "GivenSection",
        "TaperedSection",
    ),
    "pliant.model.flexible_links": ("make_flexible", "FlexibleLink"),
    "pliant.model.joints": ("Joint", "Limit"),
    "pliant.model.contacts": ("Contact", "Plane", "NormalLaw", "Hertz", "Friction"),
    "pliant.model.loops": ("Loop",),
    "pliant.mechanisms.assembly": ("assemble", "mobility"),
    "pliant.mechanisms.motion": ("closed_motion", "motor_forces"),
    "pliant.model.signals": (
        "Constant",
        "Step",
        "Ramp",
        "Cycloid",
        "Sine",
        "Chirp",
        "Table",
        "Sum",
        "Product",
    ),
    "pliant.io.toml": ("load_model", "save_model"),
}
_MODULE_OF = {name: module for module, names in _HOME.items() for name in names}
__all__ = ["__version__", *_MODULE_OF]


def __getattr__(name: str) -> Any:
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'pliant' has no attribute {name!r}")
    value = getattr(importlib.import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
