// SPDX-License-Identifier: Apache-2.0
//
// What is drawn. Bodies that look the same are one draw call, and so are the glyphs of all contacts:
// a thousand bodies with five thousand contacts cost little more than one.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import * as colors from "./colors.ts";
import { Glyphs, Lines, Patches } from "./glyphs.ts";
import { islandsOf } from "./islands.ts";
import { bodyGeometry, isPlane } from "./shapes.ts";
import { Softs } from "./soft_surfaces.ts";
import { POSE } from "./stream.ts";
import type { Frame, SceneDescription } from "./stream.ts";

/** What can be switched on and off, and its words in the panel. */
export const LAYERS = {
  bodies: "moving bodies",
  fixed: "fixed bodies",
  points: "contact points",
  normals: "normal forces",
  tangents: "friction forces",
  pressure: "pressure",
  frames: "body frames",
  joints: "joint axes",
  islands: "colour by island",
  transparent: "see through bodies",
} as const;
export type Layer = keyof typeof LAYERS;

export type Picked = { kind: "body"; index: number } | { kind: "contact"; id: string } | null;

interface Group {
  mesh: THREE.InstancedMesh;
  bodies: number[];
}

const BACKGROUND = new THREE.Color(0xe9ecef);

export class World {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly shown: Record<Layer, boolean> = {
    bodies: true, fixed: true, points: true, normals: true, tangents: true, pressure: true,
    frames: false, joints: false, islands: false, transparent: false,
  };
  picked: Picked = null;
  readonly size: number;
  private readonly middle: THREE.Vector3;
  private readonly home: { target: THREE.Vector3; distance: number };
  private readonly stage = new THREE.Scene();
  private readonly groups: Group[] = [];
  private readonly planes: THREE.Object3D[] = [];
  private readonly glyphs: Glyphs;
  private readonly softs: Softs;
  private readonly patches: Patches;
  private readonly frames: Lines;
  private readonly joints: Lines;
  private readonly matrices: THREE.Matrix4[];

