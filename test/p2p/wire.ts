/** Rows of `golden/wire/p2p.jsonl.zst`: what a Lotus node said and answered. */
import { readSharedZstd } from '../support/recorded.ts'
import { missingShared } from '../support/shared.ts'

/** Why the tests of recorded bytes are skipped; undefined when they can run. */
export const wireMissing: string | undefined = missingShared('data/golden/wire/p2p.jsonl.zst')

/** One row; which fields it has depends on the protocol. Bytes are hexadecimal. */
export interface WireRow {
  readonly protocol?: string
  readonly direction?: string
  readonly note?: string
  readonly message?: string
  readonly answer?: string
  readonly request?: string
  readonly response?: string
}

/** All rows of one protocol. */
export function wireRows(protocol: string): WireRow[] {
  const lines = readSharedZstd('data/golden/wire/p2p.jsonl.zst')
    .split('\n')
    .filter((line) => line !== '')
  return lines.map((line) => JSON.parse(line) as WireRow).filter((row) => row.protocol === protocol)
}
