// SPDX-License-Identifier: Apache-2.0
//
// What is drawn of contacts, and lines.
import * as THREE from "three";
import * as colors from "./colors.ts";
import { CONTACT, CONTACT_IDS } from "./stream.ts";
import type { Frame } from "./stream.ts";
import type { Layer, Picked } from "./world.ts";

/** Contacts lie inside the bodies: what hides them lets them shine through. */
const THROUGH = { depthTest: false, transparent: true, opacity: 0.28 };

/** Line segments that change in every frame. */
export class Lines {
  private positions: number[] = [];
  private paints: number[] = [];
  private readonly object: THREE.LineSegments;

  constructor(stage: THREE.Scene) {
    this.object = new THREE.LineSegments(new THREE.BufferGeometry(),
      new THREE.LineBasicMaterial({ vertexColors: true, depthTest: false, transparent: true }));
    this.object.frustumCulled = false;
    this.object.renderOrder = 3;
    stage.add(this.object);
  }
  clear(): void {
    this.positions = [];
    this.paints = [];
  }
  add(from: THREE.Vector3, to: THREE.Vector3, color: THREE.Color): void {
    this.positions.push(from.x, from.y, from.z, to.x, to.y, to.z);
    this.paints.push(color.r, color.g, color.b, color.r, color.g, color.b);
  }
  finish(): void {
    this.object.visible = this.positions.length > 0;
    if (!this.object.visible) return;
    const geometry = this.object.geometry;
    geometry.setAttribute("position", new THREE.Float32BufferAttribute(this.positions, 3));
    geometry.setAttribute("color", new THREE.Float32BufferAttribute(this.paints, 3));
  }
}

/** Contacts: a ball at the point, as large as its force; the normal force blue, friction green. */
export class Glyphs {
  count = 0;
  private capacity = 0;
  private points: THREE.InstancedMesh | null = null;
  private faintPoints: THREE.InstancedMesh | null = null;
  private readonly arrows: THREE.LineSegments;
  private shownFrame: Frame | null = null;
  private shownKey = "";
  private typical = 0;

  constructor(private readonly stage: THREE.Scene, private readonly size: number) {
    this.arrows = new THREE.LineSegments(new THREE.BufferGeometry(), new THREE.LineBasicMaterial({ vertexColors: true }));
    const faint = new THREE.LineSegments(this.arrows.geometry, new THREE.LineBasicMaterial({ vertexColors: true, ...THROUGH }));
    for (const lines of [this.arrows, faint]) lines.frustumCulled = false;
    faint.renderOrder = 2;
    stage.add(this.arrows, faint);
  }

  show(frame: Frame, shown: Record<Layer, boolean>, picked: Picked): void {
    const key = `${shown.points}${shown.normals}${shown.tangents}${picked?.kind === "contact" ? picked.id : ""}`;
    if (frame === this.shownFrame && key === this.shownKey) return;
    this.shownFrame = frame;
    this.shownKey = key;
    this.count = shown.points ? frame.numContacts : 0;
    this.learnScale(frame);
    this.showPoints(frame, shown.points, picked);
    this.showForces(frame, shown);
  }

  /** The contact nearest to a point of the canvas, within a few pixels. */
  nearest(camera: THREE.Camera, x: number, y: number, aspect: number): { picked: Picked; point: THREE.Vector3 } | null {
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
    return { picked: { kind: "contact", id: contactId(frame, best) }, point: new THREE.Vector3().fromArray(frame.contacts, CONTACT * best) };
  }

  /** Forces are drawn against what is usual; it follows slowly, so that glyphs do not flicker. */
  private learnScale(frame: Frame): void {
    const forces: number[] = [];
    for (let i = 0; i < frame.numContacts; ++i) forces.push(forceOf(frame, i));
    if (forces.length === 0) return;
    forces.sort((a, b) => a - b);
    const usual = forces[Math.floor(0.9 * (forces.length - 1))];
    this.typical = this.typical > 0 ? this.typical + 0.1 * (usual - this.typical) : usual;
  }

  private showPoints(frame: Frame, isShown: boolean, picked: Picked): void {
    if (frame.numContacts > this.capacity || !this.points) {
      this.makePoints(Math.max(64, 2 * frame.numContacts));
    }
    const points = this.points!, faint = this.faintPoints!;
    points.count = faint.count = isShown ? frame.numContacts : 0;
    const matrix = new THREE.Matrix4();
    for (let i = 0; i < points.count; ++i) {
      const relative = this.typical > 0 ? Math.min(3, forceOf(frame, i) / this.typical) : 0;
      const radius = this.size * (0.005 + 0.007 * Math.sqrt(relative));
      matrix.makeScale(radius, radius, radius);
      matrix.setPosition(frame.contacts[CONTACT * i], frame.contacts[CONTACT * i + 1], frame.contacts[CONTACT * i + 2]);
      points.setMatrixAt(i, matrix);
      points.setColorAt(i, picked?.kind === "contact" && picked.id === contactId(frame, i) ? colors.PICKED : colors.POINT);
    }
    points.instanceMatrix.needsUpdate = true;
    points.instanceColor!.needsUpdate = true;
  }

