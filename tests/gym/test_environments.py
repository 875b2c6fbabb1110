"""Learning environments: Gymnasium's own check, the same bits for the same seed, and the motion of simulate."""

import copy
import pickle
import warnings

import numpy as np
import pytest

import pliant
from pliant import Body, Joint, Limit, Model, Rod
from pliant.errors import ModelError
from pliant.simulation.stepper_batch import StepperBatch

gymnasium = pytest.importorskip("gymnasium")
gym = pytest.importorskip("pliant.gym")
every = pytest.mark.parametrize("name", gym.ENVIRONMENTS)


def pendulum(**fields):
    rod = Body("rod", 1.0, shape=Rod(0.5))
    return Model("pendulum", [rod], [Joint("hinge", "revolute", "rod", damping=0.01)], gravity=(0, -9.81, 0), **fields)


def upright(s):
    return np.sin(s.q[..., 0])


def episode(environment, seed, actions):
    """Observations, rewards and ends under given actions."""
    found = [environment.reset(seed=seed)[0]]
    rewards = []
    for action in actions:
        observation, reward, terminated, truncated, _ = environment.step(action)
        found.append(observation)
        rewards.append(reward)
        if terminated or truncated:
            break
    return np.array(found), np.array(rewards)


@every
def test_gymnasium_s_own_check_passes(name):
    from gymnasium.utils.env_checker import check_env

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", DeprecationWarning)  # an old matplotlib, which draws, meets a new pyparsing
        # that observations have no bounds is so: speeds have none
        warnings.filterwarnings("ignore", message=".*(minimum|maximum) value is -?infinity.*")
        warnings.filterwarnings("ignore", message=".*alternative render modes.*")
        check_env(gym.make(name, render_mode="rgb_array"))


@every
def test_same_seed_and_actions_give_the_same_bits_another_seed_others(name):
    rng = np.random.default_rng(0)
    one, two = gym.make(name), gym.make(name)
    actions = rng.uniform(-1, 1, (40, *one.action_space.shape)).astype(np.float32)
    first = episode(one, 3, actions)
    episode(one, 4, actions)
    for again in (one, two):
        second = episode(again, 3, actions)
        assert np.array_equal(first[0], second[0])
        assert np.array_equal(first[1], second[1])
    assert not np.array_equal(first[0][0], episode(two, 4, actions)[0][0])


@every
@pytest.mark.parametrize("threads", [1, 3])
def test_robot_of_many_does_what_it_does_alone(name, threads):
    """Beyond the end of an episode, too: it then begins anew, as reset does."""
    many = gym.make_vec(name, 24, threads=threads)
    rng = np.random.default_rng(1)
    count = many.task.n_steps + 5
    actions = rng.uniform(-1, 1, (count, 24, *many.single_action_space.shape)).astype(np.float32)
    seen = [many.reset(seed=10)[0]]
    told = [many.step(each) for each in actions]
    seen += [row[0] for row in told]
    for i in (0, 7, 23):
        alone = gym.make(name)
        observation, is_over = alone.reset(seed=10 + i)[0], False
        assert np.array_equal(seen[0][i], observation)
        for k in range(count):
            if is_over:
                observation, reward, terminated, truncated = alone.reset()[0], 0.0, False, False
            else:
                observation, reward, terminated, truncated, _ = alone.step(actions[k, i])
            is_over = terminated or truncated
            assert np.array_equal(seen[k + 1][i], observation)
            assert (told[k][1][i], told[k][2][i], told[k][3][i]) == (reward, terminated, truncated)
    many.close()


def test_environment_moves_as_simulate_does():
    """Under a constant torque: steps of the environment are those of a run with that motor."""
    environment = gym.Environment(pendulum(), reward=upright, torque=2.0, dt=0.05, duration=1.0)
    environment.reset(seed=0)
    for _ in range(20):
        *_, truncated, _ = environment.step(np.ones(1, np.float32))
    assert truncated
    driven = Model(
        "driven",
        [Body("rod", 1.0, shape=Rod(0.5))],
        [Joint("hinge", "revolute", "rod", damping=0.01, motor=2.0)],
        gravity=(0, -9.81, 0),
    )
    end = pliant.simulate(driven, 1.0, rtol=1e-10)
    # 20 steps at rtol 1e-8
    assert np.allclose(environment.stepper.q, end.q[-1], atol=1e-6)
    assert np.allclose(environment.stepper.v, end.v[-1], atol=1e-5)


