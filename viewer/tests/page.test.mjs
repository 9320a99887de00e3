// SPDX-License-Identifier: Apache-2.0
//
// Saved pages in a real browser: they load, move, pick, scrub, and show what the recording has.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { BROWSER, data, FLOOR, hidePanel, messageOf, open, ready, recordedCounts, scrubTo, startBrowser, tangere, temporaryFolder, until } from "../testing/harness.mjs";

const SCENE = `${FLOOR}
[[body]]
name = "ball"
position = [0, 0, 0.5]
shapes = [{ sphere = 0.1 }]
[[body]]
name = "box"
position = [0.5, 0, 0.1]
shapes = [{ box = [0.1, 0.1, 0.1] }]
[simulation.sleep]
enabled = true
`;
const SOFT_SCENE = `
[simulation]
dt = 0.01
solver = "sap"
[material.rubber]
density = 1000
contact = { model = "hydroelastic", modulus = 1e5, dissipation = 1 }
[[body]]
name = "floor"
fixed = true
shapes = [{ plane = true, material = "rubber" }]
[[soft]]
name = "jelly"
shape = { box = [0.1, 0.1, 0.1] }
resolution = 0.1
position = [0, 0, 0.099]
material = "rubber"
elasticity = { model = "corotated", young = 2e4, poisson = 0.4, damping = 0.01 }
`;
const ROBOT = `<robot name="r">
<link name="base"/>
<link name="arm"><inertial><mass value="1"/><inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial>
  <collision><geometry><sphere radius="0.3"/></geometry></collision>
  <visual><origin xyz="0 0 0.1"/><geometry><mesh filename="look.obj" scale="2 2 2"/></geometry><material name="red"><color rgba="1 0 0 1"/></material></visual>
  <visual><geometry><mesh filename="missing.stl"/></geometry></visual></link>
<joint name="hinge" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 1 0"/></joint>
</robot>`;
const OBJ = "v 0 0 0\nv 0.2 0 0\nv 0 0.2 0\nv 0 0 0.2\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 3 1 4\n";

