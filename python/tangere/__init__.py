# SPDX-License-Identifier: Apache-2.0
"""Tangere: contacts that rest, energy that adds up, and the same bits every time.

>>> import tangere
>>> builder = tangere.ModelBuilder()
>>> builder.set_options(solver="sap")
>>> builder.add_body(tangere.Body("floor", type="fixed", shapes=[tangere.Plane()]))
>>> builder.add_body(tangere.Body("box", shapes=[tangere.Box([0.1, 0.1, 0.1])], pose=[0, 0, 0.2]))
>>> sim = tangere.Simulator(builder.build())
>>> sim.step(500)
>>> round(float(sim.body("box").position[0, 2]), 3)
0.1
>>> round(float(sim.contacts()["force1"][:, 2].sum()), 1)
78.5

Everything is in SI units, angles in radians, quaternions as w x y z. Arrays lead with the
environment axis. `tangere.collision` is the collision library alone, `tangere.gym` has Gymnasium
vector environments, `tangere.plot` draws recordings.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tangere import collision, errors, gym, plot, scenes
    from tangere._core import (
        Actuator,
        ActuatorDynamics,
        ActuatorTarget,
        Body,
        BodyShape,
        BodyType,
        BodyView,
        ConstraintRow,
        ConstraintRows,
        ContactKind,
        ContactLimits,
        ContactModel,
        ContactResult,
        ControlSchedule,
        ElasticModel,
        Elasticity,
        EnergyLedger,
        Equality,
        EqualityType,
        EventCause,
        EventMethod,
        EventOptions,
        EventPolicy,
        EventRecord,
        EventStatistics,
        FrictionOf,
        GainsOf,
        HandlerForce,
        HandlerView,
        ImportNote,
        ImpulseOptions,
        Joint,
        JointStep,
        JointType,
        Keyframe,
        MassScale,
        Material,
        MaterialPair,
        Model,
        ModelBuilder,
        ModelParameters,
        PlaneContact,
        PositionCorrection,
        RestitutionDamping,
        SapContactModel,
        SapFriction,
        SapGuess,
        SapLinearSolver,
        SapOptions,
        Sensor,
        SensorFrame,
        SensorType,
        ShapePairRule,
        SimulationOptions,
        Site,
        SleepOptions,
        SoftAttachment,
        SoftBody,
        SoftPreconditioner,
        SoftView,
        SolverType,
        StartPosition,
        StepReport,
        StepStatus,
        Tendon,
        TendonTerm,
        TendonVia,
        ViaKind,
        published_materials,
        published_pairs,
        read_tet_mesh,
        write_tet_mesh,
    )
    from tangere._handler import ContactHandler
    from tangere._load import load, loads
    from tangere._recording import (
        RecordedJoint,
        RecordedShape,
        Recorder,
        Recording,
        first_difference,
    )
    from tangere._simulator import Rollout, Simulator
    from tangere._state import State
    from tangere.collision import (
        Box,
        Capsule,
        Compound,
        Cone,
        ContactPatchCacheOptions,
        Convex,
        Cylinder,
        Ellipsoid,
        HeightField,
        MassProperties,
        Mesh,
        Plane,
        PointCloud,
        Shape,
        ShapeType,
        Sphere,
        TetMesh,
        TriangleMesh,
        mesh_shape,
        read_mesh,
    )
    from tangere.errors import (
        Diagnostic,
        FileError,
        InvalidInput,
        LimitExceeded,
        SceneError,
        SceneFileError,
        SceneLimitExceeded,
        SceneWarning,
    )

__version__ = "0.1.0"

# Where each name comes from. They are looked up when they are first used: `import tangere` costs
# next to nothing, `tangere.collision` brings no dynamics, and only recordings bring HDF5.
_HOMES = {
    "tangere._core": (
        "Actuator ActuatorDynamics ActuatorTarget Body BodyShape BodyType BodyView ConstraintRow "
        "ConstraintRows ContactKind ContactLimits ContactModel ContactResult ControlSchedule "
        "ElasticModel Elasticity EnergyLedger Equality EqualityType EventCause EventMethod "
        "EventOptions EventPolicy EventRecord EventStatistics FrictionOf GainsOf HandlerForce "
        "HandlerView ImportNote ImpulseOptions Joint JointStep JointType Keyframe MassScale "
        "Material MaterialPair Model ModelBuilder ModelParameters PlaneContact PositionCorrection "
        "RestitutionDamping SapContactModel SapFriction SapGuess SapLinearSolver SapOptions Sensor "
        "SensorFrame SensorType ShapePairRule SimulationOptions Site SleepOptions SoftAttachment SoftBody "
        "SoftPreconditioner SoftView SolverType StartPosition StepReport StepStatus Tendon "
        "TendonTerm TendonVia ViaKind published_materials published_pairs read_tet_mesh "
        "write_tet_mesh"
    ),
    "tangere._handler": "ContactHandler",
    "tangere._load": "load loads",
    "tangere._recording": "RecordedJoint RecordedShape Recorder Recording first_difference",
    "tangere._simulator": "Rollout Simulator",
    "tangere._state": "State",
    "tangere.collision": (
        "Box Capsule Compound Cone ContactPatchCacheOptions Convex Cylinder Ellipsoid HeightField "
        "MassProperties Mesh Plane PointCloud Shape ShapeType Sphere TetMesh TriangleMesh "
        "mesh_shape read_mesh"
    ),
    "tangere.errors": (
        "Diagnostic FileError InvalidInput LimitExceeded SceneError SceneFileError "
        "SceneLimitExceeded SceneWarning"
    ),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}
_MODULES = ("collision", "errors", "gym", "plot", "scenes")

__all__ = [
    "Actuator",
    "ActuatorDynamics",
    "ActuatorTarget",
    "Body",
    "BodyShape",
    "BodyType",
    "BodyView",
    "Box",
    "Capsule",
    "Compound",
    "Cone",
    "ConstraintRow",
    "ConstraintRows",
    "ContactHandler",
    "ContactKind",
    "ContactLimits",
    "ContactModel",
    "ContactPatchCacheOptions",
    "ContactResult",
    "ControlSchedule",
    "Convex",
    "Cylinder",
    "Diagnostic",
    "ElasticModel",
    "Elasticity",
    "Ellipsoid",
    "EnergyLedger",
    "Equality",
    "EqualityType",
    "EventCause",
    "EventMethod",
    "EventOptions",
    "EventPolicy",
    "EventRecord",
    "EventStatistics",
    "FileError",
    "FrictionOf",
    "GainsOf",
    "HandlerForce",
    "HandlerView",
    "HeightField",
    "ImportNote",
    "ImpulseOptions",
    "InvalidInput",
    "Joint",
    "JointStep",
    "JointType",
    "Keyframe",
    "LimitExceeded",
    "MassProperties",
    "MassScale",
    "Material",
    "MaterialPair",
    "Mesh",
    "Model",
    "ModelBuilder",
    "ModelParameters",
    "Plane",
    "PlaneContact",
    "PointCloud",
    "PositionCorrection",
    "RecordedJoint",
    "RecordedShape",
    "Recorder",
    "Recording",
    "RestitutionDamping",
    "Rollout",
    "SapContactModel",
    "SapFriction",
    "SapGuess",
    "SapLinearSolver",
    "SapOptions",
    "SceneError",
    "SceneFileError",
    "SceneLimitExceeded",
    "SceneWarning",
    "Sensor",
    "SensorFrame",
    "SensorType",
    "Shape",
    "ShapePairRule",
    "ShapeType",
    "SimulationOptions",
    "Simulator",
    "Site",
    "SleepOptions",
    "SoftAttachment",
    "SoftBody",
    "SoftPreconditioner",
    "SoftView",
    "SolverType",
    "Sphere",
    "StartPosition",
    "State",
    "StepReport",
    "StepStatus",
    "Tendon",
    "TendonTerm",
    "TendonVia",
    "TetMesh",
    "TriangleMesh",
    "ViaKind",
    "collision",
    "errors",
    "first_difference",
    "gym",
    "load",
    "loads",
    "mesh_shape",
    "plot",
    "published_materials",
    "published_pairs",
    "read_mesh",
    "read_tet_mesh",
    "scenes",
    "write_tet_mesh",
]


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"tangere.{name}")
    home = _HOME_OF.get(name)
    if home is None and name.startswith("_"):
        raise AttributeError(f"tangere has no '{name}'")
    if home is None:
        from tangere.collision import near_names

        raise AttributeError(f"tangere has no '{name}'{near_names(name, list(__all__))}")
    try:
        value = getattr(importlib.import_module(home), name)
    except ImportError as error:
        if home == "tangere._recording" and "hdf5" in str(error):
            raise ImportError(
                f"recordings need HDF5's library (apt-get install libhdf5-103-1): {error}"
            ) from error
        raise
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
