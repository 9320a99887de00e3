// SPDX-License-Identifier: Apache-2.0
import * as THREE from "three";

export const FIXED = new THREE.Color(0.62, 0.65, 0.69);
export const ASLEEP = new THREE.Color(0.48, 0.53, 0.62);
export const SOFT = new THREE.Color(0.16, 0.6, 0.55);
export const POINT = new THREE.Color(0.86, 0.08, 0.24);
export const NORMAL = new THREE.Color(0.05, 0.35, 0.95);
export const TANGENT = new THREE.Color(0.1, 0.62, 0.2);
export const PICKED = new THREE.Color(1.0, 0.72, 0.1);

const BY_SHAPE: Record<string, number> = {
  sphere: 0xd9822b, box: 0x3f7fbf, capsule: 0x8d5fb5, cylinder: 0x2f9e77, cone: 0xc2547a,
  ellipsoid: 0xb58b2a, convex: 0x5b8c3a, mesh: 0x7a6f63,
};

/** By kind of shape, and a little by number, so that neighbours can be told apart. */
export function bodyColor(shapeType: string | undefined, index: number): THREE.Color {
  const color = new THREE.Color(BY_SHAPE[shapeType ?? ""] ?? 0x8a94a0);
  return color.multiplyScalar(0.86 + 0.28 * ((index * 0.618034) % 1));
}

export function islandColor(island: number): THREE.Color {
  return new THREE.Color().setHSL((island * 0.618034) % 1, 0.55, 0.52);
}

/** From blue (none) by green to red (all). */
export function heat(t: number, out: THREE.Color): THREE.Color {
  const s = Math.min(1, Math.max(0, t));
  return out.setRGB(Math.min(1, 2 * s), 0.9 - 0.9 * Math.abs(2 * s - 1), Math.min(1, 2 - 2 * s));
}
