"""flex3 by Exudyn: ANCF cable elements, generalised-alpha.

Its contact is a spring and damper as long as the tip is below the floor: at the end of a contact the damper pulls,
where pliant's force ends. Therefore each engine is compared with a fine run of its own law: "native" is Exudyn's
contact, "clamped" is pliant's as a Python function, too slow to be timed. Newton's default tolerances (1e-8) are below
what rounding allows for 8 elements: steps are then halved without end, and the tip drifts by 1e-3 m in free fall. Fine
runs take 1e-6, with which 8 and 16 elements and pliant agree to 1e-5 m until the tip meets the floor."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from pliant_benchmarks.models import Array, Cables
from pliant_benchmarks.peers import Run, Setting, peer

DURATION = 1.5  # [s]
GRID = np.linspace(0.01, DURATION, 150)  # [s]
STATED = Setting("4 elements", steps=7500)  # h = .2 ms
SWEEPS = tuple(
    tuple(Setting(f"{n} elements", steps=round(DURATION / 2e-3 * 2 ** (k / 2))) for k in range(9)) for n in (1, 2, 4)
)


class CableSystem:
    """The links with so many elements each; run() integrates and returns the tip on the grid (x, y)."""

    def __init__(self, cables: Cables, elements: int, law: str = "native") -> None:
        self.exu, items = peer("exudyn"), importlib.import_module("exudyn.itemInterface")
        self.container = self.exu.SystemContainer()  # must live as long as its system
        self.system = self.container.AddSystem()
        tip = _add_links(self.system, items, cables, elements)
        _add_floor(self.system, items, cables, tip, law)
        position = self.exu.OutputVariableType.Position
        self.sensor = self.system.AddSensor(
            items.SensorNode(nodeNumber=tip, outputVariableType=position, storeInternal=True)
        )
        self.system.Assemble()

    def run(self, steps: int, is_fine: bool = False) -> Array:
        """is_fine: Newton's tolerances that many elements need, and no steps but those asked for."""
        settings = self.exu.SimulationSettings()
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = DURATION / steps
        settings.parallel.numberOfThreads = 1
        settings.linearSolver.solverType = self.exu.LinearSolverType.EigenSparse
        integration = settings.timeIntegration
        integration.verboseMode = 0
        integration.endTime, integration.numberOfSteps = DURATION, steps
        if is_fine:
            integration.newton.relativeTolerance, integration.newton.absoluteTolerance = 1e-6, 1e-8
            integration.adaptiveStep = integration.automaticStepSize = False
            integration.discontinuous.useRecommendedStepSize = False
        self.system.SolveDynamic(settings, updateInitialValues=False, storeSolver=False)
        t, x, y = np.array(self.system.GetSensorStoredData(self.sensor))[:, :3].T
        return np.column_stack([np.interp(GRID, t, x), np.interp(GRID, t, y)])


def _add_links(system: Any, items: Any, cables: Cables, elements: int) -> Any:
    """Returns the node of the tip."""
    length = cables.length / elements
    last = system.AddMarker(items.MarkerBodyPosition(bodyNumber=system.AddObject(items.ObjectGround())))
    for link in range(cables.links):
        places = [link * cables.length + i * length for i in range(elements + 1)]
        nodes = [system.AddNode(items.NodePoint2DSlope1(referenceCoordinates=[x, 0, 1, 0])) for x in places]
        for pair in pairwise(nodes):
            cable = items.ObjectANCFCable2D(
                length=length,
                massPerLength=cables.density * cables.area,
                bendingStiffness=cables.bending_stiffness,
                axialStiffness=cables.young * cables.area,
                bendingDamping=cables.damping_time * cables.bending_stiffness,
                nodeNumbers=list(pair),
            )
            marker = system.AddMarker(items.MarkerBodyMass(bodyNumber=system.AddObject(cable)))
            system.AddLoad(items.LoadMassProportional(markerNumber=marker, loadVector=[0, -cables.gravity, 0]))
        first, end = (system.AddMarker(items.MarkerNodePosition(nodeNumber=nodes[i])) for i in (0, -1))
        system.AddObject(items.ObjectJointRevolute2D(markerNumbers=[last, first]))
        last = end
    return nodes[-1]


def _add_floor(system: Any, items: Any, cables: Cables, tip: Any, law: str) -> None:
    ground = system.AddNode(items.NodePointGround())
    ends = [system.AddMarker(items.MarkerNodeCoordinate(nodeNumber=node, coordinate=1)) for node in (ground, tip)]
    k, d, floor = cables.floor_stiffness, cables.floor_damping, cables.floor

    def clamped(system: Any, t: float, item: int, y: float, speed: float, *more: float) -> float:
        return min(0.0, k * (y - floor) + d * speed) if y < floor else 0.0

    if law == "clamped":
        system.AddObject(
            items.ObjectConnectorCoordinateSpringDamper(markerNumbers=ends, springForceUserFunction=clamped)
        )
        return
    state = system.AddNode(items.NodeGenericData(initialCoordinates=[1.0], numberOfDataCoordinates=1))
    system.AddObject(
        items.ObjectContactCoordinate(
            markerNumbers=ends, nodeNumber=state, contactStiffness=k, contactDamping=d, offset=floor
        )
    )


def fine(cables: Cables, law: str, elements: int = 8, steps: int = 60000) -> Array:
    """The tip on the grid, h = 25 us. What is left, 5e-4 m, is the place of the floor's switches within a step."""
    return CableSystem(cables, elements, law).run(steps, is_fine=True)


def prepare(cables: Cables) -> Callable[[Setting], Run]:
    """setting -> run, as peers.Engine wants it."""
    built: dict[str, CableSystem] = {}

    def ready(setting: Setting) -> Run:
        name = setting.scheme
        if name not in built:
            built[name] = CableSystem(cables, int(name.split()[0]))
        return lambda: built[name].run(setting.steps)

    return ready
