// SPDX-License-Identifier: Apache-2.0
//
// The cards around the picture: what is shown, the numbers, the player, the keys.
import type { Player } from "./player.ts";
import type { FrameSource } from "./source.ts";
import type { Frame } from "./stream.ts";
import { LAYERS } from "./world.ts";
import type { Layer, World } from "./world.ts";

/** Keys as in other viewers of the field where they fit. */
const KEYS: [string, string][] = [
  ["space", "play or pause"], ["left, right", "one frame back, on (shift: ten)"], ["- and +", "slower, faster"],
  ["backspace", "back to the start"], ["1 2 3 4", "home, front, side, top"], ["C", "contact points"],
  ["F", "contact forces"], ["P", "pressure"], ["E", "body frames"], ["J", "joint axes"], ["I", "islands"],
  ["T", "see through bodies"], ["G", "plots"], ["S", "save a picture"], ["click", "numbers of a body or contact"],
  ["double click", "look at a body"], ["ctrl + drag", "pull a body (live)"], ["H or ?", "this list"],
];

export class Interface {
  readonly canvas = element("canvas", { id: "view" });
  readonly plots = element("div", { id: "plots", className: "card" });
  private readonly details = element("div", { id: "details", className: "card", hidden: true });
  private readonly message = element("div", { id: "message", className: "card", hidden: true });
  private readonly help = element("div", { id: "help", className: "card", hidden: true });
  private readonly panel = element("div", { id: "panel", className: "card" });
  private readonly bar = element("div", { id: "player", className: "card" });
  private readonly playButton = element("button", { id: "play", title: "space" });
  private readonly slider = element("input", { type: "range", min: "0", max: "1", step: "any" });
  private readonly marks = element("div", { id: "marks" });
  private readonly clock = element("span", { id: "clock" });
  private readonly speed = element("select", { title: "speed" });
  private readonly counts = { contacts: element("span", {}), polygons: element("span", {}), fps: element("span", {}) };
  private readonly boxes = new Map<Layer, HTMLInputElement>();
  private world!: World;

  constructor(private readonly source: FrameSource, private readonly player: Player) {
    document.title = `${source.scene.title} · Tangere`;
    document.body.append(this.canvas, this.panel, this.plots, this.details, this.message, this.help, this.bar);
    this.makeBar();
    this.makeHelp();
    if (window.innerWidth < 900) this.plots.hidden = true;
    source.onEnd((reason) => this.say(reason));
  }

  /** The rest, once there is a picture. */
  attach(world: World): void {
    this.world = world;
    this.makePanel();
    window.addEventListener("keydown", (event) => this.onKey(event));
  }

  say(text: string): void {
    this.message.textContent = text;
    this.message.hidden = false;
    document.body.dataset.message = text;
  }

  update(frame: Frame, details: [string, string][] | null, framesPerSecond: number): void {
    const { begin, end, time, isPlaying } = this.player;
    this.slider.min = `${begin}`;
    this.slider.max = `${end}`;
    this.slider.value = `${time}`;
    this.clock.textContent = `${time.toFixed(3)} s of ${end.toFixed(3)} s`;
    this.playButton.textContent = isPlaying ? "Pause" : "Play";
    const shown = this.world.glyphCounts;
    this.counts.contacts.textContent = `${frame.numContacts}`;
    this.counts.polygons.textContent = `${frame.numPolygons}`;
    this.counts.fps.textContent = framesPerSecond.toFixed(0);
    this.showDetails(details);
    // For tests, which read the page.
    Object.assign(document.body.dataset, {
      time: `${time}`, step: `${frame.step}`, contacts: `${frame.numContacts}`, glyphs: `${shown.points}`,
      polygons: `${shown.polygons}`, fps: framesPerSecond.toFixed(1), playing: `${isPlaying}`,
    });
  }

  /** Events (contacts that begin or end, failed steps) as marks under the slider. */
  mark(times: number[]): void {
    const { begin, end } = this.player;
    this.marks.replaceChildren(...times.slice(-400).map((time) => {
      const mark = element("i", {});
      mark.style.left = `${(100 * (time - begin)) / Math.max(1e-12, end - begin)}%`;
      return mark;
    }));
  }

  savePicture(): void {
    const link = element("a", { download: "tangere.png", href: this.canvas.toDataURL("image/png") });
    link.click();
  }

  private showDetails(lines: [string, string][] | null): void {
    this.details.hidden = lines === null;
    if (lines === null) return;
    const table = element("table", {});
    for (const [name, value] of lines) {
      const row = table.insertRow();
      row.insertCell().textContent = name;
      row.insertCell().textContent = value;
    }
    this.details.replaceChildren(table);
    document.body.dataset.details = lines.map((line) => line.join("=")).join(";");
  }

