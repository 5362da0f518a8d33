/**
 * Reads events as actors hand them over.
 * @see ref-fvm fvm/src/kernel/default.rs emit_event (master: FIP-0072; release/v3: validate_actor_event)
 */

import { fromUtf8 } from '../../base/bytes.ts'
import { BaseError, unlessThrown } from '../../base/errors.ts'
import { CODEC_CBOR, CODEC_RAW } from '../../codec/cid.ts'
import { decode, list } from '../../codec/description.ts'
import { type EventEntry, eventEntry } from '../../types/event.ts'
import type { EventEntryHeader } from './kernel.ts'
import { Errno, SyscallError } from './outcomes.ts'

/** FVM 4. */
const MAX_ENTRIES = 255
const MAX_KEY = 31
/** Bytes of all values together. */
const MAX_VALUES = 8192
/** FVM 3. */
const MAX_ENTRIES_V3 = 256
const MAX_KEY_V3 = 32
/** Key indexed, value indexed. */
const VALID_FLAGS = 3n

function illegal(message: string): SyscallError {
  return new SyscallError(Errno.IllegalArgument, message)
}

function isCharacterBoundary(text: Uint8Array, at: number): boolean {
  return at === text.length || ((text[at] as number) & 0xc0) !== 0x80
}

/** @throws SyscallError LimitExceeded, IllegalArgument, IllegalCodec */
export function parseEvent(headers: readonly EventEntryHeader[], keys: Uint8Array, values: Uint8Array): EventEntry[] {
  if (headers.length > MAX_ENTRIES) {
    throw new SyscallError(Errno.LimitExceeded, `event exceeded max entries: ${headers.length} > ${MAX_ENTRIES}`)
  }
  if (values.length > MAX_VALUES) {
    throw new SyscallError(
      Errno.LimitExceeded,
      `total event value lengths exceeded the max size: ${values.length} > ${MAX_VALUES}`,
    )
  }
  if (unlessThrown(() => fromUtf8(keys), BaseError) === undefined) throw illegal('invalid event key')
  const entries: EventEntry[] = []
  let keyOffset = 0
  let valueOffset = 0
  for (const header of headers) {
    if ((header.flags & ~VALID_FLAGS) !== 0n) throw illegal(`event flags are invalid: ${header.flags}`)
    if (header.keyLength > MAX_KEY) {
      throw new SyscallError(Errno.LimitExceeded, `event key exceeded max size: ${header.keyLength} > ${MAX_KEY}`)
    }
    if (header.valueLength > MAX_VALUES) throw illegal('event entry value out of range')
    const keyEnd = keyOffset + header.keyLength
    if (keyEnd > keys.length || !isCharacterBoundary(keys, keyOffset) || !isCharacterBoundary(keys, keyEnd)) {
      throw illegal('event entry key out of range')
    }
    const valueEnd = valueOffset + header.valueLength
    if (valueEnd > values.length) throw illegal('event entry value out of range')
    if (header.codec !== BigInt(CODEC_RAW) && header.codec !== BigInt(CODEC_CBOR)) {
      throw new SyscallError(Errno.IllegalCodec, `event codec must be IPLD_RAW or CBOR, was: ${header.codec}`)
    }
    entries.push({
      flags: Number(header.flags),
      key: fromUtf8(keys.subarray(keyOffset, keyEnd)),
      codec: Number(header.codec),
      value: values.slice(valueOffset, valueEnd),
    })
    keyOffset = keyEnd
    valueOffset = valueEnd
  }
  if (keyOffset !== keys.length) {
    throw illegal(`event key buffer length is too large: ${keyOffset} < ${keys.length}`)
  }
  if (valueOffset !== values.length) {
    throw illegal(`event value buffer length is too large: ${valueOffset} < ${values.length}`)
  }
  return entries
}

const eventCbor = list(eventEntry)

/**
 * FVM 3. @param event - CBOR, kept: values are views of it
 * @throws SyscallError IllegalArgument, IllegalCodec
 */
export function decodeEvent(event: Uint8Array): EventEntry[] {
  let entries: EventEntry[]
  try {
    entries = decode(eventCbor, event)
  } catch (error) {
    throw illegal((error as Error).message)
  }
  if (entries.length > MAX_ENTRIES_V3) {
    throw illegal(`event exceeded max entries: ${entries.length} > ${MAX_ENTRIES_V3}`)
  }
  let total = 0
  for (const entry of entries) {
    const keyBytes = new TextEncoder().encode(entry.key).length
    if (keyBytes > MAX_KEY_V3) throw illegal(`event key exceeded max size: ${keyBytes} > ${MAX_KEY_V3}`)
    if (entry.codec !== CODEC_RAW) {
      throw new SyscallError(Errno.IllegalCodec, `event codec must be IPLD_RAW, was: ${entry.codec}`)
    }
    total += entry.value.length
  }
  if (total > MAX_VALUES) throw illegal(`event total values exceeded max size: ${total} > ${MAX_VALUES}`)
  return entries
}
