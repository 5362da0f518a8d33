/** The local chain: every block by the network's own rules, reorganisations, null rounds, messages. */
import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { mockBeacon, verifyBeaconEntries } from '../../src/consensus/beacon.ts'
import { verifyElection, verifyTicket } from '../../src/consensus/election.ts'
import { electionPower } from '../../src/consensus/electionPower.ts'
import { lookbackFor } from '../../src/consensus/lookback.ts'
import { publicKey, verify, verifyAggregate } from '../../src/crypto/bls.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { verifyVrf } from '../../src/crypto/vrf.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { execParams, execReturn } from '../../src/state/params/init.ts'
import { constructorParams as multisigConstructorParams, proposeParams } from '../../src/state/params/multisig.ts'
import { idAddress } from '../../src/types/address.ts'
import { headerSigningBytes } from '../../src/types/blockHeader.ts'
import { messageCid } from '../../src/types/message.ts'
import { equalTipsetKeys, firstBlock, type Tipset } from '../../src/types/tipset.ts'
import {
  balanceOf,
  type DevnetNode,
  type DevnetNodeOptions,
  devnetNode,
  GENESIS_TIMESTAMP,
  receiptsOf,
  signedBy,
} from '../support/devnetNode.ts'
import { FailingStore, StoreFault } from '../support/failingStore.ts'
import { VirtualTime } from '../support/virtualTime.ts'

const FIL = 10n ** 18n

/** Checks all blocks of a tipset as a validator would. */
async function expectValid(node: DevnetNode, tipset: Tipset): Promise<void> {
  const { view, vm, store, plan } = node
  const base = store.parent(tipset)
  const state = await vm.executeTipset(base)
  const lookback = lookbackFor(store, plan.network, base, tipset.height)
  const previous = firstBlock(base).beaconEntries.at(-1)!
  for (const block of tipset.blocks) {
    const producer = plan.producers.find((one) => one.miner.equals(block.miner))!
    const key = publicKey(producer.workerKey)
    const beacon = block.beaconEntries.at(-1)!.data
    const check = { beacon: mockBeacon, changed: false, epoch: block.height, parentEpoch: base.height, previous }
    verifyBeaconEntries({ ...check, entries: block.beaconEntries })
    const vrf = (draw: Uint8Array, proof: Uint8Array): boolean => verifyVrf(proof, draw, key)
    const power = electionPower(view, view.stateTree(lookback.stateRoot ?? state.stateRoot), block.miner)!
    verifyElection(block.electionProof!, beacon, block.height, block.miner, power, vrf)
    const baseTicket = firstBlock(base).ticket!.vrfProof
    verifyTicket(block.ticket!.vrfProof, beacon, block.height, block.miner, baseTicket, vrf)
    expect(verify(block.blockSig!.data, headerSigningBytes(block), key)).toBe(true)
    expect(block.parentWeight).toBe(view.weight(base))
    expect(block.parentBaseFee).toBe(view.baseFee(base))
    expect(block.parentStateRoot).toEqual(state.stateRoot)
    expect(block.parentMessageReceipts).toEqual(state.receiptsRoot)
    const epochs = tipset.height - base.height
    expect(block.timestamp).toBe(firstBlock(base).timestamp + epochs * plan.network.blockDelaySecs)
  }
}

beforeAll(initCrypto)

