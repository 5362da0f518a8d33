/** The signer's log over restarts: what was signed counts, half a line does not, anything else is an error. */
import { appendFileSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ProgramIo } from '../../../platform/server/programIo.ts'
import { SignedLog } from '../../../platform/server/signedLog.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { idAddress } from '../../../src/types/address.ts'
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
