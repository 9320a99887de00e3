// SPDX-License-Identifier: Apache-2.0
//
// The cards around the picture: what is shown, the numbers, the player, the keys.
import { HEAT_GRADIENT } from "./colors.ts";
import { pascals } from "./details.ts";
import type { Player } from "./player.ts";
import { SOFT_COLORS } from "./soft_surfaces.ts";
import type { SoftColor } from "./soft_surfaces.ts";
import type { FrameSource } from "./source.ts";
import { statusText } from "./stream.ts";
import type { Frame } from "./stream.ts";
import { Timeline } from "./timeline.ts";
import { LAYERS, PRESETS } from "./world.ts";
import type { Layer, World } from "./world.ts";

/** As in MuJoCo's viewer, where it has the same. */
const KEYS: [string, string][] = [
  ["space", "play or pause"], ["left, right", "one frame back, on (shift: ten)"], ["- and +", "slower, faster"],
  ["backspace", "back to the start"], [", and .", "mark before, after"], ["1 2 3 4, [ ]", "home, front, side, top"],
  ["esc, ctrl + A", "pick nothing and look from home"], ["click, page up", "numbers of a body, contact or patch; of what holds it"],
  ["double click, L", "look at a point; follow what is picked"], ["ctrl + drag", "pull a body (live)"],
  ["C, F, P", "contact points, forces, pressure"], ["M", "colour of soft bodies"], ["V, D", "looks or collision shapes; fixed bodies"],
  ["E or F6, J, N", "body frames, joint axes, islands"], ["T, W, S", "see through, wireframe, shadows"],
  ["G or F3, tab", "plots, this side"], ["X", "save a picture"], ["H, ? or F1", "this list"],
];

/** Text is for people: it need not change in every frame. */
const TEXT_INTERVAL = 60;

export class Interface {
  readonly canvas = element("canvas", { id: "view" });
  readonly plots = element("div", { id: "plots", className: "card" });
  private readonly details = element("div", { id: "details", className: "card", hidden: true });
  private readonly message = element("div", { id: "message", className: "card", hidden: true });
  private readonly help = element("div", { id: "help", className: "card", hidden: true });
  private readonly panel = element("div", { id: "panel", className: "card" });
  private readonly bar = element("div", { id: "player", className: "card" });
  private readonly playButton = element("button", { id: "play", title: "space" });
  private readonly clock = element("span", { id: "clock" });
  private readonly speed = element("select", { title: "speed" });
  private readonly counts = {
    contacts: element("span", {}), polygons: element("span", {}), solver: element("span", {}), asleep: element("span", {}), fps: element("span", {}),
  };
  private readonly softColor = element("select", { id: "soft-color", title: "M" });
  private readonly scales = { patches: element("span", {}), softs: element("span", {}) };
  private readonly timeline: Timeline;
  private readonly boxes = new Map<Layer, HTMLInputElement>();
  private camera = 0;
  private mayDropShadows = true;
  private updatedAt = -Infinity;
  private shownDetails = "";
  private world!: World;

