/**
 * One message and its end, as differently as they can arrive, to every protocol that is answered on the same stream; then messages made of
 * those, and whether the node still answers.
 */
import assert from 'node:assert/strict'
import { fromHex, toHex, utf8 } from '../../src/base/bytes.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { decode, encode } from '../../src/codec/description.ts'
import {
  CHAIN_EXCHANGE_PROTOCOL,
  exchangeRequest,
  exchangeResponse,
  OPTION_HEADERS,
} from '../../src/p2p/chainExchange/messages.ts'
import { HELLO_PROTOCOL } from '../../src/p2p/hello.ts'
import { latencyMessage } from '../../src/p2p/helloMessage.ts'
import { mutate, randomOf } from '../fuzz/mutate.ts'
import { type GoPeer, RAW_MODES } from './goPeer.ts'
import { type Leader, peerHasHead, startBeside } from './leader.ts'

/** @see https://github.com/libp2p/specs/blob/master/identify/README.md */
const IDENTIFY = '/ipfs/id/1.0.0'

interface Case {
  readonly protocol: string
  readonly message: string
  /** Fails when the answer is not what it must be. */
  check(answer: string): void
}

async function cases({ rpc }: Leader, peer: GoPeer): Promise<Case[]> {
  const head = await rpc.call('ChainHead')
  const request = {
    head: head.Cids.map((one: { '/': string }) => parseCid(one['/'])),
    length: 2n,
    options: OPTION_HEADERS,
  }
  return [
    {
      protocol: HELLO_PROTOCOL,
      message: await peer.call('greeting'),
      check: (answer) => {
        const { tArrival, tSent } = decode(latencyMessage, fromHex(answer))
        assert.ok(tArrival > 0n && tSent >= tArrival)
      },
    },
    {
      protocol: CHAIN_EXCHANGE_PROTOCOL,
      message: toHex(encode(exchangeRequest, request)),
      check: (answer) => {
        const { status, chain } = decode(exchangeResponse, fromHex(answer))
        assert.equal(status, 0)
        assert.equal(chain.length, 2)
      },
    },
    {
      protocol: IDENTIFY,
      message: '',
      check: (answer) => assert.ok(answer.includes(toHex(utf8(HELLO_PROTOCOL)))),
    },
  ]
}

const SEED = 20_261_129
/** In each way of arrival: peers, and messages that each of them says at once. For one that is no message a peer is let go. */
const RUDE_PEERS = 5
const AT_ONCE = 8

/** Each protocol in each way, each way by a peer of its own (nobody says hello more than a few times), and no one is let go. */
export async function answersRawStreams(program: string, leader: Leader): Promise<void> {
  await leader.rpc.call('DevnetMine', 2, null)
  for (const mode of RAW_MODES) {
    const peer = await startBeside(program, leader)
    try {
      await peerHasHead(peer, leader.rpc)
      for (const { protocol, message, check } of await cases(leader, peer)) {
        await asked(`${protocol}, ${mode}`, async () =>
          check(await peer.call('raw', { peer: leader.id, protocol, message, mode })),
        )
      }
      const peers = await leader.rpc.call('NetPeers')
      assert.ok(peers.some((one: { ID: string }) => one.ID === peer.id))
    } finally {
      await peer.stop()
    }
  }
  await outlivesMutations(program, leader)
}

/**
 * Mutated messages in each way. What the node makes of them is its matter; afterwards it has told of no fault of its own, goes
 * on, and a peer that has not been there before is answered.
 */
async function outlivesMutations(program: string, leader: Leader): Promise<void> {
  const random = randomOf(SEED)
  for (const mode of RAW_MODES) {
    for (let i = 0; i < RUDE_PEERS; i++) {
      const peer = await startBeside(program, leader)
      try {
        await peerHasHead(peer, leader.rpc)
        const told = (await cases(leader, peer)).filter(({ message }) => message !== '')
        const pick = (): Case => told[random(told.length)] as Case
        const says = Array.from({ length: AT_ONCE }, () => {
          const { protocol, message } = pick()
          const mutated = mutate(fromHex(message), fromHex(pick().message), random)
          return { peer: leader.id, protocol, message: toHex(mutated), mode }
        })
        // Answered, refused, or reset when the peer is let go.
        await Promise.allSettled(says.map((one) => peer.call('raw', one)))
      } finally {
        await peer.stop()
      }
    }
  }
  const errors = leader.node.output().match(/^.* ERROR .*$/gm) ?? []
  assert.deepEqual(errors, [], 'what the node itself holds for a fault')
  await leader.rpc.call('DevnetMine', 1, null)
  const peer = await startBeside(program, leader)
  try {
    await peerHasHead(peer, leader.rpc)
    for (const { protocol, message, check } of await cases(leader, peer)) {
      await asked(`${protocol}, after mutated messages`, async () =>
        check(await peer.call('raw', { peer: leader.id, protocol, message, mode: 'library' })),
      )
    }
  } finally {
    await peer.stop()
  }
}

/** Names the case in what it throws. */
async function asked(name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run()
  } catch (cause) {
    throw new Error(`${name}: ${(cause as Error).message}`, { cause })
  }
}
