"""The public names of pliant, listed here once: editors and type checkers read this file, and so does __init__.py."""

from pliant.cases.loading import load as load, load_grid as load_grid
from pliant.simulation.simulate import simulate as simulate
from pliant.simulation.prepared_run import prepare_run as prepare_run, PreparedRun as PreparedRun
from pliant.simulation.stepper import stepper as stepper, Stepper as Stepper, SavedState as SavedState
from pliant.simulation.feedforward import drive_torques as drive_torques
from pliant.simulation.many_runs import simulate_many as simulate_many
from pliant.simulation.runs import Runs as Runs
from pliant.study.study import Study as Study, load_study as load_study
from pliant.study.runs import StudyRuns as StudyRuns
from pliant.trust.certify import certify as certify, Certificate as Certificate
from pliant.trust.estimate import CertifiedFigure as CertifiedFigure
from pliant.trust.compare import compare as compare, Comparison as Comparison
from pliant.identification.fit import fit as fit
from pliant.identification.fitted import Fit as Fit
from pliant.identification.optimise import optimise as optimise, Optimum as Optimum
from pliant.identification.sensitivity import sensitivity as sensitivity, Sensitivity as Sensitivity
from pliant.identification.estimates import Estimate as Estimate
from pliant.identification.parameters import Parameter as Parameter
from pliant.result import Result as Result, load_result as load_result
from pliant.errors import (
    PliantError as PliantError,
    ModelError as ModelError,
    SimulationError as SimulationError,
    AccuracyWarning as AccuracyWarning,
)
from pliant.engine.prepared import prepare as prepare, Prepared as Prepared
from pliant.queries.dynamics import (
    forward_dynamics as forward_dynamics,
    inverse_dynamics as inverse_dynamics,
    mass_matrix as mass_matrix,
    reactions as reactions,
    energy as energy,
    momentum as momentum,
)
from pliant.queries.frames import (
    jacobian as jacobian,
    jacobian_rate as jacobian_rate,
    frame_placement as frame_placement,
    frame_velocity as frame_velocity,
)
from pliant.queries.space_robots import (
    rate_names as rate_names,
    generalised_jacobian as generalised_jacobian,
    free_velocity as free_velocity,
    reaction_null_basis as reaction_null_basis,
    reaction_null_projector as reaction_null_projector,
    reaction_null_velocity as reaction_null_velocity,
)
from pliant.queries.equilibrium import equilibrium as equilibrium
from pliant.linear.linearise import linearise as linearise
from pliant.linear.state_space import StateSpace as StateSpace
from pliant.linear.lqr import lqr as lqr
from pliant.linear.stable_inversion import stable_inversion as stable_inversion, TipTorque as TipTorque
from pliant.linear.modes import modes as modes, frequencies as frequencies, Modes as Modes
from pliant.linear.transfer_matrix.transfer import transfer as transfer, Transfer as Transfer
from pliant.linear.transfer_matrix.response import FrequencyResponse as FrequencyResponse
from pliant.model.model import Model as Model, Base as Base, Load as Load, Crossing as Crossing, Output as Output
from pliant.model.springs import Spring as Spring, ForceTable as ForceTable
from pliant.model.control import Controller as Controller
from pliant.model.control_laws import (
    PD as PD,
    PID as PID,
    ComputedTorque as ComputedTorque,
    LinearController as LinearController,
    StateFeedback as StateFeedback,
)
from pliant.model.bodies import (
    Body as Body,
    Surface as Surface,
    Frame as Frame,
    Rod as Rod,
    Tube as Tube,
    Box as Box,
    Sphere as Sphere,
)
from pliant.model.attitudes import (
    AxisAngle as AxisAngle,
    RollPitchYaw as RollPitchYaw,
    EulerAngles as EulerAngles,
    RotationVector as RotationVector,
    Pose as Pose,
)
from pliant.queries.attitude import attitude as attitude
from pliant.model.flexible import (
    Beam as Beam,
    AxialShapes as AxialShapes,
    Bending as Bending,
    Damping as Damping,
    Material as Material,
    PointMass as PointMass,
    SampledShapes as SampledShapes,
    ShapeSource as ShapeSource,
    Rectangle as Rectangle,
    Circle as Circle,
    RoundTube as RoundTube,
    BoxTube as BoxTube,
    GivenSection as GivenSection,
    TaperedSection as TaperedSection,
)
from pliant.model.rigid_twin import rigid_twin as rigid_twin
from pliant.model.flexible_links import make_flexible as make_flexible, FlexibleLink as FlexibleLink
from pliant.model.joints import Joint as Joint, Limit as Limit
from pliant.model.denavit_hartenberg import DenavitHartenberg as DenavitHartenberg, DHRow as DHRow
from pliant.model.segmented_beams import SegmentedBeam as SegmentedBeam, segmented_beam as segmented_beam
from pliant.model.transmissions import Transmission as Transmission, TorqueTable as TorqueTable
from pliant.model.contacts import Contact as Contact, Plane as Plane
from pliant.model.normal_laws import (
    NormalLaw as NormalLaw,
    Hooke as Hooke,
    KelvinVoigt as KelvinVoigt,
    HertzLaw as HertzLaw,
    HuntCrossley as HuntCrossley,
    HerbertMcWhannell as HerbertMcWhannell,
    LeeWang as LeeWang,
    LankaraniNikravesh as LankaraniNikravesh,
    Gonthier as Gonthier,
    ZhiyingQishao as ZhiyingQishao,
    Flores as Flores,
    GharibHurmuzlu as GharibHurmuzlu,
    HuGuo as HuGuo,
    Exact as Exact,
    Hertz as Hertz,
)
from pliant.model.friction_laws import (
    Friction as Friction,
    Coulomb as Coulomb,
    Stiction as Stiction,
    Viscous as Viscous,
    Stribeck as Stribeck,
    Karnopp as Karnopp,
    BengisuAkay as BengisuAkay,
    Ambrosio as Ambrosio,
    Atan as Atan,
    Tanh as Tanh,
    StepStribeck as StepStribeck,
    Dahl as Dahl,
    LuGre as LuGre,
)
from pliant.model.loops import Loop as Loop
from pliant.methods.formulations import (
    Articulated as Articulated,
    BoltzmannHamel as BoltzmannHamel,
    DeNOC as DeNOC,
    GibbsAppell as GibbsAppell,
    Lagrange as Lagrange,
    TransferMatrix as TransferMatrix,
)
from pliant.methods.integrators import (
    Dop853 as Dop853,
    BS5 as BS5,
    Dopri5 as Dopri5,
    Rkf45 as Rkf45,
    Rk4 as Rk4,
    Adams as Adams,
    Radau as Radau,
    ARK4 as ARK4,
    ARK5 as ARK5,
    GeneralisedAlpha as GeneralisedAlpha,
    HHT as HHT,
    Newmark as Newmark,
    FoxEuler as FoxEuler,
    Wilson as Wilson,
    Houbolt as Houbolt,
    Proposed as Proposed,
    AutoIntegrator as AutoIntegrator,
)
from pliant.methods.closures import (
    Multipliers as Multipliers,
    Reduced as Reduced,
    Springs as Springs,
    Implicit as Implicit,
)
from pliant.mechanisms.assembly import assemble as assemble, mobility as mobility
from pliant.mechanisms.motion import closed_motion as closed_motion, motor_forces as motor_forces
from pliant.model.signals import (
    Constant as Constant,
    Linear as Linear,
    Step as Step,
    Ramp as Ramp,
    Cycloid as Cycloid,
    SpeedChange as SpeedChange,
    Sine as Sine,
    Chirp as Chirp,
    Table as Table,
    Sum as Sum,
    Product as Product,
    delayed as delayed,
)
from pliant.engine.sampled import sampled as sampled
from pliant.model.input_shaping import input_shaper as input_shaper, InputShaper as InputShaper
from pliant import gym as gym
from pliant.io.toml import load_model as load_model, save_model as save_model

__version__: str
