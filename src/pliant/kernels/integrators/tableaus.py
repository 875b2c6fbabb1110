"""Methods as data: Butcher tableaus, and the facts of implicit methods; numpy only. Checked when they are made.

Every row ends in the derivative at the end of the step (stage n_stages: A row = weights, c = 1): it is the first stage
of the next step, whatever the method, and dense output needs it. Extra stages for dense output follow.
References: Hairer, Norsett, Wanner, Solving Ordinary Differential Equations I (1993), II.5, II.6, II.10 and the
authors' DOPRI5 and DOP853; Fehlberg, NASA TR R-315 (1969); bootstrapped quartic: Shampine, Math. Comp. 46 (1986).
"""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.kernels.integrators import adams_table, ark_table
from pliant.system.newton import N_SECOND_ORDER_ROWS

Array = NDArray[np.float64]
# second-order methods and their order with default parameters
SECOND_ORDER = {
    "generalised_alpha": 2,
    "hht": 2,
    "newmark": 2,
    "fox_euler": 1,
    "wilson": 2,
    "houbolt": 2,
    "proposed": 3,
}
Sparse = Mapping[int, float]


class Tableau(NamedTuple):
    """One method: its order, dense output, step control; of explicit Runge-Kutta methods the coefficients too."""

    name: str
    order: int
    dense_order: int  # of the dense output over a whole run
    n_stages: int
    A: Array  # (n_all, n_all)
    c: Array  # (n_all)
    E: Array  # error weights, a row per estimate; those that need the derivative at the end come last
    D: Array  # weights of the dense terms r4, r5, ..; no rows: quartic by bootstrapping
    n_terms: int  # of the dense output
    n_early: int  # estimates known before the end; two of them are combined (8(5,3): fifth and third order)
    alpha: float  # PI controller: factor = safety error^-alpha error_old^beta
    beta: float
    shrink: float  # least and largest factor between steps
    growth: float
    is_adaptive: bool
    safety: float = 0.9  # of the controller
    fading: float = 0.0  # steps before the end of a force d^1.5 in which the error estimate is not to be believed
    n_factors: int = 0  # matrices that Newton's method factors (a complex one counts twice); 0: explicit


def _matrix(sparse_rows: Sequence[Sparse], width: int) -> Array:
    matrix = np.zeros((len(sparse_rows), width))
    for i, row in enumerate(sparse_rows):
        for j, value in row.items():
            matrix[i, j] = value
    return matrix


def _tableau(
    name: str,
    order: int,
    n_stages: int,
    A: Sequence[Sparse],
    c: Sequence[float],
    E: Sequence[Sparse] = (),
    D: Sequence[Sparse] = (),
    *,
    dense_order: int = 4,
    beta: float = 0.0,
    safety: float = 0.9,
    fading: float = 0.0,
    shrink: float = 0.2,
    growth: float = 10.0,
) -> Tableau:
    """Fill the arrays and check what must hold for any method."""
    n_all = len(c)
    a, nodes, e, d = _matrix(A, n_all), np.array(c, np.float64), _matrix(E, n_all), _matrix(D, n_all)
    largest, late = 1.0 + np.abs(a).max(), e[:, n_stages] != 0.0
    checks = {
        "explicit": not np.triu(a).any(),
        "row sums are the nodes": np.allclose(a.sum(axis=1), nodes, rtol=0.0, atol=1e-14 * largest),
        "weights sum to one": abs(a[n_stages].sum() - 1.0) < 1e-14 * largest and nodes[n_stages] == 1.0,
        "error weights sum to zero": np.allclose(e.sum(axis=1), 0.0, atol=1e-14 * largest),
        "estimates that need the end come last": list(late) == sorted(late),
        # a constant derivative is met by r0 and r1 alone
        "dense weights sum to zero": np.allclose(d.sum(axis=1), 0.0, atol=1e-14 * (1.0 + np.abs(d).max(initial=0.0))),
    }
    for what, holds in checks.items():
        if not holds:
            raise ValueError(f"tableau {name}: {what}: does not hold")
    return Tableau(
        name=name,
        order=order,
        dense_order=dense_order,
        n_stages=n_stages,
        A=a,
        c=nodes,
        E=e,
        D=d,
        n_terms=4 + len(D) if D else 5,
        n_early=int(np.sum(~late)),
        alpha=1.0 / order - 0.75 * beta,  # Hairer and Wanner, IV.2
        beta=beta,
        shrink=shrink,
        growth=growth,
        is_adaptive=len(E) > 0,
        safety=safety,
        fading=fading,
    )


