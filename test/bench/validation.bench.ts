/**
 * Validates the headers of a recorded chain without executing, signatures one by one and in batches as the syncer does, in
 * processor time; then finality certificates and the calculator. One thread.
 *
 *     node test/bench/validation.bench.ts [chain]
 */
import process from 'node:process'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { networkBeacons } from '../../src/consensus/drandBeacon.ts'
import { finalityDepth } from '../../src/consensus/ecFinality.ts'
import { F3 } from '../../src/consensus/f3/f3.ts'
import { type F3Manifest, f3ManifestOf } from '../../src/consensus/f3/manifest.ts'
import { type BlockInput, type BlockValidation, validateBlock } from '../../src/consensus/validateBlock.ts'
import { mockWinningPoSt } from '../../src/consensus/winningPoSt.ts'
import { type SignedBytes, verifyTogether } from '../../src/crypto/bls.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { poolPrices } from '../../src/mempool/poolChain.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { decodedCertificates } from '../consensus/f3/support.ts'
import { openRecordedView } from '../support/recordedView.ts'

const [name = 'nv28'] = process.argv.slice(2)
const BATCHES = [3, 24, 192]

function report(what: string, value: number, unit: string): void {
  console.log(`${what.padEnd(56)} ${value.toFixed(value < 10 ? 2 : 0).padStart(10)} ${unit}`)
}

/** Processor seconds of a run. */
function timed(run: () => void): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1e6
}

function must(ok: boolean): void {
  if (!ok) throw new Error('a signature is wrong')
}

await initCrypto()
const { view } = openRecordedView(name)
const prices = poolPrices(view)
const deps: BlockValidation = {
  view,
  beaconAt: networkBeacons(view.network, firstBlock(view.store.genesis()).timestamp),
  winningPoSt: mockWinningPoSt,
  nowMs: () => Date.now(),
  minimumGas: (epoch, length) => prices.total(epoch, length),
}
const inputs: BlockInput[] = []
for (let tipset = view.store.head(); tipset.height > 0; tipset = view.store.parent(tipset)) {
  const base = view.store.parent(tipset)
  for (const header of tipset.blocks) inputs.push({ header, messages: undefined, base, baseResult: undefined })
}

const none = timed(() => {
  for (const input of inputs) validateBlock(input, deps, { verifyBls: () => true })
})
report(`headers of ${name} without signatures (cold)`, inputs.length / none, 'headers/s')
const single = timed(() => {
  for (const input of inputs) validateBlock(input, deps)
})
report('each signature by itself', inputs.length / single, 'headers/s')
for (const size of BATCHES) {
  const together = timed(() => {
    let waiting: SignedBytes[] = []
    for (const input of inputs) {
      validateBlock(input, deps, {
        verifyBls: (signature, message, publicKey) => waiting.push({ signature, message, publicKey }) > 0,
      })
      if (waiting.length < size) continue
      must(verifyTogether(waiting))
      waiting = []
    }
    must(verifyTogether(waiting))
  })
  report(`signatures checked together, ${size} at once`, inputs.length / together, 'headers/s')
  report('  times as fast', single / together, '')
}

const recorded = openRecordedView('f3').view
const certificates = decodedCertificates()
const f3 = new F3({ view: recorded, manifest: f3ManifestOf(recorded.network) as F3Manifest, store: new MemoryStore() })
f3.start()
report(
  'finality certificates',
  certificates.length / timed(() => f3.importCertificates(certificates)),
  'certificates/s',
)

const chain = Array.from({ length: 905 }, (_, i) => 4 + (i % 3))
finalityDepth(chain)
report('EC finality of a head', timed(() => finalityDepth(chain)) * 1000, 'ms')
