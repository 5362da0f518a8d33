/**
 * Producers and peers that divide the chain, against a living follower whose finality is ten epochs:
 *
 *   equivocation  each block of one of two miners is followed by others of his, at the same height on the same parents, as well signed
 *                 and as valid
 *   long range    the whole chain again with other CIDs, served by the chain exchange as the heaviest: it parts from ours below finality
 *   short range   the same for the last epochs, its head with more weight than the chain's rules give it
 *
 * The follower must stay on the producer's chain. That needs a miner who is honest: where all blocks of the last epochs are equivocated,
 * no head is better than another (Lotus: `RefreshHeaviestTipSet` of `chain/store/store.go`). By hand:
 *
 *     node test/attack/forks.ts [--seconds 40] [--only <part of a name>]
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { type Cid, parseCid } from '../../src/codec/cid.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import {
  CHAIN_EXCHANGE_PROTOCOL,
  type ExchangeTipset,
  exchangeRequest,
  exchangeResponse,
} from '../../src/p2p/chainExchange/messages.ts'
import { StreamReader } from '../../src/p2p/framing/streamReader.ts'
import { blockMsg } from '../../src/p2p/gossip/blockMsg.ts'
import { blocksTopic } from '../../src/p2p/gossip/topics.ts'
import { HELLO_PROTOCOL } from '../../src/p2p/hello.ts'
import { latencyMessage } from '../../src/p2p/helloMessage.ts'
import { type BlockHeader, blockHeader, headerCid, headerSigningBytes } from '../../src/types/blockHeader.ts'
import { type Key, keyOf, signWith } from '../../src/wallet/key.ts'
import { KEY_BLS } from '../../src/wallet/keyInfo.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { ATTACK_OPTIONS } from './attackOptions.ts'
import { Author, frameOf } from './author.ts'
import { claimHead } from './claimHead.ts'
import { RawPeer } from './rawPeer.ts'
import { attack, type Target, withTarget } from './target.ts'

const { values } = parseArgs({
  options: {
    ...ATTACK_OPTIONS,
    seconds: { type: 'string', default: '40' },
    network: { type: 'string', default: '' },
    url: { type: 'string', default: '' },
    worker: { type: 'string', default: '' },
    miner: { type: 'string', default: '' },
  },
})
const FINALITY = 10
/** Epochs from which on there is something below finality. */
const CHAIN_EPOCHS = 2 * FINALITY
const SHORT_EPOCHS = 5
const PEERS = 6
/** Other blocks beside each one, of each peer. */
const TWINS = 50
const MAX_REQUEST_BYTES = 4096
const counts = { blocks: 0, equivocations: 0, forks: 0, hellos: 0, asked: 0, served: 0, thrownOut: 0 }

interface Miner {
  readonly rpc: RpcClient
  readonly key: Key
}

async function headersOf(rpc: RpcClient, cids: readonly Cid[]): Promise<BlockHeader[]> {
  const read = async (cid: Cid): Promise<BlockHeader> => {
    const bytes: string = await rpc.call('ChainReadObj', { '/': cid.toString() })
    return decode(blockHeader, new Uint8Array(Buffer.from(bytes, 'base64')))
  }
  return Promise.all(cids.map(read))
}

function cidsOf(list: readonly { '/': string }[]): Cid[] {
  return list.map((one) => parseCid(one['/']))
}

function signed(header: BlockHeader, key: Key): BlockHeader {
  return { ...header, blockSig: signWith(key, headerSigningBytes(header)) }
}

/** The dishonest miner's block of each head again, as blocks that differ in a field which no rule looks at. */
async function equivocate({ rpc, key }: Miner, end: number): Promise<void> {
  const topic = blocksTopic(values.network)
  const author = new Author()
  const streams = await Promise.all(
    Array.from({ length: PEERS }, async () => (await RawPeer.connect(values.target)).open('/meshsub/1.1.0')),
  )
  let last = ''
  while (performance.now() < end) {
    const head: Answer = await rpc.call('ChainHead')
    const cid = cidsOf(head.Cids)[head.Blocks.findIndex((block: Answer) => block.Miner === values.miner)]
    if (cid === undefined || cid.toString() === last) {
      await sleep(20)
      continue
    }
    last = cid.toString()
    counts.blocks++
    const [header] = (await headersOf(rpc, [cid])) as [BlockHeader]
    const { BlsMessages: bls, SecpkMessages: secp } = await rpc.call('ChainGetBlockMessages', { '/': last })
    const lists = {
      blsMessages: bls.map((one: Answer) => parseCid(one.CID['/'])),
      secpkMessages: secp.map((one: Answer) => parseCid(one.CID['/'])),
    }
    for (const [number, stream] of streams.entries()) {
      for (let twin = 0; twin < TWINS; twin++) {
        const other = signed({ ...header, forkSignaling: BigInt(1 + number * TWINS + twin) }, key)
        const data = encode(blockMsg, { header: other, ...lists })
        await stream.write(frameOf([author.envelope(topic, data)])).catch(() => void counts.thrownOut++)
        counts.equivocations++
      }
    }
  }
}

/** The chain again from some epoch on: every block with another CID, as valid as the one that it was made from. From the head down. */
async function forkOf({ rpc, key }: Miner, epochs: number): Promise<ExchangeTipset[]> {
  const tipsets: ExchangeTipset[] = []
  const head: Answer = await rpc.call('ChainHead')
  const from = Math.max(1, head.Height - epochs)
  const heights = Array.from({ length: head.Height - from + 1 }, (_, i) => from + i)
  const found: Answer[] = await Promise.all(
    heights.map((height) => rpc.call('ChainGetTipSetByHeight', height, head.Cids)),
  )
  let parents: Cid[] | undefined
  for (const [i, tipset] of found.entries()) {
    if (tipset.Height !== heights[i]) continue
    const blocks = (await headersOf(rpc, cidsOf(tipset.Cids))).map((header) =>
      signed({ ...header, forkSignaling: 7n, ...(parents === undefined ? {} : { parents }) }, key),
    )
    tipsets.unshift(withoutMessages(blocks))
    parents = blocks.map(headerCid)
  }
  return tipsets
}

