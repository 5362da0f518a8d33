/** Every reason for which a gossiped block is refused, and what may not be blamed on its sender. */
import { beforeAll, describe, expect, it } from 'vitest'
import { concatBytes } from '../../src/base/bytes.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import type { BlockEdge } from '../../src/ipld/blockFetcher.ts'
import type { Blockstore } from '../../src/ipld/blockstore.ts'
import { BlockMissing } from '../../src/ipld/errors.ts'
import { type BlockMsg, blockMsg } from '../../src/p2p/gossip/blockMsg.ts'
import { BlockValidator } from '../../src/p2p/gossip/blockValidator.ts'
import { messagesRootOf } from '../../src/p2p/gossip/readBlockMsg.ts'
import { parseAddress } from '../../src/types/address.ts'
import type { BlockHeader, ElectionProof } from '../../src/types/blockHeader.ts'
import type { Signature } from '../../src/types/signature.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared } from '../support/shared.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { chainBefore, wireBlocks } from './gossipChain.ts'

const missing = missingShared('data/golden/wire/p2p.jsonl.zst')
const plainRead: BlockEdge = async (run) => run()

beforeAll(async () => {
  await initCrypto()
})

function messageCidOf(n: number): Cid {
  return createCid(
    CODEC_DAG_CBOR,
    HASH_BLAKE2B_256,
    Uint8Array.from({ length: 32 }, (_, i) => (i < 4 ? n >> (8 * i) : i)),
  )
}

