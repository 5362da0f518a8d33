/** examples/ethereum: both scripts deploy, pay and read the event on a local chain. */
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noContracts, startChain } from '../clients/localChain.ts'
import { ROOT } from '../support/shared.ts'

const run = promisify(execFile)

describe.skipIf(noContracts !== undefined)(
  `examples/ethereum${noContracts === undefined ? '' : `: ${noContracts}`}`,
  () => {
    let chain: Awaited<ReturnType<typeof startChain>>

    beforeAll(async () => {
      chain = await startChain('wasm')
    })
    afterAll(async () => {
      await chain.stop()
    })

    it.for(['ethers', 'viem'])('%s', async (name) => {
      const { stdout } = await run(process.execPath, [join(ROOT, `examples/ethereum/${name}.ts`), chain.home])
      expect(stdout).toMatch(
        /^ledger at 0x[0-9a-fA-F]{40}\npaid in block \d+, \d+ gas, event 0x[0-9a-f]{64}\nthe shop has 25\n$/,
      )
    })
  },
)
