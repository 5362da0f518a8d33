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

/** The last line of a run, its chain being here. */
async function golden(chain: string, ...args: readonly string[]): Promise<string> {
  const { stdout } = await run(NODE, [join(ROOT, 'scripts/golden.ts'), sharedPath(`data/golden/${chain}`), ...args])
  return stdout.trimEnd().split('\n').at(-1) ?? ''
}

// Layouts of actors v9, v13 and v18.
it.for([
  ['nv17', 'core,actors', 1800],
  ['nv22', 'actors', 400],
  ['nv28', 'core,actors', 3600],
] as const)('answers everything of %s in the groups %s', async ([chain, groups, least], { skip }) => {
  const missing = missingShared(`data/golden/${chain}/chain.jsonl.zst`)
  skip(missing !== undefined, missing)
  const line = await golden(chain, '--group', groups)
  expect(line).toMatch(/^\d+ passed, 0 failed, \d+ skipped$/)
  expect(Number.parseInt(line, 10)).toBeGreaterThan(least)
})

// A chain whose answers need the network's Wasm actors.
it('answers calls, estimates and fees of Ethereum on live', async ({ skip }) => {
  const missing = missingShared('data/golden/live/chain.jsonl.zst') ?? missingBundle(DEVNET_BUNDLE)
  skip(missing !== undefined, missing)
  const line = await golden('live', '--group', 'all', '--method', 'eth_call,eth_estimateGas,eth_feeHistory')
  expect(line).toMatch(/^\d+ passed, 0 failed, \d+ skipped$/)
  expect(Number.parseInt(line, 10)).toBeGreaterThan(450)
})
