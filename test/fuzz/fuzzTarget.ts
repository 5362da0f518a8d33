/** One thing that reads bytes. */
export interface FuzzTarget {
  /** Inputs to begin with, besides those kept. */
  readonly seeds: () => readonly Uint8Array[]
  /** @throws PetrelError for what it refuses */
  readonly run: (input: Uint8Array) => void | Promise<void>
  /** Which way the last input went, where no refusal tells it. */
  readonly way?: () => string
}
