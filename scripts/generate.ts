/**
 * Generates chains of a wanted size.
 *
 *     npm run generate -- mainnet-size <folder> [--scale 0.01] [--seed 1]
 *
 * `mainnet-size`: a state as mainnet's (scale 1: 3.5 million actors, 200,000 contracts, 3,000 miners with 5 million
 * sectors) or a part of it, as `state.car`, `state.car.zst` and `state.forest.car.zst` with the `network.json` that
 * opens them: `petrel daemon --network <folder>/network.json --snapshot <folder>/state.forest.car.zst`. The same seed
 * gives the same bytes. A run that was broken off is gone on with by the same command. The actors' bundle of mainnet's
 * newest version (`petrel actors fetch`) becomes part of the state where it is here.
 */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { initCrypto } from '../src/crypto/init.ts'
import { writeFiles } from './generate/mainnetSize/files.ts'
import { generateState } from './generate/mainnetSize/generateState.ts'
import { generatedManifest, generatedNetwork } from './generate/mainnetSize/network.ts'

const USAGE = 'usage: npm run generate -- mainnet-size <folder> [--scale 0.01] [--seed 1]'
const started = performance.now()

function say(text: string): void {
  const seconds = (performance.now() - started) / 1000
  const megabytes = process.memoryUsage.rss() / 1e6
  console.log(`${seconds.toFixed(1).padStart(7)} s ${megabytes.toFixed(0).padStart(5)} MB  ${text}`)
}

function readBundle(): Uint8Array | undefined {
  const home = process.env.PETREL_HOME ?? join(homedir(), '.petrel')
  const path = join(home, 'actors', `${generatedManifest(generatedNetwork()).manifestCid.toString()}.car`)
  if (existsSync(path)) return new Uint8Array(readFileSync(path))
  say(`no actors bundle at ${path}: the state goes without its code`)
  return undefined
}

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { scale: { type: 'string', default: '0.01' }, seed: { type: 'string', default: '1' } },
})
const [what, folder] = positionals
if (what !== 'mainnet-size' || folder === undefined || positionals.length > 2) {
  console.error(USAGE)
  process.exit(2)
}
await initCrypto()
const work = join(folder, 'work')
const options = { folder: work, scale: Number(values.scale), seed: Number(values.seed), bundle: readBundle(), say }
const state = generateState(options)
writeFiles(folder, state, say)
rmSync(work, { recursive: true })
say(`${state.blocks} blocks, genesis ${state.genesis.toString()}`)
