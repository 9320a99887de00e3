// SPDX-License-Identifier: Apache-2.0
//
// The numbers of what is picked, as text.
import { contactId } from "./glyphs.ts";
import { CONTACT, CONTACT_IDS, POSE } from "./stream.ts";
import type { Frame, SceneDescription } from "./stream.ts";
import type { Picked } from "./world.ts";

/** Lines of name and value; null when what was picked is no longer there. */
export function detailsOf(picked: Picked, scene: SceneDescription, frame: Frame, before: Frame | undefined): [string, string][] | null {
  if (!picked) return null;
  if (picked.kind === "body") return bodyDetails(picked.index, scene, frame, before);
  for (let i = 0; i < frame.numContacts; ++i)
    if (contactId(frame, i) === picked.id) return contactDetails(i, scene, frame);
  return [["contact", "has ended"]];
}

function bodyDetails(body: number, scene: SceneDescription, frame: Frame, before: Frame | undefined): [string, string][] {
  const p = frame.poses.subarray(POSE * body, POSE * body + POSE);
  const lines: [string, string][] = [
    ["body", scene.bodies[body].name],
    ["position", `${vector(p, 0, 4)} m`],
    ["quaternion", [3, 4, 5, 6].map((k) => p[k].toFixed(3)).join(" ")],
  ];
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

function contactDetails(contact: number, scene: SceneDescription, frame: Frame): [string, string][] {
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

function vector(values: ArrayLike<number>, at: number, digits: number): string {
  return [0, 1, 2].map((k) => values[at + k].toFixed(digits)).join("  ");
}
function number(value: number): string {
  return value === 0 ? "0" : `${+value.toPrecision(4)}`;
}