  /** `frames`: some of what will be seen, in order; the camera looks at where things are in the end. */
  constructor(readonly canvas: HTMLCanvasElement, readonly scene: SceneDescription, frames: Frame[]) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.stage.background = BACKGROUND;
    this.matrices = scene.bodies.map(() => new THREE.Matrix4());
    this.addBodies();
    const late = new THREE.Box3(), whole = new THREE.Box3();
    frames.forEach((frame, i) => {
      this.placeBodies(frame, frame, 0);
      const bounds = this.bounds(frame);
      whole.union(bounds);
      if (2 * i >= frames.length - 1) late.union(bounds);
    });
    const half = (box: THREE.Box3): number => box.getSize(new THREE.Vector3()).length() / 2;
    this.middle = late.getCenter(new THREE.Vector3());
    this.size = Math.max(1e-6, half(late), 0.45 * half(whole));
    const soft = new THREE.Box3();
    for (const frame of frames) addSofts(frame, soft);
    // What deforms is what people want to see.
    this.home = soft.isEmpty() ? { target: this.middle, distance: 3.1 * this.size }
      : { target: soft.getCenter(new THREE.Vector3()), distance: Math.max(4.5 * half(soft), 1.1 * this.size) };
    this.addLights();
    this.addFloors();
    this.glyphs = new Glyphs(this.stage, this.size);
    this.softs = new Softs(this.stage, scene);
    this.patches = new Patches(this.stage);
    this.frames = new Lines(this.stage);
    this.joints = new Lines(this.stage);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.screenSpacePanning = true;
    this.lookFrom("home");
  }

  /** "home", "front", "side", "top", or around a body. */
  lookFrom(preset: "home" | "front" | "side" | "top" | number): void {
    const target = typeof preset === "number" ? this.positionOf(preset) : (preset === "home" ? this.home.target : this.middle).clone();
    const directions = {
      home: [1.0, -1.25, 0.75], front: [0, -1, 0.05], side: [1, 0, 0.05], top: [0.001, -0.001, 1],
    };
    const current = this.camera.position.clone().sub(this.controls.target);
    const distance = typeof preset === "number" ? 0.4 * current.length() : preset === "home" ? this.home.distance : 3.1 * this.size;
    const direction = typeof preset === "number" ? current : new THREE.Vector3(...directions[preset]);
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(direction.normalize(), Math.max(distance, 0.2 * this.size));
    this.camera.near = 0.002 * this.size;
    this.camera.far = 200 * this.size;
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }

  positionOf(body: number): THREE.Vector3 {
    return new THREE.Vector3().setFromMatrixPosition(this.matrices[body]);
  }

  /** Draws the instant `part` of the way from one frame to the next. */
  draw(frame: Frame, next: Frame, part: number): void {
    this.resize();
    this.placeBodies(frame, next, part);
    this.paintBodies(frame);
    this.softs.show(frame, next, part, this.shown.bodies);
    this.glyphs.show(frame, this.shown, this.picked);
    this.patches.show(frame, this.shown.pressure);
    this.showFrames();
    this.showJoints();
    this.renderer.render(this.stage, this.camera);
  }

  /** Without shadows: for machines that are slow at drawing. */
  drawPlainly(): void {
    this.renderer.shadowMap.enabled = false;
    this.stage.traverse((object) => {
      const material = (object as THREE.Mesh).material;
      if (material instanceof THREE.Material) material.needsUpdate = true;
    });
  }

  get glyphCounts(): { points: number; polygons: number } {
    return { points: this.glyphs.count, polygons: this.patches.count };
  }

  /** What is under a point of the canvas, in [-1, 1]; contacts first, they are inside the bodies. */
  pick(x: number, y: number): { picked: Picked; point: THREE.Vector3 } | null {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(x, y), this.camera);
    if (this.shown.points) {
      const contact = this.glyphs.nearest(this.camera, x, y, this.camera.aspect);
      if (contact) return contact;
    }
    let best: { picked: Picked; point: THREE.Vector3; distance: number } | null = null;
    for (const group of this.groups) {
      if (!group.mesh.visible) continue;
      group.mesh.computeBoundingSphere();
      for (const hit of ray.intersectObject(group.mesh)) {
        if (best && best.distance <= hit.distance) continue;
        best = { picked: { kind: "body", index: group.bodies[hit.instanceId!] }, point: hit.point, distance: hit.distance };
      }
    }
    return best;
  }

  /** Where the ray of a point of the canvas meets the plane through `point` that faces the camera. */
  pointInPlane(x: number, y: number, point: THREE.Vector3): THREE.Vector3 {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(x, y), this.camera);
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new THREE.Vector3()), point);
    return ray.ray.intersectPlane(plane, new THREE.Vector3()) ?? point.clone();
  }

  private addBodies(): void {
    const alike = new Map<string, number[]>();
    this.scene.bodies.forEach((body, index) => {
      const key = JSON.stringify([body.type === "dynamic", body.shapes]);
      alike.set(key, [...(alike.get(key) ?? []), index]);
    });
    for (const bodies of alike.values()) {
      const geometry = bodyGeometry(this.scene.bodies[bodies[0]].shapes);
      if (!geometry) continue;
      const moves = this.scene.bodies[bodies[0]].type === "dynamic";
      const material = new THREE.MeshStandardMaterial({ roughness: 0.62, metalness: 0.05 });
      const mesh = new THREE.InstancedMesh(geometry, material, bodies.length);
      mesh.castShadow = moves;
      mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
      bodies.forEach((_, i) => mesh.setColorAt(i, colors.FIXED));
      if (!moves) {
        // Walls would hide what is behind them: what does not move is glass.
        material.transparent = true;
        material.opacity = 0.22;
        material.depthWrite = false;
      }
      this.stage.add(mesh);
      this.groups.push({ mesh, bodies });
    }
  }

  private addLights(): void {
    this.stage.add(new THREE.HemisphereLight(0xffffff, 0x9aa3ab, 1.9));
    const sun = new THREE.DirectionalLight(0xffffff, 2.2);
    sun.position.copy(this.middle).add(new THREE.Vector3(0.6, -0.5, 1.2).multiplyScalar(3 * this.size));
    sun.target.position.copy(this.middle);
    sun.castShadow = true;
    sun.shadow.mapSize.set(2048, 2048);
    const reach = 1.6 * this.size;
    Object.assign(sun.shadow.camera, { left: -reach, right: reach, top: reach, bottom: -reach, near: 0.1 * this.size, far: 9 * this.size });
    sun.shadow.normalBias = 0.004 * this.size;
    this.stage.add(sun, sun.target);
  }

  /** A plane is drawn as a floor with a grid of a power of ten. */
  private addFloors(): void {
    this.scene.bodies.forEach((body, index) => {
      if (!isPlane(body.shapes)) return;
      const extent = 30 * this.size;
      const floor = new THREE.Mesh(new THREE.PlaneGeometry(2 * extent, 2 * extent),
        new THREE.MeshStandardMaterial({ color: 0xd9d8d4, roughness: 0.95, polygonOffset: true, polygonOffsetFactor: 1, polygonOffsetUnits: 1 }));
      floor.receiveShadow = true;
      const cell = 10 ** Math.floor(Math.log10(this.size));
      const grid = new THREE.GridHelper(60 * cell, 60, 0xaab0b6, 0xc4c8cc).rotateX(Math.PI / 2);
      const both = new THREE.Group().add(floor, grid);
      both.matrixAutoUpdate = false;
      both.userData.body = index;
      this.stage.add(both);
      this.planes.push(both);
    });
    this.stage.fog = new THREE.Fog(BACKGROUND, 8 * this.size, 26 * this.size);
  }

  private bounds(frame: Frame): THREE.Box3 {
    const box = new THREE.Box3();
    for (const group of this.groups)
      for (const body of group.bodies) {
        if (this.scene.bodies[body].type !== "dynamic") continue;
        const sphere = group.mesh.geometry.boundingSphere!.clone().applyMatrix4(this.matrices[body]);
        box.union(sphere.getBoundingBox(new THREE.Box3()));
      }
    addSofts(frame, box);
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
    return box;
  }

  private placeBodies(a: Frame, b: Frame, part: number): void {
    const p = new THREE.Vector3(), q = new THREE.Quaternion(), r = new THREE.Quaternion(), one = new THREE.Vector3(1, 1, 1);
    for (let i = 0; i < this.matrices.length; ++i) {
      const k = POSE * i, from = a.poses, to = b.poses.length === from.length ? b.poses : from;
      p.set(from[k] + part * (to[k] - from[k]), from[k + 1] + part * (to[k + 1] - from[k + 1]), from[k + 2] + part * (to[k + 2] - from[k + 2]));
      q.set(from[k + 4], from[k + 5], from[k + 6], from[k + 3]);
      r.set(to[k + 4], to[k + 5], to[k + 6], to[k + 3]);
      this.matrices[i].compose(p, q.slerp(r, part), one);
    }
    for (const group of this.groups) {
      group.bodies.forEach((body, i) => group.mesh.setMatrixAt(i, this.matrices[body]));
      group.mesh.instanceMatrix.needsUpdate = true;
    }
    for (const plane of this.planes) plane.matrix.copy(this.matrices[plane.userData.body as number]);
  }

  private paintBodies(frame: Frame): void {
    const islands = this.shown.islands ? islandsOf(this.scene, frame) : null;
    for (const group of this.groups) {
      const moves = this.scene.bodies[group.bodies[0]].type === "dynamic";
      group.mesh.visible = moves ? this.shown.bodies : this.shown.fixed;
      const material = group.mesh.material as THREE.MeshStandardMaterial;
      if (moves && material.transparent !== this.shown.transparent) {
        material.transparent = this.shown.transparent;
        material.opacity = this.shown.transparent ? 0.35 : 1;
        material.depthWrite = !this.shown.transparent;
        material.needsUpdate = true;
      }
      group.bodies.forEach((body, i) => group.mesh.setColorAt(i, this.colorOf(body, frame, islands)));
      group.mesh.instanceColor!.needsUpdate = true;
    }
    for (const plane of this.planes) plane.visible = this.shown.fixed;
  }

  private colorOf(body: number, frame: Frame, islands: Int32Array | null): THREE.Color {
    if (this.picked?.kind === "body" && this.picked.index === body) return colors.PICKED;
    const description = this.scene.bodies[body];
    if (description.type !== "dynamic") return colors.FIXED;
    if (frame.asleep[body]) return colors.ASLEEP;
    if (islands) return colors.islandColor(islands[body]);
    return colors.bodyColor(description.shapes[0]?.shape.type, body);
  }

  private showFrames(): void {
    this.frames.clear();
    if (this.shown.frames) {
      const axis = new THREE.Vector3(), length = 0.08 * this.size;
      const axes = [new THREE.Color(0xd03030), new THREE.Color(0x20a040), new THREE.Color(0x2050d0)];
      for (let i = 0; i < this.matrices.length; ++i) {
        if (this.scene.bodies[i].type !== "dynamic") continue;
        const origin = this.positionOf(i);
        axes.forEach((color, k) => {
          axis.setFromMatrixColumn(this.matrices[i], k);
          this.frames.add(origin, origin.clone().addScaledVector(axis, length), color);
        });
      }
    }
    this.frames.finish();
  }

  private showJoints(): void {
    this.joints.clear();
    if (this.shown.joints) {
      const color = new THREE.Color(0x7a2fb0);
      for (const joint of this.scene.joints ?? []) {
        const m = this.matrices[joint.body];
        const at = new THREE.Vector3(...joint.position).applyMatrix4(m);
        const along = new THREE.Vector3(...joint.axis).transformDirection(m).multiplyScalar(0.1 * this.size);
        this.joints.add(at.clone().sub(along), at.clone().add(along), color);
      }
    }
    this.joints.finish();
  }

  private resize(): void {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (this.canvas.width === Math.floor(width * ratio) && this.canvas.height === Math.floor(height * ratio)) return;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
  }
}

function addSofts(frame: Frame, box: THREE.Box3): void {
  for (let i = 0; i < frame.softs.length; i += 3)
    box.expandByPoint(new THREE.Vector3(frame.softs[i], frame.softs[i + 1], frame.softs[i + 2]));
}
