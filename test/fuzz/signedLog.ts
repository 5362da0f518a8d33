/** `signed.jsonl` of a signer, as a disk, an editor or a crash may have left it: limits count what stands there. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { SignedLog } from '../../platform/server/signedLog.ts'
import { utf8 } from '../../src/base/bytes.ts'
import type { SignedEntry } from '../../src/wallet/signingPolicy.ts'
import type { FuzzTarget } from './fuzzTarget.ts'

const path = (): string => (kept ??= join(folder(), 'signed.jsonl'))
let kept: string | undefined

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'petrel-fuzz-signed-'))
  process.on('exit', () => rmSync(made, { recursive: true, force: true }))
  return made
}

const io = { out: () => undefined, err: () => undefined } as never

/** A line with its check, one of an earlier version, one that does not count. */
const LINES = [
  '{"time":"2026-11-26T18:42:10.000Z","result":"signing","cid":"bafy","from":"f01000","nonce":"3","spends":"12","check":"01ab904ee5dd81ae"}\n',
  '{"time":"2026-11-20T10:00:00.000Z","result":"signing","cid":"bafy","from":"f01000","nonce":"2","spends":"11"}\n',
  '{"time":"2026-11-20T10:00:01.000Z","result":"refused","from":"f01000","reason":"too much"}\n',
]

function signedOf(): readonly SignedEntry[] {
  const log = new SignedLog(path(), io)
  log.close()
  return log.signed
}

export const signedLog: FuzzTarget = {
  seeds: () => [utf8(LINES.join('')), utf8(LINES[1] as string)],
  run: (input) => {
    writeFileSync(path(), input)
    const signed = signedOf()
    if (signed.some(({ nonce, spends }) => nonce < 0n || spends < 0n)) throw new Error('less than nothing was spent')
    if (signed.length > input.filter((byte) => byte === 10).length)
      throw new Error('more was signed than there are lines')
    // What was cut off is gone, all else stays.
    if (!isDeepStrictEqual(signedOf(), signed)) throw new Error('another answer')
  },
}
