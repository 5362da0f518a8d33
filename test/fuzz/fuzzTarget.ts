import type { Random } from './mutate.ts'

/** One thing that reads bytes. */
export interface FuzzTarget {
  /** Inputs to begin with, besides those kept. */
  readonly seeds: () => readonly Uint8Array[] | Promise<readonly Uint8Array[]>
  /** @throws PetrelError for what it refuses */
  readonly run: (input: Uint8Array) => void | Promise<void>
  /** Its input is played in small pieces, in virtual time: long ones would take minutes of the fuzzer's own. */
  readonly isPlayed?: true
  /** Which way the last input went, where no refusal tells it. */
  readonly way?: () => string
  /** Makes an input of two; default: as of bytes that mean nothing. */
  readonly mutate?: (bytes: Uint8Array, other: Uint8Array, random: Random) => Uint8Array
}
