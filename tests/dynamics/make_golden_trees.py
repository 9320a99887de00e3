#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Write tests/data/golden/dynamics/trees.txt: random trees and what MuJoCo computes for them.

usage: make_golden_trees.py OUTPUT [MJCF...]        (needs the Python packages mujoco and numpy)

With files, the robots in them in place of random trees, without what is no part of a tree: contacts,
limits, equalities, actuators, tendons, and the mass of what does not move. The test reads such a
file when TANGERE_GOLDEN_TREES names it.

Each tree is made as MJCF text from a fixed seed and compiled by MuJoCo (double precision); all
numbers, those of the model too, are read back from the compiled model and printed with 17 digits,
so what the test builds is what MuJoCo had. Lines of one tree, vectors as in MuJoCo:

  tree NAME
  gravity x y z
  links N, then N times:
    link PARENT pos(3) quat(4) mass center(3) inertia(xx yy zz xy xz yz) gravityScale NUMJOINTS
    joint TYPE pos(3) axis(3) reference armature damping stiffness springReference   (NUMJOINTS times)
  q, v, force    coordinates, velocities, applied generalized force
  qspring        coordinates at which springs rest
  matrix         lower triangle of M by rows
  bias           qfrc_bias - qfrc_gravcomp
  passive        springs and dampers
  acceleration   of the unconstrained tree under force and passive
  poses          xpos(3) xquat(4) of each link
  velocities     angular(3), linear at the centre(3) of each link
  center         of mass of the tree
  energy         potential, kinetic
  jacobian LINK point(3), then 3 x n numbers (translation) and 3 x n (rotation)
