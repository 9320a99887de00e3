// SPDX-License-Identifier: Apache-2.0
//
// What every page that draws bodies needs: colours, small matrices, and the triangles of the shapes.
// Put into the pages as text when they are built.

// ---- colours -----------------------------------------------------------------------------------
const SHAPE_COLOR = {
  sphere: [0.23, 0.51, 0.83], box: [0.91, 0.55, 0.20], capsule: [0.30, 0.66, 0.46], cylinder: [0.55, 0.43, 0.76],
  cone: [0.84, 0.37, 0.42], ellipsoid: [0.20, 0.67, 0.71], convex: [0.85, 0.70, 0.26], compound: [0.67, 0.46, 0.36],
  mesh: [0.50, 0.51, 0.54], height_field: [0.80, 0.77, 0.70] };
const CONTACT_COLOR = { point: [0.86, 0.08, 0.24], edge: [0.72, 0.10, 0.75], face: [0.02, 0.40, 0.95], patch: [0.0, 0.55, 0.35], unknown: [0.3, 0.3, 0.3] };
const css = c => "rgb(" + c.map(x => Math.round(255 * x)).join(",") + ")";
const colorOf = (type, fixed) => fixed && type === "box" ? [0.72, 0.74, 0.77] : SHAPE_COLOR[type] || [0.6, 0.6, 0.6];

// ---- vectors and matrices (column-major 4x4) -----------------------------------------------------
const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
const mul = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
const unit = a => mul(a, 1 / (Math.hypot(...a) || 1));
const poseMatrix = p => [p[0], p[1], p[2], 0, p[3], p[4], p[5], 0, p[6], p[7], p[8], 0, p[9], p[10], p[11], 1];
function product(a, b) {
  const o = new Array(16).fill(0);
  for (let c = 0; c < 4; ++c) for (let r = 0; r < 4; ++r) for (let k = 0; k < 4; ++k) o[4 * c + r] += a[4 * k + r] * b[4 * c + k];
  return o;
}
function lookAt(eye, at) {
  const z = unit(sub(eye, at)), x = unit(cross([0, 0, 1], z)), y = cross(z, x);
  return [x[0], y[0], z[0], 0, x[1], y[1], z[1], 0, x[2], y[2], z[2], 0, -dot(x, eye), -dot(y, eye), -dot(z, eye), 1];
}
function perspective(fov, aspect, near, far) {
  const f = 1 / Math.tan(fov / 2);
  return [f / aspect, 0, 0, 0, 0, f, 0, 0, 0, 0, (far + near) / (near - far), -1, 0, 0, 2 * far * near / (near - far), 0];
}
const orthographic = (s, near, far) => [1 / s, 0, 0, 0, 0, 1 / s, 0, 0, 0, 0, -2 / (far - near), 0, 0, 0, -(far + near) / (far - near), 1];
/// A frame whose third axis is n.
function frameAlong(n) {
  const x = unit(cross(Math.abs(n[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0], n));
  return [x, cross(n, x), n];
}

// ---- triangles of the shapes: [x y z nx ny nz] per corner ----------------------------------------
function lathe(profile, steps = 28) {          // profile: [r, z, nr, nz] from bottom to top
  const out = [];
  const corner = (p, a) => [p[0] * Math.cos(a), p[0] * Math.sin(a), p[1], p[2] * Math.cos(a), p[2] * Math.sin(a), p[3]];
  for (let i = 0; i + 1 < profile.length; ++i) for (let k = 0; k < steps; ++k) {
    const a = 2 * Math.PI * k / steps, b = 2 * Math.PI * (k + 1) / steps, p = profile[i], q = profile[i + 1];
    out.push(...corner(p, a), ...corner(p, b), ...corner(q, b), ...corner(p, a), ...corner(q, b), ...corner(q, a));
  }
  return out;
}
function arc(r, z0, from, to, n) {
  const out = [];
  for (let i = 0; i <= n; ++i) { const t = from + (to - from) * i / n; out.push([r * Math.cos(t), z0 + r * Math.sin(t), Math.cos(t), Math.sin(t)]); }
  return out;
}
function flatTriangles(v, f) {
  const out = [];
  for (const t of f) {
    const [a, b, c] = t.map(i => v[i]), n = unit(cross(sub(b, a), sub(c, a)));
    out.push(...a, ...n, ...b, ...n, ...c, ...n);
  }
  return out;
}
function smoothTriangles(v, f) {
  const n = v.map(() => [0, 0, 0]);
  for (const t of f) { const m = cross(sub(v[t[1]], v[t[0]]), sub(v[t[2]], v[t[0]])); for (const i of t) n[i] = add(n[i], m); }
  const out = [];
  for (const t of f) for (const i of t) out.push(...v[i], ...unit(n[i]));
  return out;
}
function boxTriangles(h) {
  const v = [], f = [];
  for (let i = 0; i < 8; ++i) v.push([i & 1 ? h[0] : -h[0], i & 2 ? h[1] : -h[1], i & 4 ? h[2] : -h[2]]);
  for (const q of [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]]) f.push([q[0], q[1], q[2]], [q[0], q[2], q[3]]);
  return flatTriangles(v, f);
}
function transformed(tri, m) {
  const out = new Array(tri.length);
  for (let i = 0; i < tri.length; i += 6) for (let r = 0; r < 3; ++r) {
    out[i + r] = m[r] * tri[i] + m[4 + r] * tri[i + 1] + m[8 + r] * tri[i + 2] + m[12 + r];
    out[i + 3 + r] = m[r] * tri[i + 3] + m[4 + r] * tri[i + 4] + m[8 + r] * tri[i + 5];
  }
  return out;
}
function trianglesOf(s) {
  const z = s.size, H = Math.PI / 2;
  switch (s.type) {
    case "sphere": return lathe(arc(z[0], 0, -H, H, 16));
    case "capsule": return lathe([...arc(z[0], -z[1], -H, 0, 8), ...arc(z[0], z[1], 0, H, 8)]);
    case "cylinder": return lathe([[0, -z[1], 0, -1], [z[0], -z[1], 0, -1], [z[0], -z[1], 1, 0], [z[0], z[1], 1, 0], [z[0], z[1], 0, 1], [0, z[1], 0, 1]]);
    case "cone": { const l = Math.hypot(z[0], 2 * z[1]), nr = 2 * z[1] / l, nz = z[0] / l;
      return lathe([[0, -z[1], 0, -1], [z[0], -z[1], 0, -1], [z[0], -z[1], nr, nz], [0, z[1], nr, nz]]); }
    case "ellipsoid": { const t = lathe(arc(1, 0, -H, H, 16));
      for (let i = 0; i < t.length; i += 6) {
        const n = unit([t[i] / z[0], t[i + 1] / z[1], t[i + 2] / z[2]]);
        for (let k = 0; k < 3; ++k) { t[i + k] *= z[k]; t[i + 3 + k] = n[k]; }
      }
      return t; }
    case "box": return boxTriangles(z);
    case "convex": return flatTriangles(s.v, s.f);
    case "compound": return s.parts.flatMap(p => transformed(trianglesOf(p.shape), poseMatrix(p.pose)));
    default: return s.v ? smoothTriangles(s.v, s.f) : [];
  }
}
