"""Robots as learning environments of Gymnasium (optional: pip install "pliant[gym]").

make("reach-v0") is one environment, make_vec("reach-v0", 64) many at once; Environment(model, reward=...) makes one of
any model. On import the built-in ones are registered with Gymnasium, too: gymnasium.make("pliant/reach-v0")."""

from pliant.errors import ModelError

try:
    import gymnasium as _gymnasium
except ModuleNotFoundError:
    raise ModelError('pliant.gym needs gymnasium; install it with: pip install "pliant[gym]"') from None

from pliant.gym.environment import Environment, VectorEnvironment
from pliant.gym.registry import ENVIRONMENTS, make, make_vec
from pliant.gym.task import States, Task

__all__ = ["ENVIRONMENTS", "Environment", "States", "Task", "VectorEnvironment", "make", "make_vec"]

for _name in ENVIRONMENTS:
    if f"pliant/{_name}" not in _gymnasium.registry:
        _gymnasium.register(
            f"pliant/{_name}",
            entry_point="pliant.gym.registry:make",
            vector_entry_point="pliant.gym.registry:make_vec",
            kwargs={"name": _name},
        )
