/**
 * Winning proofs of a recorded chain's blocks, as if the chain's proofs were real: made with what the key was made of, for
 * the sector that the block's randomness draws.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { ChainView } from '../../src/chain/chainView.ts'
import { loadMiner } from '../../src/chain/queries/minerActor.ts'
import { CODEC_FIL_COMMITMENT_SEALED, createCid, HASH_POSEIDON_BLS12_381_A1_FC1 } from '../../src/codec/cid.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { AT_ONCE, BlockContext, type ValidationDeps } from '../../src/consensus/blockContext.ts'
import { checkWinningPoSt } from '../../src/consensus/checks/winningPoSt.ts'
import { winningPoStRandomness } from '../../src/consensus/election.ts'
import { verifiedWinningPoSt, type WinningBlock } from '../../src/consensus/winningPoSt.ts'
import { winningSectors } from '../../src/consensus/winningSectors.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { Amt } from '../../src/ipld/amt.ts'
import { putCbor } from '../../src/ipld/blockstore.ts'
import { blockValidation } from '../../src/node/networking.ts'
import { replicaCommitment } from '../../src/proofs/commitment.ts'
import { wasmCurve } from '../../src/proofs/curve/curveWasm.ts'
import { littleEndian } from '../../src/proofs/field.ts'
import type { ProofKeys } from '../../src/proofs/keys/keyName.ts'
import { LoadedKeys } from '../../src/proofs/keys/loadedKeys.ts'
import { KEY_FILES } from '../../src/proofs/keys/parameters.ts'
import { winningPublicInputs } from '../../src/proofs/post/winningPoSt.ts'
import { SECTOR_SIZES, type SectorSize } from '../../src/proofs/sectorSize.ts'
import { minerStateAt } from '../../src/state/miner.ts'
import { sectorOnChainInfoAt } from '../../src/state/sector.ts'
import type { StateTree } from '../../src/state/stateTree.ts'
import { type Address, addressToId } from '../../src/types/address.ts'
import type { PoStProof } from '../../src/types/blockHeader.ts'
import { forger } from '../proofs/forgery.ts'
import { PROOF_VECTORS, vectorKeys } from '../proofs/proofKeys.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'

const missing = missingShared('data/golden/nv28') ?? missingShared(PROOF_VECTORS)
const EPOCHS = [40, 55, 70]
const SIZE = SECTOR_SIZES[0] as SectorSize

/** Sectors of recorded chains have stand-ins for commitments, which are no field elements: here each gets one that is. */
function withCommitments(view: ChainView, state: StateTree, miner: Address): StateTree {
  const { blocks } = view.store
  const actor = loadMiner(view, state, miner)
  const codec = sectorOnChainInfoAt(18)
  const sectors = Amt.load(blocks, actor.state.sectors, codec)
  for (const sector of actor.sectors(undefined)) {
    const commR = new Uint8Array(32).fill(Number(sector.sectorNumber))
    const sealedCid = createCid(CODEC_FIL_COMMITMENT_SEALED, HASH_POSEIDON_BLS12_381_A1_FC1, commR)
    sectors.set(Number(sector.sectorNumber), { ...sector, sealedCid })
  }
  const head = putCbor(blocks, minerStateAt(18), { ...actor.state, sectors: sectors.flush() })
  state.setActor(addressToId(miner), { ...actor.actor, head })
  return state
}

