// SPDX-License-Identifier: Apache-2.0
//
// What a run looks like on the wire and in a saved page: a scene, which stays, and frames. A frame
// is little-endian bytes (cli/view_stream.cpp writes them):
//
//   u32 bytes of the frame (a multiple of 8), u32 version
//   f64 time, f64 step
//   u32 number of bodies, contacts, soft vertices, polygon words; status, iterations, islands, events,
//       number of polygons, of stress values
//   f64 energy: the rows of the ledger (work summed since the start); f64 solver residual, largest depth
//   f32 7 for each body: position, quaternion w x y z;      u8 for each body: 1 asleep (padded to 4)
//   f32 10 for each contact: position, force on body 1, normal, depth;  u32 4: bodies, id low, high
//   f32 3 for each soft vertex (of the surfaces)
//   f32 2 for each soft vertex, where known: equivalent stress (von Mises), pressure [Pa]
//   f32 polygons: number of vertices, pressure, two sides (a body, or -2 - soft body), vertices

export type Vec3 = [number, number, number];

/** Bytes of numbers are base64. */
export interface MeshDescription {
  vertices: string;
  triangles: string;
}

export interface ShapeDescription {
  type: string;
  /** Three columns of a rotation, then the translation. */
  pose: number[];
  size?: Vec3;
  /** Index into the meshes of the scene. */
  mesh?: number;
  /** Red, green, blue (sRGB), opacity. */
  color?: [number, number, number, number];
}

export interface BodyDescription {
  name: string;
  type: "dynamic" | "fixed" | "kinematic";
  parent: number;
  shapes: ShapeDescription[];
  /** How it looks, where that is not how it collides. */
  visuals?: ShapeDescription[];
}

export interface JointDescription {
  name: string;
  body: number;
  type: string;
  position: Vec3;
  axis: Vec3;
}

export interface SoftDescription {
  name: string;
  count: number;
  faces: string;
}

export interface SceneDescription {
  title: string;
  solver?: string;
  bodies: BodyDescription[];
  joints: JointDescription[];
  softs: SoftDescription[];
  meshes: MeshDescription[];
  /** Of the world. */
  visuals: ShapeDescription[];
}

export const ENERGY_ROWS = [
  "kinetic", "potential", "external", "damping", "contact normal", "contact friction",
  "kinematic", "constraint", "correction", "integration", "gyroscopic", "residual",
] as const;

const STATUS_NAMES = [
  "SolverNotConverged", "StateNotFinite", "EnergyInjected", "QueryNotConverged", "ImpactsCut", "HandlerRefused",
  "ElementsInverted", "StepDivided", "IntegratorFailed", "TooManyContacts", "MayHaveCrossed", "Interrupted",
  "OverlapNotResolved", "TooMuchWork", "EnergyRefused",
] as const;

/** The names of the bits, for people. */
export function statusText(status: number): string {
  return STATUS_NAMES.filter((_, bit) => (status >> bit) & 1).join(", ");
}

export const POSE = 7;
export const CONTACT = 10;
export const CONTACT_IDS = 4;
export const STRESS = 2;
/** Words of a polygon before its vertices. */
export const POLYGON = 4;
const VERSION = 2;
const COUNTS = 10;
const ENERGY = 24 + 4 * COUNTS;
const HEADER = ENERGY + (ENERGY_ROWS.length + 2) * 8;

/** Views into the bytes of one frame: nothing is copied. */
export class Frame {
  readonly bytes: number;
  readonly time: number;
  readonly step: number;
  readonly numBodies: number;
  readonly numContacts: number;
  readonly numSoftVertices: number;
  readonly numPolygons: number;
  readonly status: number;
  readonly iterations: number;
  readonly numIslands: number;
  readonly numEvents: number;
  readonly energy: Float64Array;
  readonly residual: number;
  readonly maxDepth: number;
  readonly poses: Float32Array;
  readonly asleep: Uint8Array;
  readonly contacts: Float32Array;
  readonly contactIds: Uint32Array;
  readonly softs: Float32Array;
  /** Empty: unknown. */
  readonly stress: Float32Array;
  readonly polygons: Float32Array;

  constructor(buffer: ArrayBuffer, offset: number) {
    const bytes = (this.bytes = frameBytes(buffer, offset));
    const view = new DataView(buffer, offset, bytes);
    const count = (index: number): number => view.getUint32(24 + 4 * index, true);
    this.time = view.getFloat64(8, true);
    this.step = view.getFloat64(16, true);
    this.numBodies = count(0);
    this.numContacts = count(1);
    this.numSoftVertices = count(2);
    const polygonWords = count(3);
    this.status = count(4);
    this.iterations = count(5);
    this.numIslands = count(6);
    this.numEvents = count(7);
    this.numPolygons = count(8);
    const stressValues = count(9);

    this.energy = new Float64Array(buffer, offset + ENERGY, ENERGY_ROWS.length);
    this.residual = view.getFloat64(ENERGY + 8 * ENERGY_ROWS.length, true);
    this.maxDepth = view.getFloat64(ENERGY + 8 * ENERGY_ROWS.length + 8, true);
    let at = offset + HEADER;
    const floats = (n: number): Float32Array => {
      const block = new Float32Array(buffer, at, n);
      at += 4 * n;
      return block;
    };
    const needed = HEADER + 4 * POSE * this.numBodies + padded(this.numBodies) +
      4 * (CONTACT + CONTACT_IDS) * this.numContacts + 12 * this.numSoftVertices + 4 * stressValues + 4 * polygonWords;
    if (needed > bytes) throw new Error(`a frame says it has ${bytes} bytes and needs ${needed}`);
    this.poses = floats(POSE * this.numBodies);
    this.asleep = new Uint8Array(buffer, at, this.numBodies);
    at += padded(this.numBodies);
    this.contacts = floats(CONTACT * this.numContacts);
    this.contactIds = new Uint32Array(buffer, at, CONTACT_IDS * this.numContacts);
    at += 4 * CONTACT_IDS * this.numContacts;
    this.softs = floats(3 * this.numSoftVertices);
    this.stress = floats(stressValues);
    this.polygons = floats(polygonWords);
  }
}

/** All frames that follow each other in `buffer`. Throws when they are damaged. */
export function readFrames(buffer: ArrayBuffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < buffer.byteLength; at += frameBytes(buffer, at)) frames.push(new Frame(buffer, at));
  return frames;
}

function frameBytes(buffer: ArrayBuffer, offset: number): number {
  if (offset + HEADER > buffer.byteLength) throw new Error("a frame is cut off");
  const view = new DataView(buffer, offset, 8);
  const bytes = view.getUint32(0, true);
  const version = view.getUint32(4, true);
  if (version !== VERSION) throw new Error(`a frame of version ${version}, expected ${VERSION}`);
  if (bytes < HEADER || bytes % 8 !== 0 || offset + bytes > buffer.byteLength) throw new Error("a frame is cut off");
  return bytes;
}

function padded(n: number): number {
  return (n + 3) & ~3;
}

export function bytesOfBase64(text: string): ArrayBuffer {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes.buffer;
}
