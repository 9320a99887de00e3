// SPDX-License-Identifier: Apache-2.0
//
// node bench/viewer.mjs [--json | --rows] [frames] [seeks]: what a frame of the page costs with 1000 bodies and 5000
// contacts, and how long a seek takes in a recording of ten minutes. TANGERE names the program. --rows: as
// bench/first_day/first_day.py merges them.
//
// Rendering without a graphics card says nothing about one with: what is measured is the work of the
// page itself, from a new frame to the commands and buffers for the graphics card; only the drawing
// commands are left out. To reach 60 pictures a second it must stay well below 16.7 ms.
import { writeFileSync } from "node:fs";
import { open, ready, serve, startBrowser, tangere, temporaryFolder } from "../testing/harness.mjs";

const BODIES = 1000, CONTACTS = 5000;

/** Boxes at rest, no two alike, in threes: one lies on two, which makes sixteen contact points. */
function scene(count) {
  const lines = ["[simulation]\ndt = 0.005\n[[body]]\nname = \"floor\"\nfixed = true\nshapes = [{ plane = true }]"];
  const side = Math.ceil(Math.sqrt(count / 3));
  for (let i = 0; i < count; ++i) {
    const group = Math.floor(i / 3), place = [[0, 0.1], [0.24, 0.1], [0.12, 0.3]][i % 3];
    const x = 0.5 * (group % side) + place[0], y = 0.25 * Math.floor(group / side), width = 0.1 - 1e-5 * i;
    lines.push(`[[body]]\nname = "b${i}"\nposition = [${x.toFixed(3)}, ${y}, ${place[1]}]\nshapes = [{ box = [0.1, ${width.toFixed(6)}, 0.1] }]`);
  }
  return lines.join("\n");
}

/** Pictures a second while the replay plays, and what draws them: without a graphics card, the processor. */
async function pictureRate(page) {
  return page.evaluate(async () => {
    const { world, player } = window.tangere;
    player.isPlaying = true;
    const gl = world.renderer.getContext();
    const names = gl.getExtension("WEBGL_debug_renderer_info");
    const drawer = gl.getParameter(names ? names.UNMASKED_RENDERER_WEBGL : gl.RENDERER);
    const nextPicture = () => new Promise((done) => requestAnimationFrame(done));
    for (let i = 0; i < 10; ++i) await nextPicture();
    const begin = performance.now();
    let count = 0;
    for (; performance.now() < begin + 4000; ++count) await nextPicture();
    return { drawer, per_second: (1000 * count) / (performance.now() - begin) };
  });
}

const quantile = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(q * list.length))];

/** Milliseconds of page work for each frame, and bytes allocated for each. */
async function frameTimes(page, frames) {
  return page.evaluate(async (count) => {
    const { world, source, player } = window.tangere;
    player.scrub(player.begin);
    window.requestAnimationFrame = () => 0; // what the page would do by itself
    const pen = WebGL2RenderingContext.prototype;
    for (const name of ["drawElements", "drawArrays", "drawElementsInstanced", "drawArraysInstanced"]) pen[name] = () => {};
    const shown = Array.from({ length: source.times.length }, (_, i) => source.frame(i)).filter(Boolean);
    const render = world.renderer.render.bind(world.renderer);
    const update = [], whole = [];
    let inside = 0;
    world.renderer.render = (...what) => {
      const begin = performance.now();
      render(...what);
      inside += performance.now() - begin;
    };
    const one = (i) => {
      const a = shown[i % shown.length], b = shown[(i + 1) % shown.length];
      inside = 0;
      const begin = performance.now();
      world.draw(a, b, 0.5);
      const end = performance.now() - begin;
      update.push(end - inside);
      whole.push(end);
    };
    for (let i = 0; i < 30; ++i) one(i); // compiled, and memory has its size
    update.length = whole.length = 0;
    globalThis.gc?.();
    const before = performance.memory?.usedJSHeapSize ?? 0;
    for (let i = 0; i < count; ++i) {
      one(i);
      if (i % 10 === 9) await new Promise((done) => setTimeout(done)); // the graphics process takes the buffers
    }
    const after = performance.memory?.usedJSHeapSize ?? 0;
    world.renderer.render = render;
    const { calls, triangles } = world.renderer.info.render;
    return { update, whole, bytes: Math.max(0, after - before) / count, calls, triangles };
  }, frames);
}

