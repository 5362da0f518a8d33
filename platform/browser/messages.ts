/** What a page and its worker say to each other besides JSON-RPC. Nobody else has this line. */
import type { BrowserErrorCode } from './errors.ts'
import type { SessionRequest, WorkerOptions } from './nodeOptions.ts'

/** From the page. A session's JSON-RPC goes over its own port. */
export type ToWorker =
  | { readonly type: 'start'; readonly options: WorkerOptions; readonly webRtc: MessagePort }
  | { readonly type: 'session'; readonly request: SessionRequest; readonly port: MessagePort }
  | { readonly type: 'online'; readonly online: boolean }
  | { readonly type: 'stop' }

/** A failure as it crosses. */
export interface PlainFailure {
  readonly code: BrowserErrorCode | string
  readonly message: string
}

/** What becomes of the keys. `memory`: no passphrase, lost at the end. `locked`: sealed keys are there and stay shut. */
export type KeysState = 'sealed' | 'memory' | 'locked'

/**
 * A tab's part:
 *
 *   joining --> leading            it runs the node
 *           --> following          another tab does --> leading (when that one goes)
 *   any     --> failed | stopped
 */
export type TabState =
  | { readonly at: 'joining' }
  | { readonly at: 'starting' }
  | {
      readonly at: 'leading'
      readonly network: string
      readonly keys: KeysState
      /** The browser has thrown away what an earlier session kept: this one began anew. */
      readonly isLost: boolean
      /** Sealed keys (and secrets beside them) that it had thrown away, and that are there again from their copy. */
      readonly takenBack: number
    }
  | { readonly at: 'following'; readonly isSealed: boolean }
  | { readonly at: 'failed'; readonly error: PlainFailure }
  | { readonly at: 'stopped' }

/** From the worker. */
export type FromWorker =
  | { readonly type: 'state'; readonly state: TabState }
  /** Writing to the store fails (undefined: works again). */
  | { readonly type: 'trouble'; readonly trouble: PlainFailure | undefined }
  | { readonly type: 'online'; readonly online: boolean }
