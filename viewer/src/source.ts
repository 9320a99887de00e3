// SPDX-License-Identifier: Apache-2.0
//
// Where frames come from: the page itself, a recording behind a server (in chunks, as they are
// needed), or a run that is going on.
import { Series } from "./series.ts";
import type { PackedPlots } from "./series.ts";
import { bytesOfBase64, Frame, readFrames } from "./stream.ts";
import type { SceneDescription } from "./stream.ts";

export interface FrameSource {
  readonly scene: SceneDescription;
  readonly isLive: boolean;
  /** Of the frames there are so far. */
  readonly times: ArrayLike<number>;
  /** What there is to plot and to mark. */
  readonly series: Series;
  /** The frame, when it is here; otherwise it is sent for. */
  frame(index: number): Frame | undefined;
  /** Commands to a live run; others have none. */
  send(command: Record<string, unknown>): void;
  onChange(listener: () => void): void;
  onEnd(listener: (reason: string) => void): void;
}

/** A page that was saved with its data inside. */
export interface EmbeddedData {
  scene: SceneDescription;
  frames: string;
}

export class EmbeddedSource implements FrameSource {
  readonly isLive = false;
  readonly scene: SceneDescription;
  readonly times: Float64Array;
  readonly series = new Series();
  private readonly frames: Frame[];

  constructor(data: EmbeddedData) {
    this.scene = data.scene;
    this.frames = readFrames(bytesOfBase64(data.frames));
    if (this.frames.length === 0) throw new Error("this page has no frames in it");
    this.times = Float64Array.from(this.frames, (frame) => frame.time);
    for (const frame of this.frames) this.series.add(frame);
  }
  frame(index: number): Frame | undefined {
    return this.frames[index];
  }
  send(): void {}
  onChange(): void {}
  onEnd(): void {}
}

interface RecordingIndex {
  scene: SceneDescription;
  times: string;
  plots: PackedPlots;
  marks: [number, number, number][];
  framesPerChunk: number;
}

/**
 * Chunks are kept while they fit, so a long recording scrubs without being loaded whole. Who drags
 * the slider wants what is under it now: while answers are on their way, only the newest wish waits.
 */
export class RecordingSource implements FrameSource {
  readonly isLive = false;
  readonly times: Float64Array;
  readonly series: Series;
  private readonly chunks = new Map<number, Frame[]>();
  private readonly sizes = new Map<number, number>();
  private readonly pending = new Set<number>();
  private wish = -1;
  private bytes = 0;
  private hasFailed = false;
  private readonly changeListeners: (() => void)[] = [];
  private readonly endListeners: ((reason: string) => void)[] = [];
  private static readonly maxBytes = 256 << 20;
  private static readonly maxPending = 2;

  private constructor(private readonly index: RecordingIndex, private readonly token: string) {
    this.times = new Float64Array(bytesOfBase64(index.times));
    this.series = Series.of(index.plots, index.marks);
  }

  static async open(token: string): Promise<RecordingSource> {
    const answer = await ask(`recording?token=${encodeURIComponent(token)}`);
    return new RecordingSource((await answer.json()) as RecordingIndex, token);
  }

  get scene(): SceneDescription {
    return this.index.scene;
  }
  frame(index: number): Frame | undefined {
    if (!(index >= 0 && index < this.times.length)) return undefined;
    const size = this.index.framesPerChunk;
    const chunk = Math.floor(index / size);
    const frames = this.chunks.get(chunk);
    if (!frames) {
      this.load(chunk);
      return undefined;
    }
    this.chunks.delete(chunk); // and back at the end: the least recently used one is first
    this.chunks.set(chunk, frames);
    if (index % size >= size >> 1 && this.pending.size === 0) this.load(chunk + 1);
    return frames[index % size];
  }
  send(): void {}
  onChange(listener: () => void): void {
    this.changeListeners.push(listener);
  }
  onEnd(listener: (reason: string) => void): void {
    this.endListeners.push(listener);
  }

