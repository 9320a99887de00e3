// SPDX-License-Identifier: Apache-2.0
//
// `tangere view`: recordings in chunks, runs that go on, and who is not let in.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import net from "node:net";
import { after, before, describe, it } from "node:test";
import { ask, BROWSER, data, FLOOR, hidePanel, messageOf, open, rawSocket, ready, recordedCounts, scrubTo, serve, startBrowser, tangere, TANGERE, temporaryFolder, textMessage, until } from "../testing/harness.mjs";

const SCENE = `${FLOOR}
[[body]]
name = "ball"
position = [0, 0, 0.1]
shapes = [{ sphere = 0.1 }]
`;

describe("the server of the viewer", { skip: BROWSER ? false : "no Chromium" }, () => {
  let folder, browser, live, page;

  before(async () => {
    folder = temporaryFolder();
    writeFileSync(folder.file("scene.toml"), SCENE);
    tangere("run", folder.file("scene.toml"), "--duration", "3", "--record", folder.file("a.h5"), "-q");
    browser = await startBrowser();
    live = await serve(folder.file("scene.toml"));
    page = await open(browser, live.address);
    await ready(page);
  });
  after(async () => {
    await browser?.close();
    await live?.stop();
    folder.remove();
  });
  const stepOf = async () => Number(await data(page, "step"));
  const goesOn = async (more = 5) => until(page, (s) => Number(document.body.dataset.step) > s, (await stepOf()) + more);

  /** While another page is looked at, this one need not be drawn. */
  const pause = (isPaused) => page.evaluate((word) => window.tangere.source.send({ command: word }), isPaused ? "pause" : "play");

  it("streams a recording in chunks, with all its contacts", async () => {
    await pause(true);
    const counts = recordedCounts(folder.file("a.h5"));
    const server = await serve(folder.file("a.h5"));
    const shown = await open(browser, server.address);
    await ready(shown);
    for (const time of [0, 2.9, 0.1, 1.5]) {
      await scrubTo(shown, time);
      assert.equal(Number(await data(shown, "glyphs")), counts[await data(shown, "step")][0]);
    }
    assert.equal(await data(shown, "message"), undefined);
    const { chunks, all } = await shown.evaluate(() => {
      const { source } = window.tangere;
      return { chunks: source.chunks.size, all: Math.ceil(source.times.length / source.index.framesPerChunk) };
    });
    assert.ok(chunks < all, "what nobody looked at is not loaded");
    // Without its server the page says so when it needs more.
    server.server.kill("SIGKILL");
    await shown.evaluate(() => {
      window.tangere.source.chunks.clear();
      window.tangere.player.scrub(2);
    });
    assert.match(await messageOf(shown), /the server does not answer: it has ended/);
    await shown.close();
    await pause(false);
  });

  it("follows a live run, which can be paused, stepped and reset", async () => {
    await goesOn(20);
    await page.keyboard.press(" ");
    await until(page, () => document.body.dataset.playing === "false");
    // It stands once two frames with nothing between them say the same step.
    const paused = await page.evaluate(async () => {
      const { source } = window.tangere;
      const newest = () => source.frame(source.times.length - 1).step;
      const command = (text) => source.send({ command: text, count: 1 });
      let last = -1;
      while (last !== newest()) { // a pause that did not reach it yet would let it run on
        last = newest();
        command("pause");
        await new Promise((done) => setTimeout(done, 100));
      }
      return last;
    });
    await page.keyboard.press("ArrowRight");
    await until(page, (s) => Number(document.body.dataset.step) === s, paused + 1);
    await page.keyboard.press("ArrowLeft");
    await until(page, (s) => Number(document.body.dataset.step) < s, paused + 1);
    await page.keyboard.press("Backspace");
    await until(page, () => document.body.dataset.step === "0");
    await page.keyboard.press(" ");
    await goesOn();
  });

  it("lets a body be pulled with the mouse", async () => {
    await hidePanel(page);
    const [x, y] = await page.evaluate(() => {
      const { world } = window.tangere;
      return world.onCanvas(world.positionOf(0));
    });
    const height = () => page.evaluate(() => window.tangere.player.instant().frame.poses[2]);
    assert.ok((await height()) < 0.11);
    await page.keyboard.down("Control");
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x, y - 150); // higher than its top: rolling is not enough
    await until(page, () => window.tangere.player.instant().frame.poses[2] > 0.12);
    await page.mouse.up();
    await page.keyboard.up("Control");
    await until(page, () => window.tangere.player.instant().frame.poses[2] < 0.11);
  });

  it("refuses a wrong token, another site and another name, each with a reason", async () => {
    assert.equal((await ask(live.address)).status, 200);
    const wrong = await ask(`${live.root}?token=guess`);
    assert.equal(wrong.status, 403);
    assert.match(wrong.text, /wrong or missing token: use the whole address/);
    assert.equal((await ask(`${live.root}scene`)).status, 403);
    const foreign = await ask(live.address, { headers: { Origin: "http://elsewhere.example" } });
    assert.deepEqual([foreign.status, /pages of other sites/.test(foreign.text)], [403, true]);
    const renamed = await ask(live.address, { headers: { Host: "elsewhere.example" } });
    assert.deepEqual([renamed.status, /not called that/.test(renamed.text)], [403, true]);
    // The same for the WebSocket.
    for (const [options, reason] of [[{ token: "?token=guess" }, /token/], [{ origin: "http://elsewhere.example" }, /other sites/]]) {
      const refused = await rawSocket(live, options);
      assert.equal(refused.status, 403);
      assert.match(refused.text, reason);
      refused.socket.destroy();
    }
    const shown = await open(browser, `${live.root}?token=guess`);
    assert.match(await shown.textContent("body"), /wrong or missing token/);
    await shown.close();
  });

  it("serves the page, the scene and frames, and no file", async () => {
    for (const path of ["/etc/passwd", "//etc/passwd", "/../../../../etc/passwd", "/..%2f..%2f..%2fetc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
      "/....//....//etc/passwd", "/..\\..\\etc\\passwd", "/scene/../../etc/passwd", "/viewer.html", "/scene.toml", "/frames"]) {
      const { status, text } = await ask(live.root, { path: path + live.token });
      assert.ok(status >= 400 && status < 500, `${path}: ${status}`);
      assert.doesNotMatch(text, /root:|\[simulation\]/, path);
    }
    // What comes after a NUL is never looked at.
    assert.doesNotMatch((await ask(live.root, { path: `/scene%00.toml${live.token}` })).text, /\[simulation\]/);
  });

  it("lets pages be read and nothing else, under a strict policy", async () => {
    const whole = await ask(live.address), head = await ask(live.address, { method: "HEAD" });
    assert.deepEqual([head.status, head.text, head.headers["content-length"]], [200, "", String(Buffer.byteLength(whole.text))]);
    for (const method of ["PUT", "DELETE", "POST", "PATCH"]) {
      const refused = await ask(live.address, { method });
      assert.equal(refused.status, 405, method);
      assert.match(refused.headers.allow ?? "", /GET, HEAD/);
    }
    const policy = whole.headers["content-security-policy"];
    const nonce = /script-src 'nonce-([a-z0-9]{24})';/.exec(policy)?.[1];
    assert.ok(nonce, policy);
    assert.match(policy, /^default-src 'none';.*frame-ancestors 'none'$/);
    assert.doesNotMatch(policy, /script-src[^;]*unsafe/);
    assert.equal(whole.text.split(`<script nonce="${nonce}">`).length, 3);
    // A script that got into the page all the same does not run.
    assert.equal(await page.evaluate(() => {
      const script = document.createElement("script");
      script.textContent = "window.gotIn = true";
      document.body.append(script);
      return window.gotIn ?? false;
    }), false);
  });

  it("goes on for everybody while one asks for steps without end", async () => {
    await pause(true);
    const before = await stepOf();
    const ask = await rawSocket(live);
    for (let i = 0; i < 100; ++i) ask.socket.write(textMessage('{"command":"step","count":2000000000}'));
    await until(page, (s) => Number(document.body.dataset.step) > s, before); // frames come while it steps
    ask.socket.destroy();
    await pause(true); // which is obeyed before they are done
    await new Promise((done) => setTimeout(done, 300));
    const stopped = await stepOf();
    await new Promise((done) => setTimeout(done, 300));
    assert.equal(await stepOf(), stopped);
    assert.ok(stopped < before + 1_000_000, `${stopped - before} steps`);
    await pause(false);
    await goesOn();
  });

  it("answers a page while 200 connections say nothing", async () => {
    const url = new URL(live.address);
    const silent = Array.from({ length: 200 }, () => net.connect(Number(url.port), url.hostname));
    for (const socket of silent) {
      socket.on("error", () => {});
      socket.write("GET / HTTP/1.1\r\nHost: ");
    }
    await new Promise((done) => setTimeout(done, 300));
    const begin = Date.now();
    assert.equal((await ask(live.address)).status, 200);
    assert.ok(Date.now() - begin < 20_000);
    for (const socket of silent) socket.destroy();
  });

  it("listens on this machine alone unless it is told otherwise", () => {
    const port = Number(new URL(live.address).port).toString(16).toUpperCase().padStart(4, "0");
    const listening = readFileSync("/proc/net/tcp", "utf8").split("\n").map((line) => line.trim().split(/\s+/)).filter((row) => row[3] === "0A" && row[1]?.endsWith(`:${port}`));
    assert.deepEqual(listening.map((row) => row[1].split(":")[0]), ["0100007F"]); // 127.0.0.1
  });

  it("lets go of a client that floods it or sends nonsense, and goes on", async () => {
    const reasonAfter = (text, times) => page.evaluate(([what, count]) => new Promise((done) => {
      const socket = new WebSocket(location.href.replace("http", "ws").replace("/?", "/live?"));
      socket.onopen = () => { for (let i = 0; i < count; ++i) socket.send(what); };
      socket.onclose = (event) => done(event.reason);
    }), [text, times]);
    assert.match(await reasonAfter('{"command":"release"}', 5000), /too many/);
    for (const word of ["load", "run", "write", "nothing"]) assert.match(await reasonAfter(`{"command":"${word}"}`, 1), /no such command/);
    assert.match(await reasonAfter("x".repeat(5000), 1), /4|long|bytes/);
    // What is no command is passed over.
    await page.evaluate(() => {
      const { source } = window.tangere;
      for (const odd of [{}, { command: 7 }, { command: "pull", body: 1e9, from: [0, 0, 0], to: [0, 0, 1] }, { command: "pull", body: -1 },
        { command: "pull", body: 0, from: [null, "x", 0], to: [0, 0, 1e300] }, { command: "pull", soft: 3, from: [0, 0, 0], to: [0, 0, 1] },
        { command: "step", count: -5 }, { command: "speed", factor: "fast" }]) source.send(odd);
      source.send({ command: "release" });
      source.send({ command: "play" });
    });
    await goesOn();
    assert.equal(await data(page, "message"), undefined);
  });

  it("does not wait for clients that do not read", async () => {
    const rude = await Promise.all(Array.from({ length: 6 }, () => rawSocket(live)));
    const timers = rude.map(({ socket, status }) => {
      assert.equal(status, 101);
      socket.pause(); // and asks for more all the same, so that all buffers on the way fill up
      return setInterval(() => { for (let i = 0; i < 5; ++i) socket.write(textMessage('{"received":true}')); }, 5);
    });
    await goesOn(300);
    timers.forEach(clearInterval);
    for (const { socket } of rude) socket.destroy();
    await goesOn();
  });

  it("says so when the server was killed", async () => {
    await pause(true);
    const server = await serve(folder.file("scene.toml"));
    const shown = await open(browser, server.address);
    await ready(shown);
    server.server.kill("SIGKILL");
    assert.match(await messageOf(shown), /the server has ended|connection to the server broke/);
    assert.ok(await shown.locator("#message").isVisible());
    await shown.close();
  });

  it("says what is wrong with a recording that is none", () => {
    const whole = readFileSync(folder.file("a.h5"));
    const cases = { "cut.h5": whole.subarray(0, 3000), "noise.h5": Buffer.concat([whole.subarray(0, 8), Buffer.alloc(5000, 0x5a)]) };
    for (const [name, bytes] of Object.entries(cases)) {
      writeFileSync(folder.file(name), bytes);
      assert.throws(() => execFileSync(TANGERE, ["view", folder.file(name), "--seconds", "1"], { stdio: "pipe" }), (error) => {
        assert.equal(error.status, 3);
        assert.match(error.stderr.toString(), new RegExp(`${name.replace(".", "\\.")}: no recording`));
        return true;
      });
    }
  });

  it("says why when a limit of contacts stops a run", async () => {
    const scene = SCENE.replace("dt = 0.005", "dt = 0.005\nmax_contacts = { points = 3 }").replace("sphere = 0.1", "box = [0.1, 0.1, 0.1]");
    writeFileSync(folder.file("limited.toml"), scene);
    const server = await serve(folder.file("limited.toml"));
    const shown = await open(browser, server.address);
    await ready(shown);
    assert.match(await messageOf(shown), /TooManyContacts: 4 contacts of kind 'points', the limit is 3/);
    await shown.close();
    await server.stop();
  });
});
