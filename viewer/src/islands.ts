// SPDX-License-Identifier: Apache-2.0
import { CONTACT_IDS } from "./stream.ts";
import type { Frame, SceneDescription } from "./stream.ts";

/** Bodies that act on each other by contacts or joints have the same number; -1: fixed ones. */
export function islandsOf(scene: SceneDescription, frame: Frame): Int32Array {
  const n = scene.bodies.length;
  const leader = Int32Array.from({ length: n }, (_, i) => i);
  const find = (i: number): number => {
    while (leader[i] !== i) i = leader[i] = leader[leader[i]];
    return i;
  };
  const moves = (i: number): boolean => i >= 0 && i < n && scene.bodies[i].type === "dynamic";
  const join = (i: number, j: number): void => {
    if (moves(i) && moves(j)) leader[Math.max(find(i), find(j))] = Math.min(find(i), find(j));
  };
  scene.bodies.forEach((body, i) => join(i, body.parent ?? -1));
  for (let k = 0; k < frame.numContacts; ++k)
    join(frame.contactIds[CONTACT_IDS * k] | 0, frame.contactIds[CONTACT_IDS * k + 1] | 0);
  const number = new Map<number, number>();
  return Int32Array.from({ length: n }, (_, i) => {
    if (!moves(i)) return -1;
    const root = find(i);
    if (!number.has(root)) number.set(root, number.size);
    return number.get(root)!;
  });
}
