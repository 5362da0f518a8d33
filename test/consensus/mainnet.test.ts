/**
 * The first blocks of mainnet (data/snapshots/chain4.car) with real drand entries, VRFs and signatures. The archive has the
 * genesis state alone, so that block 1 is checked in full, its winning PoSt presumed; block 2 as a follower of headers does;
 * of block 3, whose parents build on a state that nobody has, what needs the lookback only.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { openArchive } from '../../src/archive/openArchive.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { AT_ONCE, BlockContext } from '../../src/consensus/blockContext.ts'
import { checkBeaconEntries } from '../../src/consensus/checks/beaconEntries.ts'
import { checkBlockSignature } from '../../src/consensus/checks/blockSignature.ts'
import { checkElectionProof } from '../../src/consensus/checks/electionProof.ts'
import { checkTicket } from '../../src/consensus/checks/ticket.ts'
import { checkTimestamp } from '../../src/consensus/checks/timestamp.ts'
import { checkWinCount } from '../../src/consensus/checks/winCount.ts'
import { beaconRound, networkBeacons } from '../../src/consensus/drandBeacon.ts'
import { type BlockInput, type BlockValidation, validateBlock } from '../../src/consensus/validateBlock.ts'
import { presumedWinningPoSt } from '../../src/consensus/winningPoSt.ts'

import { initCrypto } from '../../src/crypto/init.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { poolPrices } from '../../src/mempool/poolChain.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { silentLog } from '../support/recordedView.ts'
import { missingShared, readShared } from '../support/shared.ts'

const FILE = 'data/snapshots/chain4.car'
const missing = missingShared(FILE)
if (missing !== undefined) console.warn(`skipped: ${missing}`)

function open(): { view: ChainView; deps: BlockValidation } {
  const network = builtinNetwork('mainnet')
  const genesis = network.genesisTimestamp as number
  const archive = openArchive(memorySource(readShared(FILE)))
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive])
  const store = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: archive.roots })
  const view = new ChainView({ store, network, beaconRound: (epoch) => beaconRound(network, genesis, epoch) })
  const prices = poolPrices(view)
  const deps: BlockValidation = {
    view,
    beaconAt: networkBeacons(network, genesis),
    winningPoSt: presumedWinningPoSt,
    nowMs: () => (genesis + 1000) * 1000,
    minimumGas: (epoch, length) => prices.total(epoch, length),
  }
  return { view, deps }
}

function inputAt(view: ChainView, height: number, executed: boolean): BlockInput {
  const tipset = view.store.tipsetByHeight(height, undefined, 'previous')
  const header = firstBlock(tipset)
  const { parentStateRoot: stateRoot, parentMessageReceipts: receiptsRoot } = header
  return {
    header,
    messages: view.blockMessages(header),
    base: view.store.parent(tipset),
    baseResult: executed ? { stateRoot, receiptsRoot } : undefined,
  }
}

beforeAll(async () => {
  await initCrypto()
})

describe.skipIf(missing !== undefined)('blocks of mainnet', () => {
  it('height 1: all checks', () => {
    const { view, deps } = open()
    const input = inputAt(view, 1, true)
    expect(input.messages?.bls.length).toBe(5)
    expect(() => validateBlock(input, deps)).not.toThrow()
    const early = { ...deps, nowMs: () => (input.header.timestamp - 10) * 1000 }
    expect(() => validateBlock(input, early)).toThrow(expect.objectContaining({ code: 'TIMESTAMP_IN_FUTURE' }))
  })

  it('height 2: as a follower of headers', () => {
    const { view, deps } = open()
    expect(() => validateBlock(inputAt(view, 2, false), deps)).not.toThrow()
  })

  it('height 3: what the lookback tells', () => {
    const { view, deps } = open()
    const input = inputAt(view, 3, false)
    expect(() => validateBlock(input, deps)).toThrow(expect.objectContaining({ code: 'BLOCK_MISSING' }))
    const context = new BlockContext(input, deps, AT_ONCE)
    const checks = [
      checkTimestamp,
      checkElectionProof,
      checkWinCount,
      checkBlockSignature,
      checkBeaconEntries,
      checkTicket,
    ]
    for (const check of checks) expect(() => check(context), check.name).not.toThrow()
    const { header } = input
    const [entry] = header.beaconEntries
    const forged = { ...header, beaconEntries: [{ round: entry!.round, data: entry!.data.slice().reverse() }] }
    expect(() => checkBeaconEntries(new BlockContext({ ...input, header: forged }, deps, AT_ONCE))).toThrow(
      expect.objectContaining({ code: 'BEACON_ENTRIES_INVALID' }),
    )
  })
})