def _implicit(name: str, order: int, dense_order: int, n_rows: int, n_terms: int, **more: Any) -> Tableau:
    """A method whose coefficients are in its own file; n_rows: of memory.stages that it uses."""
    facts = {"n_early": 0, "alpha": 0.25, "beta": 0.0, "shrink": 0.1, "growth": 8.0} | more
    none = np.zeros((0, n_rows))
    return Tableau(
        name, order, dense_order, 0, np.zeros((n_rows, n_rows)), np.zeros(n_rows), none, none, n_terms, **facts
    )


# of pairs of order 5, whose steps are often rejected on robots that hit things: so a third fewer are, and an error of
# 1e-5 takes 5 to 10 % fewer evaluations
_PAIR = {"beta": 0.02, "safety": 0.8, "fading": 0.2}

# --- the classical one: fixed steps only --------------------------------------------------------------------------

RK4 = _tableau(
    "rk4",
    4,
    4,
    [{}, {0: 1 / 2}, {1: 1 / 2}, {2: 1.0}, {0: 1 / 6, 1: 1 / 3, 2: 1 / 3, 3: 1 / 6}],
    [0, 1 / 2, 1 / 2, 1, 1],
)

# --- Fehlberg 4(5) with local extrapolation: the fifth-order solution is carried on --------------------------------

RKF45 = _tableau(
    "rkf45",
    5,
    6,
    [
        {},
        {0: 1 / 4},
        {0: 3 / 32, 1: 9 / 32},
        {0: 1932 / 2197, 1: -7200 / 2197, 2: 7296 / 2197},
        {0: 439 / 216, 1: -8.0, 2: 3680 / 513, 3: -845 / 4104},
        {0: -8 / 27, 1: 2.0, 2: -3544 / 2565, 3: 1859 / 4104, 4: -11 / 40},
        {0: 16 / 135, 2: 6656 / 12825, 3: 28561 / 56430, 4: -9 / 50, 5: 2 / 55},
    ],
    [0, 1 / 4, 3 / 8, 12 / 13, 1, 1 / 2, 1],
    [{0: 1 / 360, 2: -128 / 4275, 3: -2197 / 75240, 4: 1 / 50, 5: 2 / 55}],
    **_PAIR,
)

# --- Dormand and Prince 5(4) --------------------------------------------------------------------------------------

DOPRI5 = _tableau(
    "dopri5",
    5,
    6,
    [
        {},
        {0: 1 / 5},
        {0: 3 / 40, 1: 9 / 40},
        {0: 44 / 45, 1: -56 / 15, 2: 32 / 9},
        {0: 19372 / 6561, 1: -25360 / 2187, 2: 64448 / 6561, 3: -212 / 729},
        {0: 9017 / 3168, 1: -355 / 33, 2: 46732 / 5247, 3: 49 / 176, 4: -5103 / 18656},
        {0: 35 / 384, 2: 500 / 1113, 3: 125 / 192, 4: -2187 / 6784, 5: 11 / 84},
    ],
    [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1],
    [{0: 71 / 57600, 2: -71 / 16695, 3: 71 / 1920, 4: -17253 / 339200, 5: 22 / 525, 6: -1 / 40}],
    [
        {
            0: -12715105075 / 11282082432,
            2: 87487479700 / 32700410799,
            3: -10690763975 / 1880347072,
            4: 701980252875 / 199316789632,
            5: -1453857185 / 822651844,
            6: 69997945 / 29380423,
        }
    ],
    **_PAIR,
)