  private makePoints(capacity: number): void {
    for (const old of [this.points, this.faintPoints]) {
      if (!old) continue;
      this.stage.remove(old);
      old.dispose();
    }
    this.capacity = capacity;
    const ball = new THREE.SphereGeometry(1, 10, 8);
    this.points = new THREE.InstancedMesh(ball, new THREE.MeshBasicMaterial(), capacity);
    this.faintPoints = new THREE.InstancedMesh(ball, new THREE.MeshBasicMaterial(THROUGH), capacity);
    this.points.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    this.points.setColorAt(0, colors.POINT);
    this.faintPoints.instanceMatrix = this.points.instanceMatrix;
    this.faintPoints.instanceColor = this.points.instanceColor;
    this.faintPoints.renderOrder = 2;
    for (const mesh of [this.points, this.faintPoints]) {
      mesh.frustumCulled = false;
      this.stage.add(mesh);
    }
  }

  private showForces(frame: Frame, shown: Record<Layer, boolean>): void {
    const position: number[] = [], color: number[] = [];
    const arrow = (p: THREE.Vector3, d: THREE.Vector3, c: THREE.Color): void => {
      position.push(p.x, p.y, p.z, p.x + d.x, p.y + d.y, p.z + d.z);
      color.push(c.r, c.g, c.b, c.r, c.g, c.b);
    };
    const p = new THREE.Vector3(), f = new THREE.Vector3(), n = new THREE.Vector3();
    for (let i = 0; i < frame.numContacts; ++i) {
      p.fromArray(frame.contacts, CONTACT * i);
      f.fromArray(frame.contacts, CONTACT * i + 3);
      n.fromArray(frame.contacts, CONTACT * i + 6);
      const length = f.length();
      if (!(length > 0) || !(this.typical > 0)) continue;
      f.multiplyScalar(0.14 * this.size / this.typical * Math.min(1, 3 * this.typical / length));
      const along = n.clone().multiplyScalar(f.dot(n));
      if (shown.normals) arrow(p, along, colors.NORMAL);
      if (shown.tangents) arrow(p, f.clone().sub(along), colors.TANGENT);
    }
    this.arrows.geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
    this.arrows.geometry.setAttribute("color", new THREE.Float32BufferAttribute(color, 3));
  }
}

function forceOf(frame: Frame, contact: number): number {
  const k = CONTACT * contact + 3;
  return Math.hypot(frame.contacts[k], frame.contacts[k + 1], frame.contacts[k + 2]);
}

/** The same for as long as the contact lives. */
export function contactId(frame: Frame, contact: number): string {
  const k = CONTACT_IDS * contact;
  return `${frame.contactIds[k]}:${frame.contactIds[k + 1]}:${frame.contactIds[k + 3]}:${frame.contactIds[k + 2]}`;
}

/** Polygons of pressure contacts, from blue (none) to red (the most of this frame). */
export class Patches {
  count = 0;
  private readonly mesh: THREE.Mesh;
  private shownFrame: Frame | null = null;

  constructor(stage: THREE.Scene) {
    this.mesh = new THREE.Mesh(new THREE.BufferGeometry(), new THREE.MeshBasicMaterial({ vertexColors: true, side: THREE.DoubleSide, depthTest: false, transparent: true, opacity: 0.75 }));
    this.mesh.frustumCulled = false;
    this.mesh.renderOrder = 1;
    stage.add(this.mesh);
  }
  show(frame: Frame, isShown: boolean): void {
    this.mesh.visible = isShown && frame.polygons.length > 0;
    if (!this.mesh.visible) this.count = 0;
    if (!this.mesh.visible || frame === this.shownFrame) return;
    this.shownFrame = frame;
    this.count = 0;
    let most = 0;
    for (let i = 0; i < frame.polygons.length; i += 2 + 3 * frame.polygons[i]) most = Math.max(most, frame.polygons[i + 1]);
    const position: number[] = [], paint: number[] = [], color = new THREE.Color();
    for (let i = 0; i < frame.polygons.length; i += 2 + 3 * frame.polygons[i]) {
      colors.heat(frame.polygons[i + 1] / (most || 1), color);
      for (let k = 2; k < frame.polygons[i]; ++k)
        for (const corner of [0, k - 1, k]) {
          const at = i + 2 + 3 * corner;
          position.push(frame.polygons[at], frame.polygons[at + 1], frame.polygons[at + 2]);
          paint.push(color.r, color.g, color.b);
        }
      ++this.count;
    }
    this.mesh.geometry.setAttribute("position", new THREE.Float32BufferAttribute(position, 3));
    this.mesh.geometry.setAttribute("color", new THREE.Float32BufferAttribute(paint, 3));
  }
}