@every
def test_fixed_steps_of_an_environment_are_fine_enough(name):
    """An episode without torques against the same at rtol 1e-9: what the usual options leave is far below what a
    policy could tell."""
    coarse = gym.make(name)
    fine = gym.make(name, integrator="dop853", rtol=1e-9, step="off")
    calm = np.zeros((25, *coarse.action_space.shape), np.float32)
    one, two = episode(coarse, 2, calm)[0], episode(fine, 2, calm)[0]
    assert one.shape == two.shape
    assert np.max(np.abs(one - two)) < 5e-3 * max(1.0, np.max(np.abs(two)))


@every
def test_rewards_can_be_earned(name):
    """A plain controller that brings tip or angle to the goal earns more than no torque: the task can be done."""
    environment = gym.make(name)

    def total(policy):
        found = 0.0
        for seed in range(3):
            environment.reset(seed=seed)
            for _ in range(environment.task.n_steps):
                _, reward, terminated, truncated, _ = environment.step(policy())
                found += reward
                if terminated:  # what is lost stays lost
                    found -= 2.0 * environment._left
                if terminated or truncated:
                    break
        return found

    still = np.zeros(environment.action_space.shape, np.float32)
    assert total(lambda: controller(name, environment)) > total(lambda: still)


def controller(name, environment):
    """A spring from the tip to the goal and dampers in the joints, weight compensated; at the hub a PD controller."""
    stepper, model, goal = environment.stepper, environment.task.model, environment._goal
    q, v, torque = stepper.q, stepper.v, environment._robot.torques
    if name == "slew-v0":
        return np.clip((20.0 * (goal - q[:1]) - 4.0 * v[:1]) / torque, -1, 1)
    place = pliant.frame_placement(model, q, "tip").p
    J = pliant.jacobian(model, q, "tip")[:2]
    own = slice(3, 5) if name == "satellite-v0" else slice(None)
    weight = pliant.inverse_dynamics(model, q, 0 * v, 0 * v)[own] if name != "touch-v0" else weightless(model, q)
    pull, drag = (3.0, 1.5) if name == "satellite-v0" else (40.0, 2.0)
    tau = weight + J[:, own].T @ (pull * (goal[:2] - place[:2])) - drag * v[own]
    return np.clip(tau / torque, -1, 1)


def weightless(model, q):
    """Torques that hold the arm, without its contact."""
    import dataclasses

    free = dataclasses.replace(model, contacts=())
    return pliant.inverse_dynamics(free, q, np.zeros(2), np.zeros(2))


@every
def test_picture_shows_the_robot_where_it_is(name):
    environment = gym.make(name, render_mode="rgb_array")
    environment.reset(seed=0)
    first = environment.render()
    assert first.shape == (360, 480, 3)
    assert first.dtype == np.uint8
    for _ in range(15):
        environment.step(np.ones(environment.action_space.shape, np.float32))
    second = environment.render()
    assert 0.001 < np.mean(first != second) < 0.2
    many = gym.make_vec(name, 2, render_mode="rgb_array")
    many.reset(seed=0)
    assert np.array_equal(many.render()[0], first)


def test_registered_with_gymnasium():
    environment = gymnasium.make("pliant/slew-v0", payload=0.3)
    assert environment.unwrapped.task.model.bodies[1].mass == 0.3
    many = gymnasium.make_vec("pliant/reach-v0", num_envs=3, vectorization_mode="vector_entry_point")
    assert many.reset(seed=0)[0].shape == (3, 11)
    many.close()


