// SPDX-License-Identifier: Apache-2.0
//
// What is drawn of contacts, and lines. Memory grows with the largest frame so far and is used again.
import * as THREE from "three";
import * as colors from "./colors.ts";
import { CONTACT, CONTACT_IDS, POLYGON } from "./stream.ts";
import type { Frame } from "./stream.ts";

/** Contacts lie inside the bodies: what hides them lets them shine through. */
const THROUGH = { depthTest: false, transparent: true, opacity: 0.28 };

/** Numbers of vertices that change in every frame: position and colour. */
class Vertices {
  readonly geometry = new THREE.BufferGeometry();
  count = 0;
  position: Float32Array = new Float32Array(0);
  color: Float32Array = new Float32Array(0);

  reserve(count: number): void {
    if (3 * count <= this.position.length) return;
    const grow = (old: Float32Array): Float32Array => {
      const more = new Float32Array(3 * 2 * count);
      more.set(old);
      return more;
    };
    this.position = grow(this.position);
    this.color = grow(this.color);
    this.geometry.dispose();
    this.geometry.setAttribute("position", new THREE.BufferAttribute(this.position, 3).setUsage(THREE.DynamicDrawUsage));
    this.geometry.setAttribute("color", new THREE.BufferAttribute(this.color, 3).setUsage(THREE.DynamicDrawUsage));
  }
  finish(): void {
    this.geometry.setDrawRange(0, this.count);
    for (const name of ["position", "color"]) {
      const attribute = this.geometry.getAttribute(name) as THREE.BufferAttribute | undefined;
      if (!attribute) continue;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, 3 * this.count);
      attribute.needsUpdate = true;
    }
  }
}

/** Line segments that change in every frame. */
export class Lines {
  private readonly vertices = new Vertices();
  private readonly object: THREE.LineSegments;

  constructor(stage: THREE.Scene) {
    this.object = new THREE.LineSegments(this.vertices.geometry,
      new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    this.object.frustumCulled = false;
    this.object.renderOrder = 3;
    stage.add(this.object);
  }
  clear(): void {
    this.vertices.count = 0;
  }
  add(from: THREE.Vector3, to: THREE.Vector3, color: THREE.Color): void {
    const { vertices } = this;
    vertices.reserve(vertices.count + 2);
    from.toArray(vertices.position, 3 * vertices.count);
    to.toArray(vertices.position, 3 * vertices.count + 3);
    color.toArray(vertices.color, 3 * vertices.count);
    color.toArray(vertices.color, 3 * vertices.count + 3);
    vertices.count += 2;
  }
  finish(): void {
    this.object.visible = this.vertices.count > 0;
    if (this.object.visible) this.vertices.finish();
  }
}

/** More copies than this are small on the screen: the coarse thing is enough for them. */
const MANY = 1000;

/** Many copies of one thing; what is hidden shines through. */
class Copies {
  matrices: Float32Array = new Float32Array(0);
  paints: Float32Array = new Float32Array(0);
  private solid: THREE.InstancedMesh | null = null;
  private faint: THREE.InstancedMesh | null = null;

  /** `coarse`: what is enough where it only shines through, or where there are many. */
  constructor(private readonly stage: THREE.Scene, private readonly geometry: THREE.BufferGeometry,
    private readonly coarse: THREE.BufferGeometry, private readonly color: THREE.Color) {}

