// SPDX-License-Identifier: Apache-2.0
import * as THREE from "three";
import * as colors from "./colors.ts";
import { bytesOfBase64, STRESS } from "./stream.ts";
import type { Frame, SceneDescription } from "./stream.ts";

/** What the colour of a soft body says. */
export const SOFT_COLORS = ["plain", "stress", "pressure"] as const;
export type SoftColor = (typeof SOFT_COLORS)[number];

interface Surface {
  mesh: THREE.Mesh;
  first: number;
  count: number;
}

/** The surfaces of soft bodies, with smooth normals. */
export class Softs {
  /** Of the scale [Pa]; falls slowly, so that colours do not flicker. */
  most = 0;
  private readonly surfaces: Surface[] = [];
  private shownFrame: Frame | null = null;
  private shownPart = -1;
  private shownColor: SoftColor | null = null;
  private shownPicked = -1;

  constructor(stage: THREE.Scene, scene: SceneDescription) {
    let first = 0;
    for (const soft of scene.softs) {
      const geometry = new THREE.BufferGeometry();
      const numbers = (): THREE.BufferAttribute =>
        new THREE.BufferAttribute(new Float32Array(3 * soft.count), 3).setUsage(THREE.DynamicDrawUsage);
      geometry.setAttribute("position", numbers());
      geometry.setAttribute("color", numbers());
      geometry.setIndex(new THREE.BufferAttribute(new Uint32Array(bytesOfBase64(soft.faces)), 1));
      const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ vertexColors: true, roughness: 0.7 }));
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      stage.add(mesh);
      this.surfaces.push({ mesh, first, count: soft.count });
      first += soft.count;
    }
  }

  show(a: Frame, b: Frame, part: number, look: { isShown: boolean; isTransparent: boolean; isWireframe: boolean; color: SoftColor; picked: number }): void {
    const color = a.stress.length > 0 ? look.color : "plain";
    const isMoved = a !== this.shownFrame || part !== this.shownPart;
    const isPainted = a !== this.shownFrame || color !== this.shownColor || look.picked !== this.shownPicked;
    if (isPainted && color !== "plain") this.learnScale(a, color);
    this.shownFrame = a;
    this.shownPart = part;
    this.shownColor = color;
    this.shownPicked = look.picked;
    for (let i = 0; i < this.surfaces.length; ++i) {
      const { mesh } = this.surfaces[i];
      mesh.visible = look.isShown;
      const material = mesh.material as THREE.MeshStandardMaterial;
      material.wireframe = look.isWireframe;
      if (material.transparent !== look.isTransparent) {
        material.transparent = look.isTransparent;
        material.opacity = look.isTransparent ? 0.35 : 1;
        material.depthWrite = !look.isTransparent;
        material.needsUpdate = true;
      }
      if (!look.isShown) continue;
      if (isMoved) move(this.surfaces[i], a, b, part);
      if (isPainted) this.paint(this.surfaces[i], a, color, look.picked === i);
    }
  }

  pick(ray: THREE.Raycaster): { soft: number; point: THREE.Vector3; distance: number } | null {
    let best: { soft: number; point: THREE.Vector3; distance: number } | null = null;
    this.surfaces.forEach(({ mesh }, soft) => {
      if (!mesh.visible) return;
      mesh.geometry.computeBoundingSphere();
      const hit = ray.intersectObject(mesh)[0];
      if (hit && (!best || hit.distance < best.distance)) best = { soft, point: hit.point, distance: hit.distance };
    });
    return best;
  }

  /** Where its vertices begin among those of all, and how many there are. */
  range(soft: number): { first: number; count: number } {
    return this.surfaces[soft];
  }

  private learnScale(frame: Frame, color: SoftColor): void {
    const which = color === "stress" ? 0 : 1;
    if (color !== this.shownColor) this.most = 0;
    let most = 0;
    for (let i = which; i < frame.stress.length; i += STRESS) most = Math.max(most, frame.stress[i]);
    this.most = Math.max(most, 0.97 * this.most);
  }

  private paint({ mesh, first, count }: Surface, frame: Frame, color: SoftColor, isPicked: boolean): void {
    const attribute = mesh.geometry.getAttribute("color") as THREE.BufferAttribute;
    const out = attribute.array as Float32Array;
    const plain = isPicked ? colors.PICKED : colors.SOFT;
    for (let i = 0; i < count; ++i) {
      if (color === "plain") plain.toArray(out, 3 * i);
      else colors.writeHeat(this.most > 0 ? frame.stress[STRESS * (first + i) + (color === "stress" ? 0 : 1)] / this.most : 0, out, 3 * i);
    }
    attribute.needsUpdate = true;
  }
}

function move({ mesh, first, count }: Surface, a: Frame, b: Frame, part: number): void {
  const from = a.softs, to = b.softs.length === from.length ? b.softs : from;
  const position = mesh.geometry.getAttribute("position") as THREE.BufferAttribute;
  const x = position.array as Float32Array;
  for (let k = 0, at = 3 * first; k < 3 * count; ++k, ++at) x[k] = from[at] + part * (to[at] - from[at]);
  position.needsUpdate = true;
  mesh.geometry.computeVertexNormals();
}