def test_step_that_fails_ends_the_episode_with_its_reason():
    """A hard limit without stiffness stops the run."""
    rod = Body("rod", 1.0, shape=Rod(0.5))
    hinge = Joint("hinge", "revolute", "rod", limit=pliant.Limit(-0.5, 0.5))
    model = Model("stopped", [rod], [hinge], gravity=(0, -9.81, 0))
    environment = gym.Environment(model, reward=upright, duration=2.0)
    many = gym.VectorEnvironment(environment.task, 3)
    environment.reset(seed=0)
    many.reset(seed=0)
    for _ in range(100):
        _, _, terminated, _, info = environment.step(np.zeros(1, np.float32))
        _, _, over, _, infos = many.step(np.zeros((3, 1), np.float32))
        assert np.array_equal(over, [terminated] * 3)
        if terminated:
            break
    assert terminated
    assert "hinge" in info["reason"]
    assert list(infos["reason"]) == [info["reason"]] * 3
    with pytest.raises(ModelError, match="this episode is over, or has not begun; call reset"):
        environment.step(np.zeros(1, np.float32))


def test_task_s_goal_start_and_end_are_heeded():
    environment = gym.Environment(
        pendulum(),
        reward=lambda s: s.goal[..., 0],
        over=lambda s: s.t > 0.35,
        start=lambda rng: ([rng.uniform(1.0, 2.0)], [0.0]),
        goal=lambda rng: rng.uniform(5.0, 6.0),
        dt=0.1,
        torque=3.0,
    )
    observation, _ = environment.reset(seed=0)
    assert observation.shape == (3,)
    assert 1.0 <= observation[0] <= 2.0
    for k in range(4):
        _, reward, terminated, _, _ = environment.step([0.0])
        assert 5.0 <= reward <= 6.0
        assert terminated == (k == 3)


# --- the batch of steppers ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{}, {"integrator": "rk4", "step": 0.01}, {"integrator": "radau"}])
def test_batch_of_steppers_goes_on_as_each_would_alone(options):
    model = pliant.load("two-link-arm")
    alone = [pliant.stepper(model, **options) for _ in range(9)]
    batch = StepperBatch(pliant.stepper(model, **options), 9, threads=2)
    rng = np.random.default_rng(0)
    for k in range(12):
        tau = rng.normal(size=(9, len(batch.commanded)))
        dt = 0.01 if k < 6 else 0.02
        batch.step(tau, dt)
        for i, one in enumerate(alone):
            one.step(tau[i], dt)
        if k == 8:
            batch.reset(4)
            alone[4].reset()
    for i, one in enumerate(alone):
        assert np.array_equal(batch.q[i], one.q)
        assert np.array_equal(batch.v[i], one.v)
        assert batch.t[i] == one.t
    batch.close()


def test_batch_changes_the_integrator_where_equations_are_stiff():
    """ "auto" goes over to ark5 where a stiff stop is hit, in Python: the loop then goes on with the new tables."""
    stop = Limit(lower=-0.3, stiffness=1e7, damping=1e5)
    stiff = Joint("hinge", "revolute", "rod", limit=stop, q0=0.1)
    model = Model("stiff", [Body("rod", 1.0, shape=Rod(0.5))], [stiff], gravity=(0, -9.81, 0))
    alone, batch = pliant.stepper(model), StepperBatch(pliant.stepper(model), 2)
    for _ in range(8):
        alone.step([0.0], 0.5)
        batch.step(np.zeros((2, 1)), 0.5)
    assert len(alone._run.run.integrators) > 1
    assert np.array_equal(batch.q[1], alone.q)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: gym.make("slow-v0"), "name: 'slow-v0' found; did you mean 'slew-v0'?"),
        (lambda: gym.make("slew-v0", render_mode="human"), "render_mode: 'human' found; give 'rgb_array'"),
        (lambda: gym.Environment(pendulum(), reward=3.0), "reward: 3.0 found; give a function"),
        (lambda: gym.Environment(pendulum(), reward=upright, torque=(1.0, 2.0)), "give a number above 0, or 1 of them"),
        (lambda: gym.Environment(pendulum(), reward=upright, duration=0.001), "is less than a step of 0.02 s"),
        (lambda: gym.Environment(pendulum(), reward=upright, joints=("hing",)), "'hing' found; did you mean 'hinge'"),
        (lambda: gym.Environment(pendulum(), reward=upright, rewrd=1.0), "simulate has no option 'rewrd'"),
        (lambda: gym.Environment(3.0, reward=upright), "3.0 is no Model"),
        (lambda: gym.Environment(gym.make("slew-v0").task, dt=0.1), "a Task says dt itself"),
        (lambda: gym.make_vec("slew-v0", 0), "num_envs: 0 found"),
        (lambda: gym.make_vec("slew-v0", 2).reset(seed=[1]), "seed: 1 found; give one number, or 2 of them"),
        (lambda: gym.Environment(pendulum(), reward=upright, start=lambda rng: 1.0), "let it return (q, v)"),
        (lambda: gym.make("slew-v0").step([0.0]), "has not begun; call reset"),
    ],
)
def test_mistake_gets_a_sentence(call, words):
    with pytest.raises(ModelError) as caught:
        call()
    assert words in str(caught.value)