describe('local chain', () => {
  it('makes blocks that hold by the rules', { timeout: 60_000 }, async () => {
    const node = devnetNode({ miners: 3 })
    for (let i = 0; i < 6; i++) {
      const tipset = await node.devnet.mine(1, i === 3 ? { nullRounds: 2 } : {})
      await expectValid(node, tipset)
    }
    expect(node.store.head().height).toBeGreaterThanOrEqual(8)
    expect(firstBlock(node.store.head()).timestamp).toBe(GENESIS_TIMESTAMP + 4 * node.store.head().height)
    expect(node.log).toEqual([])
  })

  it('is the same chain every time', async () => {
    const [one, two] = [devnetNode(), devnetNode()]
    expect(equalTipsetKeys((await one.devnet.mine(3)).key, (await two.devnet.mine(3)).key)).toBe(true)
    const other = devnetNode({ seed: 'another' })
    expect(equalTipsetKeys((await other.devnet.mine(3)).key, one.store.head().key)).toBe(false)
  })

  it('executes transfers of every kind of account', { timeout: 60_000 }, async () => {
    const node = devnetNode()
    const [secp, , , bls] = node.plan.accounts
    const receiver = node.plan.accounts[1]!.address
    node.pending.push(
      signedBy(secp!, { to: receiver, value: 3n * FIL }),
      signedBy(bls!, { to: receiver, value: 4n * FIL }),
      signedBy(bls!, { to: receiver, value: 5n * FIL, nonce: 1n }),
    )
    const before = await balanceOf(node, receiver)
    const tipset = await node.devnet.mine()
    const block = firstBlock(tipset)
    const messages = node.view.blockMessages(block)
    expect([messages.bls.length, messages.signed.length]).toEqual([2, 1])
    const keys = messages.bls.map((one) => one.from.payload)
    const cids = messages.bls.map((one) => messageCid(one).bytes)
    expect(verifyAggregate(block.blsAggregate!.data, cids, keys)).toBe(true)
    expect((await receiptsOf(node, tipset)).map((one) => one.exitCode)).toEqual([0, 0, 0])
    expect(await balanceOf(node, receiver)).toBe(before + 12n * FIL)
  })

  it('creates a multisig and pays through it', { timeout: 60_000 }, async () => {
    const node = devnetNode()
    const [owner, receiver] = node.plan.accounts
    const code = manifestFor(node.plan.network, 18)!.actors.get('multisig')!
    const constructorParams = encode(multisigConstructorParams, {
      signers: [owner!.address],
      numApprovalsThreshold: 1n,
      unlockDuration: 0n,
      startEpoch: 0n,
    })
    node.pending.push(
      signedBy(owner!, {
        to: idAddress(1n),
        value: 10n * FIL,
        method: 2n,
        params: encode(execParams, { codeCid: code, constructorParams }),
      }),
    )
    const created = (await receiptsOf(node, await node.devnet.mine()))[0]!
    expect(created.exitCode).toBe(0)
    const wallet = decode(execReturn, created.return)
    const before = await balanceOf(node, receiver!.address)
    const params = encode(proposeParams, {
      to: receiver!.address,
      value: 7n * FIL,
      method: 0n,
      params: new Uint8Array(0),
    })
    node.pending.splice(0, 1, signedBy(owner!, { to: wallet.robustAddress, value: 0n, nonce: 1n, method: 2n, params }))
    expect((await receiptsOf(node, await node.devnet.mine()))[0]!.exitCode).toBe(0)
    expect(await balanceOf(node, receiver!.address)).toBe(before + 7n * FIL)
    expect(await balanceOf(node, wallet.idAddress)).toBe(3n * FIL)
  })

  it('pays the producer', async () => {
    const node = devnetNode()
    await node.devnet.mine(2)
    const miner = await balanceOf(node, node.plan.producers[0]!.miner)
    expect(miner).toBeGreaterThan(FIL)
  })

  it('reorganises, and takes up the messages again', { timeout: 60_000 }, async () => {
    const node = devnetNode({ miners: 2 })
    await node.devnet.mine(2)
    const [sender, receiver] = node.plan.accounts
    node.pending.push(signedBy(sender!, { to: receiver!.address, value: FIL }))
    const before = await balanceOf(node, receiver!.address)
    await node.devnet.mine()
    node.pending.length = 0
    expect(await balanceOf(node, receiver!.address)).toBe(before + FIL)
    const old = node.store.head()
    const changes: [number, number][] = []
    node.store.onHeadChange((reverted, applied) => changes.push([reverted.length, applied.length]))
    await node.devnet.mine(0, { fork: 2 })
    expect(changes).toHaveLength(1)
    expect(changes[0]![0]).toBeGreaterThanOrEqual(1)
    expect(node.view.weight(node.store.head())).toBeGreaterThan(node.view.weight(old))
    expect(node.store.isAncestor(old, node.store.head())).toBe(false)
    expect(await balanceOf(node, receiver!.address)).toBe(before)
    await expectValid(node, node.store.head())
  })

  it('reorganises a tipset that stands above null rounds', async () => {
    const node = devnetNode()
    await node.devnet.mine(2)
    const old = await node.devnet.mine(1, { nullRounds: 3 })
    const reverted: Tipset[] = []
    node.store.onHeadChange((gone) => reverted.push(...gone))
    await node.devnet.mine(0, { fork: 1 })
    expect(reverted.map(({ key }) => key)).toEqual([old.key])
  })

  it('refuses forks below genesis and nonsense', async () => {
    const node = devnetNode()
    await expect(node.devnet.mine(1, { fork: 5 })).rejects.toMatchObject({ code: 'FORK_TOO_DEEP' })
    await expect(node.devnet.mine(-1)).rejects.toMatchObject({ code: 'OPTIONS_INVALID' })
    expect(() => devnetNode({ miners: 0 })).toThrow(expect.objectContaining({ code: 'OPTIONS_INVALID' }))
  })

  it('travels forward', async () => {
    const node = devnetNode({ blockTimeMs: 0 })
    const head = await node.devnet.travel(60)
    expect(head.height).toBeGreaterThanOrEqual(15)
    expect(firstBlock(head).timestamp).toBeGreaterThanOrEqual(GENESIS_TIMESTAMP + 60)
  })

  it('leaves out what it cannot execute', { timeout: 60_000 }, async () => {
    const node = devnetNode()
    const [sender, receiver, other] = node.plan.accounts
    node.pending.push(
      signedBy(sender!, { to: receiver!.address, value: FIL }),
      // CreateExternal of the Ethereum address manager: needs the actors bundle.
      signedBy(sender!, { to: idAddress(10n), value: 0n, nonce: 1n, method: 4n, params: Uint8Array.of(0x41, 0x60) }),
      signedBy(sender!, { to: receiver!.address, value: FIL, nonce: 2n }),
      signedBy(other!, { to: receiver!.address, value: 2n * FIL }),
    )
    const before = await balanceOf(node, receiver!.address)
    const tipset = await node.devnet.mine()
    expect(await balanceOf(node, receiver!.address)).toBe(before + 3n * FIL)
    await expectValid(node, tipset)
    expect(node.log.map((one) => one.level)).toEqual(['warn'])
    await node.devnet.mine()
  })

  it('goes on where it was left', async () => {
    const [meta, blocks] = [new MemoryStore(), new MemoryBlockstore()]
    const first = devnetNode({ meta, blocks })
    await first.devnet.mine(3)
    const again = devnetNode({ meta, blocks })
    expect(again.store.head().key).toEqual(first.store.head().key)
    await expectValid(again, await again.devnet.mine())
    expect(() => devnetNode({ meta, blocks, seed: 'another' })).toThrow(
      expect.objectContaining({ code: 'OTHER_CHAIN' }),
    )
  })
})