"""
import pathlib
import sys

import mujoco
import numpy as np

NUM_TREES = 22
JOINTS = {mujoco.mjtJoint.mjJNT_FREE: "free", mujoco.mjtJoint.mjJNT_BALL: "ball",
          mujoco.mjtJoint.mjJNT_HINGE: "revolute", mujoco.mjtJoint.mjJNT_SLIDE: "prismatic"}


def text(values):
    return " ".join(f"{x:.17g}" for x in np.ravel(values))


def joint_xml(rng, kind, number):
    axis = rng.normal(size=3)
    if rng.random() < 0.5:  # coordinate axes have code of their own; two alike would be singular
        axis = np.zeros(3)
        axis[number] = rng.choice([-1.0, 1.0])
    pos = rng.normal(size=3) * 0.2 if rng.random() < 0.7 else np.zeros(3)
    out = f'<joint type="{kind}" pos="{text(pos)}" axis="{text(axis)}"'
    if kind != "ball" and rng.random() < 0.4:
        out += f' ref="{rng.normal():.17g}"'
    if rng.random() < 0.4:
        out += f' armature="{rng.random() * 0.1:.17g}"'
    if rng.random() < 0.5:
        out += f' damping="{rng.random():.17g}"'
    if rng.random() < 0.4:
        out += f' stiffness="{rng.random() * 5:.17g}"'
        if kind != "ball":
            out += f' springref="{rng.normal() * 0.3:.17g}"'
    return out + "/>"


def link_joints(rng, is_root, is_floating):
    if is_root and is_floating:
        return ["free"]
    kinds = list(rng.choice(["hinge", "slide", "ball"], size=rng.integers(1, 4), p=[0.6, 0.25, 0.15]))
    # MuJoCo wants no rotation after a ball, and at most six velocities for a body.
    if "ball" in kinds:
        first = kinds.index("ball")
        kinds = kinds[:first + 1] + [kind for kind in kinds[first + 1:] if kind == "slide"]
    return kinds


def body_xml(rng, index, children, is_floating):
    turn = rng.normal(size=4) if rng.random() < 0.7 else np.array([1.0, 0, 0, 0])
    pos = rng.normal(size=3) * 0.5
    out = f'<body name="b{index}" pos="{text(pos)}" quat="{text(turn)}"'
    if rng.random() < 0.2:
        out += f' gravcomp="{rng.random() * 1.5:.17g}"'
    out += ">"
    is_welded = index > 0 and rng.random() < 0.15
    kinds = [] if is_welded else link_joints(rng, index == 0, is_floating)
    for number, kind in zip(rng.permutation(3), kinds):
        out += "<freejoint/>" if kind == "free" else joint_xml(rng, kind, number)
    moments = rng.random(3) + 1  # any two are more than the third
    mass = 10.0 ** rng.uniform(-1, 1)
    out += (f'<inertial pos="{text(rng.normal(size=3) * 0.2)}" quat="{text(rng.normal(size=4))}" '
            f'mass="{mass:.17g}" diaginertia="{text(moments * mass * 0.05)}"/>')
    for child in children[index]:
        out += body_xml(rng, child, children, is_floating)
    return out + "</body>"


def make_model(seed):
    rng = np.random.default_rng(seed)
    num_links = [1, 1, 2, 3, 4, 6, 8, 10, 12, 16, 32][seed // 2]
    children = [[] for _ in range(num_links)]
    for i in range(1, num_links):
        reach = 2 if seed % 3 == 0 else i  # chains and bushes
        children[rng.integers(max(0, i - reach), i)].append(i)
    xml = ('<mujoco><option gravity="1.1 -2.3 -9.81"><flag contact="disable" energy="enable"/></option>'
           '<compiler angle="radian" fusestatic="false" autolimits="false"/><worldbody>' +
           body_xml(rng, 0, children, seed % 2 == 1) + "</worldbody></mujoco>")
    return mujoco.MjModel.from_xml_string(xml), rng


def load_robot(path):
    model = mujoco.MjModel.from_xml_path(path)
    model.opt.disableflags |= (mujoco.mjtDisableBit.mjDSBL_CONSTRAINT | mujoco.mjtDisableBit.mjDSBL_ACTUATION |
                               mujoco.mjtDisableBit.mjDSBL_CONTACT)
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_ENERGY
    for values in (model.tendon_stiffness, model.tendon_damping, model.tendon_armature):
        values[:] = 0
    model.body_mass[model.body_weldid == 0] = 0
    model.body_inertia[model.body_weldid == 0] = 0
    mujoco.mj_setConst(model, mujoco.MjData(model))
    return model


def write_tree(out, name, model, rng):
    data = mujoco.MjData(model)
    out.write(f"tree {name}\ngravity {text(model.opt.gravity)}\nlinks {model.nbody - 1}\n")
    for b in range(1, model.nbody):
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.body_iquat[b])
        turn = turn.reshape(3, 3)
        inertia = turn @ np.diag(model.body_inertia[b]) @ turn.T
        moments = [inertia[0, 0], inertia[1, 1], inertia[2, 2], inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        out.write(f"link {model.body_parentid[b] - 1} {text(model.body_pos[b])} {text(model.body_quat[b])} "
                  f"{model.body_mass[b]:.17g} {text(model.body_ipos[b])} {text(moments)} "
                  f"{1 - model.body_gravcomp[b]:.17g} {model.body_jntnum[b]}\n")
        for j in range(model.body_jntadr[b], model.body_jntadr[b] + model.body_jntnum[b]):
            dof, q = model.jnt_dofadr[j], model.jnt_qposadr[j]
            out.write(f"joint {JOINTS[mujoco.mjtJoint(model.jnt_type[j])]} {text(model.jnt_pos[j])} {text(model.jnt_axis[j])} "
                      f"{model.qpos0[q]:.17g} {model.dof_armature[dof]:.17g} "
                      f"{model.dof_damping[dof]:.17g} {model.jnt_stiffness[j]:.17g} {model.qpos_spring[q]:.17g}\n")
    mujoco.mj_integratePos(model, data.qpos, rng.normal(size=model.nv), 1.0)
    data.qvel[:] = rng.normal(size=model.nv)
    data.qfrc_applied[:] = rng.normal(size=model.nv) * 3
    mujoco.mj_forward(model, data)
    matrix = np.zeros((model.nv, model.nv))
    mujoco.mj_fullM(model, matrix, data.qM) if hasattr(data, "qM") else mujoco.mj_fullM(model, data, matrix)
    for name, values in [
            ("q", data.qpos), ("v", data.qvel), ("force", data.qfrc_applied), ("qspring", model.qpos_spring),
            ("matrix", matrix[np.tril_indices(model.nv)]), ("bias", data.qfrc_bias - data.qfrc_gravcomp),
            ("passive", data.qfrc_spring + data.qfrc_damper), ("acceleration", data.qacc)]:
        out.write(f"{name} {text(values)}\n")
    out.write("poses " + " ".join(f"{text(data.xpos[b])} {text(data.xquat[b])}" for b in range(1, model.nbody)))
    velocities, velocity = [], np.zeros(6)
    for b in range(1, model.nbody):
        mujoco.mj_objectVelocity(model, data, mujoco.mjtObj.mjOBJ_BODY, b, velocity, 0)
        velocities.append(text(velocity))
    out.write("\nvelocities " + " ".join(velocities) + "\n")
    out.write(f"center {text(data.subtree_com[0])}\nenergy {text(data.energy)}\n")
    body = model.nbody - 1
    point = data.xpos[body] + rng.normal(size=3)
    moving, turning = np.zeros((3, model.nv)), np.zeros((3, model.nv))
    mujoco.mj_jac(model, data, moving, turning, point, body)
    out.write(f"jacobian {body - 1} {text(point)} {text(moving)} {text(turning)}\n")


def main(path, *robots):
    with open(path, "w") as out:
        for seed in range(0 if robots else NUM_TREES):
            write_tree(out, f"random{seed}", *make_model(seed))
        for robot in robots:
            write_tree(out, pathlib.Path(robot).stem, load_robot(robot), np.random.default_rng(7))


if __name__ == "__main__":
    main(*sys.argv[1:])