# --- Bogacki and Shampine 5(4) --------------------------------------------------------------------------------------

_BS5_WEIGHTS = (587 / 8064, 0.0, 4440339 / 15491840, 24353 / 124800, 387 / 44800, 2152 / 5985, 7267 / 94080, 0.0)
# their two fourth-order solutions, less this. The first is known before the last two stages: it does not see a force
# that jumps late in the step. The second hardly sees where a force d^1.5 ends: the error of a step that ends there is
# 116 times that estimate, and 25 times the first
_BS5_FIRST = {0: -3 / 1280, 2: 6561 / 632320, 3: -343 / 20800, 4: 243 / 12800, 5: -1 / 95}
_BS5_FOURTH = (2479 / 34992, 0, 123 / 416, 612941 / 3411720, 43 / 1440, 2272 / 6561, 79937 / 1113912, 3293 / 556956)
_BS5_SECOND = {j: fourth - w for j, (fourth, w) in enumerate(zip(_BS5_FOURTH, _BS5_WEIGHTS, strict=True)) if j != 1}

BS5 = _tableau(
    "bs5",
    5,
    7,
    [
        {},
        {0: 1 / 6},
        {0: 2 / 27, 1: 4 / 27},
        {0: 183 / 1372, 1: -162 / 343, 2: 1053 / 1372},
        {0: 68 / 297, 1: -4 / 11, 2: 42 / 143, 3: 1960 / 3861},
        {0: 597 / 22528, 1: 81 / 352, 2: 63099 / 585728, 3: 58653 / 366080, 4: 4617 / 20480},
        {
            0: 174197 / 959244,
            1: -30942 / 79937,
            2: 8152137 / 19744439,
            3: 666106 / 1039181,
            4: -29421 / 29068,
            5: 482048 / 414219,
        },
        dict(enumerate(_BS5_WEIGHTS)),
    ],
    [0, 1 / 6, 2 / 9, 3 / 7, 2 / 3, 3 / 4, 1, 1],
    [_BS5_FIRST, _BS5_SECOND],
    **_PAIR,
)

# --- Dormand and Prince 8(5,3), Hairer's DOP853 -------------------------------------------------------------------

