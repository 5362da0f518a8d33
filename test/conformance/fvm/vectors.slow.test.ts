/** Every message vector of ../shared, by folder: exit code, return, gas used and state root. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { builtinNetwork } from '../../../src/networks/builtinNetworks.ts'
import { missingActors } from '../../fvm/support/actorCode.ts'
import { missingShared, sharedPath } from '../../support/shared.ts'
import { vectorFiles } from './main.ts'
import { VectorRunner } from './runVector.ts'

const missing = missingShared('data/vectors/fvm')
const noBundles = missing !== undefined || missingActors(builtinNetwork('mainnet')) !== undefined
const folders =
  missing === undefined
    ? readdirSync(sharedPath('data/vectors/fvm')).flatMap((set) =>
        readdirSync(sharedPath(`data/vectors/fvm/${set}`)).map((actor) => join(set, actor)),
      )
    : ['none here']

/** The reference's runner leaves out one of the 229, too. */
const EXPECTED = { passed: 228, skipped: 1 }

describe('message vectors', () => {
  const runner = new VectorRunner()
  const total = { passed: 0, skipped: 0 }
  for (const folder of folders) {
    it.skipIf(missing !== undefined)(folder, { timeout: 300_000 }, (context) => {
      const failures: string[] = []
      const skipped: string[] = []
      let passed = 0
      for (const file of vectorFiles(sharedPath(`data/vectors/fvm/${folder}`))) {
        for (const { outcome } of runner.run(file)) {
          if (outcome.at === 'passed') passed++
          else if (outcome.at === 'skipped') skipped.push(outcome.reason)
          else failures.push(`${file}: ${outcome.reason}`)
        }
      }
      expect(failures).toEqual([])
      total.passed += passed
      total.skipped += skipped.length
      context.skip(passed === 0, skipped.join('; '))
    })
  }

  it.skipIf(noBundles)('are all run', () => {
    expect(total).toEqual(EXPECTED)
  })
})
