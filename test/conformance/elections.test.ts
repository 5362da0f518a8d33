/**
 * Every block of a recorded chain by the rules that the local producer follows: beacon entries, elections, tickets,
 * signatures, weights, base fees, timestamps. Lotus made them, with keys that are not recorded: so they are checked,
 * not made again.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { equalBytes } from '../../src/base/bytes.ts'
import { mockBeacon, verifyBeaconEntries } from '../../src/consensus/beacon.ts'
import { electionInput, ticketInput, verifyElection, verifyTicket } from '../../src/consensus/election.ts'
import { electionPower } from '../../src/consensus/electionPower.ts'
import { lookbackFor } from '../../src/consensus/lookback.ts'
import { computeWinCount } from '../../src/consensus/poisson.ts'
import { BLS_EMPTY_AGGREGATE, verify } from '../../src/crypto/bls.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { verifyVrf } from '../../src/crypto/vrf.ts'
import { getCbor } from '../../src/ipld/blockstore.ts'
import { accountState } from '../../src/state/account.ts'
import { minerInfo, minerState } from '../../src/state/miner.ts'
import { addressToId } from '../../src/types/address.ts'
import { headerSigningBytes } from '../../src/types/blockHeader.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'

/** Signatures take milliseconds each: those of every n-th tipset. */
const SIGNATURE_STRIDE = 40

beforeAll(initCrypto)

for (const name of ['nv28', 'nv28-deadlines']) {
  const missing = missingShared(`data/golden/${name}`)
  if (missing !== undefined) console.warn(`skipped: ${missing}`)

  describe.skipIf(missing !== undefined)(`blocks of ${name}`, () => {
    it('hold by the rules', { timeout: 120_000 }, () => {
      const { view } = openRecordedView(name)
      const { store, network } = view
      const workerKey = (
        root: Parameters<typeof view.stateTree>[0],
        miner: Parameters<typeof addressToId>[0],
      ): Uint8Array => {
        const tree = view.stateTree(root)
        const state = getCbor(store.blocks, minerState, tree.getActor(addressToId(miner))!.head)
        const { worker } = getCbor(store.blocks, minerInfo, state.info)
        return getCbor(store.blocks, accountState, tree.getActor(addressToId(worker))!.head).address.payload
      }
      let blocks = 0
      for (let tipset = store.head(); tipset.height > 0; tipset = store.parent(tipset)) {
        const base = store.parent(tipset)
        const hasSignatures = tipset.height % SIGNATURE_STRIDE === 0
        for (const block of tipset.blocks) {
          blocks++
          const lookback = lookbackFor(store, network, base, block.height)
          // Of the genesis, whose own result is its parent state.
          const root = lookback.stateRoot ?? firstBlock(base).parentStateRoot
          const power = electionPower(view, view.stateTree(root), block.miner)!
          const previous = firstBlock(base).beaconEntries.at(-1)!
          const beacon = block.beaconEntries.at(-1)!.data
          const baseTicket = firstBlock(base).ticket!.vrfProof
          verifyBeaconEntries({
            beacon: mockBeacon,
            changed: false,
            epoch: block.height,
            parentEpoch: base.height,
            entries: block.beaconEntries,
            previous,
          })
          expect(computeWinCount(block.electionProof!.vrfProof, power.miner, power.network)).toBe(
            block.electionProof!.winCount,
          )
          expect(block.parentWeight).toBe(view.weight(base))
          expect(block.parentBaseFee).toBe(view.baseFee(base))
          const epochs = block.height - base.height
          expect(block.timestamp).toBe(firstBlock(base).timestamp + epochs * network.blockDelaySecs)
          if (view.blockMessages(block).bls.length === 0)
            expect(equalBytes(block.blsAggregate!.data, BLS_EMPTY_AGGREGATE)).toBe(true)
          if (!hasSignatures) continue
          const key = workerKey(root, block.miner)
          const vrf = (draw: Uint8Array, proof: Uint8Array): boolean => verifyVrf(proof, draw, key)
          verifyElection(block.electionProof!, beacon, block.height, block.miner, power, vrf)
          verifyTicket(block.ticket!.vrfProof, beacon, block.height, block.miner, baseTicket, vrf)
          expect(verify(block.blockSig!.data, headerSigningBytes(block), key)).toBe(true)
          // What would not be a valid draw.
          expect(vrf(electionInput(beacon, block.height + 1, block.miner), block.electionProof!.vrfProof)).toBe(false)
          expect(vrf(ticketInput(beacon, block.height, block.miner, undefined), block.ticket!.vrfProof)).toBe(false)
        }
      }
      expect(blocks).toBeGreaterThan(300)
    })
  })
}