def test_without_gymnasium_a_sentence_says_what_to_install(monkeypatch):
    import importlib
    import sys

    for name in [each for each in sys.modules if each == "gymnasium" or each.startswith("pliant.gym")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "gymnasium", None)
    with pytest.raises(ModelError, match=r'pliant.gym needs gymnasium; install it with: pip install "pliant\[gym\]"'):
        importlib.import_module("pliant.gym")


def running(name="slew-v0"):
    environment = gym.make(name)
    environment.reset(seed=0)
    return environment


def many_running():
    environment = gym.make_vec("slew-v0", 2)
    environment.reset(seed=0)
    return environment


WRONG_STEPS = [None, "left", {}, [[0.0]], [0.0, 0.0], 0.5, [np.nan], [np.inf], ["0.5"], [1j], [None], object]
WRONG_SEEDS = ["one", 1.5, -1, True, [], {}, np.nan, object]


@pytest.mark.parametrize("value", WRONG_STEPS, ids=repr)
def test_a_wrong_action_is_one_kind_of_error_and_leaves_the_episode_as_it_is(value):
    environment, many = running(), many_running()
    before = environment.stepper.t
    with pytest.raises(ModelError, match=r"^action: "):
        environment.step(value)
    with pytest.raises(ModelError, match=r"^action: "):
        many.step(value)
    assert environment.stepper.t == before
    environment.step([0.1])
    many.step(np.full((2, 1), 0.1))


@pytest.mark.parametrize("value", WRONG_SEEDS, ids=repr)
def test_a_wrong_seed_is_one_kind_of_error(value):
    with pytest.raises(ModelError, match=r"^seed: "):
        running().reset(seed=value)
    with pytest.raises(ModelError, match=r"^seed: "):
        many_running().reset(seed=value)
    with pytest.raises(ModelError, match=r"^seed: "):
        many_running().reset(seed=[0, value])


def test_options_that_reset_does_not_take_are_refused():
    for environment in (running(), many_running()):
        environment.reset(options={})
        with pytest.raises(ModelError, match=r"^options: \{'reset_mask': \[True\]\} found, and reset takes none"):
            environment.reset(options={"reset_mask": [True]})


@every
@pytest.mark.parametrize("how", [lambda one: pickle.loads(pickle.dumps(one)), copy.deepcopy], ids=["pickle", "copy"])
def test_an_environment_goes_on_from_where_it_was_pickled_to_the_last_bit(name, how):
    environment = running(name)
    rng = np.random.default_rng(1)
    actions = rng.uniform(-1, 1, (12, *environment.action_space.shape)).astype(np.float32)
    for action in actions[:5]:
        environment.step(action)
    other = how(environment)
    for action in actions[5:]:
        one, two = environment.step(action), other.step(action)
        np.testing.assert_array_equal(one[0], two[0])
        assert one[1:4] == two[1:4]
    np.testing.assert_array_equal(environment.reset()[0], other.reset()[0])


@every
def test_many_environments_go_on_from_where_they_were_pickled(name):
    many = gym.make_vec(name, 3)
    many.reset(seed=2)
    actions = np.random.default_rng(1).uniform(-1, 1, (8, *many.action_space.shape)).astype(np.float32)
    for action in actions[:4]:
        many.step(action)
    other = pickle.loads(pickle.dumps(many))
    for action in actions[4:]:
        for one, two in zip(many.step(action)[:4], other.step(action)[:4], strict=True):
            np.testing.assert_array_equal(one, two)
