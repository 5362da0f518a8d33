/**
 * Finds the links of a block as FVM 4 does: a scan of DAG-CBOR that is charged per item and as lenient as the reference's.
 * It checks neither shortest form nor key order nor key types, so the strict decoder must not take its place.
 * @see ref-fvm fvm/src/ipld/mod.rs scan_for_reachable_links; fvm/src/ipld/cbor.rs
 */
import {
  Cid,
  CODEC_CBOR,
  CODEC_DAG_CBOR,
  CODEC_FIL_COMMITMENT_SEALED,
  CODEC_FIL_COMMITMENT_UNSEALED,
  CODEC_RAW,
  HASH_BLAKE2B_256,
  keyOf38,
} from '../../codec/cid.ts'
import { CodecError } from '../../codec/errors.ts'
import { readMachineCid } from '../../codec/machineCid.ts'
import type { PriceList } from '../gas/priceList.ts'
import type { GasTracker } from '../gas/tracker.ts'
import { NO_LINKS } from './blockRegistry.ts'
import { Errno, OutOfGas, SyscallError } from './outcomes.ts'

const TAG_CID = 42
const STATE_CID_HEAD = [0x01, 0x71, 0xa0, 0xe4, 0x02, 0x20]
const STATE_CID_LENGTH = STATE_CID_HEAD.length + 32
const TWO_64 = 1n << 64n
/** Two such counts, doubled, are exact in a number. */
const EXACT_COUNT = 2 ** 50

/** A scan in progress. One item is at least one byte, so counts that matter stay exact in numbers. */
interface Scan {
  links: Cid[] | undefined
  remaining: number
  readonly perField: number
  readonly perCid: number
}

function serialization(message: string): SyscallError {
  return new SyscallError(Errno.Serialization, message)
}

function useGas(scan: Scan, milligas: number): void {
  if (scan.remaining < milligas) {
    scan.remaining = 0
    throw new OutOfGas()
  }
  scan.remaining -= milligas
}

/**
 * All links of a block, repeats included.
 * @throws OutOfGas; SyscallError Serialization, NotFound (a link that no block can have)
 */
export function scanReachableLinks(
  codec: number,
  data: Uint8Array,
  prices: PriceList,
  gas: GasTracker,
): readonly Cid[] {
  if (codec !== CODEC_DAG_CBOR) {
    gas.charge('OnScanIpldLinks', 0)
    return NO_LINKS
  }
  const available = gas.available
  const scan: Scan = {
    links: undefined,
    remaining: available,
    perField: prices.scanPerField,
    perCid: prices.scanPerCid,
  }
  let failure: unknown
  try {
    scanCbor(scan, data)
  } catch (error) {
    if (!(error instanceof SyscallError) && !(error instanceof OutOfGas)) throw error
    failure = error
  }
  // What was scanned is charged also when the scan failed, and before its error shows.
  gas.charge('OnScanIpldLinks', available - scan.remaining)
  if (failure !== undefined) throw failure as Error
  return scan.links ?? NO_LINKS
}

let argument = 0

/** Reads an item's head at `at`: sets {@link argument}, returns the offset behind it. */
function readHead(data: Uint8Array, at: number): number {
  const first = data[at]
  if (first === undefined) throw serialization('invalid cbor header')
  const low = first & 0x1f
  let next = at + 1
  if (low < 24) {
    argument = low
    return next
  }
  if (low > 27) throw serialization('invalid cbor header')
  const size = 1 << (low - 24)
  if (next + size > data.length) throw serialization('invalid cbor header')
  let value = 0
  for (let i = 0; i < size; i++) value = value * 256 + (data[next++] as number)
  argument = value
  return next
}

/** What {@link readHead} read before `next`, of which {@link argument} has 53 bits. */
function exactArgument(data: Uint8Array, next: number): bigint {
  if (argument <= Number.MAX_SAFE_INTEGER) return BigInt(argument)
  return new DataView(data.buffer, data.byteOffset + next - 8, 8).getBigUint64(0)
}

