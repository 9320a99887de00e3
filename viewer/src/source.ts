// SPDX-License-Identifier: Apache-2.0
//
// Where frames come from: the page itself, a recording behind a server (in chunks, as they are
// needed), or a run that is going on.
import { bytesOfBase64, Frame, readFrames } from "./stream.ts";
import type { SceneDescription } from "./stream.ts";

export interface FrameSource {
  readonly scene: SceneDescription;
  readonly isLive: boolean;
  /** Of the frames there are so far. */
  readonly times: ArrayLike<number>;
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
  readonly times: number[];
  private readonly frames: Frame[];

  constructor(data: EmbeddedData) {
    this.scene = data.scene;
    this.frames = readFrames(bytesOfBase64(data.frames));
    this.times = this.frames.map((f) => f.time);
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
  times: number[];
  framesPerChunk: number;
}

/** Chunks are kept while they fit: a long recording scrubs without being loaded whole. */
export class RecordingSource implements FrameSource {
  readonly isLive = false;
  private readonly chunks = new Map<number, Frame[]>();
  private readonly pending = new Set<number>();
  private readonly changeListeners: (() => void)[] = [];
  private readonly endListeners: ((reason: string) => void)[] = [];
  private bytes = 0;
  private readonly sizes = new Map<number, number>();
  private static readonly maxBytes = 256 << 20;

  private constructor(private readonly index: RecordingIndex, private readonly token: string) {}

  static async open(token: string): Promise<RecordingSource> {
    const answer = await fetch(`recording?token=${encodeURIComponent(token)}`);
    if (!answer.ok) throw new Error(await reasonOf(answer));
    return new RecordingSource((await answer.json()) as RecordingIndex, token);
  }

  get scene(): SceneDescription {
    return this.index.scene;
  }
  get times(): number[] {
    return this.index.times;
  }
  frame(index: number): Frame | undefined {
    const size = this.index.framesPerChunk;
    const chunk = Math.floor(index / size);
    const frames = this.chunks.get(chunk);
    if (frames) {
      this.chunks.delete(chunk); // and back at the end: the least recently used one is first
      this.chunks.set(chunk, frames);
      if (index % size > size / 2) void this.load(chunk + 1);
      return frames[index % size];
    }
    void this.load(chunk);
    return undefined;
  }
  send(): void {}
  onChange(listener: () => void): void {
    this.changeListeners.push(listener);
  }
  onEnd(listener: (reason: string) => void): void {
    this.endListeners.push(listener);
  }

  private async load(chunk: number): Promise<void> {
    const begin = chunk * this.index.framesPerChunk;
    if (begin >= this.times.length || this.chunks.has(chunk) || this.pending.has(chunk)) return;
    this.pending.add(chunk);
    try {
      const answer = await fetch(`frames?chunk=${chunk}&token=${encodeURIComponent(this.token)}`);
      if (!answer.ok) throw new Error(await reasonOf(answer));
      const buffer = await answer.arrayBuffer();
      this.chunks.set(chunk, readFrames(buffer));
      this.sizes.set(chunk, buffer.byteLength);
      this.bytes += buffer.byteLength;
      this.forget();
      for (const listener of this.changeListeners) listener();
    } catch (error) {
      for (const listener of this.endListeners) listener(textOf(error));
    } finally {
      this.pending.delete(chunk);
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
  private readonly frames: Frame[] = [];
  private readonly changeListeners: (() => void)[] = [];
  private readonly endListeners: ((reason: string) => void)[] = [];
  private static readonly maxFrames = 36000;

  private constructor(readonly scene: SceneDescription, private readonly socket: WebSocket) {
    socket.onmessage = (message) => this.receive(message.data as ArrayBuffer | string);
    socket.onclose = (event) => this.end(event.reason || "the server has ended");
    socket.onerror = () => this.end("the connection to the server broke");
  }

  static async open(token: string): Promise<LiveSource> {
    const answer = await fetch(`scene?token=${encodeURIComponent(token)}`);
    if (!answer.ok) throw new Error(await reasonOf(answer));
    const scene = (await answer.json()) as SceneDescription;
    const protocol = location.protocol === "https:" ? "wss" : "ws";
    const folder = location.pathname.replace(/[^/]*$/, "");
    const socket = new WebSocket(`${protocol}://${location.host}${folder}live?token=${encodeURIComponent(token)}`);
    socket.binaryType = "arraybuffer";
    await new Promise<void>((resolve, reject) => {
      socket.onopen = () => resolve();
      socket.onerror = () => reject(new Error("the server refused the connection"));
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
      if (message.stopped) this.end(message.stopped);
      return;
    }
    for (const frame of readFrames(data)) {
      // A reset goes back in time: what came after it is no longer what happened.
      while (this.times.length > 0 && this.times[this.times.length - 1] >= frame.time) {
        this.times.pop();
        this.frames.pop();
      }
      this.times.push(frame.time);
      this.frames.push(frame);
    }
    if (this.frames.length > LiveSource.maxFrames) {
      this.times.splice(0, LiveSource.maxFrames / 10);
      this.frames.splice(0, LiveSource.maxFrames / 10);
    }
    this.socket.send('{"received":true}'); // the server sends the next one: a slow page gets fewer
    for (const listener of this.changeListeners) listener();
  }
  private end(reason: string): void {
    for (const listener of this.endListeners.splice(0)) listener(reason);
  }
}

export function textOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

async function reasonOf(answer: Response): Promise<string> {
  const text = (await answer.text()).trim();
  return text || `the server answered ${answer.status}`;
}
