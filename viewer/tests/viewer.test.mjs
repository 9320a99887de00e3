// SPDX-License-Identifier: Apache-2.0
//
// The viewer in a real browser. TANGERE names the program; skipped where there is no Chromium.
import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { chromium } from "playwright-core";

const TANGERE = process.env.TANGERE ?? "tangere";
const BROWSER = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
/** Debian's, for which bootstrap.sh installs h5py, or the first one. */
const PYTHON = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
const SCENE = `
[simulation]
dt = 0.005
[[body]]
name = "floor"
fixed = true
shapes = [{ plane = true }]
[[body]]
name = "ball"
position = [0, 0, 0.5]
shapes = [{ sphere = 0.1 }]
[[body]]
name = "box"
position = [0.5, 0, 0.1]
shapes = [{ box = [0.1, 0.1, 0.1] }]
`;

let folder, browser;
const file = (name) => join(folder, name);

describe("the viewer", { skip: BROWSER ? false : "no Chromium" }, () => {
  before(async () => {
    folder = mkdtempSync(join(tmpdir(), "tangere-"));
    writeFileSync(file("scene.toml"), SCENE);
    execFileSync(TANGERE, ["run", file("scene.toml"), "--duration", "1", "--record", file("a.h5"), "--replay", file("a.html"), "-q"]);
    browser = await chromium.launch({
      executablePath: BROWSER,
      args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"],
    });
  });
  after(async () => {
    await browser?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  const open = async (address) => {
    const page = await browser.newPage({ viewport: { width: 480, height: 360 } });
    const faults = [];
    page.on("pageerror", (error) => faults.push(error.message));
    await page.goto(address);
    page.faults = faults;
    return page;
  };
  const data = (page, name) => page.evaluate((key) => document.body.dataset[key], name);
  const until = (page, condition, argument) => page.waitForFunction(condition, argument, { timeout: 120000 });
  const ready = (page) => until(page, () => document.body.dataset.contacts !== undefined);
  const contactsAt = (time) =>
    Number(execFileSync(PYTHON, ["-c", `
import h5py, sys
f = h5py.File(sys.argv[1]); t = f["frames/time"][:]; o = f["contacts/offset"][:]
i = max(k for k in range(len(t)) if t[k] <= float(sys.argv[2]) + 1e-9); print(o[i + 1] - o[i])`, file("a.h5"), `${time}`]).toString());

  const serve = async (...options) => {
    const server = spawn(TANGERE, ["view", ...options, "--json", "--seconds", "120"], { stdio: ["ignore", "pipe", "pipe"] });
    let text = "";
    const address = await new Promise((resolve, reject) => {
      server.stdout.on("data", (chunk) => {
        text += chunk;
        const found = /"address":\s*"([^"]+)"/.exec(text);
        if (found) resolve(found[1]);
      });
      server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
    });
    return { address, server, stop: () => new Promise((done) => { server.on("exit", done); server.kill("SIGINT"); }) };
  };

  it("plays a saved page without a server, and moves", async () => {
    const page = await open(`file://${file("a.html")}`);
    await ready(page);
    const first = Number(await data(page, "time"));
    await until(page, (t) => Math.abs(Number(document.body.dataset.time) - t) > 0.05, first);
    assert.deepEqual(page.faults, []);
    assert.equal(await page.title(), "scene · Tangere");
    await page.close();
  });

  it("shows as many contact glyphs as the recording has contacts", async () => {
    for (const time of [0.1, 0.95]) {
      const page = await open(`file://${file("a.html")}#${time}`);
      await ready(page);
      const shown = Number(await data(page, "time"));
      const frame = Number(await data(page, "step")) * 0.005;
      assert.ok(Math.abs(shown - time) < 1e-6);
      assert.equal(Number(await data(page, "glyphs")), contactsAt(frame));
      await page.close();
    }
  });

  it("scrubs, steps and pauses", async () => {
    const page = await open(`file://${file("a.html")}#0.5`);
    await ready(page);
    assert.equal(await data(page, "playing"), "false");
    const step = Number(await data(page, "step"));
    await page.keyboard.press("ArrowRight");
    await until(page, (s) => Number(document.body.dataset.step) > s, step);
    await page.keyboard.press("ArrowLeft");
    await until(page, (s) => Number(document.body.dataset.step) === s, step);
    await page.locator("#player input").evaluate((slider) => { slider.value = "0.9"; slider.dispatchEvent(new Event("input")); });
    await until(page, () => Math.abs(Number(document.body.dataset.time) - 0.9) < 1e-3);
    await page.close();
  });

  it("tells the numbers of what is clicked", async () => {
    const page = await open(`file://${file("a.html")}#0.01`);
    await ready(page);
    let found = "";
    for (let x = 244; x < 470 && !found; x += 9)
      for (let y = 60; y < 280 && !found; y += 14) {
        await page.mouse.click(x, y);
        await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        const details = await data(page, "details");
        if (details?.startsWith("body=")) found = details;
      }
    assert.match(found, /^body=(ball|box);position=/);
    await page.close();
  });

  it("streams a recording in chunks", async () => {
    const { address, stop } = await serve(file("a.h5"));
    const page = await open(`${address}#0.95`);
    await ready(page);
    await until(page, () => Number(document.body.dataset.step) >= 189);
    assert.equal(Number(await data(page, "glyphs")), contactsAt(Number(await data(page, "step")) * 0.005));
    await page.close();
    await stop();
  });

  it("follows a live run, which can be paused, stepped and reset", async () => {
    const { address, stop } = await serve(file("scene.toml"));
    const page = await open(address);
    await ready(page);
    await until(page, () => Number(document.body.dataset.step) > 20);
    await page.keyboard.press(" ");
    await until(page, () => document.body.dataset.playing === "false");
    await page.waitForTimeout(500);
    const step = Number(await data(page, "step"));
    await page.waitForTimeout(500);
    assert.equal(Number(await data(page, "step")), step);
    await page.getByText("Reset").click();
    await page.keyboard.press(" ");
    await until(page, (s) => Number(document.body.dataset.step) < s, Math.max(step, 30));
    await page.close();
    await stop();
  });

  it("says so when the server has ended", async () => {
    const { address, server } = await serve(file("scene.toml"));
    const page = await open(address);
    await ready(page);
    server.kill("SIGKILL");
    await until(page, () => document.body.dataset.message !== undefined);
    assert.match(await data(page, "message"), /ended|broke/);
    await page.close();
  });

  const ask = (address, headers = {}) =>
    new Promise((resolve, reject) => {
      http.get(address, { headers, agent: false }, (answer) => {
        let text = "";
        answer.on("data", (chunk) => { text += chunk; });
        answer.on("end", () => resolve({ status: answer.statusCode, text }));
      }).on("error", reject);
    });

  it("refuses a wrong token, another site and another name, and serves nothing else", async () => {
    const { address, stop } = await serve(file("scene.toml"));
    const root = address.replace(/\?.*/, "");
    assert.equal((await ask(address)).status, 200);
    const wrong = await ask(`${root}?token=guess`);
    assert.equal(wrong.status, 403);
    assert.match(wrong.text, /token/);
    assert.equal((await ask(`${root}scene`)).status, 403);
    assert.equal((await ask(address, { Origin: "http://elsewhere.example" })).status, 403);
    assert.equal((await ask(address, { Host: "elsewhere.example" })).status, 403);
    const token = address.replace(/.*\?/, "?");
    for (const path of ["etc/passwd", "..%2f..%2fetc/passwd", "viewer.html"])
      assert.equal((await ask(root + path + token)).status, 404);
    await stop();
  });

  it("lets go of a client that floods it, and goes on", async () => {
    const { address, stop } = await serve(file("scene.toml"));
    const page = await open(address);
    await ready(page);
    const reason = await page.evaluate(() => new Promise((done) => {
      const socket = new WebSocket(location.href.replace("http", "ws").replace("/?", "/live?"));
      socket.onopen = () => { for (let i = 0; i < 5000; ++i) socket.send('{"command":"pause"}'); };
      socket.onclose = (event) => done(event.reason);
    }));
    assert.match(reason, /too many/);
    await page.evaluate(() => window.dispatchEvent(new KeyboardEvent("keydown", { key: " " })));
    await page.evaluate(() => window.dispatchEvent(new KeyboardEvent("keydown", { key: " " })));
    const step = Number(await data(page, "step"));
    await until(page, (s) => Number(document.body.dataset.step) > s, step);
    await page.close();
    await stop();
  });

  it("says what is wrong with a recording that is none", () => {
    writeFileSync(file("bad.h5"), readFileSync(file("a.h5")).subarray(0, 3000));
    try {
      execFileSync(TANGERE, ["view", file("bad.h5"), "--seconds", "1"], { stdio: "pipe" });
      assert.fail("it was taken");
    } catch (error) {
      assert.equal(error.status, 3);
      assert.match(error.stderr.toString(), /bad\.h5: no recording/);
    }
  });
});
