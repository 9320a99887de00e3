// SPDX-License-Identifier: Apache-2.0
//
// What tests and benchmarks of the viewer share: the program (TANGERE names it), a real browser,
// and waiting for what is to happen, never for a time.
import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import net from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const TANGERE = process.env.TANGERE ?? "tangere";
export const BROWSER = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
/** Debian's, for which bootstrap.sh installs h5py, or the first one. */
const PYTHON = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
const PATIENCE = 120000;
/** How scenes begin. */
export const FLOOR = `
[simulation]
dt = 0.005
[[body]]
name = "floor"
fixed = true
shapes = [{ plane = true }]
`;

export function temporaryFolder() {
  const path = mkdtempSync(join(tmpdir(), "tangere-"));
  return { file: (name) => join(path, name), remove: () => rmSync(path, { recursive: true, force: true }) };
}

export function tangere(...options) {
  return execFileSync(TANGERE, options, { stdio: ["ignore", "pipe", "pipe"] }).toString();
}

/** Runs Python with `parameters` in sys.argv and reads the JSON it prints. */
export function python(script, ...parameters) {
  return JSON.parse(execFileSync(PYTHON, ["-c", script, ...parameters], { maxBuffer: 1 << 28 }).toString());
}

/** Contact points and pressure polygons of each recorded step, by its number. */
export function recordedCounts(file) {
  return python(`
import h5py, json, sys
f = h5py.File(sys.argv[1])
def counts(group, n):
    if group not in f: return [0] * n
    o = f[group + "/offset"][:].tolist()
    return [o[i + 1] - o[i] for i in range(n)]
steps = f["frames/step"][:].tolist()
c, p = counts("contacts", len(steps)), counts("pressure", len(steps))
print(json.dumps({s: [c[i], p[i]] for i, s in enumerate(steps)}))`, file);
}

export async function startBrowser() {
  return chromium.launch({
    timeout: PATIENCE,
    executablePath: BROWSER,
    args: ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--js-flags=--expose-gc", "--enable-precise-memory-info"],
  });
}

/** A page, small so that drawing it in software is quick, with the faults it had. */
export async function open(browser, address, size = { width: 480, height: 360 }) {
  const page = await browser.newPage({ viewport: size });
  page.faults = [];
  page.on("pageerror", (error) => page.faults.push(error.message));
  page.setDefaultTimeout(PATIENCE);
  await page.goto(address, { timeout: PATIENCE });
  return page;
}

export const data = (page, name) => page.evaluate((key) => document.body.dataset[key], name);
export const until = (page, condition, argument) => page.waitForFunction(condition, argument, { timeout: PATIENCE });
/** The first picture was drawn and its numbers were written. */
export const ready = (page) => until(page, () => document.body.dataset.contacts !== undefined);
/** The card at the left, which covers half of a small page. */
export async function hidePanel(page) {
  await page.keyboard.press("Tab");
  await until(page, () => document.querySelector("#panel").hidden);
}
export const messageOf = async (page) => {
  await until(page, () => document.body.dataset.message !== undefined);
  return data(page, "message");
};
/** Stands still at `time`; resolves when that is what the numbers of the page are about. */
export async function scrubTo(page, time) {
  await page.evaluate((t) => window.tangere.player.scrub(t), time);
  await until(page, (t) => {
    const { player, source } = window.tangere;
    const frame = source.frame(player.indexAt(player.time));
    return Math.abs(Number(document.body.dataset.time) - Math.min(t, player.end)) < 1e-6 && frame && Number(document.body.dataset.step) === frame.step;
  }, time);
}

/** `tangere view` with these options. */
export async function serve(...options) {
  const server = spawn(TANGERE, ["view", ...options, "--json", "--seconds", "300"], { stdio: ["ignore", "pipe", "pipe"] });
  let text = "";
  const address = await new Promise((resolve, reject) => {
    server.stdout.on("data", (chunk) => {
      text += chunk;
      const found = /"address":\s*"([^"]+)"/.exec(text);
      if (found) resolve(found[1]);
    });
    server.on("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const ended = new Promise((done) => { server.on("exit", done); });
  return {
    address,
    server,
    root: address.replace(/\?.*/, ""),
    token: address.replace(/.*\?/, "?"),
    stop: () => {
      server.kill("SIGINT");
      return ended;
    },
  };
}

/** The path goes out as it is: no browser or library cleans it up. */
export function ask(address, { path, headers = {}, method = "GET" } = {}) {
  const url = new URL(address);
  return new Promise((resolve, reject) => {
    http.request({ host: url.hostname, port: url.port, path: path ?? url.pathname + url.search, headers, method, agent: false }, (answer) => {
      let text = "";
      answer.on("data", (chunk) => { text += chunk; });
      answer.on("end", () => resolve({ status: answer.statusCode, text, headers: answer.headers }));
    }).on("error", reject).end();
  });
}

/** A WebSocket by hand, which can be as rude as it likes. Resolves with the status line of the answer. */
export function rawSocket(server, { token = server.token, origin } = {}) {
  const url = new URL(server.address);
  const socket = net.connect(Number(url.port), url.hostname);
  socket.on("error", () => {}); // being cut off is part of it
  socket.write(`GET /live${token} HTTP/1.1\r\nHost: ${url.host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n` +
    `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${randomBytes(16).toString("base64")}\r\n` +
    (origin ? `Origin: ${origin}\r\n` : "") + "\r\n");
  return new Promise((resolve) => {
    socket.once("data", (answer) => resolve({ socket, status: Number(/ (\d+) /.exec(answer.toString("latin1"))?.[1]), text: answer.toString("latin1") }));
  });
}

/** A masked text message of less than 126 bytes. */
export function textMessage(text) {
  const body = Buffer.from(text);
  return Buffer.concat([Buffer.from([0x81, 0x80 | body.length, 0, 0, 0, 0]), body]); // a mask of zeros
}
