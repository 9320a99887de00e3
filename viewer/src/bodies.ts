// SPDX-License-Identifier: Apache-2.0
//
// Rigid bodies, as they collide or as they look. Shapes that share a geometry are one draw call;
// nothing is allocated while frames are shown.
import * as THREE from "three";
import * as colors from "./colors.ts";
import { geometryKey, geometryOf, placeOf, poseMatrix } from "./shapes.ts";
import { POSE } from "./stream.ts";
import type { Frame, SceneDescription, ShapeDescription } from "./stream.ts";

/** Where a shape is drawn: when bodies are shown as they collide, as they look, or both. */
type Mode = "collision" | "visual" | "both";

interface Item {
  body: number; // -1: the world
  shape: ShapeDescription;
  mode: Mode;
}

interface Group {
  mesh: THREE.InstancedMesh;
  mode: Mode;
  moves: boolean;
  /** Of each instance. */
  bodies: Int32Array;
  places: THREE.Matrix4[];
  colors: THREE.Color[];
}

export interface BodyLook {
  moving: boolean;
  fixed: boolean;
  visuals: boolean;
  transparent: boolean;
  wireframe: boolean;
}

const GLASS = 0.24, SEE_THROUGH = 0.35;

export class Bodies {
  readonly matrices: THREE.Matrix4[];
  readonly hasVisuals: boolean;
  private readonly groups: Group[] = [];
  private readonly floors: { object: THREE.Object3D; body: number; place: THREE.Matrix4 }[] = [];
  private readonly p = new THREE.Vector3();
  private readonly q = new THREE.Quaternion();
  private readonly r = new THREE.Quaternion();
  private readonly one = new THREE.Vector3(1, 1, 1);
  private readonly matrix = new THREE.Matrix4();
  private readonly identity = new THREE.Matrix4();

  constructor(private readonly stage: THREE.Scene, private readonly scene: SceneDescription) {
    this.matrices = scene.bodies.map(() => new THREE.Matrix4());
    this.hasVisuals = scene.visuals.length > 0 || scene.bodies.some((body) => body.visuals?.length);
    const alike = new Map<string, Item[]>();
    for (const item of this.items()) {
      const key = geometryKey(item.shape);
      if (key === null) continue;
      const opacity = item.mode === "visual" ? (item.shape.color?.[3] ?? 1) : 1;
      const whole = `${key} ${item.mode} ${this.moves(item.body)} ${opacity}`;
      const list = alike.get(whole);
      if (list) list.push(item);
      else alike.set(whole, [item]);
    }
    for (const items of alike.values()) this.addGroup(items);
  }

  /** Planes, as floors with a grid of a power of ten; once the size of the scene is known. */
  addFloors(size: number): void {
    this.scene.bodies.forEach((body, index) => body.shapes.forEach((shape) => {
      if (shape.type !== "plane") return;
      const extent = 30 * size;
      const floor = new THREE.Mesh(new THREE.PlaneGeometry(2 * extent, 2 * extent),
        new THREE.MeshStandardMaterial({ color: 0xd9d8d4, roughness: 0.95, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }));
      floor.receiveShadow = true;
      const cell = 10 ** Math.floor(Math.log10(size));
      const grid = new THREE.GridHelper(60 * cell, 60, 0xaab0b6, 0xc4c8cc).rotateX(Math.PI / 2);
      const object = new THREE.Group().add(floor, grid);
      object.matrixAutoUpdate = false;
      this.stage.add(object);
      this.floors.push({ object, body: index, place: poseMatrix(shape.pose) });
    }));
  }

  place(a: Frame, b: Frame, part: number): void {
    const { p, q, r, one, matrix } = this;
    const from = a.poses, to = b.poses.length === from.length ? b.poses : from;
    for (let i = 0; i < this.matrices.length; ++i) {
      const k = POSE * i;
      p.set(from[k] + part * (to[k] - from[k]), from[k + 1] + part * (to[k + 1] - from[k + 1]), from[k + 2] + part * (to[k + 2] - from[k + 2]));
      q.set(from[k + 4], from[k + 5], from[k + 6], from[k + 3]);
      if (part > 0) q.slerp(r.set(to[k + 4], to[k + 5], to[k + 6], to[k + 3]), part);
      this.matrices[i].compose(p, q, one);
    }
    for (const group of this.groups) {
      if (!group.mesh.visible) continue;
      const out = group.mesh.instanceMatrix.array as Float32Array;
      for (let i = 0; i < group.places.length; ++i)
        matrix.multiplyMatrices(this.matrixOf(group.bodies[i]), group.places[i]).toArray(out, 16 * i);
      group.mesh.instanceMatrix.needsUpdate = true;
    }
    for (const floor of this.floors) floor.object.matrix.multiplyMatrices(this.matrixOf(floor.body), floor.place);
  }

