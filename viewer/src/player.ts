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
  isPlaying: boolean;
  private last: Instant | null = null;

  constructor(private readonly source: FrameSource) {
    this.time = this.begin;
    this.isPlaying = true;
  }

  get begin(): number {
    return this.source.times[0] ?? 0;
  }
  get end(): number {
    return this.source.times[this.source.times.length - 1] ?? 0;
  }

  advance(seconds: number): void {
    if (!this.isPlaying) return;
    if (this.source.isLive) {
      this.time = this.end;
      return;
    }
    this.time += seconds * this.speed;
    if (this.time > this.end) this.time = this.begin;
  }

  /** Stands still at `time`. */
  scrub(time: number): void {
    this.isPlaying = false;
    this.time = Math.min(this.end, Math.max(this.begin, time));
  }
  /** By frames, standing still. */
  stepFrames(count: number): void {
    const index = this.indexAt(this.time) + count;
    this.scrub(this.source.times[Math.min(this.source.times.length - 1, Math.max(0, index))]);
  }

  /** What to draw now; while frames are on their way, what was drawn last. */
  instant(): Instant | null {
    const index = this.indexAt(this.time);
    const frame = this.source.frame(index);
    if (!frame) return this.last;
    const after = Math.min(index + 1, this.source.times.length - 1);
    const next = this.source.frame(after) ?? frame;
    const span = next.time - frame.time;
    const part = span > 0 ? Math.min(1, Math.max(0, (this.time - frame.time) / span)) : 0;
    this.last = { index, frame, next, part };
    return this.last;
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
