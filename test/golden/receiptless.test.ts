/** Events over a snapshot that holds neither receipts nor events, as Lotus, which had executed the chain, gave them. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { DEVNET_BUNDLE } from '../clients/localChain.ts'
import { missingBundle } from '../support/actors.ts'
import { missingShared, ROOT, sharedPath } from '../support/shared.ts'

it('ChainGetEvents executes again what is missing', { timeout: 120_000 }, async ({ skip }) => {
  const missing = missingShared('data/golden/live/chain.jsonl.zst') ?? missingBundle(DEVNET_BUNDLE)
  skip(missing !== undefined, missing)
  const { stdout } = await promisify(execFile)(join(ROOT, 'node_modules/.bin/node'), [
    join(ROOT, 'scripts/golden.ts'),
    sharedPath('data/golden/live'),
    ...['--group', 'all', '--method', 'ChainGetEvents'],
  ])
  expect(stdout).toMatch(/\n7 passed, 0 failed, \d+ skipped\n$/)
})