async function measureFrames(browser, folder) {
  writeFileSync(folder.file("many.toml"), scene(BODIES));
  tangere("run", folder.file("many.toml"), "--duration", "0.5", "--replay", folder.file("many.html"), "-q");
  const page = await open(browser, `file://${folder.file("many.html")}#0.4`);
  await ready(page);
  const contacts = await page.evaluate(() => window.tangere.player.instant().frame.numContacts);
  const pictures = await pictureRate(page);
  const { update, whole, bytes, calls, triangles } = await frameTimes(page, 200);
  await page.close();
  return {
    bodies: BODIES, contacts,
    update_ms: { median: quantile(update, 0.5), p99: quantile(update, 0.99) },
    page_ms: { median: quantile(whole, 0.5), p99: quantile(whole, 0.99) },
    pictures, bytes_per_frame: Math.round(bytes), draw_calls: calls, triangles,
  };
}

/** From a jump to another time until its picture is drawn. */
async function measureSeeks(browser, folder) {
  writeFileSync(folder.file("long.toml"), scene(6));
  tangere("run", folder.file("long.toml"), "--duration", "600", "--dt", "0.01", "--record", folder.file("long.h5"), "-q");
  const server = await serve(folder.file("long.h5"));
  const begin = performance.now();
  const page = await open(browser, server.address);
  await ready(page);
  const opened = performance.now() - begin;
  const seeks = await page.evaluate(async () => {
    const { player, source } = window.tangere;
    const out = [];
    for (let i = 0; i < 40; ++i) {
      const time = ((i * 0.618034) % 1) * player.end;
      const start = performance.now();
      player.scrub(time);
      while (!source.frame(player.indexAt(time))) {
        if (document.body.dataset.message) throw new Error(document.body.dataset.message);
        await new Promise((done) => setTimeout(done, 1));
      }
      out.push(performance.now() - start);
    }
    return out;
  });
  const frames = await page.evaluate(() => window.tangere.source.times.length);
  await page.close();
  await server.stop();
  return { simulated_s: 600, frames, open_ms: opened, seek_ms: { median: quantile(seeks, 0.5), p99: quantile(seeks, 0.99) } };
}

const inMs = (times) => `${times.median.toFixed(2)} ms (99 %: ${times.p99.toFixed(2)} ms)`;

/** What the table of the first day says of the viewer. */
function rowsOf({ frames, seeks }) {
  const rows = [];
  if (frames) {
    const load = `${frames.bodies} bodies, ${frames.contacts} contacts, ${frames.triangles} triangles in ${frames.draw_calls} draw calls`;
    rows.push({ figure: "viewer: work of the page for a frame", value: inMs(frames.page_ms), bar: "< 16.7 ms", how: `${load}; all but the drawing itself` });
    rows.push({ figure: "viewer: pictures a second without a graphics card", value: frames.pictures.per_second.toFixed(1), bar: "", how: `the same, drawn by the processor (SwiftShader); 60 needs a graphics card` });
  }
  if (seeks) rows.push({ figure: "viewer: a seek", value: inMs(seeks.seek_ms), bar: "", how: `recording of ${seeks.simulated_s} s, ${seeks.frames} frames, streamed; opens in ${seeks.open_ms.toFixed(0)} ms` });
  return rows;
}

const folder = temporaryFolder();
const browser = await startBrowser();
const wants = (what) => process.argv.includes(what) || !process.argv.some((word) => word === "frames" || word === "seeks");
const result = {};
if (wants("frames")) result.frames = await measureFrames(browser, folder);
if (wants("seeks")) result.seeks = await measureSeeks(browser, folder);
await browser.close();
folder.remove();
if (process.argv.includes("--json")) {
  console.log(JSON.stringify(result, null, 1));
} else if (process.argv.includes("--rows")) {
  console.log(JSON.stringify({ rows: rowsOf(result) }, null, 1));
} else {
  const { frames, seeks } = result;
  if (frames) console.log(`${frames.bodies} bodies, ${frames.contacts} contacts: ${frames.draw_calls} draw calls, ${frames.triangles} triangles
  numbers of a new frame  ${inMs(frames.update_ms)}
  with draw commands      ${inMs(frames.page_ms)}
  allocated               ${frames.bytes_per_frame} bytes a frame
  pictures a second       ${frames.pictures.per_second.toFixed(1)} (${frames.pictures.drawer})`);
  if (seeks) console.log(`recording of ${seeks.simulated_s} s, ${seeks.frames} frames
  opens in                ${seeks.open_ms.toFixed(0)} ms
  a seek takes            ${inMs(seeks.seek_ms)}`);
}
if (result.frames && result.frames.contacts < CONTACTS) {
  console.error(`only ${result.frames.contacts} contacts: the figures are void`);
  process.exit(1);
}
