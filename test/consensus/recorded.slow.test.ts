/** Every block of every recorded chain passes every check, execution aside: its result is read off the next tipset. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { ChainView } from '../../src/chain/chainView.ts'
import { networkBeacons } from '../../src/consensus/drandBeacon.ts'
import { type BlockValidation, checkDistinctMiners, validateBlock } from '../../src/consensus/validateBlock.ts'
import { mockWinningPoSt } from '../../src/consensus/winningPoSt.ts'
import { type SignedBytes, verifyTogether } from '../../src/crypto/bls.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { poolPrices } from '../../src/mempool/poolChain.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { listShared, missingShared } from '../support/shared.ts'

/** Long after any recorded block. */
const LATER_MS = 4_000_000_000_000
/** Signatures checked at once. */
const BATCH = 192

function deps(view: ChainView): BlockValidation {
  const prices = poolPrices(view)
  return {
    view,
    beaconAt: networkBeacons(view.network, firstBlock(view.store.genesis()).timestamp),
    winningPoSt: mockWinningPoSt,
    nowMs: () => LATER_MS,
    minimumGas: (epoch, length) => prices.total(epoch, length),
  }
}

beforeAll(async () => {
  await initCrypto()
})

const missing = missingShared('data/golden')
if (missing !== undefined) console.warn(`skipped: ${missing}`)
const chains =
  missing === undefined
    ? listShared('data/golden').filter((name) => missingShared(`data/golden/${name}/chain.car.zst`) === undefined)
    : []

describe.skipIf(missing !== undefined)('recorded blocks are valid', () => {
  it('of chains that are there', () => expect(chains.length).toBeGreaterThan(10))

  for (const name of chains) {
    it(name, { timeout: 300_000 }, () => {
      const { view } = openRecordedView(name)
      const all = deps(view)
      let waiting: SignedBytes[] = []
      let blocks = 0
      for (let tipset = view.store.head(); tipset.height > 0; tipset = view.store.parent(tipset)) {
        checkDistinctMiners(tipset)
        const base = view.store.parent(tipset)
        for (const header of tipset.blocks) {
          const baseResult = { stateRoot: header.parentStateRoot, receiptsRoot: header.parentMessageReceipts }
          const messages = view.blockMessages(header)
          validateBlock({ header, messages, base, baseResult }, all, {
            verifyBls: (signature, message, publicKey) => waiting.push({ signature, message, publicKey }) > 0,
          })
          blocks++
        }
        if (waiting.length < BATCH && base.height > 0) continue
        expect(verifyTogether(waiting), `signatures from height ${tipset.height} on`).toBe(true)
        waiting = []
      }
      expect(waiting).toEqual([])
      expect(blocks).toBeGreaterThan(30)
    })
  }
})
