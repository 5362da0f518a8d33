/** The genesis of a local chain, held to the one that Lotus recorded for nv28. */
import { describe, expect, it } from 'vitest'
import { createGenesisBlock } from '../../src/actors/genesis/block.ts'
import { provingPeriodStart } from '../../src/actors/miner/provingPeriod.ts'
import { createRewardState } from '../../src/actors/reward/state.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { devnetOptions } from '../../src/devnet/options.ts'
import { createDevnetPlan } from '../../src/devnet/plan.ts'
import { getCbor, MemoryBlockstore, putCbor } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { initState } from '../../src/state/init.ts'
import { minerState } from '../../src/state/miner.ts'
import { powerState } from '../../src/state/power.ts'
import { rewardState } from '../../src/state/reward.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { idAddress } from '../../src/types/address.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { openRecordedChain } from '../support/recordedExecution.ts'
import { missingShared } from '../support/shared.ts'

const FIL = 10n ** 18n
const plan = createDevnetPlan(devnetOptions({ miners: 2 }), builtinNetwork('devnet'))
const store = new MemoryBlockstore()
const header = createGenesisBlock(store, plan.genesis(1_700_000_000))
const tree = StateTree.load(store, header.parentStateRoot)

describe('genesis', () => {
  it('holds all FIL there is', () => {
    let sum = 0n
    tree.forEach((_id, actor) => {
      sum += actor.balance
    })
    expect(sum).toBe(2_000_000_000n * FIL)
    expect(tree.getActor(2n)!.balance).toBe(1_100_000_000n * FIL)
  })

  it('funds every account and gives it its number', () => {
    for (const [index, account] of plan.accounts.entries()) {
      const id = tree.lookupId(account.address)
      expect(id).toBe(100n + BigInt(index))
      expect(tree.getActor(id!)!.balance).toBe(account.balance)
    }
  })

  it('gives the miners equal power', () => {
    const power = getCbor(store, powerState, tree.getActor(4n)!.head)
    expect(power).toMatchObject({ minerCount: 2, minerAboveMinPowerCount: 2, totalQualityAdjPower: 4096n })
    expect(getCbor(store, initState, tree.getActor(1n)!.head)).toMatchObject({
      nextId: 1003n,
      networkName: 'petrel-devnet',
    })
  })

  it('is the same for the same options', () => {
    const again = createGenesisBlock(new MemoryBlockstore(), plan.genesis(1_700_000_000))
    expect(putCbor(store, blockHeader, again)).toEqual(putCbor(store, blockHeader, header))
    const other = createDevnetPlan(devnetOptions({ miners: 2, seed: 'other' }), builtinNetwork('devnet'))
    expect(createGenesisBlock(new MemoryBlockstore(), other.genesis(1_700_000_000)).parentStateRoot).not.toEqual(
      header.parentStateRoot,
    )
  })
})

const missing = missingShared('data/golden/nv28')
if (missing !== undefined) console.warn(`skipped: ${missing}`)

describe.skipIf(missing !== undefined)('genesis beside the recorded one', () => {
  const chain = openRecordedChain('nv28')
  const genesis = getCbor(chain.store, blockHeader, chain.network.genesisCid!)
  const recorded = StateTree.load(chain.store, genesis.parentStateRoot)

  it('has its header fields', () => {
    for (const field of [
      'parents',
      'parentMessageReceipts',
      'messages',
      'electionProof',
      'beaconEntries',
      'winPoStProof',
      'parentBaseFee',
      'miner',
      'parentWeight',
    ] as const) {
      expect(header[field], field).toEqual(genesis[field])
    }
  })

  it('has the very states that hold no account', () => {
    // Cron, burnt funds, the Ethereum address manager; the reward actor as SetupRewardActor leaves it.
    for (const id of [3n, 99n, 10n, 2n])
      expect(tree.getActor(id)!.head.toString()).toBe(recorded.getActor(id)!.head.toString())
    expect(putCbor(store, rewardState, createRewardState(0n)).toString()).toBe(recorded.getActor(2n)!.head.toString())
  })

  it('has the same actors by number', () => {
    for (const id of [0n, 1n, 2n, 3n, 4n, 5n, 6n, 7n, 10n, 80n, 81n, 90n, 99n, 1000n, 1001n, 1002n]) {
      expect(tree.getActor(id), `f0${id}`).toBeDefined()
      expect(recorded.getActor(id), `f0${id}`).toBeDefined()
      expect(tree.getActor(id)!.delegatedAddress).toEqual(recorded.getActor(id)!.delegatedAddress)
    }
  })

  it('starts proving periods at the same epochs', () => {
    for (const id of [1000n, 1001n]) {
      const state = getCbor(chain.store, minerState, recorded.getActor(id)!.head)
      expect(provingPeriodStart(idAddress(id), 0)).toBe(state.provingPeriodStart)
      const own = getCbor(store, minerState, tree.getActor(id)!.head)
      expect(own.currentDeadline).toBe(state.currentDeadline)
      expect(own.preCommittedSectors).toEqual(state.preCommittedSectors)
    }
  })

  it('names the manifest of the network', () => {
    expect(store.has(parseCid('bafy2bzaced35gjxagazf2fne5dakbok5abmivsh7cq7huwfuptebgwjmcpcf6'))).toBe(true)
  })
})
