#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""test_verify.py PROGRAM CASES: `tangere verify` on the golden cases, and on cases with other
parameters whose references are closed forms computed here."""
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest

PROGRAM, CASES = sys.argv[1], sys.argv[2]
PAGE = os.path.join(CASES, "..", "..", "..", "..", "docs", "accuracy.md")
THREADS = str(os.cpu_count() or 1)
LANE = "impulse_dt_1e-3"


def rel(value):
    return {"type": "rel", "value": value}


def absolute(value):
    return {"type": "abs", "value": value}


def bounce(r):
    g, h, e = r.uniform(1, 20), r.uniform(0.3, 3), r.uniform(0.4, 0.85)
    first = math.sqrt(2 * h / g)

    def impact(k):
        return first * (1 + 2 * sum(e**i for i in range(1, k)))

    return {"g": g, "h": h, "e": e}, {
        "t_1": (impact(1), rel(0.0025)),
        "t_5": (impact(5), rel(0.005)),
        "v_after_5": (e**5 * math.sqrt(2 * g * h), rel(0.02)),
        "apex_5": (h * e**10, rel(0.05)),
        "zeno_time": (first * (1 + e) / (1 - e), rel(0.02)),
        "path_length": (h * (1 + e * e) / (1 - e * e), rel(0.02)),
    }


def incline_block(r):
    g, degrees, duration = r.uniform(3, 20), r.uniform(5, 40), r.uniform(1, 2)
    t = math.tan(math.radians(degrees))
    slide, stick = t * r.uniform(0.1, 0.9), t * r.uniform(1.1, 2)
    a = g * (math.sin(math.radians(degrees)) - slide * math.cos(math.radians(degrees)))
    return {"g": g, "theta_deg": degrees, "mu_slide": slide, "mu_stick": stick, "T": duration}, {
        "a_slide": (a, rel(1e-3)),
        "critical_mu": (t, rel(1e-3)),
        "x_stick_T": (0.0, absolute(1e-6)),
    }


def slide_to_roll(r):
    g, R, m, mu = 9.81, r.uniform(0.01, 0.3), r.uniform(0.05, 5), r.uniform(0.1, 0.6)
    v0 = r.uniform(1, 4)
    w0 = r.uniform(-1, 0.5) * v0 / R
    v = (5 * v0 + 2 * R * w0) / 7
    time = 2 * (v0 - R * w0) / (7 * mu * g)
    lost = 0.5 * m * (v0**2 + 0.4 * (R * w0) ** 2) - 0.7 * m * v * v
    return {"g": g, "R": R, "m": m, "mu": mu, "v0": v0, "w0": w0, "T": time + 0.5}, {
        "v_final": (v, rel(5e-4)),
        "t_roll": (time, absolute(2e-3)),
        "energy_lost": (lost, rel(5e-3)),
    }


def incline_roll(r):
    g, R, m, degrees = 9.81, r.uniform(0.02, 0.2), r.uniform(0.05, 2), r.uniform(5, 25)
    s, c = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    slip = r.uniform(0.2, 0.9) * s / c * 2 / 7
    return {"g": g, "R": R, "m": m, "theta_deg": degrees, "T": 1.0, "mu_grip": 1.0, "mu_slip": slip}, {
        "v_sphere": (g * s / 1.4, rel(1e-3)),
        "v_cylinder": (g * s / 1.5, rel(1e-3)),
        "v_hoop": (g * s / 2, rel(1e-3)),
        "v_sphere_slipping": (g * (s - slip * c), rel(1e-3)),
        "w_sphere_slipping": (slip * g * c / (0.4 * R), rel(1e-3)),
    }


def cradle(r):
    n, v0, e, d = r.randint(2, 12), r.uniform(0.5, 2), r.choice([1.0, r.uniform(0.85, 1)]), r.uniform(0.01, 0.1)
    gap, m = r.uniform(1e-5, 5e-3), r.uniform(0.01, 1)
    speeds, v = [], v0
    for _ in range(n - 1):
        speeds.append(v * (1 - e) / 2)
        v *= (1 + e) / 2
    speeds.append(v)
    # With a lower restitution balls behind would meet again before the last one is hit.
    return {"N": n, "v0": v0, "e": e, "gap": gap, "d": d, "m": m}, {
        "v_last": (v, rel(1e-6)),
        "v_first": (speeds[0], absolute(1e-6)),
        "v_all": (speeds, absolute(1e-6)),
        "momentum": (m * v0, rel(1e-12)),
    }


def tipping(r):
    g, b, h, w, m = 9.81, r.uniform(0.2, 0.5), r.uniform(0.6, 1.2), r.uniform(0.2, 0.5), r.uniform(1, 30)
    y = r.uniform(0.6, 1.0) * h
    mu = r.uniform(1.3, 2) * b / (2 * y)
    tip = m * g * b / (2 * y)
    force = tip * r.uniform(1.02, 1.2)
    return {"g": g, "b": b, "h": h, "w": w, "m": m, "mu": mu, "push_height": y, "F_test": force}, {
        "F_slide": (mu * m * g, rel(2e-3)),
        "F_tip": (tip, rel(2e-3)),
        "alpha_tip": ((force * y - m * g * b / 2) / (m * (b * b + h * h) / 3), rel(0.01)),
        "ramp_tip_angle_deg": (math.degrees(math.atan(b / h)), rel(2e-3)),
    }


def wedge(r):
    g, M, m, degrees = 9.81, r.uniform(0.5, 10), r.uniform(0.5, 10), r.uniform(10, 50)
    s, c = math.sin(math.radians(degrees)), math.cos(math.radians(degrees))
    normal = M * m * g * c / (M + m * s * s)
    return {"g": g, "M": M, "m": m, "alpha_deg": degrees}, {
        "a_wedge": (m * g * s * c / (M + m * s * s), rel(5e-3)),
        "a_rel": ((M + m) * g * s / (M + m * s * s), rel(5e-3)),
        "N_block": (normal, rel(5e-3)),
        "N_floor": (M * g + normal * c, rel(5e-3)),
        "wall_force": (m * g * c * s, rel(5e-3)),
    }


def painleve(r):
    g, a, m, theta = 9.81, r.uniform(0.2, 1), r.uniform(0.5, 3), r.uniform(0.9, 1.3)
    s, c = math.sin(theta), math.cos(theta)
    critical = (1 + 3 * c * c) / (3 * s * c)
    mu = critical * r.uniform(0.2, 0.8)
    return {"g": g, "a": a, "m": m, "theta": theta, "omega": 0.0, "mu_ok": mu, "mu_bad": 2.0, "k": 1e6, "v0": 1.0}, {
        "mu_critical": (critical, rel(0.01)),
        "N_ok": (m * g / (1 + 3 * c * (c - mu * s)), rel(0.02)),
    }


def rolling(r):
    g, M, m, n = 9.81, r.uniform(5, 20), r.uniform(0.5, 2), r.randint(1, 16)
    mu, psi, T = r.uniform(0.2, 0.6), r.uniform(-180, 180), 0.5
    friction = mu * (M + n * m) * g
    F = friction * r.uniform(1.05, 1.3)
    a2 = (F - friction) / M / (3.5 + n * m / M)
    return {"g": g, "M": M, "m": m, "n": n, "F": F, "mu_box_ground": mu, "mu_ball_box": 0.8, "psi_deg": psi, "T": T}, {
        "v_box_T": (3.5 * a2 * T, rel(1e-4)),
        "v_ball_T": (a2 * T, rel(1e-4)),
        "friction_ground": (friction, rel(1e-4)),
        "friction_ball": (m * a2, rel(1e-4)),
        "mse_goal": (0.0, absolute(1e-8)),
    }


def bouncing(r):
    g, m, R, H, T = 9.81, r.uniform(1, 20), r.uniform(0.05, 0.3), r.uniform(2, 6), 6.0
    fall = math.sqrt(2 * (H - R) / g)
    return {"g": g, "m": m, "R": R, "H": H, "T": T, "n": 2}, {
        "energy_per_ball": (m * g * H, rel(1e-4)),
        "period": (2 * fall, rel(2e-3)),
        "impacts": (int((T + fall) // (2 * fall)), absolute(0)),
    }


def hydro_sphere(r):
    E, R, m, g = 10 ** r.uniform(4, 7), r.uniform(0.02, 0.5), r.uniform(0.1, 0.4), 9.81
    d = R * r.uniform(0.1, 0.3)
    m *= math.pi * E * R * R / g * 0.02  # to a depth of about a tenth of the radius

    def force(depth):
        return math.pi / 3 * E * depth**2 * (3 - 2 * depth / R)

    low, high = 0.0, R
    for _ in range(100):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if force(middle) < m * g else (low, middle)
    stiffness = 2 * math.pi * E * low * (1 - low / R)
    return {"E": E, "R": R, "depth": d, "m": m, "g": g}, {
        "F_at_depth": (force(d), rel(5e-3)),
        "patch_radius": (math.sqrt(d * (2 * R - d)), rel(5e-3)),
        "patch_area": (math.pi * d * (2 * R - d), rel(5e-3)),
        "peak_pressure": (E * d / R, rel(5e-3)),
        "depth_under_weight": (low, rel(5e-3)),
        "omega_small": (math.sqrt(stiffness / m), rel(0.01)),
        "F_two_spheres": (force(d / 2), rel(5e-3)),
    }


def hydro_box(r):
    E, H, m, g = 10 ** r.uniform(5, 6), r.uniform(0.02, 0.1), r.uniform(0.5, 5), r.uniform(1, 20)
    x, y, z = (r.uniform(0.05, 0.3) for _ in range(3))
    E2, H2 = 10 ** r.uniform(5, 6), r.uniform(0.02, 0.1)
    pressure = m * g / (x * y)
    couple = r.uniform(-0.5, 0.5) * m * g * x / 6  # the edge lifts at the last factor
    slope = 6 * couple / (x * x * y)
    rocking = E / H * y * x**3 / 12
    return {"E": E, "H": H, "m": m, "g": g, "lx": x, "ly": y, "lz": z, "M_y": couple, "E2": E2, "H2": H2}, {
        "depth": (pressure * H / E, rel(1e-6)),
        "normal_stiffness": (E / H * x * y, rel(1e-6)),
        "rocking_stiffness": (rocking, rel(1e-3)),
        "tilt": (couple / rocking, rel(1e-3)),
        "edge_pressures": ([pressure - slope, pressure + slope], rel(0.01)),
        "depth_two_layers": (pressure * (H / E + H2 / E2), rel(1e-5)),
    }


def fem_column(r):
    H, E, nu, rho, g = r.uniform(0.3, 2), 10 ** r.uniform(5, 6), r.uniform(0.1, 0.45), r.uniform(50, 500), r.uniform(1, 10)
    area = (H * r.uniform(0.15, 0.4)) ** 2
    stiff = E * (1 - nu) / ((1 + nu) * (1 - 2 * nu))
    sag = rho * g * H * H / (2 * stiff)
    return {"H": H, "area": area, "E": E, "nu": nu, "rho": rho, "g": g}, {
        "sag_rollers": (sag, rel(1e-3)),
        "sag_free_nu0": (rho * g * H * H / (2 * E), rel(1e-3)),
        "sag_free_nu0_half_height": (0.75 * rho * g * H * H / (2 * E), rel(1e-3)),
        "stress_floor": (-rho * g * H, rel(1e-3)),
        "stress_lateral_floor": (-rho * g * H * nu / (1 - nu), rel(1e-3)),
        "t_largest_sag": (2 * H * math.sqrt(rho / stiff), rel(5e-3)),
        "largest_sag": (2 * sag, rel(5e-3)),
        "weight": (rho * g * H * area, rel(1e-8)),
    }


def fem_patch(r):
    E, nu = 10 ** r.uniform(3, 7), r.uniform(0.25, 0.49)
    F = [[(1 if i == j else 0) + r.uniform(-0.25, 0.25) for j in range(3)] for i in range(3)]
    mu, lam = E / (2 * (1 + nu)), E * nu / ((1 + nu) * (1 - 2 * nu))
    one = [[float(i == j) for j in range(3)] for i in range(3)]
    index = range(3)
    trace = sum(F[i][i] for i in index) - 3
    small = [[0.5 * (F[i][j] + F[j][i]) - one[i][j] for j in index] for i in index]
    green = [[0.5 * (sum(F[k][i] * F[k][j] for k in index) - one[i][j]) for j in index] for i in index]
    whole = sum(green[i][i] for i in index)
    second = [[2 * mu * green[i][j] + lam * whole * one[i][j] for j in index] for i in index]
    cofactor = [[F[(i + 1) % 3][(j + 1) % 3] * F[(i + 2) % 3][(j + 2) % 3]
                 - F[(i + 1) % 3][(j + 2) % 3] * F[(i + 2) % 3][(j + 1) % 3] for j in index] for i in index]
    J = sum(F[0][j] * cofactor[0][j] for j in index)
    squares = sum(x * x for row in F for x in row)
    a = 1 + 0.75 * mu / lam
    to_max = {"type": "rel_to_max", "value": 1e-11}
    return {"E": E, "nu": nu, "F": F}, {
        "P_linear": ([2 * mu * small[i][j] + lam * trace * one[i][j] for i in index for j in index], to_max),
        "W_linear": (mu * sum(x * x for row in small for x in row) + lam / 2 * trace**2, rel(1e-10)),
        "P_stvk": ([sum(F[i][k] * second[k][j] for k in index) for i in index for j in index], to_max),
        "W_stvk": (mu * sum(x * x for row in green for x in row) + lam / 2 * whole**2, rel(1e-10)),
        "P_stable_neo_hookean": ([mu * (1 - 1 / (squares + 1)) * F[i][j] + lam * (J - a) * cofactor[i][j]
                                  for i in index for j in index], to_max),
        "W_stable_neo_hookean": (mu / 2 * (squares - 3) + lam / 2 * (J - a) ** 2 - mu / 2 * math.log(squares + 1),
                                 rel(1e-9)),
    }


# --- the accurate lane: the event solver against closed forms -------------------------------------


def accurate_bounce(r):
    parameters, checks = bounce(r)
    goals = {"t_1": 1e-10, "t_5": 1e-9, "v_after_5": 1e-8, "apex_5": 1e-8, "zeno_time": 1e-6, "path_length": 1e-6}
    return parameters, {q: (checks[q][0], rel(goal)) for q, goal in goals.items()}


def root_of(f, low, high):
    """Of a function that is negative at `low` and positive at `high`."""
    for _ in range(200):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if f(middle) < 0 else (low, middle)
    return 0.5 * (low + high)


def accurate_hunt_crossley(r):
    m, n, v0, a = 10 ** r.uniform(-3, 1), r.choice([1.0, 1.5]), 10 ** r.uniform(-1, 1), 10 ** r.uniform(-2, 1)
    k, d = 10 ** r.uniform(4, 8), a / v0
    left = a - math.log1p(a)
    b = root_of(lambda x: -x - math.log1p(-x) - left, 1e-9, 1 - 1e-15)
    depth = ((n + 1) * m / k * v0 * v0 * left / a**2) ** (1 / (n + 1))
    return {"m": m, "k": k, "n": n, "d": d, "v0": v0}, {
        "restitution": (b / a, rel(1e-8)),
        "delta_max": (depth, rel(1e-8)),
    }


def accurate_hertz(r):
    E, nu, R, m, v = 10 ** r.uniform(6, 11), r.uniform(0.1, 0.45), r.uniform(0.01, 0.2), 10 ** r.uniform(-2, 1), r.uniform(0.1, 3)
    g, depth = r.uniform(1, 20), R * 10 ** r.uniform(-4, -2)
    k = 4 / 3 * E / (1 - nu * nu) * math.sqrt(R)
    weight, impact = (m * g / k) ** (2 / 3), (1.25 * m * v * v / k) ** 0.4
    factor = 0.8 * math.sqrt(math.pi) * math.gamma(0.4) / math.gamma(0.9)
    return {"E": E, "nu": nu, "R": R, "m": m, "g": g, "depth": depth, "v": v}, {
        "F_at_depth": (k * depth**1.5, rel(1e-11)),
        "contact_radius": (math.sqrt(R * depth), rel(1e-11)),
        "depth_under_weight": (weight, rel(1e-8)),
        "omega_small": (math.sqrt(1.5 * k * math.sqrt(weight) / m), rel(1e-4)),
        "impact_depth": (impact, rel(1e-7)),
        "impact_force": (k * impact**1.5, rel(1e-7)),
        "impact_duration": (factor * impact / v, rel(1e-7)),
    }


def accurate_incline_block(r):
    parameters, _ = incline_block(r)
    g, angle, T = parameters["g"], math.radians(parameters["theta_deg"]), parameters["T"]
    a = g * (math.sin(angle) - parameters["mu_slide"] * math.cos(angle))
    return parameters, {
        "a_slide": (a, rel(1e-8)),
        "x_slide_T": (a * T * T / 2, rel(1e-7)),
        "v_slide_T": (a * T, rel(1e-7)),
        "critical_mu": (math.tan(angle), rel(1e-3)),
        "x_stick_T": (0.0, absolute(1e-9)),
    }


def accurate_slide_to_roll(r):
    parameters, checks = slide_to_roll(r)
    goals = {"v_final": 1e-7, "t_roll": 1e-5, "energy_lost": 1e-6}
    return parameters, {q: (checks[q][0], rel(goal)) for q, goal in goals.items()}


def accurate_incline_roll(r):
    parameters, checks = incline_roll(r)
    t = math.tan(math.radians(parameters["theta_deg"]))
    out = {q: (reference, rel(1e-6)) for q, (reference, _) in checks.items()}
    for name, kappa in (("sphere", 0.4), ("cylinder", 0.5), ("hoop", 1.0)):
        out[f"mu_min_{name}"] = (kappa / (1 + kappa) * t, rel(1e-3))
    return parameters, out


def accurate_cradle(r):
    parameters, checks = cradle(r)
    N, v0, e = parameters["N"], parameters["v0"], parameters["e"]
    time = sum(parameters["gap"] / (v0 * ((1 + e) / 2) ** i) for i in range(N - 1))
    return parameters, {
        "v_last": (checks["v_last"][0], rel(1e-10)),
        "v_all": (checks["v_all"][0], absolute(1e-10)),
        "t_last_impact": (time, {"type": "abs", "value": max(1e-9 * time, 1e-12 * N)}),
        "momentum": (checks["momentum"][0], rel(1e-13)),
    }


def accurate_tipping(r):
    parameters, checks = tipping(r)
    goals = {"F_slide": 2e-3, "F_tip": 2e-3, "alpha_tip": 1e-4, "ramp_tip_angle_deg": 1e-3}
    return parameters, {q: (checks[q][0], rel(goal)) for q, goal in goals.items()}


def accurate_wedge(r):
    parameters, checks = wedge(r)
    return parameters, {q: (reference, rel(1e-8)) for q, (reference, _) in checks.items()}


def accurate_painleve(r):
    parameters, checks = painleve(r)
    return parameters, {"mu_critical": (checks["mu_critical"][0], rel(1e-6)), "N_ok": (checks["N_ok"][0], rel(1e-5)),
                        "mu_critical_min": (4 / 3, rel(1e-6))}


def accurate_bouncing(r):
    parameters, checks = bouncing(r)
    goals = {"energy_per_ball": rel(1e-8), "period": rel(1e-8), "impacts": absolute(0)}
    return parameters, {q: (checks[q][0], goal) for q, goal in goals.items()}


def accurate_rolling(r):
    parameters, checks = rolling(r)
    parameters["n"] = min(parameters["n"], 4)
    M, m, n, F, g, mu = (parameters[x] for x in ("M", "m", "n", "F", "g", "mu_box_ground"))
    friction = mu * (M + n * m) * g
    parameters["F"] = F = friction * r.uniform(1.05, 1.3)
    a2, T = (F - friction) / M / (3.5 + n * m / M), parameters["T"]
    return parameters, {
        "v_box_T": (3.5 * a2 * T, rel(1e-6)),
        "v_ball_T": (a2 * T, rel(1e-6)),
        "friction_ground": (friction, rel(1e-6)),
        "friction_ball": (m * a2, rel(1e-6)),
        "mse_goal": (0.0, absolute(1e-12)),
    }


def accurate_hydro_box(r):
    parameters, _ = hydro_box(r)
    p = parameters
    return parameters, {"omega_heave": (math.sqrt(p["E"] / p["H"] * p["lx"] * p["ly"] / p["m"]), rel(1e-4))}


def accurate_fourbar(r):
    N, L, m, g, v0 = r.randint(1, 3), r.uniform(0.5, 2), r.uniform(0.5, 2), r.uniform(3, 15), r.uniform(0.5, 2)
    inertia, arm = m * L * L * ((N + 1) / 3 + N), m * g * L * ((N + 1) / 2 + N)
    return {"N": N, "L": L, "m": m, "g": g, "v0": v0, "T": 3.0}, {
        "energy": (inertia * (v0 / L) ** 2 / 2 + arm, rel(1e-8)),
    }


def accurate_heavy_top(r):
    m, l, g, I1, I3 = r.uniform(0.5, 2), r.uniform(0.1, 0.3), 9.81, r.uniform(0.2, 0.3), r.uniform(0.01, 0.1)
    theta, w3 = r.uniform(0.3, 1.2), r.uniform(150, 300)
    root = math.sqrt((I3 * w3) ** 2 - 4 * I1 * m * g * l * math.cos(theta))
    a, b = I3 * w3 / I1, 2 * m * g * l / I1
    u0 = math.cos(theta)
    # Roots of b (1 - u^2) = a^2 (u0 - u).
    low = (a * a - math.sqrt(a**4 - 4 * b * (a * a * u0 - b))) / (2 * b)
    return {"m": m, "l": l, "g": g, "I1": I1, "I3": I3, "theta0": theta, "w3": w3, "T": 0.5}, {
        "precession_slow": ((I3 * w3 - root) / (2 * I1 * u0), rel(1e-7)),
        "precession_fast": ((I3 * w3 + root) / (2 * I1 * u0), rel(1e-7)),
        "theta_max": (math.acos(low), rel(1e-7)),
    }


def accurate_dzhanibekov(r):
    I = [r.uniform(0.02, 0.03), r.uniform(0.035, 0.04), r.uniform(0.05, 0.055)]
    r.shuffle(I)
    w = [r.uniform(0.01, 0.1) for _ in range(3)]
    w[sorted(range(3), key=lambda i: I[i])[1]] = r.uniform(3, 6)
    return {"I": I, "w0": w, "T": 5.0}, {
        "energy": (sum(a * x * x for a, x in zip(I, w)) / 2, rel(1e-9)),
        "ang_momentum": (math.sqrt(sum((a * x) ** 2 for a, x in zip(I, w))), rel(1e-9)),
    }


def accurate_row(r):
    n, m, g, mu, w = 2 * r.randint(1, 3), r.uniform(0.2, 1), r.uniform(5, 15), r.uniform(0.3, 0.7), r.uniform(0.03, 0.1)
    h = n * w * mu * r.uniform(1, 2)  # it slips before it opens
    slip, opening = n * m * g / (2 * mu), n * n * m * g * w / (4 * h)
    tension = slip * r.uniform(1.5, 3)
    return {"g": g, "n": n, "m": m, "w": w, "h": h, "mu": mu, "T_test": tension}, {
        "T_slip": (slip, rel(0.002)),
        "T_open": (opening, rel(0.01)),
        "shear": ([m * g * (n / 2 - i) for i in range(n + 1)], absolute(1e-4)),
        "eccentricity_middle": (n * n * m * g * w / (8 * tension), rel(1e-3)),
    }


# Two cases each: family, function.
ACCURATE = {"bounce_zeno": accurate_bounce, "hunt_crossley": accurate_hunt_crossley, "hertz": accurate_hertz,
            "incline_block": accurate_incline_block, "slide_to_roll": accurate_slide_to_roll,
            "incline_roll": accurate_incline_roll, "cradle_sequential": accurate_cradle,
            "box_tipping": accurate_tipping, "movable_wedge": accurate_wedge, "painleve_rod": accurate_painleve,
            "simbench_bouncing": accurate_bouncing, "simbench_rolling": accurate_rolling,
            "hydro_box": accurate_hydro_box, "fourbar_singular": accurate_fourbar, "heavy_top": accurate_heavy_top,
            "dzhanibekov": accurate_dzhanibekov, "tensioned_row": accurate_row}

# What is not in the default lane: the lane, and how many cases.
LANES = {"hydro_sphere": ("hydro_fine", 1), "hydro_box": ("hydro_fine", 4), "fem_column": ("fem", 1),
         "fem_patch": ("fem", 4)}
FAMILIES = {"bounce_zeno": bounce, "incline_block": incline_block, "slide_to_roll": slide_to_roll,
            "incline_roll": incline_roll, "cradle_sequential": cradle, "box_tipping": tipping,
            "movable_wedge": wedge, "painleve_rod": painleve, "simbench_rolling": rolling,
            "simbench_bouncing": bouncing, "hydro_sphere": hydro_sphere, "hydro_box": hydro_box,
            "fem_column": fem_column, "fem_patch": fem_patch}


class Verify(unittest.TestCase):
    def verify(self, *paths, code=0):
        done = subprocess.run([PROGRAM, "verify", *paths, "--json", "--threads", THREADS], capture_output=True, text=True, timeout=600)
        self.assertEqual(done.returncode, code, done.stdout[-2000:] + done.stderr)
        return json.loads(done.stdout)

    def assert_passed(self, document):
        failed = [row for row in document["rows"] if not row["pass"]]
        self.assertEqual(failed, [])

    def test_the_golden_cases_pass(self):
        document = self.verify(CASES)
        self.assert_passed(document)
        self.assertEqual(len(document["rows"]), 333)

    def test_other_parameters_give_their_closed_forms(self):
        r = random.Random(20261115)
        with tempfile.TemporaryDirectory() as folder:
            for family, make in FAMILIES.items():
                lane, count = LANES.get(family, (LANE, 4))
                for k in range(count):
                    parameters, checks = make(r)
                    case = {"id": f"{family}_{k}", "family": family, "parameters": parameters,
                            "checks": [{"quantity": q, "reference": reference, "tolerance_goal": {lane: goal}}
                                       for q, (reference, goal) in checks.items()]}
                    with open(os.path.join(folder, f"{family}_{k}.json"), "w") as file:
                        json.dump(case, file)
            done = subprocess.run([PROGRAM, "verify", folder, "--json"], capture_output=True, text=True, timeout=600)
            document = json.loads(done.stdout)
        self.assert_passed(document)
        self.assertEqual({row["case"].rsplit("_", 1)[0] for row in document["rows"]}, set(FAMILIES))

    def test_other_parameters_give_their_closed_forms_in_the_accurate_lane(self):
        r = random.Random(20261116)
        with tempfile.TemporaryDirectory() as folder:
            for family, make in ACCURATE.items():
                for k in range(2):
                    parameters, checks = make(r)
                    case = {"id": f"{family}_{k}", "family": family, "parameters": parameters,
                            "checks": [{"quantity": q, "reference": reference, "tolerance_goal": {"accurate": goal}}
                                       for q, (reference, goal) in checks.items()]}
                    with open(os.path.join(folder, f"{family}_{k}.json"), "w") as file:
                        json.dump(case, file)
            document = self.verify(folder)
        self.assert_passed(document)
        self.assertEqual({row["case"].rsplit("_", 1)[0] for row in document["rows"]}, set(ACCURATE))

    def test_the_page_about_accuracy_is_up_to_date(self):
        """The same rows and tolerances; errors within a factor of three, or both far below what is allowed."""
        done = subprocess.run([PROGRAM, "verify", CASES, "--markdown", "--threads", THREADS], capture_output=True,
                              text=True, timeout=600)
        self.assertEqual(done.returncode, 0, done.stderr)
        with open(PAGE) as file:
            written = file.read()

        def rows(text):
            found, case = {}, ""
            for line in text.splitlines():
                if line.startswith("## "):
                    case = line[3:]
                cells = [cell.strip() for cell in line.split("|")[1:-1]]
                if len(cells) == 5 and cells[0] not in ("quantity", "---"):
                    found[case, cells[0], cells[1]] = (float(cells[2]), float(cells[3].split()[0]))
            return found

        old, new = rows(written), rows(done.stdout)
        self.assertGreater(len(new), 200)
        self.assertEqual(old.keys(), new.keys())
        for key, (error, allowed) in new.items():
            before = old[key][0]
            self.assertEqual(old[key][1], allowed, key)
            self.assertTrue(max(error, before) <= 0.03 * allowed or max(error, before) <= 3 * min(error, before),
                            (key, before, error))

    def test_a_wrong_reference_fails(self):
        with open(os.path.join(CASES, "A07_slide_to_roll.json")) as file:
            case = json.load(file)
        case["checks"][0]["reference"] *= 1.01
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(case, file)
            file.flush()
            document = self.verify(file.name, code=1)
        self.assertEqual([row["pass"] for row in document["rows"]].count(False), 4)  # one for each lane

    def test_what_is_no_case_is_rejected_by_name(self):
        case = {"id": "x", "family": "bounce_zeno", "parameters": {"g": 9.81}, "checks": [
            {"quantity": "t_1", "reference": 1, "tolerance_goal": {LANE: rel(1)}}]}
        for change, word in (({}, "'h'"), ({"checks": 3}, "checks")):
            with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
                json.dump({**case, **change}, file)
                file.flush()
                done = subprocess.run([PROGRAM, "verify", file.name], capture_output=True, text=True, timeout=60)
                self.assertEqual(done.returncode, 3, done.stderr)
                self.assertIn(word, done.stderr)
                self.assertIn(file.name, done.stderr)

    def test_a_family_that_is_not_known_skips_its_case_and_no_other(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, family in (("a", "bounce_zenno"), ("b", "bounce_zeno")):
                parameters, checks = bounce(random.Random(3))
                case = {"id": name, "family": family, "parameters": parameters,
                        "checks": [{"quantity": q, "reference": reference, "tolerance_goal": {LANE: goal}}
                                   for q, (reference, goal) in checks.items()]}
                with open(os.path.join(folder, name + ".json"), "w") as file:
                    json.dump(case, file)
            document = self.verify(folder)
            self.assertEqual({row["case"] for row in document["rows"]}, {"b"})
            self.assert_passed(document)
            (skipped,) = document["skipped"]
            self.assertEqual(skipped["case"], "a")
            for word in ("bounce_zenno", "bounce_zeno", "a.json"):
                self.assertIn(word, skipped["reason"])
            done = subprocess.run([PROGRAM, "verify", folder], capture_output=True, text=True, timeout=60)
            self.assertEqual(done.returncode, 0, done.stderr)
            (line,) = [line for line in done.stdout.splitlines() if line.startswith("skip")]
            self.assertIn("bounce_zenno", line)

    def test_a_log_gets_a_line_of_progress_every_few_seconds(self):
        case = os.path.join(CASES, "A04_modia_bounce_steel.json")
        run = subprocess.run([PROGRAM, "verify", *[case] * 400], capture_output=True, text=True, timeout=600)
        self.assertEqual(run.returncode, 0, run.stderr)
        lines = run.stderr.splitlines()
        self.assertGreater(len(lines), 0)
        for line in lines:
            self.assertRegex(line, r"^verify: case \d+ of 400, \d+:\d\d$")
        quiet = subprocess.run([PROGRAM, "verify", "-q", case], capture_output=True, text=True, timeout=60)
        self.assertEqual(quiet.stderr, "")

    def test_the_contact_of_the_convex_solver_is_that_of_the_engine(self):
        """Other parameters than those of the golden case; the optimality conditions of the published law, solved
        here in closed form."""
        r = random.Random(20261118)
        m, k, tau, mu, dt, g = 0.4, 3e4, 0.004, 0.7, 2e-3, 3.7
        beta, sigma = 0.5, 3e-3
        w = 1 / m
        rn = max(beta**2 / (4 * math.pi**2) * w, 1 / (dt * k * (dt + tau)))
        rt = sigma * w
        states, checks, regimes = [], [], set()
        for i in range(20):
            phi, vt, vn = r.uniform(-2e-4, 5e-5), r.choice((1e-3, 0.5)) * r.uniform(-1, 1), r.uniform(-0.4, 0.2)
            states.append({"phi0": phi, "vt0": vt, "vn0": vn})
            free, target = vn - g * dt, -phi / (dt + tau)
            # Stuck: each direction for itself. Sliding: gamma_t = mu gamma_n against the slip.
            n = (target - free) / (w + rn)
            t = -vt / (w + rt)
            regime = "stick"
            if target - free <= -mu * abs(vt):
                regime = "open"
                n = t = 0
            elif abs(t) > mu * n:
                regime = "slide"
                muhat = mu * rt / rn
                # n = (y_n + muhat |y_t|) / (1 + mu muhat), y_n = (target - v_n)/rn, |y_t| = |v_t|/rt,
                # v_n = free + w n, |v_t| = |vt| - w mu n.
                n = (((target - free) / rn + muhat * abs(vt) / rt)
                     / (1 + mu * muhat + w / rn + muhat * mu * w / rt))
                t = -math.copysign(mu * n, vt)
            regimes.add(regime)
            for quantity, reference, goal in ((f"state{i}_regime", regime, {"type": "equal"}),
                                              (f"state{i}_v", [vt + w * t, free + w * n], absolute(1e-12)),
                                              (f"state{i}_gamma", [t, n], {"type": "rel_to_max", "value": 1e-9})):
                checks.append({"quantity": quantity, "reference": reference, "tolerance_goal": {"sap": goal}})
        self.assertEqual(regimes, {"stick", "slide", "open"})
        for quantity, reference in (("Rn", rn), ("Rt", rt)):
            checks.append({"quantity": quantity, "reference": reference, "tolerance_goal": {"sap": rel(1e-12)}})
        case = {"id": "contact", "family": "sap_contact", "checks": checks,
                "parameters": {"m": m, "k": k, "tau_d": tau, "mu": mu, "dt": dt, "g": g, "beta": beta, "sigma": sigma,
                               "states": states}}
        with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
            json.dump(case, file)
            file.flush()
            document = self.verify(file.name)
        self.assert_passed(document)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[3:])