  reserve(count: number): void {
    if (16 * count <= this.matrices.length) return;
    for (const old of [this.solid, this.faint]) {
      if (!old) continue;
      this.stage.remove(old);
      old.dispose();
    }
    const capacity = Math.max(64, 2 * count);
    this.solid = new THREE.InstancedMesh(this.geometry, new THREE.MeshBasicMaterial(), capacity);
    this.faint = new THREE.InstancedMesh(this.coarse, new THREE.MeshBasicMaterial(THROUGH), capacity);
    this.solid.setColorAt(0, this.color);
    this.solid.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    this.faint.instanceMatrix = this.solid.instanceMatrix;
    this.faint.instanceColor = this.solid.instanceColor;
    this.faint.renderOrder = 2;
    this.matrices = this.solid.instanceMatrix.array as Float32Array;
    this.paints = this.solid.instanceColor!.array as Float32Array;
    for (let i = 0; i < capacity; ++i) this.color.toArray(this.paints, 3 * i);
    for (const mesh of [this.solid, this.faint]) {
      mesh.frustumCulled = false;
      this.stage.add(mesh);
    }
  }
  paint(index: number, color: THREE.Color): void {
    color.toArray(this.paints, 3 * index);
    this.solid!.instanceColor!.needsUpdate = true;
  }
  show(count: number): void {
    if (!this.solid || !this.faint) return;
    this.solid.count = this.faint.count = count;
    this.solid.visible = this.faint.visible = count > 0;
    this.solid.geometry = count > MANY ? this.coarse : this.geometry;
    this.solid.instanceMatrix.clearUpdateRanges();
    this.solid.instanceMatrix.addUpdateRange(0, 16 * count);
    this.solid.instanceMatrix.needsUpdate = true;
  }
}

export interface GlyphLook {
  points: boolean;
  normals: boolean;
  tangents: boolean;
}

/** Contacts: a ball at the point, as large as its force; the normal force blue, friction green. */
export class Glyphs {
  /** Balls that are drawn. */
  count = 0;
  private readonly points: Copies;
  private readonly normals: Copies;
  private readonly tangents: Copies;
  private shownFrame: Frame | null = null;
  private readonly shown: GlyphLook = { points: false, normals: false, tangents: false };
  private shownPicked = "";
  private paintedIndex = -1;
  private typical = 0;
  private forces = new Float32Array(0);

  constructor(stage: THREE.Scene, private readonly size: number) {
    this.points = new Copies(stage, new THREE.IcosahedronGeometry(1, 1), new THREE.IcosahedronGeometry(1, 0), colors.POINT);
    this.normals = new Copies(stage, arrowGeometry(6), arrowGeometry(3), colors.NORMAL);
    this.tangents = new Copies(stage, arrowGeometry(6), arrowGeometry(3), colors.TANGENT);
  }

  show(frame: Frame, look: GlyphLook, picked: string): void {
    const { shown } = this;
    if (frame === this.shownFrame && look.points === shown.points && look.normals === shown.normals &&
        look.tangents === shown.tangents && picked === this.shownPicked) return;
    if (frame !== this.shownFrame) this.learnScale(frame);
    this.shownFrame = frame;
    shown.points = look.points;
    shown.normals = look.normals;
    shown.tangents = look.tangents;
    this.shownPicked = picked;
    for (const copies of [this.points, this.normals, this.tangents]) copies.reserve(frame.numContacts);
    this.count = look.points ? frame.numContacts : 0;
    this.showPoints(frame);
    this.showForces(frame);
    this.paintPicked(frame, picked);
  }

  /** The contact nearest to a point of the canvas, within a few pixels. */
  nearest(camera: THREE.Camera, x: number, y: number, aspect: number): { id: string; point: THREE.Vector3 } | null {
    const frame = this.shownFrame;
    if (!frame) return null;
    let best = -1, least = 0.018;
    const p = new THREE.Vector3();
    for (let i = 0; i < frame.numContacts; ++i) {
      p.fromArray(frame.contacts, CONTACT * i).project(camera);
      const d = Math.hypot((p.x - x) * aspect, p.y - y);
      if (p.z < 1 && d < least) [best, least] = [i, d];
    }
    if (best < 0) return null;
    return { id: contactId(frame, best), point: new THREE.Vector3().fromArray(frame.contacts, CONTACT * best) };
  }

  /** Forces are drawn against what is usual; it follows slowly, so that glyphs do not flicker. */
  private learnScale(frame: Frame): void {
    const n = frame.numContacts;
    if (n === 0) return;
    if (n > this.forces.length) this.forces = new Float32Array(2 * n);
    for (let i = 0; i < n; ++i) this.forces[i] = forceOf(frame, i);
    const sorted = this.forces.subarray(0, n).sort();
    const usual = sorted[Math.floor(0.9 * (n - 1))];
    this.typical = this.typical > 0 ? this.typical + 0.1 * (usual - this.typical) : usual;
  }

