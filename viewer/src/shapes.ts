// SPDX-License-Identifier: Apache-2.0
//
// Triangles of shapes. Sizes are those of the shape classes: half extents, radius and half length.
import * as THREE from "three";
import type { ShapeDescription } from "./stream.ts";

/** Three columns of a rotation, then the translation. */
export function poseMatrix(p: number[]): THREE.Matrix4 {
  return new THREE.Matrix4().set(
    p[0], p[3], p[6], p[9],
    p[1], p[4], p[7], p[10],
    p[2], p[5], p[8], p[11],
    0, 0, 0, 1);
}

/** One geometry for all shapes of a body; null when there is nothing to draw. */
export function bodyGeometry(shapes: { pose: number[]; shape: ShapeDescription }[]): THREE.BufferGeometry | null {
  const position: number[] = [];
  const normal: number[] = [];
  for (const part of shapes) addShape(part.shape, poseMatrix(part.pose), position, normal);
  if (position.length === 0) return null;
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
  geometry.setAttribute("normal", new THREE.Float32BufferAttribute(normal, 3));
  geometry.computeBoundingSphere();
  return geometry;
}

function addShape(shape: ShapeDescription, pose: THREE.Matrix4, position: number[], normal: number[]): void {
  if (shape.parts) {
    for (const part of shape.parts)
      addShape(part.shape, pose.clone().multiply(poseMatrix(part.pose)), position, normal);
    return;
  }
  const whole = geometryOf(shape);
  if (!whole) return;
  const geometry = whole.index ? whole.toNonIndexed() : whole;
  geometry.applyMatrix4(pose);
  position.push(...spread(geometry.getAttribute("position").array));
  normal.push(...spread(geometry.getAttribute("normal").array));
}

function* spread(values: ArrayLike<number>): Generator<number> {
  for (let i = 0; i < values.length; ++i) yield values[i];
}

/** Along z, as our shapes are; those of the library are along y. */
function upright(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  return geometry.rotateX(Math.PI / 2);
}

function geometryOf(shape: ShapeDescription): THREE.BufferGeometry | null {
  const s = shape.size ?? [];
  switch (shape.type) {
    case "sphere": return new THREE.SphereGeometry(s[0], 32, 20);
    case "box": return new THREE.BoxGeometry(2 * s[0], 2 * s[1], 2 * s[2]);
    case "capsule": return upright(new THREE.CapsuleGeometry(s[0], 2 * s[1], 10, 28));
    case "cylinder": return upright(new THREE.CylinderGeometry(s[0], s[0], 2 * s[1], 40));
    case "cone": return upright(new THREE.ConeGeometry(s[0], 2 * s[1], 40));
    case "ellipsoid": return new THREE.SphereGeometry(1, 36, 24).scale(s[0], s[1], s[2]);
    default: return shape.v && shape.f ? flat(shape.v, shape.f) : null;
  }
}

function flat(vertices: number[][], faces: number[][]): THREE.BufferGeometry {
  const position = new Float32Array(9 * faces.length);
  let at = 0;
  for (const face of faces)
    for (const corner of face)
      for (let k = 0; k < 3; ++k) position[at++] = vertices[corner][k];
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
  geometry.computeVertexNormals();
  return geometry;
}

export function isPlane(shapes: { shape: ShapeDescription }[]): boolean {
  return shapes.some((part) => part.shape.type === "plane");
}
