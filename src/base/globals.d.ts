/**
 * The web globals that `src/` may use: what Node, Deno and browsers (window and worker) all have, written down by us.
 * Anything else (files, sockets, timers, random numbers, the console) comes through a port of `ports.ts`.
 */

declare class TextEncoder {
  encode(text?: string): Uint8Array<ArrayBuffer>
  encodeInto(text: string, out: Uint8Array): { read: number; written: number }
}

declare class TextDecoder {
  constructor(label?: string, options?: { fatal?: boolean; ignoreBOM?: boolean })
  decode(bytes?: ArrayBufferView | ArrayBuffer, options?: { stream?: boolean }): string
}

interface Event {
  readonly type: string
}

/** What libp2p's events are. */
interface CustomEvent<T = unknown> extends Event {
  readonly detail: T
}

interface EventListenerOptions {
  once?: boolean
  signal?: AbortSignal
}

declare class AbortSignal {
  static abort(reason?: unknown): AbortSignal
  static any(signals: Iterable<AbortSignal>): AbortSignal
  static timeout(ms: number): AbortSignal
  readonly aborted: boolean
  readonly reason: unknown
  throwIfAborted(): void
  addEventListener(type: 'abort', listener: (event: Event) => void, options?: EventListenerOptions): void
  removeEventListener(type: 'abort', listener: (event: Event) => void): void
}

declare class AbortController {
  readonly signal: AbortSignal
  abort(reason?: unknown): void
}

declare function queueMicrotask(run: () => void): void
declare function structuredClone<T>(value: T): T
declare function btoa(latin1: string): string
declare function atob(base64: string): string
