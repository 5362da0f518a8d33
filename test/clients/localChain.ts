/** A local chain that runs contracts: with the network's own Wasm actors. */
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { ACTORS, missingBundle } from '../support/actors.ts'

const ACTORS_VERSION = 18

/** Manifest CID of the bundle. */
export const DEVNET_BUNDLE: string =
  manifestFor(builtinNetwork('devnet'), ACTORS_VERSION)?.manifestCid.toString() ?? 'none'

/** Why tests of contracts are skipped; undefined when they run. */
export const noContracts: string | undefined = missingBundle(DEVNET_BUNDLE)

/**
 * Starts `petrel devnet` in a folder of its own: a block every second, and as soon as a message arrives.
 * @param more - other options
 */
export async function startChain(
  actors: 'wasm' | 'native',
  more: readonly string[] = [],
): Promise<NodeProcess & { readonly home: string }> {
  const home = mkdtempSync(join(tmpdir(), 'petrel-clients-'))
  if (actors === 'wasm') symlinkSync(ACTORS, join(home, 'actors'))
  const args = ['devnet', '--api', '0', '--no-net', '--memory', '--instant', '--block-time', '1', '--actors', actors]
  const node = await startNode('node', home, [...args, ...more])
  return {
    ...node,
    home,
    stop: async () => {
      const code = await node.stop()
      rmSync(home, { recursive: true, force: true })
      return code
    },
  }
}