  private makePanel(): void {
    const { scene } = this.source;
    const moving = scene.bodies.filter((b) => b.type === "dynamic").length + scene.softs.length;
    this.panel.append(element("h1", { textContent: scene.title }),
      element("p", { className: "facts", textContent: `${moving} moving bodies${scene.solver ? `, ${scene.solver}` : ""}${this.source.isLive ? ", live" : ""}` }));
    this.panel.append(rowOf("contact points", this.counts.contacts), rowOf("pressure polygons", this.counts.polygons), rowOf("pictures per second", this.counts.fps));
    for (const layer of Object.keys(LAYERS) as Layer[]) {
      if (layer === "joints" && !scene.joints?.length) continue;
      const box = element("input", { type: "checkbox", checked: this.world.shown[layer] });
      box.onchange = () => { this.world.shown[layer] = box.checked; };
      this.boxes.set(layer, box);
      const label = element("label", {});
      label.append(box, LAYERS[layer]);
      this.panel.append(label);
    }
    const buttons = element("div", { className: "buttons" });
    for (const preset of ["home", "front", "side", "top"] as const) {
      const button = element("button", { textContent: preset });
      button.onclick = () => this.world.lookFrom(preset);
      buttons.append(button);
    }
    const more: [string, () => void][] = [["plots", () => this.togglePlots()], ["picture", () => this.savePicture()], ["keys", () => this.toggleHelp()]];
    for (const [text, action] of more) {
      const button = element("button", { textContent: text });
      button.onclick = action;
      buttons.append(button);
    }
    this.panel.append(buttons);
  }

  private makeBar(): void {
    this.slider.setAttribute("aria-label", "time");
    this.slider.oninput = () => this.scrub(Number(this.slider.value));
    this.playButton.onclick = () => this.togglePlay();
    for (const factor of [0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10])
      this.speed.append(element("option", { value: `${factor}`, textContent: `${factor} x`, selected: factor === 1 }));
    this.speed.onchange = () => this.setSpeed(Number(this.speed.value));
    const track = element("div", { className: "track" });
    track.append(this.slider, this.marks);
    const step = element("button", { textContent: "Step", title: "right arrow" });
    step.onclick = () => this.step(1);
    this.bar.append(this.playButton, step);
    if (this.source.isLive) {
      const reset = element("button", { textContent: "Reset", title: "backspace" });
      reset.onclick = () => this.restart();
      this.bar.append(reset);
    }
    this.bar.append(track, this.clock, this.speed);
  }

  private makeHelp(): void {
    const table = element("table", {});
    for (const [key, what] of KEYS) {
      const row = table.insertRow();
      row.insertCell().textContent = key;
      row.insertCell().textContent = what;
    }
    this.help.append(table);
    this.help.onclick = () => this.toggleHelp();
  }

  private onKey(event: KeyboardEvent): void {
    if (event.target instanceof HTMLSelectElement || event.ctrlKey || event.metaKey || event.altKey) return;
    const toggle = (...layers: Layer[]) => () => layers.forEach((layer) => this.toggle(layer));
    const actions: Record<string, () => void> = {
      " ": () => this.togglePlay(),
      ArrowRight: () => this.step(event.shiftKey ? 10 : 1),
      ArrowLeft: () => this.step(event.shiftKey ? -10 : -1),
      Backspace: () => this.restart(),
      "+": () => this.faster(1), "=": () => this.faster(1), "-": () => this.faster(-1),
      1: () => this.world.lookFrom("home"), 2: () => this.world.lookFrom("front"),
      3: () => this.world.lookFrom("side"), 4: () => this.world.lookFrom("top"),
      c: toggle("points"), f: toggle("normals", "tangents"), p: toggle("pressure"), e: toggle("frames"),
      j: toggle("joints"), i: toggle("islands"), t: toggle("transparent"),
      g: () => this.togglePlots(), s: () => this.savePicture(), h: () => this.toggleHelp(), "?": () => this.toggleHelp(),
    };
    const action = actions[event.key] ?? actions[event.key.toLowerCase()];
    if (!action) return;
    event.preventDefault();
    action();
  }

  private toggle(layer: Layer): void {
    this.world.shown[layer] = !this.world.shown[layer];
    const box = this.boxes.get(layer);
    if (box) box.checked = this.world.shown[layer];
  }
  private togglePlots(): void {
    this.plots.hidden = !this.plots.hidden;
  }
  private toggleHelp(): void {
    this.help.hidden = !this.help.hidden;
  }
  private togglePlay(): void {
    this.player.isPlaying = !this.player.isPlaying;
    this.source.send({ command: this.player.isPlaying ? "play" : "pause" });
  }
  private scrub(time: number): void {
    if (this.player.isPlaying) this.source.send({ command: "pause" });
    this.player.scrub(time);
  }
  /** A live run that stands at its end goes on; otherwise one looks at another frame. */
  private step(count: number): void {
    if (this.source.isLive && count > 0 && this.player.time >= this.player.end) {
      this.player.isPlaying = false;
      this.source.send({ command: "step", count });
      return;
    }
    if (this.player.isPlaying) this.source.send({ command: "pause" });
    this.player.stepFrames(count);
  }
  private restart(): void {
    this.source.send({ command: "reset" });
    this.player.time = this.player.begin;
  }
  private faster(direction: number): void {
    const at = this.speed.selectedIndex + direction;
    if (at < 0 || at >= this.speed.options.length) return;
    this.speed.selectedIndex = at;
    this.setSpeed(Number(this.speed.value));
  }
  private setSpeed(speed: number): void {
    this.player.speed = speed;
    this.source.send({ command: "speed", factor: speed });
  }
}

function rowOf(text: string, value: HTMLElement): HTMLElement {
  const row = element("div", { className: "row" });
  row.append(element("span", { textContent: text }), value);
  return row;
}

export function element<K extends keyof HTMLElementTagNameMap>(kind: K, properties: Partial<HTMLElementTagNameMap[K]>): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(kind), properties);
}
