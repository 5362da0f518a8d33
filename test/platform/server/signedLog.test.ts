/** The signer's log over restarts: what was signed counts, half a line does not, anything else is an error. */
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ProgramIo } from '../../../platform/server/programIo.ts'
import { MAX_SIGNED_LOG_BYTES, SignedLog } from '../../../platform/server/signedLog.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { idAddress } from '../../../src/types/address.ts'
import { POLICY_KEPT_MS } from '../../../src/wallet/signingPolicy.ts'
import { keyAddress, testMessage } from '../../mempool/fakes.ts'

const from = keyAddress(1)
const { message } = testMessage(from, idAddress(7n), 3, 0n)
const entry = { timeMs: 1_700_000_000_000, from: from.key, nonce: 3n, spends: 5n }
const io = { out: () => undefined, err: () => undefined } as unknown as ProgramIo

describe('the log of a signer', () => {
  let folder: string
  let path: string
  beforeAll(() => initCrypto())
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'petrel-signed-'))
    path = join(folder, 'signed.jsonl')
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  it('gives what was signed to the next start, not what was refused', () => {
    const log = new SignedLog(path, io)
    expect(log.signed).toEqual([])
    log.signing(message, entry)
    log.refused('f01', 'too much')
    log.close()
    const next = new SignedLog(path, io)
    expect(next.signed).toEqual([entry])
    next.close()
  })

  it('drops a line that a crash cut off, and goes on behind the whole ones', () => {
    const log = new SignedLog(path, io)
    log.signing(message, entry)
    log.close()
    const whole = readFileSync(path, 'utf8')
    appendFileSync(path, whole.slice(0, -5))
    const next = new SignedLog(path, io)
    expect(next.signed).toEqual([entry])
    next.signing(message, entry)
    next.close()
    expect(readFileSync(path, 'utf8')).toBe(whole + whole)
  })

  it('goes on in a new file above a bound, with what counts, and keeps the old one', () => {
    const nowMs = Date.UTC(2026, 10, 26)
    const old = { ...entry, timeMs: nowMs - POLICY_KEPT_MS }
    const counted = { ...entry, timeMs: nowMs - POLICY_KEPT_MS + 1 }
    const log = new SignedLog(path, io, () => nowMs)
    log.signing(message, old)
    log.signing(message, counted)
    log.close()
    // Refusals, as a client leaves them that asks in vain for weeks.
    const refusal = `${JSON.stringify({ time: '2026-11-20T00:00:00.000Z', result: 'refused', from: 'f01', reason: ' '.repeat(900) })}\n`
    const most = MAX_SIGNED_LOG_BYTES
    appendFileSync(path, refusal.repeat(Math.floor((most - statSync(path).size) / refusal.length)))
    const below = new SignedLog(path, io, () => nowMs)
    expect(below.signed).toEqual([old, counted])
    below.refused('f01', ' '.repeat(900))
    expect(readdirSync(folder)).toEqual(['signed.jsonl'])
    below.refused('f01', 'once more')
    expect(readdirSync(folder).sort()).toEqual(['signed-2026-11-26T000000000Z.jsonl', 'signed.jsonl'])
    below.signing(message, entry)
    below.close()
    expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(4)
    const next = new SignedLog(path, io, () => nowMs)
    expect(next.signed).toEqual([counted, entry])
    next.close()
    expect(statSync(join(folder, 'signed-2026-11-26T000000000Z.jsonl')).size).toBeGreaterThan(most)
  })

  it('begins anew at the start where it has grown further', () => {
    const log = new SignedLog(path, io)
    const counted = { ...entry, timeMs: Date.now() }
    log.signing(message, counted)
    log.close()
    const refusal = `${JSON.stringify({ time: '2026-11-20T00:00:00.000Z', result: 'refused', from: 'f01', reason: ' '.repeat(9_000) })}\n`
    appendFileSync(path, refusal.repeat(Math.ceil((2 * MAX_SIGNED_LOG_BYTES) / refusal.length)))
    const next = new SignedLog(path, io)
    expect(next.signed).toEqual([counted])
    expect(readdirSync(folder)).toHaveLength(2)
    expect(statSync(path).size).toBeLessThan(1_000)
    next.close()
  })

  it('a flipped bit changes nothing that is counted without a word', () => {
    const log = new SignedLog(path, io)
    log.signing(message, entry)
    log.refused('f01', 'too much')
    log.signing(message, entry)
    log.close()
    const sound = readFileSync(path)
    const expected = [entry, entry]
    const first = sound.indexOf(10) + 1
    let named = 0
    for (let bit = 0; bit < 8 * first; bit++) {
      const flipped = Buffer.from(sound)
      flipped[bit >> 3] = (flipped[bit >> 3] as number) ^ (1 << (bit & 7))
      writeFileSync(path, flipped)
      let read: readonly object[] = expected
      try {
        const again = new SignedLog(path, io)
        read = again.signed
        again.close()
      } catch {
        named++
      }
      expect(read, `bit ${bit}`).toEqual(expected)
    }
    expect(named).toBeGreaterThan(7 * first)
  })

  it('reads the lines of earlier versions, which have no check', () => {
    const { time = '', ...rest } = {
      time: new Date(entry.timeMs).toISOString(),
      from: `${from}`,
      nonce: '3',
      spends: '5',
    }
    appendFileSync(path, `${JSON.stringify({ time, result: 'signing', ...rest })}\n`)
    const log = new SignedLog(path, io)
    expect(log.signed).toEqual([entry])
    log.close()
  })

  it('refuses a log whose lines cannot be counted', () => {
    for (const line of [
      '{"result":"signing"}',
      'x',
      '{"result":"signing","time":"x","from":"f07","nonce":"1","spends":"1"}',
    ]) {
      appendFileSync(path, `${line}\n`)
      expect(() => new SignedLog(path, io), line).toThrow('Cannot read line 1')
      rmSync(path)
    }
  })
})
