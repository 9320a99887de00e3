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
  let pulled: { whom: { body: number } | { soft: number }; from: THREE.Vector3; depth: THREE.Vector3 } | null = null;

  const release = (): void => {
    if (!pulled) return;
    source.send({ command: "release" });
    pulled = null;
    world.spring = null;
    world.controls.enabled = true;
  };

  canvas.addEventListener("pointerdown", (event) => {
    down = [event.clientX, event.clientY];
    if (!event.ctrlKey || !source.isLive) return;
    const hit = world.pickBody(...place(event));
    if (hit?.picked?.kind !== "body" && hit?.picked?.kind !== "soft") return;
    const { kind, index } = hit.picked;
    pulled = { whom: kind === "body" ? { body: index } : { soft: index }, from: hit.point, depth: hit.point.clone() };
    world.picked = hit.picked;
    world.controls.enabled = false;
    world.grab(hit.picked, hit.point);
    canvas.setPointerCapture(event.pointerId);
  }, { capture: true });
  canvas.addEventListener("pointermove", (event) => {
    if (!pulled) return;
    const to = world.pointInPlane(...place(event), pulled.depth);
    world.spring?.to.copy(to);
    source.send({ command: "pull", ...pulled.whom, from: pulled.from.toArray(), to: to.toArray() });
  });
  canvas.addEventListener("pointerup", (event) => {
    const isClick = down !== null && Math.hypot(event.clientX - down[0], event.clientY - down[1]) < 4;
    down = null;
    if (pulled) release();
    else if (isClick && event.button === 0) world.picked = world.pick(...place(event))?.picked ?? null;
  });
  canvas.addEventListener("pointercancel", release);
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("dblclick", (event) => {
    const hit = world.pickBody(...place(event));
    if (hit) world.lookAtPoint(hit.point);
  });
}