function scanCbor(scan: Scan, data: Uint8Array): void {
  let at = 0
  let items = 1
  // Counts that no block has items for, beside those in `items`.
  let wide = 0n
  while (items > 0 || wide > 0n) {
    items--
    useGas(scan, scan.perField)
    const first = data[at] as number
    at = readHead(data, at)
    switch (first >> 5) {
      case 2:
      case 3:
        if (argument > data.length - at) throw serialization('unexpected end of cbor stream')
        at += argument
        break
      case 4:
      case 5: {
        const each = (first >> 5) - 3
        if (wide === 0n && argument < EXACT_COUNT && items < EXACT_COUNT) {
          items += each * argument
          break
        }
        // A block with such a count fails; how much it is charged before depends on where the reference's u64 overflows.
        wide += BigInt(each) * exactArgument(data, at)
        if (BigInt(items) + wide >= TWO_64) throw serialization('cbor field count overflow')
        break
      }
      case 6:
        if (argument !== TAG_CID) {
          items++
          break
        }
        at = scanLink(scan, data, at)
        break
      default:
    }
  }
  if (at !== data.length) throw serialization(`${data.length - at} trailing bytes in CBOR block`)
}

function scanLink(scan: Scan, data: Uint8Array, offset: number): number {
  useGas(scan, scan.perCid)
  const first = data[offset] as number
  const at = readHead(data, offset)
  if (first >> 5 !== 2) throw serialization('expected cbor type byte string in input')
  const length = argument
  if (length > data.length - at) throw serialization('unexpected end of cbor stream')
  if (length < 1 || data[at] !== 0) throw serialization('DagCBOR CID does not start with a 0x byte')
  const end = at + length
  if (length === STATE_CID_LENGTH + 1 && isStateCid(data, at + 1)) {
    scan.links ??= []
    scan.links.push(new Cid(keyOf38(data, at + 1), 1, CODEC_DAG_CBOR, HASH_BLAKE2B_256, STATE_CID_HEAD.length))
    return end
  }
  let read: { cid: Cid; next: number }
  try {
    read = readMachineCid(data.subarray(0, end), at + 1)
  } catch (cause) {
    if (!(cause instanceof CodecError)) throw cause
    throw serialization(`invalid cid: ${cause.message}`)
  }
  if (read.next !== end) throw serialization(`cid has ${end - read.next} trailing bytes`)
  visitCid(scan, read.cid)
  return end
}

/** Whether the CID at `at` is of the kind that nearly all are: version 1, dag-cbor, blake2b-256 with 32 bytes. */
function isStateCid(data: Uint8Array, at: number): boolean {
  for (let i = 0; i < STATE_CID_HEAD.length; i++) if (data[at + i] !== STATE_CID_HEAD[i]) return false
  return true
}

function visitCid(scan: Scan, cid: Cid): void {
  const { codec } = cid
  if (codec === CODEC_FIL_COMMITMENT_UNSEALED || codec === CODEC_FIL_COMMITMENT_SEALED) return
  if (codec !== CODEC_DAG_CBOR && codec !== CODEC_CBOR && codec !== CODEC_RAW) {
    throw new SyscallError(Errno.NotFound, `block links to CID with forbidden codec ${codec}`)
  }
  if (cid.isIdentity) {
    // At most eleven levels: every one costs bytes of a 64-byte digest.
    if (codec === CODEC_DAG_CBOR) scanCbor(scan, cid.digest)
    return
  }
  const digestLength = cid.length - cid.digestOffset
  if (cid.hashCode !== HASH_BLAKE2B_256 || digestLength !== 32) {
    throw new SyscallError(
      Errno.NotFound,
      `block links to CID with forbidden multihash type (code: ${cid.hashCode}, len: ${digestLength})`,
    )
  }
  scan.links ??= []
  scan.links.push(cid)
}
