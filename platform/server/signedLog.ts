import { createHash } from 'node:crypto'
import {
  closeSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  linkSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeSync,
} from 'node:fs'
import type { SignerLog } from '../../src/rpc/methods/signer.ts'
import { parseAddress } from '../../src/types/address.ts'
import { formatFil } from '../../src/types/fil.ts'
import { type Message, messageCid } from '../../src/types/message.ts'
import { POLICY_KEPT_MS, type SignedEntry } from '../../src/wallet/signingPolicy.ts'
import { PlatformError } from './errors.ts'
import { line, type ProgramIo } from './programIo.ts'

/** Refusals are written down, too, and a client that asks in vain may ask for weeks: above so many bytes a new file is begun. */
export const MAX_SIGNED_LOG_BYTES: number = 64 * 1024 * 1024
const CHUNK_BYTES = 1024 * 1024
const NEWLINE = 0x0a

/** The whole lines of a file, without their ends; what a crash cut off is none. */
function* wholeLines(file: number): Iterable<string> {
  let rest: Buffer = Buffer.alloc(0)
  const chunk = Buffer.alloc(CHUNK_BYTES)
  for (let at = 0; ; ) {
    const length = readSync(file, chunk, 0, chunk.length, at)
    if (length === 0) return
    at += length
    let start = 0
    const bytes = Buffer.concat([rest, chunk.subarray(0, length)])
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, start)) {
      yield bytes.toString('utf8', start, end)
      start = end + 1
    }
    rest = bytes.subarray(start)
  }
}

/** Hexadecimal digits of a line's check. */
const CHECK_DIGITS = 16
/** How a line ends that has one. */
const CHECK = new RegExp(`,"check":"([0-9a-f]{${CHECK_DIGITS}})"}$`)

function checkOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, CHECK_DIGITS)
}

/** A line with the check at its end: a disk that changes a bit of it changes what a limit counts. */
function checkedLine(entry: Readonly<Record<string, string>>): string {
  const text = JSON.stringify(entry)
  return `${text.slice(0, -1)},"check":"${checkOf(text)}"}\n`
}

/** Lines of earlier versions have no check. */
function assertChecked(text: string): void {
  const found = CHECK.exec(text)
  if (found !== null && checkOf(`${text.slice(0, found.index)}}`) !== found[1]) {
    throw new PlatformError('CONFIG_INVALID', 'it is not as it was written')
  }
}

function entryOf(text: string, number: number, path: string): SignedEntry | undefined {
  try {
    assertChecked(text)
    const entry = JSON.parse(text) as Record<string, string>
    if (entry.result === 'refused') return undefined
    if (entry.result !== 'signing') throw new PlatformError('CONFIG_INVALID', `unknown result: "${entry.result}"`)
    const { time = '', from = '', nonce = '', spends = '' } = entry
    const timeMs = Date.parse(time)
    if (Number.isNaN(timeMs)) throw new PlatformError('CONFIG_INVALID', `no time: "${time}"`)
    // Nothing, or less than nothing, would raise the limits.
    const wrong = [nonce, spends].find((number) => !/^\d+$/.test(number))
    if (wrong !== undefined) throw new PlatformError('CONFIG_INVALID', `no number: "${wrong}"`)
    return { timeMs, from: parseAddress(from).key, nonce: BigInt(nonce), spends: BigInt(spends) }
  } catch (cause) {
    const text = `Cannot read line ${number} of ${path}: limits count what stands there`
    throw new PlatformError('CONFIG_INVALID', text, { path }, { cause })
  }
}

function writeAll(file: number, bytes: Uint8Array): void {
  let written = 0
  while (written < bytes.length) written += writeSync(file, bytes, written)
}

/** `a`, and reads of what stands there. */
const APPEND = 'a+'
const OWNER_ONLY = 0o600

/**
 * A signer's log: one object a line, on disk before anything is signed. What stands there counts towards the limits of the
 * policy. Above a bound it goes on in a new file, with what still counts; the old one stays beside it, under its last day.
 */
export class SignedLog implements SignerLog {
  /** What was signed before. */
  readonly signed: readonly SignedEntry[]
  readonly #path: string
  readonly #io: ProgramIo
  readonly #nowMs: () => number
  #file: number
  #size = 0
  #most = MAX_SIGNED_LOG_BYTES

  /** A last line that a crash cut off goes: nothing was signed for it. @throws PlatformError CONFIG_INVALID */
  constructor(path: string, io: ProgramIo, nowMs: () => number = Date.now) {
    this.#path = path
    this.#io = io
    this.#nowMs = nowMs
    this.#file = openSync(path, APPEND, OWNER_ONLY)
    try {
      if (fstatSync(this.#file).size > this.#most) this.#begin()
      const signed: SignedEntry[] = []
      let number = 0
      for (const text of wholeLines(this.#file)) {
        const entry = entryOf(text, ++number, path)
        if (entry !== undefined) signed.push(entry)
        this.#size += Buffer.byteLength(text) + 1
      }
      this.signed = signed
      ftruncateSync(this.#file, this.#size)
    } catch (error) {
      closeSync(this.#file)
      throw error
    }
  }

  signing(message: Message, entry: SignedEntry): void {
    const cid = messageCid(message).toString()
    const { from, to, value, nonce, method } = message
    this.#write({
      ...{ time: new Date(entry.timeMs).toISOString(), result: 'signing', cid },
      ...{ from: `${from}`, to: `${to}`, value: `${value}`, nonce: `${nonce}`, method: `${method}` },
      spends: `${entry.spends}`,
    })
    line(this.#io, `signed ${cid}: ${formatFil(value)} from ${from} to ${to}, nonce ${nonce}, method ${method}`)
  }

  refused(signer: string, reason: string): void {
    this.#write({ time: new Date(this.#nowMs()).toISOString(), result: 'refused', from: signer, reason })
    line(this.#io, `refused for ${signer}: ${reason}`)
  }

  close(): void {
    closeSync(this.#file)
  }

  #write(entry: Readonly<Record<string, string>>): void {
    if (this.#size > this.#most) this.#begin()
    const bytes = Buffer.from(checkedLine(entry))
    try {
      writeAll(this.#file, bytes)
      fsyncSync(this.#file)
      this.#size += bytes.length
    } catch (error) {
      // Half a line would spoil the next one.
      ftruncateSync(this.#file, this.#size)
      throw error
    }
  }

  /** A new file under the same name. There is one at each moment, and it has all that counts. */
  #begin(): void {
    const nowMs = this.#nowMs()
    const temporary = `${this.#path}.new`
    rmSync(temporary, { force: true })
    const file = openSync(temporary, APPEND, OWNER_ONLY)
    let number = 0
    let size = 0
    for (const text of wholeLines(this.#file)) {
      const entry = entryOf(text, ++number, this.#path)
      if (entry === undefined || entry.timeMs <= nowMs - POLICY_KEPT_MS) continue
      const bytes = Buffer.from(`${text}\n`)
      writeAll(file, bytes)
      size += bytes.length
    }
    fsyncSync(file)
    linkSync(this.#path, this.#path.replace(/(\.\w+)?$/, `-${new Date(nowMs).toISOString().replace(/[:.]/g, '')}$1`))
    renameSync(temporary, this.#path)
    closeSync(this.#file)
    this.#file = file
    this.#size = size
    // Many that count must not make it begin anew with each line.
    this.#most = Math.max(MAX_SIGNED_LOG_BYTES, 2 * size)
  }
}
