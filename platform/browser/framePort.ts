/** A session's port: text frames with JSON-RPC, and signals beside them. */

/** The part of a `MessagePort` that is needed. Runtimes differ in their classes of events, hence `never`. */
export interface FramePort {
  postMessage(message: string | PortSignal): void
  start(): void
  close(): void
  addEventListener(type: 'close', listener: () => void): void
  onmessage: ((event: never) => void) | null
}

/**
 * On a session's port, besides text frames. To the worker: `read` bytes of frames (so that a slow reader's channels can be
 * ended), `close`. To the page: `changed`: another node answers from now on, all calls and channels are void (it answers
 * `ready`, and what it sent before that goes nowhere); `refused`: nothing will come.
 */
export type PortSignal =
  | { readonly read: number }
  | { readonly close: true }
  | { readonly ready: true }
  | { readonly changed: true }
  | { readonly refused: string }