  /** `colorOf`: instead of its own; null: its own. */
  paint(look: BodyLook, colorOf: (body: number) => THREE.Color | null): void {
    for (const group of this.groups) {
      const isWanted = group.mode === "both" || (group.mode === "visual") === look.visuals;
      group.mesh.visible = isWanted && (group.moves ? look.moving : look.fixed);
      const material = group.mesh.material as THREE.MeshStandardMaterial;
      material.wireframe = look.wireframe;
      if (group.moves && material.transparent !== look.transparent) {
        material.transparent = look.transparent;
        material.opacity = look.transparent ? SEE_THROUGH : 1;
        material.depthWrite = !look.transparent;
        material.needsUpdate = true;
      }
      if (!group.mesh.visible) continue;
      const out = group.mesh.instanceColor!.array as Float32Array;
      let isChanged = false;
      for (let i = 0; i < group.colors.length; ++i) {
        const color = (group.bodies[i] < 0 ? null : colorOf(group.bodies[i])) ?? group.colors[i];
        if (out[3 * i] === Math.fround(color.r) && out[3 * i + 1] === Math.fround(color.g) && out[3 * i + 2] === Math.fround(color.b)) continue;
        color.toArray(out, 3 * i);
        isChanged = true;
      }
      if (isChanged) group.mesh.instanceColor!.needsUpdate = true;
    }
    for (const floor of this.floors) floor.object.visible = look.fixed;
  }

  pick(ray: THREE.Raycaster): { body: number; point: THREE.Vector3; distance: number } | null {
    let best: { body: number; point: THREE.Vector3; distance: number } | null = null;
    for (const group of this.groups) {
      if (!group.mesh.visible) continue;
      group.mesh.computeBoundingSphere();
      for (const hit of ray.intersectObject(group.mesh)) {
        const body = group.bodies[hit.instanceId!];
        if (body >= 0 && (!best || hit.distance < best.distance)) best = { body, point: hit.point, distance: hit.distance };
      }
    }
    return best;
  }

  /** Of what moves. */
  expand(box: THREE.Box3): void {
    const sphere = new THREE.Sphere(), own = new THREE.Box3();
    for (const group of this.groups)
      if (group.moves)
        group.places.forEach((place, i) => {
          this.matrix.multiplyMatrices(this.matrixOf(group.bodies[i]), place);
          box.union(sphere.copy(group.mesh.geometry.boundingSphere!).applyMatrix4(this.matrix).getBoundingBox(own));
        });
  }

  private matrixOf(body: number): THREE.Matrix4 {
    return body < 0 ? this.identity : this.matrices[body];
  }
  private moves(body: number): boolean {
    return body >= 0 && this.scene.bodies[body].type !== "fixed";
  }

  private *items(): Generator<Item> {
    for (const shape of this.scene.visuals) yield { body: -1, shape, mode: "visual" };
    for (const [index, body] of this.scene.bodies.entries()) {
      const hasLook = (body.visuals?.length ?? 0) > 0;
      for (const shape of body.visuals ?? []) yield { body: index, shape, mode: "visual" };
      for (const shape of body.shapes) yield { body: index, shape, mode: hasLook ? "collision" : "both" };
    }
  }

  private addGroup(items: Item[]): void {
    const { shape, mode, body } = items[0];
    const moves = this.moves(body);
    const opacity = mode === "visual" ? (shape.color?.[3] ?? 1) : moves ? 1 : GLASS;
    // Walls would hide what is behind them: what does not move is glass, unless it has looks of its own.
    const material = new THREE.MeshStandardMaterial({
      roughness: 0.62, metalness: 0.05, transparent: opacity < 1, opacity, depthWrite: opacity === 1,
      side: mode === "visual" && shape.mesh !== undefined ? THREE.DoubleSide : THREE.FrontSide,
    });
    const mesh = new THREE.InstancedMesh(geometryOf(shape, this.scene.meshes), material, items.length);
    mesh.castShadow = opacity === 1;
    mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
    const own = items.map((item) => this.ownColor(item));
    own.forEach((color, i) => mesh.setColorAt(i, color));
    this.stage.add(mesh);
    this.groups.push({
      mesh, mode, moves, bodies: Int32Array.from(items, (item) => item.body),
      places: items.map((item) => placeOf(item.shape)), colors: own,
    });
  }

  private ownColor(item: Item): THREE.Color {
    const { color } = item.shape;
    if (item.mode === "visual" && color) return new THREE.Color().setRGB(color[0], color[1], color[2], THREE.SRGBColorSpace);
    return this.moves(item.body) ? colors.bodyColor(item.shape.type, item.body) : colors.FIXED;
  }
}