  constructor(private readonly source: FrameSource, private readonly player: Player) {
    document.title = `${source.scene.title} · Tangere`;
    this.timeline = new Timeline(source.series, player, (time) => this.scrub(time));
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

  /** Whether the text is due to change. */
  isDue(clock: number): boolean {
    return clock - this.updatedAt >= TEXT_INTERVAL;
  }

  update(clock: number, frame: Frame, details: [string, string][] | null, framesPerSecond: number): void {
    this.updatedAt = clock;
    const { end, time, isPlaying } = this.player;
    this.timeline.update();
    this.clock.textContent = `${time.toFixed(3)} s of ${end.toFixed(3)} s`;
    this.playButton.textContent = isPlaying ? "Pause" : "Play";
    const shown = this.world.glyphCounts;
    let asleep = 0;
    for (let i = 0; i < frame.asleep.length; ++i) asleep += frame.asleep[i];
    this.counts.contacts.textContent = `${frame.numContacts}`;
    this.counts.polygons.textContent = `${frame.numPolygons}`;
    this.counts.solver.textContent = `${frame.iterations} in ${frame.numIslands}`;
    this.counts.solver.title = statusText(frame.status);
    this.counts.asleep.textContent = `${asleep}`;
    this.counts.fps.textContent = framesPerSecond.toFixed(0);
    this.scales.patches.textContent = pascals(this.world.patches.most);
    this.scales.softs.textContent = pascals(this.world.softs.most);
    this.showDetails(details);
    // For tests, which read the page.
    Object.assign(document.body.dataset, {
      time: `${time}`, step: `${frame.step}`, contacts: `${frame.numContacts}`, glyphs: `${shown.points}`,
      polygons: `${shown.polygons}`, fps: framesPerSecond.toFixed(1), playing: `${isPlaying}`, asleep: `${asleep}`,
      marks: `${this.source.series.marks.length}`, status: statusText(frame.status),
    });
  }

  savePicture(): void {
    const name = `${this.source.scene.title}-${this.player.time.toFixed(3)}s.png`;
    element("a", { download: name, href: this.canvas.toDataURL("image/png") }).click();
  }

  private showDetails(lines: [string, string][] | null): void {
    const text = lines?.map((line) => line.join("=")).join(";") ?? "";
    if (text === this.shownDetails) return;
    this.shownDetails = text;
    document.body.dataset.details = text;
    this.details.hidden = lines === null;
    if (lines === null) return;
    const table = element("table", {});
    for (const [name, value] of lines) {
      const row = table.insertRow();
      row.insertCell().textContent = name;
      row.insertCell().textContent = value;
    }
    this.details.replaceChildren(table);
  }

  private makePanel(): void {
    const { scene } = this.source;
    const moving = scene.bodies.filter((b) => b.type !== "fixed").length + scene.softs.length;
    this.panel.append(element("h1", { textContent: scene.title }),
      element("p", { className: "facts", textContent: `${moving} moving bodies${scene.solver ? `, ${scene.solver}` : ""}${this.source.isLive ? ", live" : ""}` }));
    this.panel.append(rowOf("contact points", this.counts.contacts), rowOf("pressure polygons", this.counts.polygons),
      rowOf("iterations, islands", this.counts.solver), rowOf("asleep", this.counts.asleep), rowOf("pictures per second", this.counts.fps));
    for (const layer of Object.keys(LAYERS) as Layer[]) {
      if ((layer === "joints" && scene.joints.length === 0) || (layer === "visuals" && !this.world.bodies.hasVisuals)) continue;
      const box = element("input", { type: "checkbox", checked: this.world.shown[layer] });
      box.onchange = () => this.setLayer(layer, box.checked);
      this.boxes.set(layer, box);
      const label = element("label", {});
      label.append(box, LAYERS[layer]);
      this.panel.append(label);
      if (layer === "pressure") this.panel.append(scaleOf(this.scales.patches));
    }
    if (scene.softs.length > 0) this.makeSoftChoice();
    const buttons = element("div", { className: "buttons" });
    for (const preset of PRESETS) {
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

  private makeSoftChoice(): void {
    for (const name of SOFT_COLORS) this.softColor.append(element("option", { value: name, textContent: name }));
    this.softColor.value = this.world.softColor;
    this.softColor.onchange = () => { this.world.softColor = this.softColor.value as SoftColor; };
    this.panel.append(rowOf("soft bodies show", this.softColor), scaleOf(this.scales.softs));
  }

  private makeBar(): void {
    this.playButton.onclick = () => this.togglePlay();
    for (const factor of [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10])
      this.speed.append(element("option", { value: `${factor}`, textContent: `${factor} x`, selected: factor === 1 }));
    this.speed.onchange = () => this.setSpeed(Number(this.speed.value));
    const step = element("button", { textContent: "Step", title: "right arrow" });
    step.onclick = () => this.step(1);
    this.bar.append(this.playButton, step);
    if (this.source.isLive) {
      const reset = element("button", { textContent: "Reset", title: "backspace" });
      reset.onclick = () => this.restart();
      this.bar.append(reset);
    }
    this.bar.append(this.timeline.element, this.clock, this.speed);
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

  private readonly actions: Record<string, (event: KeyboardEvent) => void> = {
    " ": () => this.togglePlay(),
    ArrowRight: (event) => this.step(event.shiftKey ? 10 : 1),
    ArrowLeft: (event) => this.step(event.shiftKey ? -10 : -1),
    Backspace: () => this.restart(),
    Escape: () => this.pickNothing(),
    Tab: (event) => (event.shiftKey ? this.togglePlots() : this.togglePanel()),
    PageUp: () => this.pickParent(),
    "+": () => this.faster(1), "=": () => this.faster(1), "-": () => this.faster(-1),
    1: () => this.look(0), 2: () => this.look(1), 3: () => this.look(2), 4: () => this.look(3),
    "[": () => this.look(this.camera - 1), "]": () => this.look(this.camera + 1),
    ",": () => this.toMark(-1), ".": () => this.toMark(1),
    c: () => this.toggle("points"), f: () => this.toggle("normals", "tangents"), p: () => this.toggle("pressure"),
    e: () => this.toggle("frames"), F6: () => this.toggle("frames"), j: () => this.toggle("joints"),
    n: () => this.toggle("islands"), i: () => this.toggle("islands"), v: () => this.toggle("visuals"), d: () => this.toggle("fixed"),
    t: () => this.toggle("transparent"), w: () => this.toggle("wireframe"), s: () => this.toggle("shadows"), l: () => this.toggle("follow"),
    m: () => this.nextSoftColor(), g: () => this.togglePlots(), F3: () => this.togglePlots(), x: () => this.savePicture(),
    h: () => this.toggleHelp(), "?": () => this.toggleHelp(), F1: () => this.toggleHelp(),
  };

  private onKey(event: KeyboardEvent): void {
    if (event.target instanceof HTMLSelectElement || event.metaKey || event.altKey) return;
    const action = event.ctrlKey ? (event.key === "a" ? () => this.pickNothing() : undefined)
      : (this.actions[event.key] ?? this.actions[event.key.toLowerCase()]);
    if (!action) return;
    event.preventDefault();
    action(event);
  }

  /** Once: who wants them all the same can have them. */
  withoutShadows(): void {
    if (this.mayDropShadows) this.setLayer("shadows", false);
    this.mayDropShadows = false;
  }

  private setLayer(layer: Layer, isOn: boolean): void {
    if (layer === "shadows") this.world.setShadows(isOn);
    this.world.shown[layer] = isOn;
    const box = this.boxes.get(layer);
    if (box) box.checked = isOn;
  }
  private toggle(...layers: Layer[]): void {
    for (const layer of layers) this.setLayer(layer, !this.world.shown[layer]);
  }
  private nextSoftColor(): void {
    this.world.cycleSoftColor();
    this.softColor.value = this.world.softColor;
  }
  private look(camera: number): void {
    this.camera = (camera + PRESETS.length) % PRESETS.length;
    this.world.lookFrom(PRESETS[this.camera]);
  }
  private pickNothing(): void {
    this.world.picked = null;
    this.setLayer("follow", false);
    this.look(0);
  }
  private pickParent(): void {
    const { picked } = this.world;
    const parent = picked?.kind === "body" ? this.source.scene.bodies[picked.index].parent : -1;
    if (parent >= 0) this.world.picked = { kind: "body", index: parent };
  }
  private toMark(direction: 1 | -1): void {
    const mark = this.source.series.nextMark(this.player.time, direction);
    if (mark) this.scrub(mark.time);
  }
  private togglePlots(): void {
    this.plots.hidden = !this.plots.hidden;
  }
  private togglePanel(): void {
    this.panel.hidden = !this.panel.hidden;
  }
  private toggleHelp(): void {
    this.help.hidden = !this.help.hidden;
  }
  private togglePlay(): void {
    this.player.isPlaying = !this.player.isPlaying;
    if (this.player.isPlaying) this.player.isAtEnd = true;
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
      this.player.isAtEnd = true;
      this.source.send({ command: "step", count });
      return;
    }
    if (this.player.isPlaying) this.source.send({ command: "pause" });
    this.player.stepFrames(count);
  }
  private restart(): void {
    this.source.send({ command: "reset" });
    this.player.isAtEnd = true;
    this.player.time = this.player.begin;
    this.message.hidden = true;
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

function scaleOf(most: HTMLElement): HTMLElement {
  const bar = element("span", { className: "heat" });
  bar.style.background = HEAT_GRADIENT;
  const row = element("div", { className: "row scale" });
  row.append("0", bar, most);
  return row;
}

function rowOf(text: string, value: HTMLElement): HTMLElement {
  const row = element("div", { className: "row" });
  row.append(element("span", { textContent: text }), value);
  return row;
}

export function element<K extends keyof HTMLElementTagNameMap>(kind: K, properties: Partial<HTMLElementTagNameMap[K]>): HTMLElementTagNameMap[K] {
  return Object.assign(document.createElement(kind), properties);
}