function withoutMessages(blocks: BlockHeader[]): ExchangeTipset {
  const none = blocks.map(() => [])
  return { blocks, messages: { bls: [], blsIncludes: none, secpk: [], secpkIncludes: none } }
}

/** Peers that have a fork, and say so again and again, each time with another head that claims too much weight. */
async function divide({ key }: Miner, fork: readonly ExchangeTipset[], end: number): Promise<void> {
  while (performance.now() < end) {
    const [below, ...rest] = fork as [ExchangeTipset]
    const weight = (below.blocks[0] as BlockHeader).parentWeight + 10n ** 20n
    const heads = below.blocks.map((header) =>
      signed({ ...header, parentWeight: weight, forkSignaling: BigInt(8 + counts.forks) }, key),
    )
    const tipsets = [withoutMessages(heads), ...rest]
    counts.forks++
    const byKey = new Map(tipsets.map(({ blocks }, at) => [String(blocks.map(headerCid)), at]))
    const peer = await RawPeer.connect(values.target, {
      [HELLO_PROTOCOL]: async (stream) => {
        await stream.write(encode(latencyMessage, { tArrival: 0n, tSent: 0n }))
        await stream.closeWrite()
      },
      [CHAIN_EXCHANGE_PROTOCOL]: async (stream) => {
        counts.asked++
        const request = await new StreamReader(stream, MAX_REQUEST_BYTES).cborItem(MAX_REQUEST_BYTES)
        const { head, length } = decode(exchangeRequest, request)
        const at = byKey.get(String(head))
        const chain = at === undefined ? [] : tipsets.slice(at, at + Number(length))
        const status = at === undefined ? 201 : chain.length < Number(length) ? 101 : 0
        counts.served += chain.length
        await stream.write(encode(exchangeResponse, { status, errorMessage: '', chain }))
        await stream.closeWrite()
      },
    })
    try {
      const [top] = tipsets as [ExchangeTipset]
      const said = {
        heaviestTipSet: top.blocks.map(headerCid),
        heaviestTipSetHeight: (top.blocks[0] as BlockHeader).height,
        heaviestTipSetWeight: weight,
        genesisHash: parseCid(values.genesis),
      }
      await claimHead(peer, said)
      counts.hellos++
      // Until it has been asked for what it claims.
      await sleep(3000)
    } catch {
      counts.thrownOut++
    }
    await peer.stop()
  }
}

async function child(): Promise<void> {
  await initCrypto()
  const privateKey = new Uint8Array(Buffer.from(values.worker, 'base64'))
  const miner = { rpc: new RpcClient(values.url), key: keyOf({ type: KEY_BLS, privateKey }) }
  const end = performance.now() + 1000 * Number(values.seconds)
  const run = async (): Promise<void> => {
    if (values.kind === 'equivocation') return equivocate(miner, end)
    const fork = await forkOf(miner, values.kind === 'long range' ? Number.MAX_SAFE_INTEGER : SHORT_EPOCHS)
    await Promise.all(Array.from({ length: PEERS }, () => divide(miner, fork, end)))
  }
  await Promise.race([run(), sleep(1000 * Number(values.seconds) + 5000)])
  console.log(JSON.stringify(counts))
  process.exit(0)
}

/** Whether both have the same tipset where neither moves any more. */
async function assertSameChain({ producer, victim }: Target): Promise<void> {
  const { Height: height } = await victim.rpc.call('ChainHead')
  const at = async ({ rpc }: typeof victim): Promise<unknown> =>
    (await rpc.call('ChainGetTipSetByHeight', height - 2, [])).Cids
  assert.deepEqual(await at(victim), await at(producer), `the follower is on another chain at ${height - 2}`)
}

async function main(target: Target): Promise<void> {
  const { producer, victim, networkName } = target
  const genesis: string = (await victim.rpc.call('ChainGetGenesis')).Cids[0]['/']
  const [miner]: string[] = await producer.rpc.call('StateListMiners', [])
  const { Worker: worker } = await producer.rpc.call('StateMinerInfo', miner, [])
  const { PrivateKey: key } = await producer.rpc.call(
    'WalletExport',
    await producer.rpc.call('StateAccountKey', worker, []),
  )
  for (const kind of ['equivocation', 'long range', 'short range']) {
    if (!kind.includes(values.only)) continue
    console.log(kind)
    while ((await victim.rpc.call('ChainHead')).Height < CHAIN_EPOCHS) await sleep(500)
    const seen = await attack(target, import.meta.filename, [
      ...['--target', victim.address, '--network', networkName, '--genesis', genesis, '--kind', kind],
      ...['--url', producer.process.url, '--miner', miner as string, '--worker', key, '--seconds', values.seconds],
    ])
    await assertSameChain(target)
    if (kind === 'equivocation') assert.ok(seen.counts.equivocations > 500, 'blocks were equivocated')
    else assert.ok(seen.counts.served > 0, 'the forks were asked for')
    const log = victim.process.output()
    if (kind === 'long range') assert.match(log, /fork past finality/)
  }
  console.log('the follower stayed on the chain')
}

await (values.child ? child() : withTarget(1, main, { producing: ['--miners', '2'], chainFinality: FINALITY }))