describe('clockwork', () => {
  interface Timer {
    readonly fn: () => void
    readonly ms: number
  }

  function fakeTimers(): { due: Timer[]; setTimeout: (fn: () => void, ms: number) => () => void } {
    const due: Timer[] = []
    return {
      due,
      setTimeout: (fn, ms) => {
        const timer = { fn, ms }
        due.push(timer)
        return () => {
          const at = due.indexOf(timer)
          if (at >= 0) due.splice(at, 1)
        }
      },
    }
  }

  const settled = async (node: DevnetNode): Promise<void> => {
    await node.devnet.mine(0)
    await Promise.resolve()
  }

  /** A chain whose genesis is dated as `petrel devnet` dates it, and the time of each head when it came. */
  function timed(time: VirtualTime, given: DevnetNodeOptions = {}): DevnetNode & { heads: [number, Tipset][] } {
    const node = devnetNode({ timers: time, clock: time, blockTimeMs: 4000, ...given })
    const heads: [number, Tipset][] = []
    node.store.onHeadChange((_, applied) => {
      for (const tipset of applied) heads.push([time.nowMs(), tipset])
    })
    return Object.assign(node, { heads })
  }

  const START_MS = GENESIS_TIMESTAMP * 1000 + 4000 + 700

  function expectTimely(heads: [number, Tipset][]): void {
    for (const [now, tipset] of heads) expect(firstBlock(tipset).timestamp * 1000).toBeLessThanOrEqual(now)
  }

  it('makes no block before its timestamp; the first is due at once', { timeout: 60_000 }, async () => {
    const time = new VirtualTime(START_MS)
    const node = timed(time)
    node.devnet.start()
    await time.advance(0)
    await settled(node)
    expect(node.heads.map(([, { height }]) => height)).toEqual([1])
    const epochs = 12
    await time.advance(epochs * 4000)
    await settled(node)
    expectTimely(node.heads)
    expect(node.store.head().height).toBeGreaterThanOrEqual(epochs - 2)
    expect(node.heads.length).toBeGreaterThan(3)
    const late = node.heads.map(([now, tipset]) => now - firstBlock(tipset).timestamp * 1000)
    expect(late).toEqual([700, ...late.slice(1).map(() => 0)])
    await node.devnet.stop()
    expect(time.pending).toBe(0)
  })

  it('makes nothing twice in an epoch when its head goes back', { timeout: 60_000 }, async () => {
    const time = new VirtualTime(START_MS)
    const node = timed(time)
    node.devnet.start()
    await time.advance(6 * 4000)
    await settled(node)
    const before = node.heads.map(([, { height }]) => height)
    const back = node.store.tipsetByHeight(2, node.store.head(), 'next')
    expect(back.height).toBeLessThan(Math.max(...before))
    node.store.setHead(back)
    node.heads.length = 0
    await time.advance(4 * 4000)
    await settled(node)
    await node.devnet.stop()
    const after = node.heads.map(([, { height }]) => height).filter((height) => height !== back.height)
    expect(after.length).toBeGreaterThan(1)
    expect(Math.min(...after)).toBeGreaterThan(Math.max(...before))
    expect(node.store.isAncestor(back, node.store.head())).toBe(true)
    expectTimely(node.heads)
  })

  it('orders wait for the clock too, forks included', { timeout: 60_000 }, async () => {
    const time = new VirtualTime(START_MS)
    const node = timed(time)
    await time.until(node.devnet.mine(4))
    const old = node.store.head()
    await time.until(node.devnet.mine(1, { fork: 3 }))
    expect(node.store.isAncestor(old, node.store.head())).toBe(false)
    expectTimely(node.heads)
    await expect(node.devnet.travel(60)).rejects.toMatchObject({ code: 'KEEPS_CLOCK' })
    const waiting = expect(node.devnet.mine(1, { nullRounds: 5 })).rejects.toMatchObject({ code: 'STOPPED' })
    await time.settle()
    await node.devnet.stop()
    await waiting
  })

  it('waits where the clock was set back, and says nothing of that when it is stopped', {
    timeout: 60_000,
  }, async () => {
    const time = new VirtualTime(START_MS)
    let setMs = 0
    const clock = { nowMs: () => time.nowMs() + setMs, monotonicMs: () => time.monotonicMs() }
    const node = timed(time, { clock })
    node.devnet.start()
    await time.advance(8000)
    await settled(node)
    const made = node.heads.length
    setMs = -3_600_000
    await time.advance(40_000)
    expect([made > 0, node.heads.length]).toEqual([true, made])
    await node.devnet.stop()
    expect(node.log).toEqual([])
  })

  it('goes on behind the clock where it was stopped, one epoch a block time', { timeout: 60_000 }, async () => {
    const time = new VirtualTime(START_MS + 3_600_000)
    const node = timed(time)
    node.devnet.start()
    await time.advance(40_000)
    await settled(node)
    expect(node.store.head().height).toBeGreaterThanOrEqual(8)
    expect(node.store.head().height).toBeLessThanOrEqual(11)
    await node.devnet.stop()
  })

  it('makes up for a few epochs at once', { timeout: 60_000 }, async () => {
    const time = new VirtualTime(START_MS + 30_000)
    const node = timed(time)
    node.devnet.start()
    await time.advance(100)
    await settled(node)
    await time.advance(12_000)
    await settled(node)
    expectTimely(node.heads)
    expect(time.nowMs() - firstBlock(node.store.head()).timestamp * 1000).toBeLessThan(2 * 4000)
    await node.devnet.stop()
  })

  it('a new chain is dated one block time back', () => {
    const node = devnetNode({ genesisTimestamp: undefined })
    expect(firstBlock(node.store.genesis()).timestamp).toBe(GENESIS_TIMESTAMP - 4)
  })

  it('mines on a message, several at once into one block', async () => {
    const timers = fakeTimers()
    const node = devnetNode({ timers, blockTimeMs: 0, instant: true })
    node.devnet.start()
    expect(timers.due).toEqual([])
    node.devnet.messageArrived()
    node.devnet.messageArrived()
    expect(timers.due).toHaveLength(1)
    timers.due.shift()!.fn()
    await settled(node)
    expect(node.store.head().height).toBeGreaterThanOrEqual(1)
    node.devnet.messageArrived()
    expect(timers.due).toHaveLength(1)
  })
})

describe('a store that takes nothing', () => {
  it('stops the chain, says so once, and lets it go on', async () => {
    const meta = new FailingStore()
    const node = devnetNode({ meta })
    const before = await node.devnet.mine(2)
    const told: number[] = []
    node.store.onHeadChange((_reverted, applied) => told.push(...applied.map(({ height }) => height)))
    meta.fault = 'write'
    for (let i = 0; i < 3; i++) await expect(node.devnet.mine()).rejects.toThrow(StoreFault)
    expect(node.store.head()).toBe(before)
    expect(told).toEqual([])
    // After the first failure nothing is tried: one flush asks whether the disk takes writes.
    expect(meta.flushes).toBe(2)
    meta.fault = 'none'
    const after = await node.devnet.mine()
    expect(told).toEqual([after.height])
    expect(node.log).toContainEqual({ level: 'info', message: 'blocks are made again' })
  })
})
