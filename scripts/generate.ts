/**
 * Generates chains of a wanted size.
 *
 *     npm run generate -- mainnet-size <folder> [--scale 0.01] [--seed 1] [--epochs 0] [--messages 300] [--producers n]
 *
 * `mainnet-size`: a state as mainnet's (scale 1: 3.5 million actors, 200,000 contracts, 3,000 miners with 5 million
 * sectors) or a part of it, as `state.car`, `state.car.zst` and `state.forest.car.zst` with the `network.json` that
 * opens them: `petrel daemon --network <folder>/network.json --snapshot <folder>/state.forest.car.zst`. The same seed
 * gives the same bytes. A run that was broken off is gone on with by the same command. The actors' bundle of mainnet's
 * newest version (`petrel actors fetch`) becomes part of the state where it is here.
 *
 * `--epochs n`: then a chain of so many epochs on it (2,880 are a day), which needs the bundle: about five blocks a tipset,
 * `--messages` a tipset beside the proofs of storage that deadlines ask for, cron as it comes. It is kept in
 * `<folder>/chain`, gone on with by a larger number, and written with its states as `chain.forest.car.zst`; the shares of its
 * messages by actor and method are printed. Most of the time is the
 * elections, for which every miner signs: `--producers` lets the n largest alone take part, which makes fewer blocks a tipset.
 */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { findNetwork } from '../platform/server/networkFiles.ts'
import { initCrypto } from '../src/crypto/init.ts'
import { extendChain, openGenerated } from './generate/mainnetSize/chain.ts'
import { CHAIN_FILE, NETWORK_FILE, SNAPSHOT_FILES, writeChain, writeFiles } from './generate/mainnetSize/files.ts'
import { generateState } from './generate/mainnetSize/generateState.ts'
import { generatedManifest, generatedNetwork } from './generate/mainnetSize/network.ts'
import { sharesOf, sharesText } from './generate/mainnetSize/shares.ts'
import { sizeOf } from './generate/mainnetSize/size.ts'
import { programArgs } from './programArgs.ts'

const USAGE =
  'usage: npm run generate -- mainnet-size <folder> [--scale 0.01] [--seed 1] [--epochs 0] [--messages 300] [--producers n]'
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

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new RangeError(`--${name} must be a whole number, not ${text}`)
  return Number(text)
}

const { values, positionals } = programArgs(import.meta.filename, {
  allowPositionals: true,
  options: {
    scale: { type: 'string', default: '0.01' },
    seed: { type: 'string', default: '1' },
    epochs: { type: 'string', default: '0' },
    messages: { type: 'string', default: '300' },
    producers: { type: 'string' },
  },
})
const [what, folder] = positionals
if (what !== 'mainnet-size' || folder === undefined || positionals.length > 2) {
  console.error(USAGE)
  process.exit(2)
}
const epochs = wholeNumber('epochs', values.epochs)
const messages = wholeNumber('messages', values.messages)
const producers = values.producers === undefined ? undefined : wholeNumber('producers', values.producers)
const size = sizeOf(Number(values.scale), wholeNumber('seed', values.seed))
await initCrypto()
makeState(folder)
if (epochs > 0) await makeChain(folder)

/** @throws RangeError when the folder has another one */
function assertSame(into: string): void {
  const path = join(into, 'made.json')
  const wanted = JSON.stringify({ scale: size.scale, seed: size.seed })
  if (!existsSync(path)) {
    mkdirSync(into, { recursive: true })
    writeFileSync(path, wanted)
    return
  }
  const kept = readFileSync(path, 'utf8')
  if (kept !== wanted) throw new RangeError(`${into} holds ${kept}, not ${wanted}: use another folder`)
}

function makeState(into: string): void {
  assertSame(into)
  const work = join(into, 'work')
  // The last file is there when all is.
  if (!existsSync(join(into, SNAPSHOT_FILES.forest))) {
    const state = generateState({ folder: work, scale: size.scale, seed: size.seed, bundle: readBundle(), say })
    writeFiles(into, state, say)
    say(`${state.blocks} blocks, genesis ${state.genesis.toString()}`)
  }
  rmSync(work, { recursive: true, force: true })
}

async function makeChain(into: string): Promise<void> {
  const network = findNetwork(join(into, NETWORK_FILE))
  const chain = await openGenerated(into, network)
  try {
    const head = await extendChain(chain, { size, epochs, messages, producers, say })
    writeChain(into, head, chain.own)
    say(`chain up to epoch ${head.height}: ${CHAIN_FILE}; its messages:`)
    for (const line of sharesText(sharesOf(chain.view, head))) say(line)
  } finally {
    await chain.close()
  }
}
