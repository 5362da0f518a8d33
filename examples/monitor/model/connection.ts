/** A connection to a node, however it is reached. */
import type { MonitorErrorCode } from './errors.ts'
import type { Trust } from './evidence.ts'
import type { MonitorNode } from './methods.ts'

export interface Connection {
  readonly node: MonitorNode
  readonly trust: Trust
  /** A light node: what is proven hangs on its final tipset, and of the chain it has what it is asked for. */
  readonly isLight?: boolean
  /** A follower: its genesis is no head that anybody told of. */
  readonly isFollower?: boolean
  close(): void
}

/** @param onClosed - the open connection ended by itself */
export type Connect = (onClosed: () => void) => Promise<Connection>

/** Where the monitor is with its node. */
export type LinkState =
  | { readonly at: 'connecting' }
  | { readonly at: 'live' }
  /** Tries again by itself. `cause`: where more is known than that it does not work. */
  | { readonly at: 'offline'; readonly reason: string; readonly cause: MonitorErrorCode | undefined }