describe.skipIf(missing !== undefined)('winning PoSt of blocks', () => {
  beforeAll(initCrypto)

  function recordedBlocks(): WinningBlock[] {
    const recorded = openRecordedView('nv28').view
    const network = { ...recorded.network, proofs: 'verify' as const }
    const view = new ChainView({ store: recorded.store, network, beaconRound: (epoch) => mockBeacon.roundAt(epoch) })
    const headers = EPOCHS.flatMap((epoch) => view.store.tipsetByHeight(epoch, view.store.head(), 'next').blocks)
    return headers.map((header) => {
      const base = view.store.tipset(header.parents)
      const input = { header, messages: undefined, base, baseResult: undefined }
      const { networkVersion, beacon, lookback } = new BlockContext(input, { view } as ValidationDeps, AT_ONCE)
      const state = withCommitments(view, lookback.state, header.miner)
      return { header, view, networkVersion, beacon, lookback: { state } }
    })
  }

  it('verifies, by the sector that is drawn, with the right proof alone', async () => {
    const curve = wasmCurve()
    const name = KEY_FILES.find(({ circuit, size }) => circuit === 'winning' && size === SIZE.name)?.name as string
    const forge = forger(curve, name)
    const verifier = verifiedWinningPoSt(vectorKeys(curve))
    const drawn = new Set<number>()
    for (const block of recordedBlocks()) {
      const { header, view, beacon, lookback, networkVersion } = block
      const { miner } = header
      const randomness = winningPoStRandomness(beacon, header.height, miner)
      const actor = loadMiner(view, lookback.state, miner)
      const [sector, ...others] = winningSectors(view, actor, networkVersion, miner, randomness)
      if (sector === undefined) throw new Error('no sector')
      expect(others).toHaveLength(0)
      drawn.add(Number(sector.sectorNumber))
      const commR = littleEndian(replicaCommitment(sector.sealedCid))
      const inputs = winningPublicInputs(SIZE, randomness, { number: BigInt(sector.sectorNumber), commR })
      const check = (winPoStProof: PoStProof[]): string | undefined =>
        verifier({ ...block, header: { ...header, winPoStProof } })
      const proof = (proofBytes: Uint8Array): PoStProof[] => [{ postProof: 0, proofBytes }]
      expect(check(proof(forge(inputs, 3n, 5n)))).toBeUndefined()
      const other = forge([...inputs.slice(1), 0n], 3n, 5n)
      expect(check(proof(other))).toBe('winning post was invalid')
      expect(check(proof(other.subarray(1)))).toContain('failed to verify election post')
      expect(check([...proof(other), ...proof(other)])).toContain('failed to verify election post')
      expect(check([{ postProof: 15, proofBytes: forge(inputs, 3n, 5n) }])).toContain('no registered PoSt proof')
      expect(check([])).toContain('failed to verify election post')
    }
    expect(drawn.size).toBeGreaterThan(1)
  })

  it('is checked of every header by a node with keys, presumed without them, mocked on a local chain', () => {
    const [block] = recordedBlocks()
    if (block === undefined) throw new Error('no block')
    const { view } = block
    const wrong = {
      ...block,
      header: { ...block.header, winPoStProof: [{ postProof: 0, proofBytes: new Uint8Array(9) }] },
    }
    const check = (keys: ProofKeys | undefined, network = view.network): string | undefined =>
      blockValidation(
        new ChainView({ store: view.store, network, beaconRound: (epoch) => mockBeacon.roundAt(epoch) }),
        Date.now,
        keys,
      ).winningPoSt(wrong)
    expect(check(vectorKeys(wasmCurve()))).toContain('failed to verify election post')
    expect(check(undefined)).toBeUndefined()
    expect(check(undefined, { ...view.network, proofs: 'accept' })).toContain('INSECURE-POST-VALIDATION')
  })

  it('without keys presumes that a proof which is there holds', async () => {
    const verifier = verifiedWinningPoSt(new LoadedKeys({ curve: wasmCurve(), read: () => undefined }))
    const [block] = recordedBlocks()
    if (block === undefined) throw new Error('no block')
    expect(verifier(block)).toBeUndefined()
    expect(verifier({ ...block, header: { ...block.header, winPoStProof: [] } })).toBe('No winning post proof given')
  })

  it('of a block that fails is named by its check', () => {
    const [block] = recordedBlocks()
    const context = { ...block, deps: { winningPoSt: () => 'no' } } as unknown as BlockContext
    expect(() => checkWinningPoSt(context)).toThrow('invalid election post: no')
  })
})
