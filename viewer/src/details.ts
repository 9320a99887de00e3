// SPDX-License-Identifier: Apache-2.0
//
// The numbers of what is picked, as text.
import { contactId, contactIndex } from "./glyphs.ts";
import { CONTACT, CONTACT_IDS, POLYGON, POSE, STRESS } from "./stream.ts";
import type { Frame, SceneDescription } from "./stream.ts";
import type { World } from "./world.ts";

type Lines = [string, string][];

/** Lines of name and value; null when nothing is picked. */
export function detailsOf(world: World, frame: Frame, before: Frame | undefined): Lines | null {
  const { picked, scene } = world;
  switch (picked?.kind) {
    case undefined: return null;
    case "body": return bodyDetails(picked.index, scene, frame, before);
    case "soft": return softDetails(picked.index, world, frame);
    case "polygon": return polygonDetails(picked.index, scene, frame);
    case "contact": {
      const index = contactIndex(frame, picked.id);
      return index < 0 ? [["contact", "has ended"]] : contactDetails(index, scene, frame);
    }
  }
}

function bodyDetails(body: number, scene: SceneDescription, frame: Frame, before: Frame | undefined): Lines {
  const p = frame.poses.subarray(POSE * body, POSE * body + POSE);
  const { name, parent, type } = scene.bodies[body];
  const lines: Lines = [
    ["body", name],
    ["position", `${vector(p, 0, 4)} m`],
    ["quaternion", [3, 4, 5, 6].map((k) => p[k].toFixed(3)).join(" ")],
  ];
  if (type !== "dynamic") lines.push(["", type]);
  if (parent >= 0) lines.push(["held by", scene.bodies[parent].name]);
  if (before && before.time < frame.time && before.poses.length === frame.poses.length) {
    const q = before.poses.subarray(POSE * body, POSE * body + 3), dt = frame.time - before.time;
    lines.push(["speed", `${number(Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]) / dt)} m/s`]);
  }
  let count = 0;
  const sum = [0, 0, 0];
  for (let i = 0; i < frame.numContacts; ++i) {
    const sign = (frame.contactIds[CONTACT_IDS * i] | 0) === body ? 1 : (frame.contactIds[CONTACT_IDS * i + 1] | 0) === body ? -1 : 0;
    if (sign === 0) continue;
    ++count;
    for (let k = 0; k < 3; ++k) sum[k] += sign * frame.contacts[CONTACT * i + 3 + k];
  }
  lines.push(["contacts", `${count}`], ["contact force", `${vector(sum, 0, 3)} N`]);
  if (frame.asleep[body]) lines.push(["", "asleep"]);
  return lines;
}

function softDetails(soft: number, world: World, frame: Frame): Lines {
  const { first, count } = world.softs.range(soft);
  const lines: Lines = [["soft body", world.scene.softs[soft].name]];
  const center = [0, 0, 0];
  for (let i = first; i < first + count; ++i) for (let k = 0; k < 3; ++k) center[k] += frame.softs[3 * i + k] / count;
  lines.push(["middle", `${vector(center, 0, 4)} m`], ["vertices", `${count} on the surface`]);
  if (frame.stress.length > 0) {
    let stress = 0, pressure = -Infinity;
    for (let i = first; i < first + count; ++i) {
      stress = Math.max(stress, frame.stress[STRESS * i]);
      pressure = Math.max(pressure, frame.stress[STRESS * i + 1]);
    }
    lines.push(["largest stress", pascals(stress)], ["largest pressure", pascals(pressure)]);
  }
  let polygons = 0;
  for (let i = 0; i < frame.polygons.length; i += POLYGON + 3 * frame.polygons[i])
    if (frame.polygons[i + 2] === -2 - soft || frame.polygons[i + 3] === -2 - soft) ++polygons;
  lines.push(["contact polygons", `${polygons}`]);
  return lines;
}

function polygonDetails(index: number, scene: SceneDescription, frame: Frame): Lines {
  let at = 0;
  for (let k = 0; k < index && at < frame.polygons.length; ++k) at += POLYGON + 3 * frame.polygons[at];
  if (at >= frame.polygons.length) return [["pressure contact", "has ended"]];
  const side = (value: number): string => (value >= 0 ? scene.bodies[value]?.name : scene.softs[-2 - value]?.name) ?? "?";
  const area = areaOf(frame.polygons, at), pressure = frame.polygons[at + 1];
  return [
    ["pressure contact", `${side(frame.polygons[at + 2])} on ${side(frame.polygons[at + 3])}`],
    ["pressure", pascals(pressure)],
    ["area", `${number(1e6 * area)} mm²`],
    ["normal force", `${number(pressure * area)} N`],
    ["position", `${vector(frame.polygons, at + POLYGON, 4)} m`],
  ];
}

function areaOf(words: Float32Array, at: number): number {
  const x = (corner: number, k: number): number => words[at + POLYGON + 3 * corner + k] - words[at + POLYGON + k];
  const sum = [0, 0, 0];
  for (let j = 2; j < words[at]; ++j)
    for (let k = 0; k < 3; ++k) {
      const [l, m] = [(k + 1) % 3, (k + 2) % 3];
      sum[k] += x(j - 1, l) * x(j, m) - x(j - 1, m) * x(j, l);
    }
  return Math.hypot(sum[0], sum[1], sum[2]) / 2;
}

function contactDetails(contact: number, scene: SceneDescription, frame: Frame): Lines {
  const c = frame.contacts.subarray(CONTACT * contact, CONTACT * contact + CONTACT);
  const name = (side: number): string => {
    const body = frame.contactIds[CONTACT_IDS * contact + side] | 0;
    return body < 0 || body >= scene.bodies.length ? "?" : scene.bodies[body].name;
  };
  const normal = c[3] * c[6] + c[4] * c[7] + c[5] * c[8];
  const whole = c[3] * c[3] + c[4] * c[4] + c[5] * c[5];
  return [
    ["contact", `${name(0)} on ${name(1)}`],
    ["id", contactId(frame, contact).split(":").slice(2).join(":")],
    ["position", `${vector(c, 0, 4)} m`],
    ["normal", vector(c, 6, 3)],
    ["depth", `${number(1e3 * c[9])} mm`],
    ["normal force", `${number(normal)} N`],
    ["friction", `${number(Math.sqrt(Math.max(0, whole - normal * normal)))} N`],
  ];
}

/** With the prefix that makes it short. */
export function pascals(value: number): string {
  const size = Math.abs(value);
  if (size >= 1e6) return `${+(value / 1e6).toPrecision(3)} MPa`;
  if (size >= 1e3) return `${+(value / 1e3).toPrecision(3)} kPa`;
  return `${+value.toPrecision(3)} Pa`;
}

function vector(values: ArrayLike<number>, at: number, digits: number): string {
  return [0, 1, 2].map((k) => values[at + k].toFixed(digits)).join("  ");
}
function number(value: number): string {
  return value === 0 ? "0" : `${+value.toPrecision(4)}`;
}
