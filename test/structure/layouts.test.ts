/** A wire layout is described once: its Go name stands in one file, whatever versions of it there are. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createAccountActor } from '../../src/actors/account.ts'
import { createCronActor } from '../../src/actors/cron.ts'
import { createEthAccountActor } from '../../src/actors/ethaccount.ts'
import { createInitActor } from '../../src/actors/init.ts'
import { createMarketActor } from '../../src/actors/market/market.ts'
import { createMinerActor } from '../../src/actors/miner/miner.ts'
import { createMultisigActor } from '../../src/actors/multisig.ts'
import { DEVNET_POLICY } from '../../src/actors/policy.ts'
import { createPowerActor } from '../../src/actors/power/power.ts'
import { createRewardActor } from '../../src/actors/reward/reward.ts'
import { createSystemActor } from '../../src/actors/system.ts'
import { actorMethods } from '../../src/state/actorMethods.ts'
import { rawParams } from '../../src/state/params/rawParams.ts'

const SRC = join(import.meta.dirname, '../../src')
/** `tuple<T>('miner.State', …)`, `versionedTuple<T>(\n  'system.State', …)`. */
const LAYOUT = /\b(?:tuple|versionedTuple)(?:<(?:[^<>()]|<[^<>]*>)*>)?\(\s*'([^']+)'/g

function layouts(): Map<string, Set<string>> {
  const out = new Map<string, Set<string>>()
  for (const file of readdirSync(SRC, { recursive: true, encoding: 'utf8' })) {
    if (!file.endsWith('.ts')) continue
    for (const [, name = ''] of readFileSync(join(SRC, file), 'utf8').matchAll(LAYOUT)) {
      out.set(name, (out.get(name) ?? new Set()).add(file))
    }
  }
  return out
}

describe('layouts', () => {
  it('are described in one file each', () => {
    const all = layouts()
    expect(all.size).toBeGreaterThan(200)
    const twice = [...all].filter(([, files]) => files.size > 1).map(([name, files]) => `${name}: ${[...files]}`)
    expect(twice).toEqual([])
  })
})

describe('native methods', () => {
  const actors = [
    createAccountActor(),
    createCronActor(),
    createEthAccountActor(),
    createInitActor(),
    createMarketActor(),
    createMinerActor(DEVNET_POLICY),
    createMultisigActor(),
    createPowerActor(DEVNET_POLICY),
    createRewardActor(),
    createSystemActor(),
  ]

  it('take and give what their rows say', () => {
    let compared = 0
    for (const { kind, methods } of actors) {
      for (const row of actorMethods(kind, 18)) {
        const native = methods.get(row.number)
        if (native === undefined) continue
        for (const [mine, listed] of [
          [native.params, row.params],
          [native.returns, row.returns],
        ] as const) {
          const what = `${kind} ${row.name}`
          // Lotus shows what it does not look into as bytes.
          if (listed === rawParams) continue
          expect(mine === null, what).toBe(listed === null)
          // Numbers may be wider here than in Go's table, or null.
          if (mine === null || !mine.name.includes('.') || mine.name === 'big.Int') continue
          expect(mine, what).toBe(listed)
          compared++
        }
      }
    }
    expect(compared).toBeGreaterThan(20)
  })
})
