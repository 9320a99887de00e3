// SPDX-License-Identifier: Apache-2.0
//
// The page: a saved one has its data inside; a served one asks its server, with the token that is in
// the address.
import plotStyle from "uplot/dist/uPlot.min.css";
import style from "./style.css";
import { detailsOf } from "./details.ts";
import { Interface } from "./interface.ts";
import { followMouse } from "./mouse.ts";
import { Player } from "./player.ts";
import { Plots } from "./plots.ts";
import { EmbeddedSource, LiveSource, RecordingSource, textOf } from "./source.ts";
import type { EmbeddedData, FrameSource } from "./source.ts";
import type { Frame } from "./stream.ts";
import { World } from "./world.ts";

/** Put in by whoever saves or serves the page. */
declare const TANGERE_DATA: EmbeddedData | { server: "live" | "recording" } | null;

async function openSource(): Promise<FrameSource> {
  if (TANGERE_DATA === null) throw new Error("there is nothing to show: open a page saved by `tangere run --replay`, or the address that `tangere view` prints");
  if (!("server" in TANGERE_DATA)) return new EmbeddedSource(TANGERE_DATA);
  const token = new URLSearchParams(location.search).get("token") ?? "";
  return TANGERE_DATA.server === "live" ? LiveSource.open(token) : RecordingSource.open(token);
}

function firstFrame(source: FrameSource): Promise<void> {
  if (source.times.length > 0 && source.frame(0)) return Promise.resolve();
  return new Promise((resolve, reject) => {
    source.onChange(resolve);
    source.onEnd((reason) => reject(new Error(reason)));
  });
}

/** A few of the frames that are here. */
function sampleOf(source: FrameSource): Frame[] {
  const stride = Math.max(1, source.times.length >> 4);
  const frames: Frame[] = [];
  for (let i = 0; i < source.times.length; i += stride) {
    const frame = i === 0 || source instanceof EmbeddedSource ? source.frame(i) : undefined;
    if (frame) frames.push(frame);
  }
  return frames;
}

async function main(): Promise<void> {
  const sheet = document.createElement("style");
  sheet.textContent = plotStyle + style;
  document.head.append(sheet);

  const source = await openSource();
  await firstFrame(source);
  const player = new Player(source);
  // page.html#1.5 stands still at 1.5 s: for links and pictures.
  const at = Number(location.hash.slice(1));
  if (location.hash.length > 1 && Number.isFinite(at)) player.scrub(at);

  const page = new Interface(source, player);
  const world = new World(page.canvas, source.scene, sampleOf(source));
  page.attach(world);
  const plots = new Plots(page.plots, source, player);
  followMouse(world, source);

  let last = 0, pace = 60;
  const draw = (clock: number): void => {
    const seconds = last > 0 ? (clock - last) / 1000 : 0;
    if (seconds > 0) pace += 0.05 * (Math.min(240, 1 / seconds) - pace);
    last = clock;
    // Machines that are slow at drawing do better without.
    if (world.shown.shadows && pace < 25) page.withoutShadows();
    player.advance(Math.min(0.1, seconds));
    const instant = player.instant();
    if (instant) {
      world.draw(instant.frame, instant.next, instant.part);
      if (page.isDue(clock)) page.update(clock, instant.frame, detailsOf(world, instant.frame, source.frame(instant.index - 1)), pace);
      plots.update(clock);
    }
    requestAnimationFrame(draw);
  };
  requestAnimationFrame(draw);
  document.body.dataset.ready = "true";
  // For tests and benchmarks, which look inside.
  Object.assign(window, { tangere: { world, player, source, plots } });
}

main().catch((error: unknown) => {
  const box = document.createElement("p");
  box.id = "fault";
  box.style.cssText = "margin: 20vh auto; max-width: 36em; font: 16px system-ui, sans-serif; text-align: center";
  box.textContent = textOf(error);
  document.body.append(box);
  document.body.dataset.message = textOf(error);
});
