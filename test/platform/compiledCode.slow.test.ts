import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'vitest'
import { startNode } from '../runtimes/nodeProcess.ts'
import { until } from '../support/until.ts'

test('code that a node compiled is kept while it runs: one that is killed starts as fast again', async () => {
  const home = mkdtempSync(join(tmpdir(), 'petrel-compiled-'))
  const kept = join(home, 'compiled')
  const files = (): number => readdirSync(kept, { recursive: true }).length
  try {
    const node = await startNode('node', home, ['devnet', '--memory', '--api', '0', '--no-net'], 60_000, {
      NODE_COMPILE_CACHE: kept,
    })
    try {
      // A node is made of some 600 modules.
      await until(
        () => files() > 500,
        () => `${files()} compiled modules are kept`,
      )
    } finally {
      await node.kill()
    }
  } finally {
    rmSync(home, { recursive: true, force: true })
  }
})
