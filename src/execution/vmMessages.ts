/**
 * What the node and the thread of its machine say to each other. Every {@link VmQuestion} gets exactly one
 * {@link VmAnswer}, in order; the thread keeps no question, so one that lacked blocks is asked again with them.
 */

import type { VmCall, VmResult } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import type { Network } from '../networks/network.ts'
import type { TipsetKey } from '../types/tipset.ts'
import type { ToldMessages } from './priorMessages.ts'
import { valueFromBytes, valueToBytes } from './valueBytes.ts'
import type { PlainError } from './vmErrors.ts'

type Told<C> = C extends VmCall ? Omit<C, 'tipset' | 'urgency'> & { readonly tipset: TipsetKey } : never

/** A call as it is sent: its tipset by key. */
export type ToldCall = Told<VmCall>

/** A block on its way: CID and bytes. */
export type SentBlock = readonly [Cid, Uint8Array]

/** What the thread has to know of the chain before the first call. */
export interface VmStart {
  readonly network: Network
  readonly genesis: Cid
  /** Actors' code that the chain does not have, so that it need not be asked for each. */
  readonly absent: readonly Cid[]
}

/** What the node sends: a call, and the blocks that the thread may lack. */
export interface VmQuestion {
  /** With the first question only. */
  readonly start: VmStart | null
  readonly call: ToldCall
  /** The messages before a `callWithGas`, whose own list is empty then. */
  readonly prior: ToldMessages | null
  /** Blocks that the thread may not be able to read. */
  readonly blocks: readonly SentBlock[]
  /** Blocks that the chain does not have, as far as this question came across them. */
  readonly absent: readonly Cid[]
  /** Blocks that the thread misses may be asked for in the midst of the run. */
  readonly asks: boolean
}

/** What the thread sends back. An error is plain data: a missing block among them, and the question comes again. */
export type VmAnswer =
  | {
      readonly ok: true
      readonly result: VmResult
      /** What the execution wrote: the asker's to store, as is what came in parts before. */
      readonly written: readonly SentBlock[]
    }
  | { readonly ok: false; readonly error: PlainError }

/** A question as it crosses to the thread. */
export function questionToBytes(question: VmQuestion): Uint8Array {
  return valueToBytes(question)
}

/** Reads what {@link questionToBytes} made, and believes it. */
export function questionFromBytes(bytes: Uint8Array): VmQuestion {
  return valueFromBytes(bytes) as VmQuestion
}

/** An answer as it crosses back. */
export function answerToBytes(answer: VmAnswer): Uint8Array {
  return valueToBytes(answer)
}

/** Reads what {@link answerToBytes} made, and believes it. */
export function answerFromBytes(bytes: Uint8Array): VmAnswer {
  return valueFromBytes(bytes) as VmAnswer
}

/** Blocks that go ahead of their answer, as they cross. */
export function partToBytes(written: readonly SentBlock[]): Uint8Array {
  return valueToBytes(written)
}

/** Reads what {@link partToBytes} made, and believes it. */
export function partFromBytes(bytes: Uint8Array): readonly SentBlock[] {
  return valueFromBytes(bytes) as readonly SentBlock[]
}
