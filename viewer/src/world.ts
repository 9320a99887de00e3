// SPDX-License-Identifier: Apache-2.0
//
// What is drawn: bodies, soft bodies, contacts, frames, and from where one looks.
import * as THREE from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Bodies } from "./bodies.ts";
import * as colors from "./colors.ts";
import { Glyphs, Lines, Patches } from "./glyphs.ts";
import { Islands } from "./islands.ts";
import { SOFT_COLORS, Softs } from "./soft_surfaces.ts";
import type { SoftColor } from "./soft_surfaces.ts";
import type { Frame, SceneDescription } from "./stream.ts";

/** What can be switched on and off, and its words in the panel. */
export const LAYERS = {
  bodies: "moving bodies",
  fixed: "fixed bodies",
  visuals: "as they look (not as they collide)",
  points: "contact points",
  normals: "normal forces",
  tangents: "friction forces",
  pressure: "pressure patches",
  frames: "body frames",
  joints: "joint axes",
  islands: "colour by island",
  sleep: "colour of sleeping bodies",
  transparent: "see through bodies",
  wireframe: "wireframe",
  shadows: "shadows",
  follow: "follow what is picked",
} as const;
export type Layer = keyof typeof LAYERS;

export type Picked =
  | { kind: "body"; index: number }
  | { kind: "soft"; index: number }
  | { kind: "contact"; id: string }
  | { kind: "polygon"; index: number; point: THREE.Vector3 }
  | null;

export const PRESETS = ["home", "front", "side", "top"] as const;
export type Preset = (typeof PRESETS)[number];
const DIRECTIONS: Record<Preset, [number, number, number]> = {
  home: [1.0, -1.25, 0.75], front: [0, -1, 0.05], side: [1, 0, 0.05], top: [0.001, -0.001, 1],
};

const BACKGROUND = new THREE.Color(0xe9ecef);

export class World {
  readonly renderer: THREE.WebGLRenderer;
  readonly camera = new THREE.PerspectiveCamera(40, 1, 0.01, 1000);
  readonly controls: OrbitControls;
  readonly shown: Record<Layer, boolean> = {
    bodies: true, fixed: true, visuals: true, points: true, normals: true, tangents: true, pressure: true,
    frames: false, joints: false, islands: false, sleep: true, transparent: false, wireframe: false, shadows: true, follow: false,
  };
  softColor: SoftColor = "stress";
  picked: Picked = null;
  /** Between the mouse and what it pulls. */
  spring: { body: number; local: THREE.Vector3; to: THREE.Vector3 } | null = null;
  readonly size: number;
  readonly bodies: Bodies;
  readonly patches: Patches;
  readonly softs: Softs;
  private readonly middle: THREE.Vector3;
  private readonly home: { target: THREE.Vector3; distance: number };
  private readonly stage = new THREE.Scene();
  private readonly glyphs: Glyphs;
  private readonly frames: Lines;
  private readonly joints: Lines;
  private readonly springLine: Lines;
  private readonly islands: Islands;
  private islandNumbers: Int32Array | null = null;
  private painted!: Frame;
  private readonly a = new THREE.Vector3();
  private readonly b = new THREE.Vector3();
  private readonly lastFollowed = new THREE.Vector3();
  private followed = -1;
  private readonly islandColor = new THREE.Color();
  private readonly colorOfBody = (body: number): THREE.Color | null => this.colorOf(body);
  private readonly softLook = { isShown: true, isTransparent: false, isWireframe: false, color: "plain" as SoftColor, picked: -1 };
  private readonly bodyLook = { moving: true, fixed: true, visuals: true, transparent: false, wireframe: false };

