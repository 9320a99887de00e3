// SPDX-License-Identifier: Apache-2.0
//
// The energy ledger and what the solver did, over the whole time, with a line at the instant that
// is shown.
import uPlot from "uplot";
import type { FrameSource } from "./source.ts";
import type { Player } from "./player.ts";
import type { Column, Series } from "./series.ts";

interface Curve {
  label: string;
  color: string;
  /** Sum of these, times `scale`. */
  columns: Column[];
  scale?: number;
}
interface Plot {
  title: string;
  curves: Curve[];
  /** Curves that are zero all the time are left out. */
  isSparse?: boolean;
}

const PLOTS: Plot[] = [
  {
    title: "energy [J]",
    curves: [
      { label: "kinetic", color: "#d9822b", columns: ["kinetic"] },
      { label: "potential", color: "#3f7fbf", columns: ["potential"] },
      { label: "sum", color: "#30363d", columns: ["kinetic", "potential"] },
    ],
  },
  {
    title: "work since the start [J]",
    isSparse: true,
    curves: [
      { label: "applied", color: "#d9822b", columns: ["external"] },
      { label: "damping", color: "#7a2fb0", columns: ["damping"] },
      { label: "normal", color: "#0d59f2", columns: ["contact normal"] },
      { label: "friction", color: "#1a9e33", columns: ["contact friction"] },
      { label: "driven bodies", color: "#b58b2a", columns: ["kinematic"] },
      { label: "limits", color: "#c2547a", columns: ["constraint"] },
      { label: "correction", color: "#2f9e9e", columns: ["correction"] },
      { label: "integration", color: "#8a94a0", columns: ["integration"] },
      { label: "gyroscopic", color: "#6b5b4a", columns: ["gyroscopic"] },
      { label: "left over", color: "#d01437", columns: ["residual"] },
    ],
  },
  {
    title: "contacts, iterations, islands",
    curves: [
      { label: "contacts", color: "#d01437", columns: ["contacts"] },
      { label: "iterations", color: "#7a2fb0", columns: ["iterations"] },
      { label: "islands", color: "#2f9e77", columns: ["islands"] },
    ],
  },
  {
    title: "errors of the step",
    curves: [
      { label: "depth [mm]", color: "#3f7fbf", columns: ["depth"], scale: 1e3 },
      { label: "velocity [mm/s]", color: "#d9822b", columns: ["velocity error"], scale: 1e3 },
    ],
  },
];

export class Plots {
  private readonly boxes: HTMLElement[];
  private readonly charts: (uPlot | null)[];
  private readonly drawnCurves: string[];
  private readonly scratch: Float64Array[] = [];
  private drawnAt = -Infinity;
  private drawnVersion = -1;
  private drawnTime = NaN;

  constructor(private readonly parent: HTMLElement, private readonly source: FrameSource, private readonly player: Player) {
    this.boxes = PLOTS.map(() => {
      const box = document.createElement("div");
      box.className = "plot";
      parent.append(box);
      return box;
    });
    this.charts = PLOTS.map(() => null);
    this.drawnCurves = PLOTS.map(() => "");
  }

  /** At most a few times a second: plots are to be read, not watched. */
  update(clock: number): void {
    if (this.parent.hidden || clock - this.drawnAt < 250) return;
    this.drawnAt = clock;
    const { series } = this.source;
    if (series.version !== this.drawnVersion) {
      this.drawnVersion = series.version;
      this.drawnTime = this.player.time;
      PLOTS.forEach((plot, k) => this.redraw(plot, k, series));
    } else if (this.drawnTime !== this.player.time) {
      this.drawnTime = this.player.time;
      for (const chart of this.charts) chart?.redraw(false);
    }
  }

  private redraw(plot: Plot, k: number, series: Series): void {
    const curves = plot.isSparse ? plot.curves.filter((curve) => !isZero(series, curve)) : plot.curves;
    const names = curves.map((curve) => curve.label).join();
    if (!this.charts[k] || names !== this.drawnCurves[k]) {
      this.drawnCurves[k] = names;
      this.charts[k]?.destroy();
      this.charts[k] = this.makeChart(plot.title, curves, this.boxes[k]);
    }
    const n = series.length;
    this.charts[k]!.setData([series.time.subarray(0, n), ...curves.map((curve, i) => this.values(series, curve, 16 * k + i))] as unknown as uPlot.AlignedData);
  }

  /** Memory that stays: one array for each curve that is not simply a column. */
  private values(series: Series, curve: Curve, slot: number): Float64Array {
    const n = series.length, scale = curve.scale ?? 1;
    if (curve.columns.length === 1 && scale === 1) return series.column(curve.columns[0]).subarray(0, n);
    const out = (this.scratch[slot] ??= new Float64Array(series.time.length));
    out.fill(0);
    for (const name of curve.columns) {
      const column = series.column(name);
      for (let i = 0; i < n; ++i) out[i] += scale * column[i];
    }
    return out.subarray(0, n);
  }

  private makeChart(title: string, curves: Curve[], box: HTMLElement): uPlot {
    return new uPlot({
      width: 272,
      height: 104,
      title,
      legend: { show: true, live: false },
      cursor: { y: false },
      scales: { x: { time: false } },
      axes: [
        { size: 30, space: 60, values: (_, ticks) => ticks.map((t) => `${+t.toPrecision(4)}`) },
        { size: 44, values: (_, ticks) => ticks.map((t) => short(t)) },
      ],
      series: [{}, ...curves.map((curve) => ({ label: curve.label, stroke: curve.color, width: 1.4, points: { show: false } }))],
      hooks: {
        ready: [(u) => u.over.addEventListener("click", () => this.seek(u))],
        draw: [(u) => this.drawInstant(u)],
      },
    }, [[], ...curves.map(() => [])] as unknown as uPlot.AlignedData, box);
  }

  private drawInstant(chart: uPlot): void {
    const x = chart.valToPos(this.player.time, "x", true);
    const { left, top, width, height } = chart.bbox;
    if (!(x >= left && x <= left + width)) return;
    chart.ctx.fillStyle = "rgba(30, 40, 50, 0.45)";
    chart.ctx.fillRect(Math.round(x), top, 1, height);
  }

  private seek(chart: uPlot): void {
    const at = chart.posToVal(chart.cursor.left ?? 0, "x");
    if (Number.isFinite(at)) this.player.scrub(at);
  }
}

function isZero(series: Series, curve: Curve): boolean {
  for (const name of curve.columns) {
    const column = series.column(name);
    for (let i = 0; i < series.length; ++i) if (column[i] !== 0) return false;
  }
  return true;
}

function short(value: number): string {
  if (value === 0) return "0";
  const size = Math.abs(value);
  return size >= 1e4 || size < 1e-2 ? value.toExponential(0) : `${+value.toPrecision(3)}`;
}
