/** How much a filter wants: so many addresses, topics and values at most, and what it takes to remember them. */
import { CodecError } from '../../codec/errors.ts'
import type { ActorId } from '../../types/scalars.ts'
import { MAX_WANTED } from '../limits.ts'

/** A filter that wants all, with what holds it. */
export const FILTER_BYTES = 1024
/** A set or a list without what is in it, a text or a number in it without the text's characters (measured: 60 and 52 at most). */
export const SET_BYTES = 256
export const ITEM_BYTES = 64

/**
 * @param count - addresses, topics, fields and their values, as they were given
 * @param goType - of the filter
 * @throws CodecError `TOO_LARGE`
 */
export function assertWanted(count: number, goType: string): void {
  if (count <= MAX_WANTED) return
  const text = `${count} addresses, topics, fields and values together, at most ${MAX_WANTED}`
  throw new CodecError('TOO_LARGE', `Cannot read ${goType}: ${text}`)
}

/** What a set takes, about, bytes. Its texts have one byte a character. */
export function wantedBytes(set: ReadonlySet<string | ActorId>): number {
  let bytes = SET_BYTES
  for (const item of set) bytes += ITEM_BYTES + (typeof item === 'string' ? item.length : 0)
  return bytes
}
