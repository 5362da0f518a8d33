/** Where a page ends, as text that the caller keeps: `epoch:tipset:row`. */
import type { Tipset } from '../types/tipset.ts'
import { IndexError } from './errors.ts'
import type { PagePlace } from './indexReader.ts'
import { tipsetName } from './tipsetRows.ts'

/** Behind the last row of a tipset. */
export const WHOLE_TIPSET = 0x7fffffff

const FORM = /^(\d{1,15}):([0-9a-f]{64}):(\d{1,10})$/

/** @returns undefined for the empty text: from the beginning. @throws IndexError `POSITION_INVALID` */
export function parsePagePlace(text: string): PagePlace | undefined {
  if (text === '') return undefined
  const [, height, tipset, row] = FORM.exec(text) ?? []
  if (height === undefined || tipset === undefined || Number(row) > WHOLE_TIPSET) {
    throw new IndexError('POSITION_INVALID', `Cannot go on from ${text}: expected the Position of an earlier answer`)
  }
  return { height: Number(height), tipset, row: Number(row) }
}

/** `epoch:tipset:row`, as {@link parsePagePlace} reads it. */
export function pagePlaceText({ height, tipset, row }: PagePlace): string {
  return `${height}:${tipset}:${row}`
}

/** Behind a row of a tipset, or behind all of it. */
export function placeIn(tipset: Tipset, row: number = WHOLE_TIPSET): PagePlace {
  return { height: tipset.height, tipset: tipsetName(tipset), row }
}

/** What is thrown where a page would go on from a tipset that the head has left. */
export function revertedPlace({ height }: PagePlace): IndexError {
  const text = `the tipset of epoch ${height} at which the last page ended is no longer on the chain: take back what is above the fork, begin again there`
  return new IndexError('REVERTED', text)
}
