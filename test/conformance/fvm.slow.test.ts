/** Mainnet messages of network versions 17 and 18, each run on its own state: exit code, return, gas, state root. */
import { describe, expect, it } from 'vitest'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { missingActors } from '../fvm/support/actorCode.ts'
import { runVectors, vectorPaths } from '../fvm/support/fvmVectors.ts'
import { missingShared, sharedPath } from '../support/shared.ts'

const FOLDER = 'data/vectors/fvm'
/** The reference's runner leaves out one of them, too. */
const LEFT_OUT = 1

describe('message vectors', () => {
  const missing = missingShared(FOLDER) ?? missingActors(builtinNetwork('mainnet'))
  it.skipIf(missing !== undefined)('pass', { timeout: 600_000 }, () => {
    const paths = vectorPaths(sharedPath(FOLDER))
    const results = [...runVectors(paths)]
    expect(results.filter(({ outcome }) => outcome === 'failed')).toEqual([])
    expect(results.filter(({ outcome }) => outcome === 'skipped')).toHaveLength(LEFT_OUT)
    expect(results.length).toBe(229)
  })
})
