# SPDX-License-Identifier: Apache-2.0
"""What the tests share: small models, and the command line program where it was built."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

import tangere

# Shells start what follows `&` or `nohup` with interrupts ignored, and children inherit that: a test
# that interrupts a program would wait for ever.
signal.signal(signal.SIGINT, signal.default_int_handler)

PENDULUM = """
<mujoco model="pendulum">
  <option timestep="0.002"/>
  <worldbody>
    <geom name="floor" type="plane" size="5 5 0.1"/>
    <body name="upper" pos="0 0 2">
      <joint name="shoulder" axis="0 1 0" damping="0.1"/>
      <geom name="upper" type="capsule" fromto="0 0 0 0 0 -0.5" size="0.05"/>
      <body name="lower" pos="0 0 -0.5">
        <joint name="elbow" axis="0 1 0" damping="0.1"/>
        <geom name="lower" type="capsule" fromto="0 0 0 0 0 -0.5" size="0.04"/>
      </body>
    </body>
    <body name="ball" pos="1 0 0.2">
      <freejoint name="ball_free"/>
      <geom name="ball" type="sphere" size="0.1"/>
    </body>
  </worldbody>
  <actuator>
    <motor name="shoulder_motor" joint="shoulder" ctrlrange="-2 2"/>
    <position name="elbow_servo" joint="elbow" kp="20"/>
  </actuator>
  <sensor>
    <jointpos name="shoulder_angle" joint="shoulder"/>
    <jointvel name="shoulder_rate" joint="shoulder"/>
  </sensor>
  <keyframe>
    <key name="raised" qpos="1.5 0.5 1 0 0.2 1 0 0 0" ctrl="0.25 0.5"/>
  </keyframe>
</mujoco>
"""


def make_box_model(solver: str = "sap", height: float = 0.1) -> tangere.Model:
    """A box of 0.2 m on the floor: 8 kg."""
    builder = tangere.ModelBuilder()
    builder.set_options(solver=solver)
    builder.add_body(tangere.Body("floor", type="fixed", shapes=[tangere.Plane()]))
    builder.add_body(
        tangere.Body("box", shapes=[tangere.Box([0.1, 0.1, 0.1])], pose=[0, 0, height])
    )
    return builder.build("box")


@pytest.fixture
def box_model() -> tangere.Model:
    return make_box_model()


@pytest.fixture
def pendulum() -> tangere.Model:
    return tangere.loads(PENDULUM, name="pendulum.xml")


@pytest.fixture
def command_line() -> str:
    """The program `tangere` of the same sources: that of TANGERE_CLI, or of the package."""
    from tangere.__main__ import PROGRAM

    program = os.environ.get("TANGERE_CLI", str(PROGRAM))
    if not Path(program).exists():
        pytest.skip("built without the command line program; TANGERE_CLI names one")
    return program