describe("a saved page", { skip: BROWSER ? false : "no Chromium" }, () => {
  let folder, browser, page, counts;

  before(async () => {
    folder = temporaryFolder();
    writeFileSync(folder.file("scene.toml"), SCENE);
    tangere("run", folder.file("scene.toml"), "--duration", "2", "--record", folder.file("a.h5"), "--replay", folder.file("a.html"), "-q");
    counts = recordedCounts(folder.file("a.h5"));
    browser = await startBrowser();
    page = await open(browser, `file://${folder.file("a.html")}`);
    await ready(page);
  });
  after(async () => {
    await browser?.close();
    folder.remove();
  });
  const centerOf = (name) => page.evaluate((wanted) => {
    const { world, source } = window.tangere;
    return world.onCanvas(world.positionOf(source.scene.bodies.findIndex((body) => body.name === wanted)));
  }, name);

  it("loads and moves without a server", async () => {
    const first = Number(await data(page, "time"));
    await until(page, (t) => Math.abs(Number(document.body.dataset.time) - t) > 0.05, first);
    assert.equal(await page.title(), "scene · Tangere");
    assert.deepEqual(page.faults, []);
  });

  it("shows as many contact glyphs as the recording has contacts", async () => {
    const seen = new Set();
    for (const time of [0.05, 0.35, 0.7, 1.9]) {
      await scrubTo(page, time);
      const glyphs = Number(await data(page, "glyphs"));
      assert.equal(glyphs, counts[await data(page, "step")][0], `at ${time} s`);
      seen.add(glyphs);
    }
    assert.ok(seen.size > 1, "the number changes");
    await page.keyboard.press("c");
    await until(page, () => document.body.dataset.glyphs === "0");
    await page.keyboard.press("c");
  });

  it("scrubs, steps, plays and pauses", async () => {
    await scrubTo(page, 0.5);
    assert.equal(await data(page, "playing"), "false");
    const step = Number(await data(page, "step"));
    await page.keyboard.press("ArrowRight");
    await until(page, (s) => Number(document.body.dataset.step) > s, step);
    await page.keyboard.press("ArrowLeft");
    await until(page, (s) => Number(document.body.dataset.step) === s, step);
    await page.locator("#player input").evaluate((slider) => { slider.value = "0.9"; slider.dispatchEvent(new Event("input")); });
    await until(page, () => Math.abs(Number(document.body.dataset.time) - 0.9) < 1e-3);
    await page.keyboard.press("-");
    assert.equal(await page.locator("#player select").inputValue(), "0.5");
    await page.keyboard.press(" ");
    await until(page, () => document.body.dataset.playing === "true" && Number(document.body.dataset.time) > 0.92);
    await page.keyboard.press("Backspace");
    await until(page, () => Number(document.body.dataset.time) < 0.9);
    await page.keyboard.press(" ");
    await page.keyboard.press("+");
  });

  it("tells the numbers of a body and of a contact that are clicked", async () => {
    await hidePanel(page);
    await scrubTo(page, 0.02);
    await page.keyboard.press("c"); // contacts lie in front
    await until(page, () => document.body.dataset.glyphs === "0");
    await page.mouse.click(...(await centerOf("ball")));
    await until(page, () => document.body.dataset.details?.startsWith("body=ball;position="));
    assert.match(await data(page, "details"), /;speed=[\d.e-]+ m\/s;contacts=0;/);
    await page.keyboard.press("c");
    await page.keyboard.press("Escape"); // its card may cover what comes next
    await until(page, () => document.body.dataset.details === "");
    await scrubTo(page, 1.9);
    await page.mouse.click(...(await page.evaluate(() => {
      const { world, player } = window.tangere;
      const { frame } = player.instant();
      const places = Array.from({ length: frame.numContacts }, (_, i) => world.onCanvas(world.positionOf(0).fromArray(frame.contacts, 10 * i)));
      return places.find(([x, y]) => document.elementFromPoint(x, y) === world.canvas);
    })));
    await until(page, () => document.body.dataset.details?.startsWith("contact="));
    assert.match(await data(page, "details"), /normal force=[\d.]+ N;friction=/);
    await page.keyboard.press("Escape");
    await until(page, () => document.body.dataset.details === "");
  });

  it("shows who sleeps, and plots the ledger over the whole run", async () => {
    await scrubTo(page, 1.9);
    await until(page, () => document.body.dataset.asleep === "2");
    const plotted = await page.evaluate(() => {
      const { series } = window.tangere.source;
      const last = series.length - 1;
      return { points: series.length, kinetic: series.column("kinetic")[last], work: series.column("contact normal")[last] };
    });
    assert.ok(plotted.points > 50);
    assert.equal(plotted.kinetic, 0);
    assert.ok(plotted.work < -0.5, "the fall of the ball ended in its contact"); // m g h = 4.19 kg * 9.81 * 0.4 m
  });

  it("switches every layer by its key, and saves a picture", async () => {
    const shown = () => page.evaluate(() => ({ ...window.tangere.world.shown }));
    for (const [key, layer] of [["f", "normals"], ["p", "pressure"], ["e", "frames"], ["j", "joints"], ["n", "islands"], ["v", "visuals"], ["d", "fixed"], ["t", "transparent"], ["w", "wireframe"], ["s", "shadows"], ["l", "follow"]]) {
      const was = (await shown())[layer];
      await page.keyboard.press(key);
      assert.equal((await shown())[layer], !was, key);
      await page.keyboard.press(key);
      assert.equal((await shown())[layer], was, key);
    }
    const [download] = await Promise.all([page.waitForEvent("download"), page.keyboard.press("x")]);
    assert.match(download.suggestedFilename(), /^scene-1\.900s\.png$/);
    assert.deepEqual([...readFileSync(await download.path()).subarray(0, 4)], [0x89, 0x50, 0x4e, 0x47]);
    const views = [];
    for (const key of ["1", "2", "3", "4"]) {
      await page.keyboard.press(key);
      views.push(await page.evaluate(() => window.tangere.world.camera.position.toArray().map((x) => x.toFixed(3)).join()));
    }
    assert.equal(new Set(views).size, 4);
    await page.keyboard.press("1");
    assert.deepEqual(page.faults, []);
  });

  it("paints soft bodies by stress and contacts by pressure", async () => {
    writeFileSync(folder.file("soft.toml"), SOFT_SCENE);
    tangere("run", folder.file("soft.toml"), "--duration", "0.5", "--record", folder.file("soft.h5"), "--replay", folder.file("soft.html"), "-q");
    const softCounts = recordedCounts(folder.file("soft.h5"));
    const soft = await open(browser, `file://${folder.file("soft.html")}#0.4`);
    await ready(soft);
    assert.equal(Number(await data(soft, "polygons")), softCounts[await data(soft, "step")][1]);
    assert.ok(Number(await data(soft, "polygons")) > 0);
    const colorsOf = () => soft.evaluate(() => {
      const { world } = window.tangere;
      const color = world.softs.surfaces[0].mesh.geometry.getAttribute("color").array;
      return new Set(Array.from({ length: color.length / 3 }, (_, i) => color.slice(3 * i, 3 * i + 3).join())).size;
    });
    assert.ok((await colorsOf()) > 3, "stress differs from place to place");
    const { most, largest } = await soft.evaluate(() => ({
      most: window.tangere.world.softs.most,
      largest: Math.max(...window.tangere.player.instant().frame.stress.filter((_, i) => i % 2 === 0)),
    }));
    assert.ok(Math.abs(most - largest) <= 1e-6 * largest, "red is the largest stress");
    // Its weight rests on its bottom: rho g (2 a) = 1962 Pa there, and about that at the most anywhere.
    assert.ok(most > 500 && most < 1e4, `${most} Pa`);
    await soft.keyboard.press("m");
    await soft.keyboard.press("m");
    await until(soft, () => window.tangere.world.softs.shownColor === "plain");
    assert.equal(await colorsOf(), 1);
    await soft.close();
  });

  it("shows how robots look, or how they collide", async () => {
    writeFileSync(folder.file("robot.urdf"), ROBOT);
    writeFileSync(folder.file("look.obj"), OBJ);
    tangere("run", folder.file("robot.urdf"), "--duration", "0.1", "--replay", folder.file("robot.html"), "-q", "-q");
    const robot = await open(browser, `file://${folder.file("robot.html")}#0`);
    await ready(robot);
    const visible = () => robot.evaluate(() =>
      window.tangere.world.bodies.groups.filter((group) => group.mesh.visible).map((group) => [group.mode, group.mesh.geometry.getAttribute("position").count]));
    assert.deepEqual(await visible(), [["visual", 12]]);
    assert.deepEqual(await robot.evaluate(() => window.tangere.world.bodies.groups[0].colors[0].toArray()), [1, 0, 0]);
    const { place } = await robot.evaluate(() => ({ place: window.tangere.world.bodies.groups[0].places[0].elements }));
    assert.deepEqual([place[12], place[13], place[14].toFixed(6)], [0, 0, "0.100000"]);
    await robot.keyboard.press("v");
    await until(robot, () => window.tangere.world.bodies.groups.some((group) => group.mode === "collision" && group.mesh.visible));
    assert.equal((await visible()).filter(([mode]) => mode === "visual").length, 0);
    await robot.close();
  });

  it("says what is wrong with a page that was cut or has nothing in it", async () => {
    const whole = readFileSync(folder.file("a.html"), "utf8");
    const cases = [
      [whole.replace(/"frames":"([^"]{400})[^"]*"/, '"frames":"$1"'), /a frame is cut off/],
      [whole.replace(/"frames":"[^"]*"/, '"frames":""'), /no frames/],
      [whole.replace(/const TANGERE_DATA = \{.*\};/, "const TANGERE_DATA = null;"), /there is nothing to show/],
    ];
    for (const [text, expected] of cases) {
      writeFileSync(folder.file("bad.html"), text);
      const bad = await open(browser, `file://${folder.file("bad.html")}`);
      assert.match(await messageOf(bad), expected);
      assert.match(await bad.locator("#fault").textContent(), expected);
      await bad.close();
    }
  });
});
