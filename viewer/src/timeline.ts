// SPDX-License-Identifier: Apache-2.0
//
// The slider, and under it a mark for each step with a status (red) or events (orange).
import type { Player } from "./player.ts";
import type { Series } from "./series.ts";
import { statusText } from "./stream.ts";

const STATUS = "#d01437", EVENTS = "#e07b00";

export class Timeline {
  readonly element = document.createElement("div");
  readonly slider = document.createElement("input");
  private readonly marks = document.createElement("canvas");
  private drawn = "";

  constructor(private readonly series: Series, private readonly player: Player, onScrub: (time: number) => void) {
    Object.assign(this.slider, { type: "range", min: "0", max: "1", step: "any" });
    this.slider.setAttribute("aria-label", "time");
    this.slider.oninput = () => onScrub(Number(this.slider.value));
    this.marks.id = "marks";
    this.element.className = "track";
    this.element.append(this.slider, this.marks);
    this.element.onpointermove = (event) => { this.element.title = this.textAt(event); };
  }

  update(): void {
    const { begin, end, time } = this.player;
    this.slider.min = `${begin}`;
    this.slider.max = `${end}`;
    this.slider.value = `${time}`;
    const { clientWidth, clientHeight } = this.marks;
    const key = `${this.series.version} ${begin} ${end} ${clientWidth}`;
    if (this.series.marks.length === 0 && this.drawn === "") return;
    if (key === this.drawn || clientWidth === 0) return;
    this.drawn = key;
    this.marks.width = clientWidth;
    this.marks.height = clientHeight;
    const pen = this.marks.getContext("2d")!;
    const x = (at: number): number => (clientWidth * (at - begin)) / Math.max(1e-12, end - begin);
    for (const [color, wanted] of [[EVENTS, false], [STATUS, true]] as const) {
      pen.fillStyle = color;
      for (const mark of this.series.marks) if ((mark.status !== 0) === wanted) pen.fillRect(Math.round(x(mark.time)) - 1, 0, 2, clientHeight);
    }
  }

  /** What there is under the mouse. */
  private textAt(event: PointerEvent): string {
    const { begin, end } = this.player;
    const box = this.marks.getBoundingClientRect();
    const seconds = (end - begin) / Math.max(1, box.width);
    const time = begin + seconds * (event.clientX - box.left);
    let nearest: (typeof this.series.marks)[number] | null = null;
    for (const mark of this.series.marks)
      if (Math.abs(mark.time - time) < 4 * seconds && (!nearest || Math.abs(mark.time - time) < Math.abs(nearest.time - time))) nearest = mark;
    if (!nearest) return "";
    const events = nearest.events > 0 ? `${nearest.events} event${nearest.events > 1 ? "s" : ""}` : "";
    return [`${nearest.time.toFixed(3)} s`, statusText(nearest.status), events].filter(Boolean).join(": ");
  }
}
