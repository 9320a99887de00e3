// SPDX-License-Identifier: Apache-2.0
//
// Colours are given as screens show them; the renderer computes with what light there is.
import * as THREE from "three";

const onScreen = (r: number, g: number, b: number): THREE.Color => new THREE.Color().setRGB(r, g, b, THREE.SRGBColorSpace);

export const FIXED = onScreen(0.8, 0.82, 0.85);
export const ASLEEP = onScreen(0.4, 0.45, 0.56);
export const SOFT = onScreen(0.36, 0.78, 0.74);
export const POINT = onScreen(0.86, 0.08, 0.24);
export const NORMAL = onScreen(0.05, 0.32, 0.95);
export const TANGENT = onScreen(0.08, 0.62, 0.2);
export const PICKED = onScreen(1.0, 0.75, 0.1);
export const JOINT = onScreen(0.48, 0.18, 0.69);
export const AXES = [onScreen(0.82, 0.19, 0.19), onScreen(0.12, 0.63, 0.25), onScreen(0.12, 0.31, 0.82)];

const BY_SHAPE: Record<string, number> = {
  sphere: 0xd9822b, box: 0x3f7fbf, capsule: 0x8d5fb5, cylinder: 0x2f9e77, cone: 0xc2547a,
  ellipsoid: 0xb58b2a, convex: 0x5b8c3a, mesh: 0x7a6f63,
};

/** By kind of shape, and a little by number, so that neighbours can be told apart. */
export function bodyColor(shapeType: string | undefined, index: number): THREE.Color {
  const color = new THREE.Color(BY_SHAPE[shapeType ?? ""] ?? 0x8a94a0);
  return color.multiplyScalar(0.86 + 0.28 * ((index * 0.618034) % 1));
}

export function islandColor(island: number, out: THREE.Color): THREE.Color {
  return out.setHSL((island * 0.618034) % 1, 0.6, 0.5, THREE.SRGBColorSpace);
}

/** From dark blue (none) by green and yellow to red (all). */
const HEAT: [number, number, number][] = [
  [0.12, 0.16, 0.55], [0.1, 0.45, 0.92], [0.1, 0.78, 0.78], [0.35, 0.85, 0.3], [0.95, 0.88, 0.15], [0.98, 0.5, 0.08], [0.82, 0.06, 0.08],
];
const HEAT_STEPS = 256;
const HEAT_TABLE = Float32Array.from({ length: 3 * HEAT_STEPS }, (_, at) => {
  const s = (Math.floor(at / 3) / (HEAT_STEPS - 1)) * (HEAT.length - 1);
  const low = Math.min(HEAT.length - 2, Math.floor(s));
  const mix = HEAT[low].map((value, k) => value + (s - low) * (HEAT[low + 1][k] - value));
  return onScreen(mix[0], mix[1], mix[2]).toArray()[at % 3];
});

/** Writes the colour of `part` of the scale at out[at], out[at + 1], out[at + 2]. */
export function writeHeat(part: number, out: Float32Array, at: number): void {
  const k = 3 * Math.round((HEAT_STEPS - 1) * Math.min(1, Math.max(0, part || 0)));
  out[at] = HEAT_TABLE[k];
  out[at + 1] = HEAT_TABLE[k + 1];
  out[at + 2] = HEAT_TABLE[k + 2];
}

/** The scale as a background of the page. */
export const HEAT_GRADIENT = `linear-gradient(to right, ${HEAT.map((c) => `rgb(${c.map((x) => Math.round(255 * x)).join(" ")})`).join(", ")})`;