_DOP853_A = (
    {},
    {0: 0.05260015195876773},
    {0: 0.0197250569845379, 1: 0.0591751709536137},
    {0: 0.02958758547680685, 2: 0.08876275643042054},
    {0: 0.2413651341592667, 2: -0.8845494793282861, 3: 0.924834003261792},
    {0: 0.037037037037037035, 3: 0.17082860872947386, 4: 0.12546768756682242},
    {0: 0.037109375, 3: 0.17025221101954405, 4: 0.06021653898045596, 5: -0.017578125},
    {
        0: 0.03709200011850479,
        3: 0.17038392571223998,
        4: 0.10726203044637328,
        5: -0.015319437748624402,
        6: 0.008273789163814023,
    },
    {
        0: 0.6241109587160757,
        3: -3.3608926294469414,
        4: -0.868219346841726,
        5: 27.59209969944671,
        6: 20.154067550477894,
        7: -43.48988418106996,
    },
    {
        0: 0.47766253643826434,
        3: -2.4881146199716677,
        4: -0.590290826836843,
        5: 21.230051448181193,
        6: 15.279233632882423,
        7: -33.28821096898486,
        8: -0.020331201708508627,
    },
    {
        0: -0.9371424300859873,
        3: 5.186372428844064,
        4: 1.0914373489967295,
        5: -8.149787010746927,
        6: -18.52006565999696,
        7: 22.739487099350505,
        8: 2.4936055526796523,
        9: -3.0467644718982196,
    },
    {
        0: 2.273310147516538,
        3: -10.53449546673725,
        4: -2.0008720582248625,
        5: -17.9589318631188,
        6: 27.94888452941996,
        7: -2.8589982771350235,
        8: -8.87285693353063,
        9: 12.360567175794303,
        10: 0.6433927460157636,
    },
    {
        0: 0.054293734116568765,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: 0.3111643669578199,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.04471061572777259,
    },
    {
        0: 0.056167502283047954,
        6: 0.25350021021662483,
        7: -0.2462390374708025,
        8: -0.12419142326381637,
        9: 0.15329179827876568,
        10: 0.00820105229563469,
        11: 0.007567897660545699,
        12: -0.008298,
    },
    {
        0: 0.03183464816350214,
        5: 0.028300909672366776,
        6: 0.053541988307438566,
        7: -0.05492374857139099,
        10: -0.00010834732869724932,
        11: 0.0003825710908356584,
        12: -0.00034046500868740456,
        13: 0.1413124436746325,
    },
    {
        0: -0.42889630158379194,
        5: -4.697621415361164,
        6: 7.683421196062599,
        7: 4.06898981839711,
        8: 0.3567271874552811,
        12: -0.0013990241651590145,
        13: 2.9475147891527724,
        14: -9.15095847217987,
    },
)
_DOP853_C = (
    0.0,
    0.05260015195876773,
    0.0789002279381516,
    0.1183503419072274,
    0.2816496580927726,
    0.3333333333333333,
    0.25,
    0.3076923076923077,
    0.6512820512820513,
    0.6,
    0.8571428571428571,
    1.0,
    1.0,
    0.1,
    0.2,
    0.7777777777777778,
)
# fifth-order estimate first, then third-order
_DOP853_E = (
    {
        0: 0.01312004499419488,
        5: -1.2251564463762044,
        6: -0.4957589496572502,
        7: 1.6643771824549864,
        8: -0.35032884874997366,
        9: 0.3341791187130175,
        10: 0.08192320648511571,
        11: -0.022355307863886294,
    },
    {
        0: -0.18980075407240762,
        5: 4.450312892752409,
        6: 1.8915178993145003,
        7: -5.801203960010585,
        8: -0.4226823213237919,
        9: -0.1521609496625161,
        10: 0.20136540080403034,
        11: 0.02265179219836082,
    },
)
_DOP853_D = (
    {
        0: -8.428938276109013,
        5: 0.5667149535193777,
        6: -3.0689499459498917,
        7: 2.38466765651207,
        8: 2.117034582445028,
        9: -0.871391583777973,
        10: 2.2404374302607883,
        11: 0.6315787787694688,
        12: -0.08899033645133331,
        13: 18.148505520854727,
        14: -9.194632392478356,
        15: -4.436036387594894,
    },
    {
        0: 10.427508642579134,
        5: 242.28349177525817,
        6: 165.20045171727028,
        7: -374.5467547226902,
        8: -22.113666853125306,
        9: 7.733432668472264,
        10: -30.674084731089398,
        11: -9.332130526430229,
        12: 15.697238121770845,
        13: -31.139403219565178,
        14: -9.35292435884448,
        15: 35.81684148639408,
    },
    {
        0: 19.985053242002433,
        5: -387.0373087493518,
        6: -189.17813819516758,
        7: 527.8081592054236,
        8: -11.57390253995963,
        9: 6.8812326946963,
        10: -1.0006050966910838,
        11: 0.7777137798053443,
        12: -2.778205752353508,
        13: -60.19669523126412,
        14: 84.32040550667716,
        15: 11.99229113618279,
    },
    {
        0: -25.69393346270375,
        5: -154.18974869023643,
        6: -231.5293791760455,
        7: 357.6391179106141,
        8: 93.40532418362432,
        9: -37.45832313645163,
        10: 104.0996495089623,
        11: 29.8402934266605,
        12: -43.53345659001114,
        13: 96.32455395918828,
        14: -39.17726167561544,
        15: -149.72683625798564,
    },
)

