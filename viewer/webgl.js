// SPDX-License-Identifier: Apache-2.0
//
// What every page that draws with WebGL shares: the context, shader programs, the shadow map, and a
// camera that orbits. Needs shapes.js before it. Put into the pages as text when they are built.

// ---- WebGL ---------------------------------------------------------------------------------------
const canvas = document.getElementById("view");
const gl = canvas.getContext("webgl2", { alpha: false, antialias: true, preserveDrawingBuffer: true });
if (!gl) {
  document.body.insertAdjacentHTML("beforeend", '<div id="fault">This page needs WebGL 2, which this browser does not offer.</div>');
  throw new Error("no WebGL 2");
}
function program(vertex, fragment) {
  const p = gl.createProgram();
  for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const s = gl.createShader(kind);
    gl.shaderSource(s, "#version 300 es\nprecision highp float;\n" + text);
    gl.compileShader(s);
    if (!gl.getShaderParameter(s, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(s));
    gl.attachShader(p, s);
  }
  gl.bindAttribLocation(p, 0, "position"); gl.bindAttribLocation(p, 1, "normal"); gl.bindAttribLocation(p, 2, "color");
  gl.linkProgram(p);
  const uniforms = {};
  for (let i = 0; i < gl.getProgramParameter(p, gl.ACTIVE_UNIFORMS); ++i) { const n = gl.getActiveUniform(p, i).name; uniforms[n] = gl.getUniformLocation(p, n); }
  return { p, u: uniforms };
}

const SHADOW = 2048, depthTexture = gl.createTexture(), shadowTarget = gl.createFramebuffer();
gl.bindTexture(gl.TEXTURE_2D, depthTexture);
gl.texStorage2D(gl.TEXTURE_2D, 1, gl.DEPTH_COMPONENT24, SHADOW, SHADOW);
gl.texParameteri(gl.TEXTURE_2D, gl.TEXTURE_COMPARE_MODE, gl.COMPARE_REF_TO_TEXTURE);
for (const k of [gl.TEXTURE_MIN_FILTER, gl.TEXTURE_MAG_FILTER]) gl.texParameteri(gl.TEXTURE_2D, k, gl.LINEAR);
for (const k of [gl.TEXTURE_WRAP_S, gl.TEXTURE_WRAP_T]) gl.texParameteri(gl.TEXTURE_2D, k, gl.CLAMP_TO_EDGE);
gl.bindFramebuffer(gl.FRAMEBUFFER, shadowTarget);
gl.framebufferTexture2D(gl.FRAMEBUFFER, gl.DEPTH_ATTACHMENT, gl.TEXTURE_2D, depthTexture, 0);
const sun = unit([0.45, -0.35, 0.85]);

// ---- camera: target, distance, yaw, pitch ----------------------------------------------------------
const eyeOf = c => add(c.target, mul([Math.cos(c.pitch) * Math.cos(c.yaw), Math.cos(c.pitch) * Math.sin(c.yaw), Math.sin(c.pitch)], c.distance));

/// Drag turns, shift or right drag moves, wheel and two fingers zoom within `limits`, double click goes home.
function orbit(camera, home, limits, onHover, onLeave, onChange = () => {}) {
  const pointers = new Map();
  let pinch = 0;
  const zoom = factor => { camera.distance = Math.min(limits[1], Math.max(limits[0], camera.distance * factor)); onChange(); };
  canvas.addEventListener("pointerdown", e => { canvas.setPointerCapture(e.pointerId); pointers.set(e.pointerId, [e.clientX, e.clientY]); pinch = 0; });
  for (const stop of ["pointerup", "pointercancel"]) canvas.addEventListener(stop, e => { pointers.delete(e.pointerId); pinch = 0; });
  canvas.addEventListener("pointermove", e => {
    const from = pointers.get(e.pointerId);
    if (!from) { onHover(e.clientX, e.clientY); return; }
    onLeave();
    const dx = e.clientX - from[0], dy = e.clientY - from[1];
    pointers.set(e.pointerId, [e.clientX, e.clientY]);
    if (pointers.size === 2) {
      const [a, b] = [...pointers.values()], d = Math.hypot(a[0] - b[0], a[1] - b[1]);
      if (pinch) zoom(pinch / d);
      pinch = d;
    } else if (e.shiftKey || e.buttons === 2) {
      const z = unit(sub(eyeOf(camera), camera.target)), x = unit(cross([0, 0, 1], z)), s = camera.distance * 0.0011;
      camera.target = add(camera.target, add(mul(x, -dx * s), mul(cross(z, x), dy * s)));
    } else {
      camera.yaw -= dx * 0.008;
      camera.pitch = Math.min(1.55, Math.max(-0.6, camera.pitch + dy * 0.008));
    }
    onChange();
  });
  canvas.addEventListener("wheel", e => { e.preventDefault(); zoom(Math.exp(e.deltaY * 0.0012)); }, { passive: false });
  canvas.addEventListener("contextmenu", e => e.preventDefault());
  canvas.addEventListener("dblclick", () => { Object.assign(camera, structuredClone(home)); onChange(); });
}