  /** `frames`: some of what will be seen, in order; the camera looks at where things are in the end. */
  constructor(readonly canvas: HTMLCanvasElement, readonly scene: SceneDescription, frames: Frame[]) {
    this.renderer = new THREE.WebGLRenderer({ canvas, antialias: true, preserveDrawingBuffer: true });
    this.renderer.shadowMap.enabled = true;
    this.stage.background = BACKGROUND;
    this.bodies = new Bodies(this.stage, scene);
    this.islands = new Islands(scene);
    const late = new THREE.Box3(), whole = new THREE.Box3();
    frames.forEach((frame, i) => {
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
    this.bodies.addFloors(this.size);
    this.stage.fog = new THREE.Fog(BACKGROUND, 8 * this.size, 26 * this.size);
    this.softs = new Softs(this.stage, scene);
    this.glyphs = new Glyphs(this.stage, this.size);
    this.patches = new Patches(this.stage);
    this.frames = new Lines(this.stage);
    this.joints = new Lines(this.stage);
    this.springLine = new Lines(this.stage);
    this.camera.up.set(0, 0, 1);
    this.controls = new OrbitControls(this.camera, canvas);
    this.controls.enableDamping = false;
    this.controls.screenSpacePanning = true;
    this.lookFrom("home");
  }

  lookFrom(preset: Preset): void {
    const isHome = preset === "home";
    this.lookAt(isHome ? this.home.target : this.middle, this.a.fromArray(DIRECTIONS[preset]), isHome ? this.home.distance : 3.1 * this.size);
  }
  /** Nearer, from the same side. */
  lookAtPoint(point: THREE.Vector3): void {
    const offset = this.a.copy(this.camera.position).sub(this.controls.target);
    this.lookAt(point, offset, Math.max(0.5 * offset.length(), 0.2 * this.size));
  }

  positionOf(body: number, out = new THREE.Vector3()): THREE.Vector3 {
    return out.setFromMatrixPosition(this.bodies.matrices[body]);
  }

  /** Draws the instant `part` of the way from one frame to the next, unless that is what was drawn last. */
  draw(frame: Frame, next: Frame, part: number): void {
    if (!this.resize() && !this.isChanged(frame, next, part)) return;
    const { shown, bodyLook, softLook, picked } = this;
    this.painted = frame;
    this.islandNumbers = shown.islands ? this.islands.find(frame) : null;
    bodyLook.moving = shown.bodies;
    bodyLook.fixed = shown.fixed;
    bodyLook.visuals = shown.visuals;
    bodyLook.transparent = shown.transparent;
    bodyLook.wireframe = shown.wireframe;
    this.bodies.paint(bodyLook, this.colorOfBody);
    this.bodies.place(frame, next, part);
    softLook.isShown = shown.bodies;
    softLook.isTransparent = shown.transparent;
    softLook.isWireframe = shown.wireframe;
    softLook.color = this.softColor;
    softLook.picked = picked?.kind === "soft" ? picked.index : -1;
    this.softs.show(frame, next, part, softLook);
    this.glyphs.show(frame, shown, picked?.kind === "contact" ? picked.id : "");
    this.patches.show(frame, shown.pressure);
    this.showFrames();
    this.showJoints();
    this.showSpring();
    this.follow();
    this.renderer.render(this.stage, this.camera);
  }

  private readonly drawn = {
    frame: null as Frame | null, next: null as Frame | null, part: -1, layers: -1, picked: null as Picked, softColor: "" as string, spring: false,
    position: new THREE.Vector3(), quaternion: new THREE.Quaternion(),
  };
  /** A picture that stands still costs nothing. */
  private isChanged(frame: Frame, next: Frame, part: number): boolean {
    const { drawn, camera } = this;
    let layers = 0;
    for (const layer in this.shown) layers = 2 * layers + Number(this.shown[layer as Layer]);
    const isSame = drawn.frame === frame && drawn.next === next && drawn.part === part && drawn.layers === layers && drawn.picked === this.picked &&
      drawn.softColor === this.softColor && !drawn.spring && !this.spring && drawn.position.equals(camera.position) && drawn.quaternion.equals(camera.quaternion);
    drawn.frame = frame;
    drawn.next = next;
    drawn.part = part;
    drawn.layers = layers;
    drawn.picked = this.picked;
    drawn.softColor = this.softColor;
    drawn.spring = this.spring !== null;
    drawn.position.copy(camera.position);
    drawn.quaternion.copy(camera.quaternion);
    return !isSame;
  }

  /** Shadows cost a second drawing of everything. */
  setShadows(isOn: boolean): void {
    this.shown.shadows = isOn;
    if (this.renderer.shadowMap.enabled === isOn) return;
    this.renderer.shadowMap.enabled = isOn;
    this.stage.traverse((object) => {
      const material = (object as THREE.Mesh).material;
      if (material instanceof THREE.Material) material.needsUpdate = true;
    });
  }

  cycleSoftColor(): void {
    this.softColor = SOFT_COLORS[(SOFT_COLORS.indexOf(this.softColor) + 1) % SOFT_COLORS.length];
  }

  get glyphCounts(): { points: number; polygons: number } {
    return { points: this.glyphs.count, polygons: this.patches.count };
  }

  /** What is under a point of the canvas, in [-1, 1]; contacts first, they are inside the bodies. */
  pick(x: number, y: number): { picked: Picked; point: THREE.Vector3 } | null {
    if (this.shown.points) {
      const contact = this.glyphs.nearest(this.camera, x, y, this.camera.aspect);
      if (contact) return { picked: { kind: "contact", id: contact.id }, point: contact.point };
    }
    const ray = this.rayAt(x, y);
    const polygon = this.patches.pick(ray.ray);
    if (polygon) return { picked: { kind: "polygon", index: polygon.index, point: polygon.point }, point: polygon.point };
    return this.pickBody(x, y);
  }
  /** The same, but no contact. */
  pickBody(x: number, y: number): { picked: Picked; point: THREE.Vector3 } | null {
    const ray = this.rayAt(x, y);
    const body = this.bodies.pick(ray), soft = this.softs.pick(ray);
    if (soft && (!body || soft.distance < body.distance)) return { picked: { kind: "soft", index: soft.soft }, point: soft.point };
    return body && { picked: { kind: "body", index: body.body }, point: body.point };
  }

  /** Where the ray of a point of the canvas meets the plane through `point` that faces the camera. */
  pointInPlane(x: number, y: number, point: THREE.Vector3): THREE.Vector3 {
    const plane = new THREE.Plane().setFromNormalAndCoplanarPoint(this.camera.getWorldDirection(new THREE.Vector3()), point);
    return this.rayAt(x, y).ray.intersectPlane(plane, new THREE.Vector3()) ?? point.clone();
  }
  /** In pixels of the canvas. */
  onCanvas(point: THREE.Vector3): [number, number] {
    const p = point.clone().project(this.camera);
    return [(0.5 + 0.5 * p.x) * this.canvas.clientWidth, (0.5 - 0.5 * p.y) * this.canvas.clientHeight];
  }

  /** From here on a line shows the spring. */
  grab(picked: Picked, point: THREE.Vector3): void {
    const body = picked?.kind === "body" ? picked.index : -1;
    const local = point.clone();
    if (body >= 0) local.applyMatrix4(this.bodies.matrices[body].clone().invert());
    this.spring = { body, local, to: point.clone() };
  }

  private rayAt(x: number, y: number): THREE.Raycaster {
    const ray = new THREE.Raycaster();
    ray.setFromCamera(new THREE.Vector2(x, y), this.camera);
    return ray;
  }

  private lookAt(target: THREE.Vector3, direction: THREE.Vector3, distance: number): void {
    this.controls.target.copy(target);
    this.camera.position.copy(target).addScaledVector(direction.normalize(), distance);
    this.camera.near = 0.002 * this.size;
    this.camera.far = 200 * this.size;
    this.camera.updateProjectionMatrix();
    this.controls.update();
  }

  /** The camera goes where the body goes. */
  private follow(): void {
    const body = this.shown.follow && this.picked?.kind === "body" ? this.picked.index : -1;
    if (body >= 0) {
      this.positionOf(body, this.a);
      if (body === this.followed) {
        this.b.copy(this.a).sub(this.lastFollowed);
        this.camera.position.add(this.b);
        this.controls.target.add(this.b);
        this.camera.updateMatrixWorld();
      }
      this.lastFollowed.copy(this.a);
    }
    this.followed = body;
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

  private bounds(frame: Frame): THREE.Box3 {
    this.bodies.place(frame, frame, 0);
    const box = new THREE.Box3();
    this.bodies.expand(box);
    addSofts(frame, box);
    if (box.isEmpty()) box.set(new THREE.Vector3(-1, -1, -1), new THREE.Vector3(1, 1, 1));
    return box;
  }

  private colorOf(body: number): THREE.Color | null {
    if (this.picked?.kind === "body" && this.picked.index === body) return colors.PICKED;
    if (this.scene.bodies[body].type !== "dynamic") return null;
    if (this.shown.sleep && this.painted.asleep[body]) return colors.ASLEEP;
    return this.islandNumbers ? colors.islandColor(this.islandNumbers[body], this.islandColor) : null;
  }

  private showFrames(): void {
    this.frames.clear();
    if (this.shown.frames)
      for (let i = 0; i < this.bodies.matrices.length; ++i) {
        if (this.scene.bodies[i].type === "fixed") continue;
        this.positionOf(i, this.a);
        for (let k = 0; k < 3; ++k) {
          this.b.setFromMatrixColumn(this.bodies.matrices[i], k).multiplyScalar(0.08 * this.size).add(this.a);
          this.frames.add(this.a, this.b, colors.AXES[k]);
        }
      }
    this.frames.finish();
  }

  private showJoints(): void {
    this.joints.clear();
    if (this.shown.joints)
      for (const joint of this.scene.joints) {
        const m = this.bodies.matrices[joint.body];
        this.a.fromArray(joint.position).applyMatrix4(m);
        this.b.fromArray(joint.axis).transformDirection(m).multiplyScalar(0.1 * this.size);
        this.a.sub(this.b);
        this.b.multiplyScalar(2).add(this.a);
        this.joints.add(this.a, this.b, colors.JOINT);
      }
    this.joints.finish();
  }

  private showSpring(): void {
    this.springLine.clear();
    if (this.spring) {
      this.a.copy(this.spring.local);
      if (this.spring.body >= 0) this.a.applyMatrix4(this.bodies.matrices[this.spring.body]);
      this.springLine.add(this.a, this.spring.to, colors.PICKED);
    }
    this.springLine.finish();
  }

  /** Whether the size has changed. */
  private resize(): boolean {
    const ratio = Math.min(2, window.devicePixelRatio || 1);
    const width = this.canvas.clientWidth, height = this.canvas.clientHeight;
    if (this.canvas.width === Math.floor(width * ratio) && this.canvas.height === Math.floor(height * ratio)) return false;
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    this.camera.aspect = width / Math.max(1, height);
    this.camera.updateProjectionMatrix();
    return true;
  }
}

function addSofts(frame: Frame, box: THREE.Box3): void {
  for (let i = 0; i < frame.softs.length; i += 3)
    box.expandByPoint(new THREE.Vector3(frame.softs[i], frame.softs[i + 1], frame.softs[i + 2]));
}
