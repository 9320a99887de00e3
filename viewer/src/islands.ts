// SPDX-License-Identifier: Apache-2.0
import { CONTACT_IDS } from "./stream.ts";
import type { Frame, SceneDescription } from "./stream.ts";

/** Bodies that act on each other by contacts or joints have the same number; -1: fixed ones. */
export class Islands {
  readonly number: Int32Array;
  private readonly leader: Int32Array;
  private shown: Frame | null = null;

  constructor(private readonly scene: SceneDescription) {
    this.number = new Int32Array(scene.bodies.length);
    this.leader = new Int32Array(scene.bodies.length);
  }

  find(frame: Frame): Int32Array {
    if (frame === this.shown) return this.number;
    this.shown = frame;
    const { leader, number, scene } = this;
    for (let i = 0; i < leader.length; ++i) leader[i] = i;
    for (let i = 0; i < leader.length; ++i) this.join(i, scene.bodies[i].parent);
    for (let k = 0; k < frame.numContacts; ++k)
      this.join(frame.contactIds[CONTACT_IDS * k] | 0, frame.contactIds[CONTACT_IDS * k + 1] | 0);
    let count = 0;
    // A leader has the lowest index of its island: it is numbered before the others.
    for (let i = 0; i < leader.length; ++i) number[i] = !this.moves(i) ? -1 : this.top(i) === i ? count++ : number[this.top(i)];
    return number;
  }

  private moves(i: number): boolean {
    return i >= 0 && i < this.leader.length && this.scene.bodies[i].type === "dynamic";
  }
  private top(i: number): number {
    while (this.leader[i] !== i) i = this.leader[i] = this.leader[this.leader[i]];
    return i;
  }
  private join(i: number, j: number): void {
    if (!this.moves(i) || !this.moves(j)) return;
    const a = this.top(i), b = this.top(j);
    this.leader[Math.max(a, b)] = Math.min(a, b);
  }
}
