// SPDX-License-Identifier: Apache-2.0
//
// Triangles of shapes. Shapes of one kind share a geometry of unit size, placed and scaled for each
// of them: a pile of a thousand boxes, no two alike, is one draw call.
import * as THREE from "three";
import { bytesOfBase64 } from "./stream.ts";
import type { MeshDescription, ShapeDescription } from "./stream.ts";

/** Three columns of a rotation, then the translation. */
export function poseMatrix(p: number[]): THREE.Matrix4 {
  return new THREE.Matrix4().set(
    p[0], p[3], p[6], p[9],
    p[1], p[4], p[7], p[10],
    p[2], p[5], p[8], p[11],
    0, 0, 0, 1);
}

/** Shapes with the same key have the same geometry; null: nothing is drawn of it. */
export function geometryKey(shape: ShapeDescription): string | null {
  if (shape.mesh !== undefined) return `mesh ${shape.mesh}`;
  // Its ends are round whatever its length: only capsules of the same proportions are alike.
  if (shape.type === "capsule") return `capsule ${shape.size![1] / shape.size![0]}`;
  return ["sphere", "box", "cylinder", "cone", "ellipsoid"].includes(shape.type) ? shape.type : null;
}

/** Of unit size. */
export function geometryOf(shape: ShapeDescription, meshes: MeshDescription[]): THREE.BufferGeometry {
  const geometry = unitGeometry(shape, meshes);
  geometry.computeBoundingSphere();
  return geometry;
}

/** From the unit geometry to the frame of the body. */
export function placeOf(shape: ShapeDescription): THREE.Matrix4 {
  const s = shape.size ?? [1, 1, 1];
  const pose = poseMatrix(shape.pose);
  if (shape.mesh !== undefined) return pose;
  switch (shape.type) {
    case "sphere": case "capsule": return pose.scale(new THREE.Vector3(s[0], s[0], s[0]));
    case "cylinder": case "cone": return pose.scale(new THREE.Vector3(s[0], s[0], s[1]));
    default: return pose.scale(new THREE.Vector3(s[0], s[1], s[2]));
  }
}

/** Along z, as our shapes are; those of the library are along y. */
function upright(geometry: THREE.BufferGeometry): THREE.BufferGeometry {
  return geometry.rotateX(Math.PI / 2);
}

function unitGeometry(shape: ShapeDescription, meshes: MeshDescription[]): THREE.BufferGeometry {
  if (shape.mesh !== undefined) return triangles(meshes[shape.mesh], shape.type === "convex");
  switch (shape.type) {
    case "box": return new THREE.BoxGeometry(2, 2, 2);
    case "capsule": return upright(new THREE.CapsuleGeometry(1, (2 * shape.size![1]) / shape.size![0], 8, 24));
    case "cylinder": return upright(new THREE.CylinderGeometry(1, 1, 2, 36));
    case "cone": return upright(new THREE.ConeGeometry(1, 2, 36));
    default: return new THREE.SphereGeometry(1, 28, 18);
  }
}

const SMOOTH_BELOW = Math.cos((40 * Math.PI) / 180);

/** Edges are sharp where faces meet at more than 40 degrees, and everywhere on hulls. */
function triangles(mesh: MeshDescription, isSharp: boolean): THREE.BufferGeometry {
  const vertex = new Float32Array(bytesOfBase64(mesh.vertices));
  const corner = new Uint32Array(bytesOfBase64(mesh.triangles));
  const position = new Float32Array(3 * corner.length), normal = new Float32Array(3 * corner.length);
  for (let i = 0; i < corner.length; ++i)
    for (let k = 0; k < 3; ++k) position[3 * i + k] = vertex[3 * corner[i] + k];
  const face = faceNormals(position);
  const sum = isSharp ? null : new Float32Array(vertex.length);
  if (sum) for (let i = 0; i < corner.length; ++i) for (let k = 0; k < 3; ++k) sum[3 * corner[i] + k] += face[3 * Math.floor(i / 3) + k];
  for (let i = 0; i < corner.length; ++i) {
    const f = 3 * Math.floor(i / 3), v = 3 * corner[i];
    const own = Math.hypot(face[f], face[f + 1], face[f + 2]) || 1;
    const mean = sum ? Math.hypot(sum[v], sum[v + 1], sum[v + 2]) || 1 : 1;
    const isSmooth = sum !== null && face[f] * sum[v] + face[f + 1] * sum[v + 1] + face[f + 2] * sum[v + 2] > SMOOTH_BELOW * own * mean;
    for (let k = 0; k < 3; ++k) normal[3 * i + k] = isSmooth ? sum![v + k] / mean : face[f + k] / own;
  }
  const geometry = new THREE.BufferGeometry();
  geometry.setAttribute("position", new THREE.BufferAttribute(position, 3));
  geometry.setAttribute("normal", new THREE.BufferAttribute(normal, 3));
  return geometry;
}

/** As long as twice their area. */
function faceNormals(position: Float32Array): Float32Array {
  const out = new Float32Array(position.length / 3);
  const a = new THREE.Vector3(), b = new THREE.Vector3(), c = new THREE.Vector3();
  for (let f = 0; 3 * f < out.length; ++f) {
    a.fromArray(position, 9 * f);
    b.fromArray(position, 9 * f + 3).sub(a);
    c.fromArray(position, 9 * f + 6).sub(a);
    b.cross(c).toArray(out, 3 * f);
  }
  return out;
}
