/** The Go peer follows Petrel: hello, chain exchange, gossip of blocks and messages, state by bitswap. */
import assert from 'node:assert/strict'
import { until } from '../support/until.ts'
import type { GoPeer } from './goPeer.ts'
import { type Leader, peerHasHead } from './leader.ts'

const OPTION_HEADERS = 1
const OPTION_BOTH = 3
const STATUS_OK = 0
const STATUS_PARTIAL = 101

/** A transfer of one attoFIL. @returns its CID */
async function send({ rpc }: Leader): Promise<string> {
  const accounts = await rpc.call('DevnetAccounts')
  const message = {
    Version: 0,
    From: accounts[0].Address,
    To: accounts[1].Address,
    Value: '1',
    Method: 0,
    Params: null,
  }
  const gas = { Nonce: 0, GasLimit: 0, GasFeeCap: '0', GasPremium: '0' }
  const { CID } = await rpc.call('MpoolPushMessage', { ...message, ...gas }, null)
  return CID['/']
}

/** What was there before the two met, then what comes. */
export async function peerFollows(leader: Leader, peer: GoPeer): Promise<void> {
  const { rpc } = leader
  await rpc.call('DevnetMine', 3, null)
  await peerHasHead(peer, rpc)
  await send(leader)
  await until(async () => ((await peer.stats()).counts['messages heard'] ?? 0) >= 1, 'a message came by gossip')
  await rpc.call('DevnetMine', 2, null)
  await peerHasHead(peer, rpc)
  // A branch that is heavier: blocks that are not children of the head.
  await rpc.call('DevnetMine', 4, { NullRounds: 0, Fork: 2 })
  await peerHasHead(peer, rpc)
  const { counts, errors } = await peer.stats()
  assert.deepEqual(errors, [])
  assert.ok((counts['blocks heard'] ?? 0) >= 1, JSON.stringify(counts))
  assert.ok((counts['hello answered'] ?? 0) >= 1, JSON.stringify(counts))
}

/** Answers as the node's own API tells the chain; the peer has checked headers and messages by their CIDs. */
export async function peerAsks({ rpc, id }: Leader, peer: GoPeer): Promise<void> {
  const head = await rpc.call('ChainHead')
  const keys: string[][] = []
  let at = head
  for (;;) {
    keys.push(at.Cids.map((one: { '/': string }) => one['/']))
    if (at.Height === 0) break
    at = await rpc.call('ChainGetTipSet', at.Blocks[0].Parents)
  }
  const ask = { peer: id, head: keys[0] }
  const some = await peer.call('exchange', { ...ask, length: 3, options: OPTION_HEADERS })
  assert.equal(some.status, STATUS_OK)
  assert.deepEqual(
    some.tipsets.map((one: { cids: string[] }) => one.cids),
    keys.slice(0, 3),
  )
  const all = await peer.call('exchange', { ...ask, length: keys.length + 5, options: OPTION_BOTH })
  assert.equal(all.status, STATUS_PARTIAL)
  assert.deepEqual(
    all.tipsets.map((one: { cids: string[] }) => one.cids),
    keys,
  )
  assert.equal(all.messages, 1)
  const count = await peer.call('fetch', { head: [head.Blocks[0].ParentStateRoot['/']] })
  assert.ok(count > 20, `${count} blocks of state`)
}