  private showPoints(frame: Frame): void {
    const m = this.points.matrices;
    for (let i = 0; i < this.count; ++i) {
      const relative = this.typical > 0 ? Math.min(3, forceOf(frame, i) / this.typical) : 0;
      const radius = this.size * (0.005 + 0.007 * Math.sqrt(relative)), at = 16 * i, from = CONTACT * i;
      m.fill(0, at, at + 16);
      m[at] = m[at + 5] = m[at + 10] = radius;
      m[at + 12] = frame.contacts[from];
      m[at + 13] = frame.contacts[from + 1];
      m[at + 14] = frame.contacts[from + 2];
      m[at + 15] = 1;
    }
    this.points.show(this.count);
  }

  private showForces(frame: Frame): void {
    const c = frame.contacts, thickness = 0.0022 * this.size;
    let numNormals = 0, numTangents = 0;
    for (let i = 0; i < frame.numContacts; ++i) {
      const k = CONTACT * i, length = forceOf(frame, i);
      if (!(length > 0) || !(this.typical > 0)) continue;
      const scale = ((0.14 * this.size) / this.typical) * Math.min(1, (3 * this.typical) / length);
      const along = scale * (c[k + 3] * c[k + 6] + c[k + 4] * c[k + 7] + c[k + 5] * c[k + 8]);
      const nx = along * c[k + 6], ny = along * c[k + 7], nz = along * c[k + 8];
      if (this.shown.normals && writeArrow(this.normals.matrices, numNormals, c, k, nx, ny, nz, thickness)) ++numNormals;
      if (this.shown.tangents &&
          writeArrow(this.tangents.matrices, numTangents, c, k, scale * c[k + 3] - nx, scale * c[k + 4] - ny, scale * c[k + 5] - nz, thickness)) ++numTangents;
    }
    this.normals.show(numNormals);
    this.tangents.show(numTangents);
  }

  private paintPicked(frame: Frame, picked: string): void {
    if (this.paintedIndex >= 0) this.points.paint(this.paintedIndex, colors.POINT);
    this.paintedIndex = picked ? contactIndex(frame, picked) : -1;
    if (this.paintedIndex >= 0) this.points.paint(this.paintedIndex, colors.PICKED);
  }
}

/** From the origin to z = 1; as thick as 1. */
function arrowGeometry(sides: number): THREE.BufferGeometry {
  const profile = [[1, 0], [1, 0.82], [2.6, 0.82], [0, 1]].map(([r, z]) => new THREE.Vector2(r, z));
  return new THREE.LatheGeometry(profile, sides).rotateX(Math.PI / 2);
}

/** The matrix that makes the arrow start at `from[at...]` and point along (x, y, z); false: it is too short. */
function writeArrow(out: Float32Array, index: number, from: Float32Array, at: number, x: number, y: number, z: number, thickness: number): boolean {
  const length = Math.hypot(x, y, z);
  if (!(length > 0.5 * thickness)) return false;
  const ux = x / length, uy = y / length, uz = z / length;
  // Any direction across will do: the axis that is farthest from u, made upright to it.
  const ax = Math.abs(ux) < 0.6 ? 1 : 0, ay = ax === 1 ? 0 : 1;
  let vx = -uz * ay, vy = uz * ax, vz = ux * ay - uy * ax; // u x (ax, ay, 0)
  const v = thickness / Math.hypot(vx, vy, vz);
  vx *= v;
  vy *= v;
  vz *= v;
  const o = 16 * index;
  out[o] = vx;
  out[o + 1] = vy;
  out[o + 2] = vz;
  out[o + 3] = 0;
  out[o + 4] = uy * vz - uz * vy;
  out[o + 5] = uz * vx - ux * vz;
  out[o + 6] = ux * vy - uy * vx;
  out[o + 7] = 0;
  out[o + 8] = x;
  out[o + 9] = y;
  out[o + 10] = z;
  out[o + 11] = 0;
  out[o + 12] = from[at];
  out[o + 13] = from[at + 1];
  out[o + 14] = from[at + 2];
  out[o + 15] = 1;
  return true;
}

function forceOf(frame: Frame, contact: number): number {
  const k = CONTACT * contact + 3, c = frame.contacts;
  return Math.sqrt(c[k] * c[k] + c[k + 1] * c[k + 1] + c[k + 2] * c[k + 2]);
}

/** The same for as long as the contact lives. */
export function contactId(frame: Frame, contact: number): string {
  const k = CONTACT_IDS * contact;
  return `${frame.contactIds[k]}:${frame.contactIds[k + 1]}:${frame.contactIds[k + 3]}:${frame.contactIds[k + 2]}`;
}

/** -1: it has ended. */
export function contactIndex(frame: Frame, id: string): number {
  const [body1, body2, high, low] = id.split(":").map(Number);
  for (let i = 0, k = 0; i < frame.numContacts; ++i, k += CONTACT_IDS)
    if (frame.contactIds[k] === body1 && frame.contactIds[k + 1] === body2 && frame.contactIds[k + 2] === low && frame.contactIds[k + 3] === high) return i;
  return -1;
}

/** Polygons of pressure contacts, from blue (none) to red (`most`). */
export class Patches {
  count = 0;
  /** Of the scale [Pa]; falls slowly, so that colours do not flicker. */
  most = 0;
  private readonly vertices = new Vertices();
  private readonly mesh: THREE.Mesh;
  private shownFrame: Frame | null = null;
  private firstVertex: Int32Array = new Int32Array(0); // of each polygon, in its words

