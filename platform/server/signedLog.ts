import { closeSync, fsyncSync, ftruncateSync, openSync, writeSync } from 'node:fs'
import type { SignerLog } from '../../src/rpc/methods/signer.ts'
import { parseAddress } from '../../src/types/address.ts'
import { formatFil } from '../../src/types/fil.ts'
import { type Message, messageCid } from '../../src/types/message.ts'
import type { SignedEntry } from '../../src/wallet/signingPolicy.ts'
import { PlatformError } from './errors.ts'
import { readTextFile } from './home.ts'
import { line, type ProgramIo } from './programIo.ts'

function entriesIn(lines: readonly string[], path: string): SignedEntry[] {
  return lines.flatMap((text, i): SignedEntry[] => {
    try {
      const entry = JSON.parse(text) as Record<string, string>
      if (entry.result !== 'signing') return []
      const { time = '', from = '', nonce = '', spends = '' } = entry
      const timeMs = Date.parse(time)
      if (Number.isNaN(timeMs)) throw new PlatformError('CONFIG_INVALID', `no time: "${time}"`)
      return [{ timeMs, from: parseAddress(from).key, nonce: BigInt(nonce), spends: BigInt(spends) }]
    } catch (cause) {
      const text = `Cannot read line ${i + 1} of ${path}: limits count what stands there`
      throw new PlatformError('CONFIG_INVALID', text, { path }, { cause })
    }
  })
}

/**
 * A signer's log: one object a line, on disk before anything is signed. What stands there counts towards the limits of the
 * policy.
 */
export class SignedLog implements SignerLog {
  /** What was signed before. */
  readonly signed: readonly SignedEntry[]
  readonly #file: number
  readonly #io: ProgramIo
  #size: number

  /** A last line that a crash cut off goes: nothing was signed for it. @throws PlatformError CONFIG_INVALID */
  constructor(path: string, io: ProgramIo) {
    const text = readTextFile(path) ?? ''
    const whole = text.slice(0, text.lastIndexOf('\n') + 1)
    this.signed = entriesIn(whole.split('\n').slice(0, -1), path)
    this.#io = io
    this.#size = Buffer.byteLength(whole)
    this.#file = openSync(path, 'a', 0o600)
    ftruncateSync(this.#file, this.#size)
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
    this.#write({ time: new Date().toISOString(), result: 'refused', from: signer, reason })
    line(this.#io, `refused for ${signer}: ${reason}`)
  }

  close(): void {
    closeSync(this.#file)
  }

  #write(entry: Readonly<Record<string, string>>): void {
    const bytes = Buffer.from(`${JSON.stringify(entry)}\n`)
    try {
      let written = 0
      while (written < bytes.length) written += writeSync(this.#file, bytes, written)
      fsyncSync(this.#file)
      this.#size += bytes.length
    } catch (error) {
      // Half a line would spoil the next one.
      ftruncateSync(this.#file, this.#size)
      throw error
    }
  }
}