# beta: Hairer's code uses 0; on robots the PI memory halves the rejections (pendulum 373 -> 200 of 1200 steps)
DOP853 = _tableau(
    "dop853", 8, 12, _DOP853_A, _DOP853_C, _DOP853_E, _DOP853_D, dense_order=7, beta=0.25 / 8, shrink=0.333, growth=6.0
)

# --- implicit methods ---------------------------------------------------------------------------------------------

RADAU = _implicit("radau", 5, 5, 14, 5, is_adaptive=True, n_factors=3)
_SECOND_ORDER = [
    _implicit(name, order, min(order, 2), N_SECOND_ORDER_ROWS, 4, is_adaptive=False, n_factors=1)
    for name, order in SECOND_ORDER.items()
]

# --- semi-implicit methods: an explicit and an implicit tableau with common nodes and weights -----------------------


def _additive(
    name: str,
    order: int,
    AE: Sequence[Sparse],
    AI: Sequence[Sparse],
    hat: Sparse,
    D: Sequence[Sparse],
    dense_order: int,
) -> Tableau:
    """A: both tableaus; one more stage is the derivative at the end."""
    s = len(AE)
    explicit, implicit, embedded = _matrix(AE, s + 1), _matrix(AI, s + 1), _matrix([hat], s + 1)
    nodes, weights = explicit.sum(axis=1), implicit[-1]
    d = _matrix(D, s + 1)
    checks = {
        "the first is explicit": not np.triu(explicit).any() and not np.triu(implicit, 1).any(),
        "nodes are common": np.allclose(implicit.sum(axis=1), nodes, rtol=0.0, atol=1e-14),
        "weights sum to one": abs(weights.sum() - 1.0) < 1e-14 and abs(embedded.sum() - 1.0) < 1e-14,
        "one diagonal": not implicit[0].any() and len(set(np.diag(implicit)[1:])) == 1,
        "dense weights sum to zero": np.allclose(d.sum(axis=1), 0.0, atol=1e-14),
    }
    for what, holds in checks.items():
        if not holds:
            raise ValueError(f"tableau {name}: {what}: does not hold")
    return Tableau(
        name=name,
        order=order,
        dense_order=dense_order,
        n_stages=s,
        A=np.vstack([explicit, implicit]),
        c=np.append(nodes, 1.0),
        E=weights - embedded,
        D=d,
        n_terms=4 + len(D),
        n_early=1,
        alpha=1.0 / order,
        beta=0.0,
        shrink=0.2,
        growth=6.0,
        is_adaptive=True,
    )


ARK4 = _additive("ark4", 4, ark_table.ARK4_E, ark_table.ARK4_I, ark_table.ARK4_HAT, (), 3)
ARK5 = _additive("ark5", 5, ark_table.ARK5_E, ark_table.ARK5_I, ark_table.ARK5_HAT, (ark_table.ARK5_DENSE,), 4)

# --- a method with a past: its tables are room for it; it begins with order 1 ---------------------------------------

ADAMS = Tableau(
    "adams",
    order=1,
    dense_order=1,
    n_stages=0,
    **adams_table.tables(adams_table.HIGHEST),
    n_terms=adams_table.N_TERMS,
    n_early=0,
    alpha=0.5,
    beta=0.0,
    shrink=0.5,
    growth=24.0,  # of steps that grow fourfold in the root of time, from its beginning on
    is_adaptive=True,
    fading=8.0,
)

TABLEAUS = {
    tableau.name: tableau for tableau in (DOP853, BS5, DOPRI5, RKF45, RK4, ADAMS, RADAU, ARK4, ARK5, *_SECOND_ORDER)
}


def with_order(name: str, highest: int | None) -> Tableau:
    """A method by name; of variable order: up to the highest."""
    tableau = TABLEAUS[name]
    return tableau if highest is None else tableau._replace(**adams_table.tables(highest))