  constructor(stage: THREE.Scene) {
    this.mesh = new THREE.Mesh(this.vertices.geometry,
      new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide, depthTest: false, transparent: true, opacity: 0.92 }));
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 1;
    stage.add(this.mesh);
  }

  show(frame: Frame, isShown: boolean): void {
    this.mesh.visible = isShown && frame.numPolygons > 0;
    this.count = this.mesh.visible ? frame.numPolygons : 0;
    if (!this.mesh.visible || frame === this.shownFrame) return;
    this.shownFrame = frame;
    const words = frame.polygons;
    let most = 0, corners = 0;
    if (frame.numPolygons > this.firstVertex.length) this.firstVertex = new Int32Array(2 * frame.numPolygons);
    for (let i = 0, k = 0; i < words.length; i += POLYGON + 3 * words[i]) {
      this.firstVertex[k++] = i;
      most = Math.max(most, words[i + 1]);
      corners += 3 * Math.max(0, words[i] - 2);
    }
    this.most = Math.max(most, 0.97 * this.most);
    const { vertices } = this;
    vertices.reserve(corners);
    vertices.count = 0;
    for (let i = 0; i < words.length; i += POLYGON + 3 * words[i])
      for (let k = 2; k < words[i]; ++k) {
        this.addCorner(words, i, 0);
        this.addCorner(words, i, k - 1);
        this.addCorner(words, i, k);
      }
    vertices.finish();
  }

  /** The polygon that a ray meets: where its words begin. */
  pick(ray: THREE.Ray): { at: number; index: number; point: THREE.Vector3 } | null {
    const frame = this.shownFrame;
    if (!this.mesh.visible || !frame) return null;
    const a = new THREE.Vector3(), b = new THREE.Vector3(), c = new THREE.Vector3(), point = new THREE.Vector3();
    let best: { at: number; index: number; point: THREE.Vector3 } | null = null, least = Infinity;
    for (let k = 0; k < frame.numPolygons; ++k) {
      const at = this.firstVertex[k], words = frame.polygons;
      for (let j = 2; j < words[at]; ++j) {
        a.fromArray(words, at + POLYGON);
        b.fromArray(words, at + POLYGON + 3 * (j - 1));
        c.fromArray(words, at + POLYGON + 3 * j);
        if (!ray.intersectTriangle(a, b, c, false, point)) continue;
        const distance = point.distanceTo(ray.origin);
        if (distance < least) [best, least] = [{ at, index: k, point: point.clone() }, distance];
      }
    }
    return best;
  }

  private addCorner(words: Float32Array, polygon: number, corner: number): void {
    const { vertices } = this;
    const from = polygon + POLYGON + 3 * corner, to = 3 * vertices.count++;
    vertices.position[to] = words[from];
    vertices.position[to + 1] = words[from + 1];
    vertices.position[to + 2] = words[from + 2];
    colors.writeHeat(this.most > 0 ? words[polygon + 1] / this.most : 0, vertices.color, to);
  }
}
