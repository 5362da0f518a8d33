/** A connection to a node, however it is reached. */
import type { Trust } from './evidence.ts'
import type { MonitorNode } from './methods.ts'

export interface Connection {
  readonly node: MonitorNode
  readonly trust: Trust
  close(): void
}

/** @param onClosed - the open connection ended by itself */
export type Connect = (onClosed: () => void) => Promise<Connection>

/** Where the monitor is with its node. */
export type LinkState =
  | { readonly at: 'connecting' }
  | { readonly at: 'live' }
  /** Tries again by itself. */
  | { readonly at: 'offline'; readonly reason: string }
