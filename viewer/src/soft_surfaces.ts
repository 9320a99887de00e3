// SPDX-License-Identifier: Apache-2.0
import * as THREE from "three";
import * as colors from "./colors.ts";
import type { Frame, SceneDescription } from "./stream.ts";

/** The surfaces of soft bodies, with smooth normals. */
export class Softs {
  private readonly meshes: { mesh: THREE.Mesh; first: number; count: number }[] = [];

  constructor(stage: THREE.Scene, scene: SceneDescription) {
    let first = 0;
    for (const soft of scene.softs) {
      const geometry = new THREE.BufferGeometry();
      geometry.setAttribute("position", new THREE.BufferAttribute(new Float32Array(3 * soft.count), 3).setUsage(THREE.DynamicDrawUsage));
      geometry.setIndex(soft.faces);
      const mesh = new THREE.Mesh(geometry, new THREE.MeshStandardMaterial({ color: colors.SOFT, roughness: 0.7 }));
      mesh.castShadow = mesh.receiveShadow = true;
      mesh.frustumCulled = false;
      stage.add(mesh);
      this.meshes.push({ mesh, first, count: soft.count });
      first += soft.count;
    }
  }
  show(a: Frame, b: Frame, part: number, isShown: boolean): void {
    const to = b.softs.length === a.softs.length ? b.softs : a.softs;
    for (const { mesh, first, count } of this.meshes) {
      mesh.visible = isShown;
      const position = mesh.geometry.getAttribute("position") as THREE.BufferAttribute;
      const x = position.array as Float32Array;
      for (let k = 0; k < 3 * count; ++k) x[k] = a.softs[3 * first + k] + part * (to[3 * first + k] - a.softs[3 * first + k]);
      position.needsUpdate = true;
      mesh.geometry.computeVertexNormals();
    }
  }
}
