// SPDX-License-Identifier: Apache-2.0
//
// A click picks, a double click looks at, ctrl + drag pulls a body of a live run by a spring.
import * as THREE from "three";
import type { FrameSource } from "./source.ts";
import type { World } from "./world.ts";

export function followMouse(world: World, source: FrameSource): void {
  const canvas = world.canvas;
  const place = (event: MouseEvent): [number, number] =>
    [(2 * event.offsetX) / canvas.clientWidth - 1, 1 - (2 * event.offsetY) / canvas.clientHeight];
  let down: [number, number] | null = null;
  let pulled: { body: number; point: THREE.Vector3 } | null = null;

  canvas.addEventListener("pointerdown", (event) => {
    down = [event.clientX, event.clientY];
    const hit = event.ctrlKey && source.isLive ? world.pick(...place(event)) : null;
    if (hit?.picked?.kind !== "body") return;
    pulled = { body: hit.picked.index, point: hit.point };
    world.picked = hit.picked;
    world.controls.enabled = false;
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!pulled) return;
    const to = world.pointInPlane(...place(event), pulled.point);
    source.send({ command: "pull", body: pulled.body, from: pulled.point.toArray(), to: to.toArray() });
  });
  canvas.addEventListener("pointerup", (event) => {
    const isClick = down !== null && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 4;
    down = null;
    if (pulled) {
      source.send({ command: "release" });
      pulled = null;
      world.controls.enabled = true;
    } else if (isClick && event.button === 0) {
      world.picked = world.pick(...place(event))?.picked ?? null;
    }
  });
  canvas.addEventListener("dblclick", (event) => {
    const hit = world.pick(...place(event));
    if (hit?.picked?.kind === "body") world.lookFrom(hit.picked.index);
  });
}