  private load(chunk: number): void {
    if (chunk * this.index.framesPerChunk >= this.times.length || this.chunks.has(chunk) || this.pending.has(chunk) || this.hasFailed) return;
    if (this.pending.size >= RecordingSource.maxPending) this.wish = chunk;
    else void this.fetchChunk(chunk);
  }
  private async fetchChunk(chunk: number): Promise<void> {
    this.pending.add(chunk);
    try {
      const answer = await ask(`frames?chunk=${chunk}&token=${encodeURIComponent(this.token)}`);
      const buffer = await answer.arrayBuffer();
      this.chunks.set(chunk, readFrames(buffer));
      this.sizes.set(chunk, buffer.byteLength);
      this.bytes += buffer.byteLength;
      this.forget();
      for (const listener of this.changeListeners) listener();
    } catch (error) {
      this.hasFailed = true;
      for (const listener of this.endListeners) listener(textOf(error));
    } finally {
      this.pending.delete(chunk);
      const wish = this.wish;
      this.wish = -1;
      if (wish >= 0) this.load(wish);
    }
  }
  private forget(): void {
    for (const oldest of this.chunks.keys()) {
      if (this.bytes <= RecordingSource.maxBytes || this.chunks.size <= 2) return;
      this.chunks.delete(oldest);
      this.bytes -= this.sizes.get(oldest) ?? 0;
    }
  }
}

/** The last minutes of a run that is going on. */
export class LiveSource implements FrameSource {
  readonly isLive = true;
  readonly times: number[] = [];
  readonly series = new Series();
  private readonly frames: Frame[] = [];
  private bytes = 0;
  private hasEnded = false;
  private readonly changeListeners: (() => void)[] = [];
  private readonly endListeners: ((reason: string) => void)[] = [];
  private static readonly maxFrames = 36000;
  private static readonly maxBytes = 512 << 20;

  private constructor(readonly scene: SceneDescription, private readonly socket: WebSocket) {
    socket.onmessage = (message) => this.receive(message.data as ArrayBuffer | string);
    socket.onclose = (event) => this.end(event.reason || "the server has ended");
    socket.onerror = () => this.end("the connection to the server broke: has it ended?");
  }

  static async open(token: string): Promise<LiveSource> {
    const answer = await ask(`scene?token=${encodeURIComponent(token)}`);
    const scene = (await answer.json()) as SceneDescription;
    const protocol = location.protocol === "https:" ? "wss" : "ws";
    const folder = location.pathname.replace(/[^/]*$/, "");
    const socket = new WebSocket(`${protocol}://${location.host}${folder}live?token=${encodeURIComponent(token)}`);
    socket.binaryType = "arraybuffer";
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error("the server refused the connection: too many pages look at this run, or it has ended"));
    });
    return new LiveSource(scene, socket);
  }

  frame(index: number): Frame | undefined {
    return this.frames[index];
  }
  send(command: Record<string, unknown>): void {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(command));
  }
  onChange(listener: () => void): void {
    this.changeListeners.push(listener);
  }
  onEnd(listener: (reason: string) => void): void {
    this.endListeners.push(listener);
  }

  private receive(data: ArrayBuffer | string): void {
    if (typeof data === "string") {
      const message = JSON.parse(data) as { stopped?: string };
      if (message.stopped) this.tell(message.stopped); // the server goes on: it can be reset
      return;
    }
    try {
      for (const frame of readFrames(data)) this.add(frame);
    } catch (error) {
      this.end(textOf(error));
      this.socket.close();
      return;
    }
    this.socket.send('{"received":true}'); // the server sends the next one: a slow page gets fewer
    for (const listener of this.changeListeners) listener();
  }
  private add(frame: Frame): void {
    // A reset goes back in time: what came after it is no longer what happened.
    while (this.times.length > 0 && this.times[this.times.length - 1] >= frame.time) {
      this.times.pop();
      this.bytes -= this.frames.pop()!.bytes;
    }
    this.times.push(frame.time);
    this.frames.push(frame);
    this.bytes += frame.bytes;
    this.series.add(frame);
    if (this.frames.length <= LiveSource.maxFrames && this.bytes <= LiveSource.maxBytes) return;
    const dropped = Math.ceil(this.frames.length / 10);
    this.times.splice(0, dropped);
    for (const old of this.frames.splice(0, dropped)) this.bytes -= old.bytes;
  }
  private end(reason: string): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.tell(reason);
  }
  private tell(reason: string): void {
    for (const listener of this.endListeners) listener(reason);
  }
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Throws with what the server said, or that it says nothing. */
async function ask(address: string): Promise<Response> {
  let answer: Response;
  try {
    answer = await fetch(address);
  } catch {
    throw new Error("the server does not answer: it has ended, or the network is gone");
  }
  if (!answer.ok) throw new Error((await answer.text()).trim() || `the server answered ${answer.status}`);
  return answer;
}
