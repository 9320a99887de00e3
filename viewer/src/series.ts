// SPDX-License-Identifier: Apache-2.0
//
// What is plotted of a run, at so many points at most: a run that goes on forever is thinned out,
// and needs no more memory than a short one. And the instants that deserve a mark.
import { bytesOfBase64, ENERGY_ROWS } from "./stream.ts";
import type { Frame } from "./stream.ts";

/** One row for each plotted number, in the order of cli/view_index.cpp. */
export const COLUMNS = [...ENERGY_ROWS, "contacts", "iterations", "islands", "velocity error", "depth"] as const;
export type Column = (typeof COLUMNS)[number];

/** A step with a status, or events of the event solver. */
export interface Mark {
  time: number;
  status: number;
  events: number;
}

export interface PackedPlots {
  time: string;
  columns: string[];
}

const MAX_POINTS = 2400;
const MAX_MARKS = 4000;

export class Series {
  length = 0;
  readonly marks: Mark[] = [];
  /** Changes with everything that is added. */
  version = 0;
  readonly time = new Float64Array(MAX_POINTS);
  readonly columns = COLUMNS.map(() => new Float64Array(MAX_POINTS));
  private stride = 1;
  private skipped = 0;

  /** All of a recording at once. */
  static of(plots: PackedPlots, marks: [number, number, number][]): Series {
    const series = new Series();
    const time = new Float64Array(bytesOfBase64(plots.time)).subarray(0, MAX_POINTS);
    series.length = time.length;
    series.time.set(time);
    plots.columns.slice(0, COLUMNS.length).forEach((text, k) =>
      series.columns[k].set(new Float64Array(bytesOfBase64(text)).subarray(0, MAX_POINTS)));
    for (const [at, status, events] of marks) series.marks.push({ time: at, status, events });
    series.version = 1;
    return series;
  }

  add(frame: Frame): void {
    if (this.length > 0 && frame.time <= this.time[this.length - 1]) this.cut(frame.time);
    if (frame.numEvents > 0 || frame.status !== 0) this.mark(frame);
    if (frame.step === 0 || ++this.skipped < this.stride) return; // before the first step there is no ledger
    this.skipped = 0;
    if (this.length === MAX_POINTS) this.thin();
    const i = this.length++;
    this.time[i] = frame.time;
    for (let k = 0; k < ENERGY_ROWS.length; ++k) this.columns[k][i] = frame.energy[k];
    const figures = ENERGY_ROWS.length;
    this.columns[figures][i] = frame.numContacts;
    this.columns[figures + 1][i] = frame.iterations;
    this.columns[figures + 2][i] = frame.numIslands;
    this.columns[figures + 3][i] = frame.residual;
    this.columns[figures + 4][i] = frame.maxDepth;
    ++this.version;
  }

  column(name: Column): Float64Array {
    return this.columns[COLUMNS.indexOf(name)];
  }

  /** The next mark after `time`, or the last one before it; nothing when there is none. */
  nextMark(time: number, direction: 1 | -1): Mark | undefined {
    const margin = 1e-9 * Math.max(1, Math.abs(time));
    return direction > 0 ? this.marks.find((mark) => mark.time > time + margin) : this.marks.findLast((mark) => mark.time < time - margin);
  }

  private mark(frame: Frame): void {
    if (this.marks.length === MAX_MARKS) for (let i = 1; i <= MAX_MARKS / 2; ++i) this.marks.splice(i, 1);
    this.marks.push({ time: frame.time, status: frame.status, events: frame.numEvents });
    ++this.version;
  }

  /** A run that was reset goes back in time: what came after did not happen. */
  private cut(time: number): void {
    while (this.length > 0 && this.time[this.length - 1] >= time) --this.length;
    while (this.marks.length > 0 && this.marks[this.marks.length - 1].time >= time) this.marks.pop();
    if (this.length === 0) this.stride = 1;
    ++this.version;
  }

  private thin(): void {
    this.length = MAX_POINTS / 2;
    for (const column of [this.time, ...this.columns])
      for (let i = 0; i < this.length; ++i) column[i] = column[2 * i + 1];
    this.stride *= 2;
  }
}
