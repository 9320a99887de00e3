#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes what MuJoCo makes of MJCF files, for test_mjcf_reference.cpp to compare with.

mujoco_reference.py OUT_FOLDER MODEL.xml...: one OUT_FOLDER/NAME.txt for each, where NAME is the
stem of the file, with the name of its folder before it under --with-folder. Needs the mujoco
package; the outputs are in the repository, so the tests do not.
"""
import pathlib
import sys

import mujoco
import numpy as np


def numbers(values):
    return " ".join(repr(float(v)) for v in np.asarray(values, dtype=float).ravel())


def limits(is_limited, bounds):
    return numbers(bounds) if is_limited else "-inf inf"


def full_inertia(model, body):
    rotation = np.zeros(9)
    mujoco.mju_quat2Mat(rotation, model.body_iquat[body])
    rotation = rotation.reshape(3, 3)
    inertia = rotation @ np.diag(model.body_inertia[body]) @ rotation.T
    return [inertia[i, j] for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]


def write(model, out):
    data = mujoco.MjData(model)
    mujoco.mj_kinematics(model, data)
    m = model
    print("counts", m.nq, m.nv, m.nu, m.na, m.njnt, m.neq, m.ntendon, m.nsite, m.nkey, file=out)
    print("option", numbers([m.opt.timestep]), numbers(m.opt.gravity), file=out)
    print("start", numbers(m.qpos0), file=out)
    for b in range(1, m.nbody):
        name = m.body(b).name or "?"
        is_static = m.body_weldid[b] == 0
        print("body", name, "static" if is_static else "moving", numbers([m.body_mass[b]]),
              numbers(m.body_ipos[b]), numbers(full_inertia(m, b)), numbers(data.xpos[b]),
              numbers(data.xmat[b]), numbers([m.body_gravcomp[b]]), file=out)
    for j in range(m.njnt):
        v = m.jnt_dofadr[j]
        q = m.jnt_qposadr[j]
        kind = ("free", "ball", "prismatic", "revolute")[m.jnt_type[j]]
        is_scalar = kind in ("prismatic", "revolute")
        stiffness = np.atleast_1d(m.jnt_stiffness[j])[0]
        damping = np.atleast_1d(m.dof_damping[v])[0]
        print("joint", kind, q, v, limits(m.jnt_limited[j], m.jnt_range[j]),
              numbers([m.dof_armature[v], damping, m.dof_frictionloss[v], stiffness]),
              numbers([m.qpos_spring[q], m.qpos0[q]] if is_scalar else [0, 0]),
              numbers(m.jnt_axis[j] if is_scalar else [0, 0, 1]), numbers(m.jnt_pos[j]),
              limits(m.jnt_actfrclimited[j], m.jnt_actfrcrange[j]), file=out)
    for a in range(m.nu):
        gain = m.actuator_gainprm[a][:3].copy()
        bias = m.actuator_biasprm[a][:3].copy()
        if m.actuator_gaintype[a] == mujoco.mjtGain.mjGAIN_FIXED:
            gain[1:] = 0
        if m.actuator_biastype[a] == mujoco.mjtBias.mjBIAS_NONE:
            bias[:] = 0
        print("actuator", int(m.actuator_dyntype[a]), numbers(m.actuator_dynprm[a][:1]),
              numbers(m.actuator_gear[a]), numbers(gain), numbers(bias),
              limits(m.actuator_ctrllimited[a], m.actuator_ctrlrange[a]),
              limits(m.actuator_forcelimited[a], m.actuator_forcerange[a]),
              limits(m.actuator_actlimited[a], m.actuator_actrange[a]), file=out)
    for e in range(m.neq):
        kind = {0: "connect", 1: "weld", 2: "joint", 3: "tendon"}[int(m.eq_type[e])]
        if m.eq_objtype[e] == mujoco.mjtObj.mjOBJ_SITE:
            kind += "_sites"  # MuJoCo resolves these while it runs
        print("equality", kind, int(m.eq_active0[e]), numbers(m.eq_data[e][:10]), file=out)
    for t in range(m.ntendon):
        print("tendon", limits(m.tendon_limited[t], m.tendon_range[t]),
              numbers([np.atleast_1d(m.tendon_stiffness[t])[0],
                       np.atleast_1d(m.tendon_damping[t])[0], m.tendon_frictionloss[t]]),
              file=out)
    for s in range(m.nsite):
        print("site", m.site(s).name or "?", numbers(m.site_pos[s]), numbers(m.site_quat[s]),
              file=out)
    for k in range(m.nkey):
        print("key", numbers([m.key_time[k]]), numbers(m.key_qpos[k]), numbers(m.key_ctrl[k]),
              file=out)


def main():
    arguments = [a for a in sys.argv[1:] if a != "--with-folder"]
    folder = pathlib.Path(arguments[0])
    for path in map(pathlib.Path, arguments[1:]):
        name = path.stem
        if "--with-folder" in sys.argv:
            name = path.resolve().parent.name + "." + name
        with open(folder / (name + ".txt"), "w", encoding="utf-8") as out:
            write(mujoco.MjModel.from_xml_path(str(path)), out)


if __name__ == "__main__":
    main()
