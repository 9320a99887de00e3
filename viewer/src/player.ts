// SPDX-License-Identifier: Apache-2.0
//
// The clock: which instant is shown. A recording plays and loops; a live run is followed at its end
// until somebody scrubs back.
import type { FrameSource } from "./source.ts";
import type { Frame } from "./stream.ts";

export interface Instant {
  index: number;
  frame: Frame;
  next: Frame;
  part: number;
}

export class Player {
  time: number;
  speed = 1;
  isPlaying = true;
  /** Of a live run: what is shown is the newest, also while it stands. */
  isAtEnd = true;
  private readonly shown: Partial<Instant> = {};

  constructor(private readonly source: FrameSource) {
    this.time = this.begin;
  }

  get begin(): number {
    return this.source.times[0] ?? 0;
  }
  get end(): number {
    return this.source.times[this.source.times.length - 1] ?? 0;
  }

  advance(seconds: number): void {
    if (this.source.isLive) {
      if (this.isPlaying || this.isAtEnd) this.time = this.end;
      return;
    }
    if (!this.isPlaying) return;
    // What is on its way is waited for: time does not run past frames that nobody saw.
    if (this.shown.frame && !this.source.frame(this.indexAt(this.time))) return;
    this.time += seconds * this.speed;
    if (this.time > this.end) this.time = this.begin;
  }

  /** Stands still at `time`. */
  scrub(time: number): void {
    this.isPlaying = false;
    this.isAtEnd = false;
    this.time = Math.min(this.end, Math.max(this.begin, time));
  }
  /** By frames, standing still. */
  stepFrames(count: number): void {
    const index = this.indexAt(this.time) + count;
    this.scrub(this.source.times[Math.min(this.source.times.length - 1, Math.max(0, index))]);
  }

  /** What to draw now, good until the next call; while frames are on their way, what was drawn last. */
  instant(): Instant | null {
    const index = this.indexAt(this.time);
    const frame = this.source.frame(index);
    const { shown } = this;
    if (!frame) return shown.frame ? (shown as Instant) : null;
    const after = Math.min(index + 1, this.source.times.length - 1);
    const next = this.source.frame(after) ?? frame;
    const span = next.time - frame.time;
    shown.index = index;
    shown.frame = frame;
    shown.next = next;
    shown.part = span > 0 ? Math.min(1, Math.max(0, (this.time - frame.time) / span)) : 0;
    return shown as Instant;
  }

  /** The last frame that is not after `time`. */
  indexAt(time: number): number {
    const times = this.source.times;
    let low = 0, high = times.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (times[middle] <= time) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