describe.skipIf(missing !== undefined)('the validator of blocks', () => {
  const good = missing === undefined ? (wireBlocks().at(-1) as BlockMsg) : (undefined as never)

  function validatorOf(
    view: ChainView,
    time: VirtualTime,
    readState: BlockEdge = plainRead,
  ): (data: Uint8Array) => Promise<string> {
    const validator = new BlockValidator({ view, readState, clock: time, timers: time, log: silentLog })
    return async (data) => {
      const judged = await validator.validate({ data, from: 'peer' })
      return judged.verdict === 'accept' ? 'accept' : `${judged.verdict} ${judged.reason}`
    }
  }

  /** A changed header over its own message lists. */
  function changed(change: Partial<BlockHeader>): BlockMsg {
    return { ...good, header: { ...good.header, ...change } }
  }

  /** A block with other lists that its header names. */
  function withLists(blsMessages: Cid[], secpkMessages: Cid[]): BlockMsg {
    const block = { ...good, blsMessages, secpkMessages }
    return { ...block, header: { ...good.header, messages: messagesRootOf(block) } }
  }

  const many = (from: number, count: number): Cid[] => Array.from({ length: count }, (_, i) => messageCidOf(from + i))
  const proof = good?.header.electionProof as ElectionProof
  const signature = good?.header.blockSig as Signature
  const flipped = { ...signature, data: signature?.data.map((byte, i) => (i === 5 ? byte ^ 1 : byte)) }

  const cases: [name: string, block: BlockMsg, expected: string][] =
    missing !== undefined
      ? []
      : [
          ['as Lotus made it', good, 'accept'],
          ['too many messages', withLists(many(0, 8000), many(9000, 2001)), 'reject too_many_messages'],
          ['a list longer than Lotus decodes', withLists(many(0, 8193), []), 'reject undecodable'],
          ['no signature', changed({ blockSig: null }), 'reject missing_signature'],
          ['ahead of the clock', changed({ height: good.header.height + 6 }), 'ignore height_out_of_range'],
          ['other messages than its header names', { ...good, blsMessages: many(0, 1) }, 'reject wrong_messages_root'],
          [
            'messages in the other list',
            { ...withLists(many(0, 1), []), blsMessages: [], secpkMessages: many(0, 1) },
            'reject wrong_messages_root',
          ],
          ['a miner that nobody knows', changed({ miner: parseAddress('f0999999') }), 'ignore unknown_miner'],
          ['an account for a miner', changed({ miner: parseAddress('f0100') }), 'ignore unknown_miner'],
          [
            'an address without an actor',
            changed({ miner: parseAddress('f15ihq5ibzwki2b4ep2f46avlkrqzhpqgtga7pdrq') }),
            'ignore unknown_miner',
          ],
          ['no election proof', changed({ electionProof: null }), 'reject not_winning'],
          ['no win', changed({ electionProof: { ...proof, winCount: 0 } }), 'reject not_winning'],
          ['a negative number of wins', changed({ electionProof: { ...proof, winCount: -1 } }), 'reject not_winning'],
          ['another signature', changed({ blockSig: flipped }), 'reject wrong_signature'],
          ['a signature of another kind', changed({ blockSig: { ...signature, type: 1 } }), 'reject wrong_signature'],
          [
            'a short signature',
            changed({ blockSig: { ...signature, data: signature.data.subarray(1) } }),
            'reject wrong_signature',
          ],
          ['what was signed changed', changed({ forkSignaling: 1n }), 'reject wrong_signature'],
          ['messages that were not signed', withLists(many(0, 3), many(9, 2)), 'reject wrong_signature'],
          [
            'another miner',
            changed({ miner: parseAddress(good.header.miner.toString('f') === 'f01000' ? 'f01001' : 'f01000') }),
            'reject wrong_signature',
          ],
        ]

  for (const [name, block, expected] of cases) {
    it(`${name}: ${expected}`, async () => {
      const { view, time } = chainBefore(good)
      expect(await validatorOf(view, time)(encode(blockMsg, block))).toBe(expected)
    })
  }

  it('a null header, a cut payload, bytes after the block: reject', async () => {
    const { view, time } = chainBefore(good)
    const judge = validatorOf(view, time)
    const writer = new CborWriter()
    writer.array(3)
    writer.null()
    writer.array(0)
    writer.array(0)
    const data = encode(blockMsg, good)
    expect(await judge(writer.finish())).toBe('reject undecodable')
    expect(await judge(data.subarray(0, -1))).toBe('reject undecodable')
    expect(await judge(concatBytes(data, Uint8Array.of(0)))).toBe('reject undecodable')
    expect(await judge(new Uint8Array(0))).toBe('reject undecodable')
    expect(await judge(data)).toBe('accept')
  })

  it('heights: from finality below the head to five epochs ahead of the clock', async () => {
    const { view, time } = chainBefore(good)
    const judge = validatorOf(view, time)
    const at = async (height: number): Promise<string> => judge(encode(blockMsg, changed({ height })))
    // The clock stands at the block's own time.
    const now = good.header.height
    expect(await at(now + 5)).not.toContain('height_out_of_range')
    expect(await at(now + 6)).toBe('ignore height_out_of_range')
    expect(await at(-1)).not.toContain('height_out_of_range')
    expect(await at(view.store.head().height - 901)).toBe('ignore height_out_of_range')
    expect(await at(view.store.head().height - 900)).not.toContain('height_out_of_range')
  })

  it('a big number in a longer form than needed is read as Lotus reads it', async () => {
    const { view, time } = chainBefore(good)
    const data = encode(blockMsg, good)
    // ParentBaseFee is the header's last field: byte string of sign and magnitude, here 00 and one byte (100).
    const at = indexOfBaseFee(data, good)
    const longer = concatBytes(data.subarray(0, at), Uint8Array.of(0x43, 0, 0), data.subarray(at + 2))
    expect(await validatorOf(view, time)(longer)).toBe('accept')
  })

  it('a miner without power is blamed on the sender only while our head is young', async () => {
    // The recorded chain makes a miner of its own soon after genesis: without power for ever.
    const { view } = openRecordedView('nv28')
    const { store, network } = view
    const genesis = firstBlock(store.genesis()).timestamp
    const lateHeight = store.head().height + 850
    const template = wireBlocks().at(-1) as BlockMsg
    const block = { ...template, header: { ...template.header, miner: parseAddress('f01013'), height: lateHeight } }
    const headMs = firstBlock(store.head()).timestamp * 1000
    const time = new VirtualTime((genesis + lateHeight * network.blockDelaySecs) * 1000)
    expect(time.nowMs() - headMs).toBeLessThan(6 * 3_600_000)
    expect(await validatorOf(view, time)(encode(blockMsg, block))).toBe('reject miner_without_power')
    const later = new VirtualTime(headMs + 6 * 3_600_000)
    expect(await validatorOf(view, later)(encode(blockMsg, block))).toBe('ignore miner_without_power')
  })

  it('state that cannot be had, or takes too long: ignored, and not remembered', async () => {
    const { view, time } = chainBefore(good)
    const data = encode(blockMsg, good)
    let answer: BlockEdge = () => Promise.reject(new BlockMissing([good.header.messages]))
    const judge = validatorOf(view, time, (run, signal) => answer(run, signal))
    expect(await judge(data)).toBe('ignore not_judged')
    const signals: (AbortSignal | undefined)[] = []
    answer = (_run, signal) => {
      signals.push(signal)
      return new Promise(() => undefined)
    }
    expect(await time.until(judge(data))).toBe('ignore not_judged')
    expect(signals[0]?.aborted).toBe(true)
    expect(time.pending).toBe(0)
    answer = plainRead
    expect(await judge(data)).toBe('accept')
  })

  it('a flipped bit in what our disk gives back is not blamed on the sender', { timeout: 60_000 }, async () => {
    const random = seeded('flipped bits below a gossiped block')
    const { view, time } = chainBefore(good)
    const { blocks } = view.store
    const data = encode(blockMsg, good)
    /** Judged by a node whose disk changes what it reads. */
    const judged = (read: (cid: Cid, block: Uint8Array | undefined) => Uint8Array | undefined): Promise<string> => {
      const disk: Blockstore = {
        get: (cid) => read(cid, blocks.get(cid)),
        has: (cid) => blocks.has(cid),
        put: (cid, block) => blocks.put(cid, block),
      }
      const { network } = view
      const damaged = new ChainView({ store: view.store.over(disk), network, beaconRound: mockBeacon.roundAt })
      return validatorOf(damaged, time)(data)
    }
    const reads = new Map<string, Cid>()
    const noting = (cid: Cid, block: Uint8Array | undefined): typeof block => {
      reads.set(cid.key, cid)
      return block
    }
    expect(await judged(noting)).toBe('accept')
    expect(reads.size).toBeGreaterThan(5)
    const verdicts = new Map<string, number>()
    for (let run = 0; run < 500; run++) {
      const [cid] = random.shuffle([...reads.values()]) as [Cid]
      const damage = (block: Uint8Array): Uint8Array => {
        const changed = block.slice()
        const bit = random.int(8 * block.length)
        changed[bit >> 3] = (changed[bit >> 3] as number) ^ (1 << (bit & 7))
        return changed
      }
      const own = damage(blocks.get(cid) as Uint8Array)
      const verdict = await judged((one, block) => (one.equals(cid) ? own : block))
      verdicts.set(verdict, (verdicts.get(verdict) ?? 0) + 1)
      expect(verdict, cid.toString()).not.toMatch(/^reject/)
    }
    console.log(verdicts)
    expect(verdicts.get('accept')).toBeGreaterThan(0)
    expect(verdicts.get('ignore unknown_miner')).toBeGreaterThan(0)
  })

  it('two of the same at once: one is accepted', async () => {
    const { view, time } = chainBefore(good)
    const judge = validatorOf(view, time)
    const data = encode(blockMsg, good)
    expect(await Promise.all([judge(data), judge(data)])).toEqual(['accept', 'ignore seen'])
  })

  it('keeps nothing of the buffer that it was given', async () => {
    const { view, time } = chainBefore(good)
    const validator = new BlockValidator({ view, readState: plainRead, clock: time, timers: time, log: silentLog })
    const data = encode(blockMsg, good)
    const judged = await validator.validate({ data, from: 'peer' })
    data.fill(0)
    expect(judged.verdict === 'accept' && encode(blockMsg, judged.block)).toEqual(encode(blockMsg, good))
  })

  it('random changes of a good block are never accepted, nor thrown on', { timeout: 60_000 }, async () => {
    const { view, time } = chainBefore(good)
    const random = seeded('gossiped blocks')
    const judge = validatorOf(view, time)
    const data = encode(blockMsg, good)
    for (let run = 0; run < 600; run++) {
      const bytes = data.slice()
      for (let i = 0; i <= random.int(3); i++) bytes[random.int(bytes.length)] = random.int(256)
      const cut = random.int(4) === 0 ? bytes.subarray(0, random.int(bytes.length)) : bytes
      if (cut.length === data.length && cut.every((byte, i) => byte === data[i])) continue
      expect(await judge(cut)).toMatch(/^(reject|ignore) /)
    }
    for (let run = 0; run < 300; run++) expect(await judge(random.bytes(random.int(300)))).toMatch(/^(reject|ignore) /)
    expect(await judge(data)).toBe('accept')
  })
})

/** Where the byte string of ParentBaseFee starts: before the two lists at the end. */
function indexOfBaseFee(data: Uint8Array, block: BlockMsg): number {
  const lists =
    encode(blockMsg, block).length - encode(blockMsg, { ...block, blsMessages: [], secpkMessages: [] }).length
  expect(lists).toBe(block.blsMessages.length * 41 + block.secpkMessages.length * 41)
  const end = data.length - lists - 2
  const at = end - 3
  expect([...data.subarray(at, at + 2)]).toEqual([0x42, 0])
  return at
}
