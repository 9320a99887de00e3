// SPDX-License-Identifier: Apache-2.0
//
// Energy and solver figures over time, up to the instant that is shown.
import uPlot from "uplot";
import type { FrameSource } from "./source.ts";
import type { Player } from "./player.ts";
import { ENERGY_ROWS } from "./stream.ts";
import type { Frame } from "./stream.ts";

const MAX_POINTS = 600;

interface Plot {
  title: string;
  series: { label: string; color: string; value: (frame: Frame) => number }[];
}

const row = (name: (typeof ENERGY_ROWS)[number]) => (frame: Frame): number => frame.energy[ENERGY_ROWS.indexOf(name)];

const PLOTS: Plot[] = [
  {
    title: "energy [J]",
    series: [
      { label: "kinetic", color: "#d9822b", value: row("kinetic") },
      { label: "potential", color: "#3f7fbf", value: row("potential") },
      { label: "sum", color: "#30363d", value: (f) => f.energy[0] + f.energy[1] },
    ],
  },
  {
    title: "work of a step [J]",
    series: [
      { label: "friction", color: "#1a9e33", value: row("contact friction") },
      { label: "normal", color: "#0d59f2", value: row("contact normal") },
      { label: "left over", color: "#d01437", value: row("residual") },
    ],
  },
  {
    title: "contacts and iterations",
    series: [
      { label: "contacts", color: "#d01437", value: (f) => f.numContacts },
      { label: "iterations", color: "#7a2fb0", value: (f) => f.iterations },
    ],
  },
];

export class Plots {
  private readonly charts: uPlot[];
  private drawnAt = -1;

  constructor(private readonly parent: HTMLElement, private readonly source: FrameSource, private readonly player: Player) {
    this.charts = PLOTS.map((plot) => {
      const box = document.createElement("div");
      box.className = "plot";
      parent.append(box);
      return new uPlot({
        width: 264,
        height: 132,
        title: plot.title,
        legend: { show: true, live: false },
        cursor: { y: false },
        scales: { x: { time: false } },
        axes: [
          { size: 34, space: 60, values: (_, ticks) => ticks.map((t) => `${+t.toPrecision(4)}`) },
          { size: 44, values: (_, ticks) => ticks.map((t) => short(t)) },
        ],
        series: [{}, ...plot.series.map((s) => ({ label: s.label, stroke: s.color, width: 1.4, points: { show: false } }))],
        hooks: { ready: [(u) => u.over.addEventListener("click", () => this.seek(u))] },
      }, [[], ...plot.series.map(() => [])], box);
    });
  }

  /** At most a few times a second: plots are to be read, not watched. */
  update(clock: number): void {
    if (this.parent.hidden || clock - this.drawnAt < 250) return;
    this.drawnAt = clock;
    const until = this.player.indexAt(this.player.time) + 1;
    const stride = Math.max(1, Math.ceil(until / MAX_POINTS));
    const times: number[] = [], frames: Frame[] = [];
    for (let i = 0; i < until; i += stride) {
      const frame = this.source.frame(i);
      if (!frame || frame.step === 0) continue; // before the first step there is no ledger
      times.push(frame.time);
      frames.push(frame);
    }
    this.charts.forEach((chart, k) => chart.setData([times, ...PLOTS[k].series.map((s) => frames.map(s.value))]));
  }

  private seek(chart: uPlot): void {
    const at = chart.posToVal(chart.cursor.left ?? 0, "x");
    if (Number.isFinite(at)) this.player.scrub(at);
  }
}

function short(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e4 || size < 1e-2 ? value.toExponential(0) : `${+value.toPrecision(3)}`;
}
