/** `npm run golden` on recorded chains: every request of the groups core and actors. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, it } from 'vitest'
import { DEVNET_BUNDLE } from '../clients/localChain.ts'
import { missingBundle } from '../support/actors.ts'
import { missingShared, ROOT, sharedPath } from '../support/shared.ts'

const run = promisify(execFile)
const NODE = join(ROOT, 'node_modules/.bin/node')

it.for(['nv17', 'nv28'])('answers everything of the group core on %s', async (chain, { skip }) => {
  const missing = missingShared(`data/golden/${chain}/chain.jsonl.zst`)
  skip(missing !== undefined, missing)
  const { stdout } = await run(NODE, [join(ROOT, 'scripts/golden.ts'), sharedPath(`data/golden/${chain}`)])
  expect(stdout).toMatch(/\n[1-9]\d{3} passed, 0 failed, \d+ skipped\n$/)
})

// Layouts of actors v9, v13 and v18.
it.for(['nv17', 'nv22', 'nv28'])('answers everything of the group actors on %s', async (chain, { skip }) => {
  const missing = missingShared(`data/golden/${chain}/chain.jsonl.zst`)
  skip(missing !== undefined, missing)
  const folder = sharedPath(`data/golden/${chain}`)
  const { stdout } = await run(NODE, [join(ROOT, 'scripts/golden.ts'), folder, '--group', 'actors'])
  expect(stdout).toMatch(/\n[1-9]\d{2} passed, 0 failed, \d+ skipped\n$/)
})

// A chain whose answers need the network's Wasm actors.
it.for(['eth_call', 'eth_estimateGas', 'eth_feeHistory'])('answers every %s on live', async (method, { skip }) => {
  const missing = missingShared('data/golden/live/chain.jsonl.zst') ?? missingBundle(DEVNET_BUNDLE)
  skip(missing !== undefined, missing)
  const { stdout } = await run(NODE, [
    join(ROOT, 'scripts/golden.ts'),
    sharedPath('data/golden/live'),
    ...['--group', 'all', '--method', method],
  ])
  expect(stdout).toMatch(/\n[1-9]\d+ passed, 0 failed, \d+ skipped\n$/)
})
