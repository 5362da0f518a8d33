/** What a thread of reads makes of what its node has told. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { systemClock } from '../../../platform/server/clock.ts'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { systemRandom } from '../../../platform/server/random.ts'
import { SHARED_COUNTS } from '../../../platform/server/readers/messages.ts'
import { Told } from '../../../platform/server/readers/told.ts'
import { toHex, utf8 } from '../../../src/base/bytes.ts'
import { Tokens } from '../../../src/rpc/tokens.ts'

const REVOKE = fileURLToPath(new URL('revokeToken.ts', import.meta.url))
const folder = mkdtempSync(join(tmpdir(), 'petrel-told-'))
afterAll(() => rmSync(folder, { recursive: true, force: true }))

describe('what a thread of reads was told', () => {
  it('a revoked token is void at once, also where the thread has read its store in the same turn', async () => {
    const path = join(folder, 'store')
    const secret = new Uint8Array(32).fill(7)
    await new LmdbEnvironment({ path }).close()
    const environment = new LmdbEnvironment({ path, readsOnly: true })
    const open = (): Tokens => new Tokens({ secret, clock: systemClock, random: systemRandom, store: environment.meta })
    let tokens = open()
    const shared = new Int32Array(2)
    const forgetTokens = (): void => {
      tokens = open()
    }
    const told = new Told(shared, { forgetTokens }, environment)
    told.isCurrent()
    const token = tokens.issueUnique(['read'])
    // From here on one turn of the loop: the test's own process waits for the other one.
    expect(tokens.verify(token)).toBeDefined()
    environment.meta.get(utf8('of the chain'))
    execFileSync(process.execPath, [REVOKE, path, toHex(secret), token])
    Atomics.add(shared, SHARED_COUNTS.revoked, 1)
    told.isCurrent()
    expect(tokens.verify(token)).toBeUndefined()
    await environment.close()
  })

  it('is all when its head is the one that was counted last', () => {
    const shared = new Int32Array(2)
    const told = new Told(shared, { forgetTokens: () => undefined }, { readNewest: () => undefined })
    expect(told.isCurrent()).toBe(false)
    told.head(0)
    expect(told.isCurrent()).toBe(true)
    Atomics.add(shared, SHARED_COUNTS.heads, 1)
    expect(told.isCurrent()).toBe(false)
    told.head(1)
    expect(told.isCurrent()).toBe(true)
  })
})
