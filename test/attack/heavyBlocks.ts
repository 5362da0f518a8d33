/**
 * Miners that win elections, and put 10,000 messages into each of their blocks, which are bad: the last signature is wrong, or the
 * aggregate of all, a nonce comes twice, the gas is over the limit. In each epoch they make a tipset of up to five such blocks beside the
 * honest one, heavier than it, and serve it by the chain exchange. `valid` is not bad: as much work as blocks can be. With `hashes` nobody is
 * hostile but senders, whose messages spend all gas of the blocks on SHA-256, of which it buys most. By hand:
 *
 *     node test/attack/heavyBlocks.ts [--seconds 40] [--only <part of a name>]
 */
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { CborReader } from '../../src/codec/cborReader.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { type Cid, parseCid } from '../../src/codec/cid.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { storeSignedMessages } from '../../src/consensus/createBlock.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { createBlock, electWinners, type Producer } from '../../src/devnet/blocks.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import {
  CHAIN_EXCHANGE_PROTOCOL,
  type ExchangeTipset,
  exchangeRequest,
  exchangeResponse,
} from '../../src/p2p/chainExchange/messages.ts'
import { StreamReader } from '../../src/p2p/framing/streamReader.ts'
import { HELLO_PROTOCOL } from '../../src/p2p/hello.ts'
import { latencyMessage } from '../../src/p2p/helloMessage.ts'
import { type Address, idAddress, parseAddress } from '../../src/types/address.ts'
import { type BlockHeader, blockHeader, headerCid, headerSigningBytes } from '../../src/types/blockHeader.ts'
import { type Message, messageCid } from '../../src/types/message.ts'
import { EamMethod, EvmMethod } from '../../src/types/methodNumbers.ts'
import { SIGNATURE_BLS, type Signature } from '../../src/types/signature.ts'
import { signedMessage } from '../../src/types/signedMessage.ts'
import { createTipset } from '../../src/types/tipset.ts'
import { type Key, keyOf, signWith } from '../../src/wallet/key.ts'
import { KEY_BLS, KEY_SECP256K1 } from '../../src/wallet/keyInfo.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { ATTACK_OPTIONS } from './attackOptions.ts'
import { claimHead } from './claimHead.ts'
import { RawPeer } from './rawPeer.ts'
import { attack, type Target, withTarget } from './target.ts'

const { values } = parseArgs({
  options: {
    ...ATTACK_OPTIONS,
    seconds: { type: 'string', default: '40' },
    url: { type: 'string', default: '' },
    token: { type: 'string', default: '' },
  },
})
const MESSAGES = 10_000
/** Half of mainnet's epoch: such a block takes seconds to check, and half a minute is what the network gives for it. */
const BLOCK_SECONDS = 15
const MINERS = 20
/** Of these the first produce honestly. */
const HONEST = 10
const MOST_BLOCKS = 5
/** What a tipset of so many full blocks takes while it is checked (docs/attacks.md), MB. */
const CHECKED_MB = 100
/** And of valid ones: they become the head, and leave it again, each epoch. */
const VALID_MB = 250
const SENDERS = 100
const PEERS = 3
const MAX_REQUEST_BYTES = 4096
/** Of each message: 10,000 of the second are more than a block may have. */
const GAS = { fits: 900_000n, over: 1_100_000n }
const KINDS = ['last signature', 'aggregate', 'nonce', 'gas', 'valid', 'hashes'] as const
/** Of the last kind each sender has so many, of a tenth of a block's gas each. */
const HASHING_MESSAGES = 2
const HASHING_GAS = 1_000_000_000n
/** A contract that hashes 1 MiB, again and again: JUMPDEST, a static call of precompile 2, POP, PUSH1 0, JUMP. */
const HASHING = '5b' + '60206000' + '62100000' + '60006002' + '5afa' + '50' + '600056'
const counts = { tipsets: 0, blocks: 0, hellos: 0, asked: 0, served: 0, thrownOut: 0 }

/** The messages of all hostile blocks, and what a header says of them. */
interface Load {
  readonly header: Pick<BlockHeader, 'messages' | 'blsAggregate'>
  readonly exchanged: (blocks: number) => NonNullable<ExchangeTipset['messages']>
}

async function keysOf(rpc: RpcClient, type: 'bls' | 'secp256k1'): Promise<Key[]> {
  const accounts: { Address: string; Type: string }[] = await rpc.call('DevnetAccounts')
  const ours = accounts.filter(({ Address: address }) => address.startsWith(type === 'bls' ? 't3' : 't1'))
  return Promise.all(
    ours.slice(0, SENDERS).map(async ({ Address: address }) => {
      const { PrivateKey: text } = await rpc.call('WalletExport', address)
      const privateKey = new Uint8Array(Buffer.from(text, 'base64'))
      return keyOf({ type: type === 'bls' ? KEY_BLS : KEY_SECP256K1, privateKey })
    }),
  )
}

function noncesOf(rpc: RpcClient, keys: readonly Key[]): Promise<bigint[]> {
  return Promise.all(
    keys.map(async ({ address }) => BigInt((await rpc.call('StateGetActor', address.toString('t'), [])).Nonce)),
  )
}

async function loadOf(rpc: RpcClient, kind: string): Promise<Load> {
  const keys = await keysOf(rpc, kind === 'aggregate' ? 'bls' : 'secp256k1')
  assert.equal(keys.length, SENDERS)
  const nonces = await noncesOf(rpc, keys)
  const each = MESSAGES / SENDERS
  const wrong: Signature = { type: SIGNATURE_BLS, data: signWith(keys[0] as Key, new Uint8Array(1)).data }
  const all = Array.from({ length: MESSAGES }, (_, i) => {
    const at = Math.floor(i / each)
    const { address } = keys[at] as Key
    const isLast = i === MESSAGES - 1
    const nonce = (nonces[at] as bigint) + BigInt(i % each) - (kind === 'nonce' && isLast ? 1n : 0n)
    const gasLimit = kind === 'gas' ? GAS.over : GAS.fits
    const price = { gasFeeCap: 10n ** 9n, gasPremium: 1n + BigInt(i) }
    const one: Message = {
      version: 0,
      to: address,
      from: address,
      nonce,
      value: 0n,
      gasLimit,
      ...price,
      method: 0n,
      params: new Uint8Array(0),
    }
    if (kind === 'aggregate') return { message: one, signature: wrong }
    const signature = signWith(keys[at] as Key, messageCid(one).bytes)
    if (kind === 'last signature' && isLast) signature.data[10] = (signature.data[10] as number) ^ 1
    return { message: one, signature }
  })
  const { meta, blsAggregate } = storeSignedMessages(new MemoryBlockstore(), all)
  const includes = all.map((_, i) => i)
  return {
    header: { messages: meta, blsAggregate },
    exchanged: (blocks) => {
      const [every, none] = [Array.from({ length: blocks }, () => includes), Array.from({ length: blocks }, () => [])]
      return kind === 'aggregate'
        ? { bls: all.map(({ message }) => message), blsIncludes: every, secpk: [], secpkIncludes: none }
        : { bls: [], blsIncludes: none, secpk: all, secpkIncludes: every }
    },
  }
}

async function headerOf(rpc: RpcClient, cid: Cid): Promise<BlockHeader> {
  const bytes: string = await rpc.call('ChainReadObj', { '/': cid.toString() })
  return decode(blockHeader, new Uint8Array(Buffer.from(bytes, 'base64')))
}

/** Miners beside the honest ones. */
async function hostileMiners(rpc: RpcClient): Promise<Producer[]> {
  const miners: string[] = await rpc.call('StateListMiners', [])
  return Promise.all(
    miners.slice(HONEST).map(async (miner) => {
      const { Worker: worker } = await rpc.call('StateMinerInfo', miner, [])
      const key = await rpc.call('WalletExport', await rpc.call('StateAccountKey', worker, []))
      return { miner: parseAddress(miner), workerKey: new Uint8Array(Buffer.from(key.PrivateKey, 'base64')) }
    }),
  )
}

/** A tipset beside the honest block, as heavy as the miners' luck makes it; undefined when nobody wins. */
async function tipsetBeside(
  rpc: RpcClient,
  honest: BlockHeader,
  miners: readonly Producer[],
  load: Load,
): Promise<ExchangeTipset | undefined> {
  const base = createTipset(await Promise.all(honest.parents.map((cid) => headerOf(rpc, cid))))
  const power = await rpc.call('StateMinerPower', miners[0]?.miner.toString('t'), [])
  const share = { miner: BigInt(power.MinerPower.QualityAdjPower), network: BigInt(power.TotalPower.QualityAdjPower) }
  const input = {
    ...{ base, epoch: honest.height, beaconEntries: honest.beaconEntries, baseWeight: honest.parentWeight },
    ...{ baseFee: honest.parentBaseFee, timestamp: honest.timestamp },
    baseState: { stateRoot: honest.parentStateRoot, receiptsRoot: honest.parentMessageReceipts },
  }
  const blocks = electWinners(miners, input, () => share)
    .slice(0, MOST_BLOCKS)
    .map((winner) => {
      const unsigned: BlockHeader = {
        ...createBlock(new MemoryBlockstore(), input, winner, []),
        ...load.header,
        blockSig: null,
      }
      const key = keyOf({ type: KEY_BLS, privateKey: winner.producer.workerKey })
      return { ...unsigned, blockSig: signWith(key, headerSigningBytes(unsigned)) }
    })
  if (blocks.length === 0) return undefined
  const sorted = [...createTipset(blocks).blocks]
  return { blocks: sorted, messages: load.exchanged(sorted.length) }
}

/** Serves the tipset of the epoch, and says again and again that it is its head. */
async function serve(newest: () => ExchangeTipset | undefined, end: number): Promise<void> {
  while (performance.now() < end) {
    try {
      const peer = await RawPeer.connect(values.target, {
        [HELLO_PROTOCOL]: async (stream) => {
          await stream.write(encode(latencyMessage, { tArrival: 0n, tSent: 0n }))
          await stream.closeWrite()
        },
        [CHAIN_EXCHANGE_PROTOCOL]: async (stream) => {
          counts.asked++
          const request = await new StreamReader(stream, MAX_REQUEST_BYTES).cborItem(MAX_REQUEST_BYTES)
          const { head } = decode(exchangeRequest, request)
          const tipset = newest()
          const isIt = tipset?.blocks.map(headerCid).every((cid) => head.some((one) => one.equals(cid)))
          if (isIt) counts.served++
          const response = { status: isIt ? 0 : 201, errorMessage: '', chain: isIt ? [tipset] : [] }
          await stream.write(encode(exchangeResponse, response))
          await stream.closeWrite()
        },
      })
      let said: ExchangeTipset | undefined
      while (performance.now() < end && peer.isConnected) {
        const tipset = newest()
        if (tipset !== undefined && tipset !== said) {
          said = tipset
          const [{ height, parentWeight }] = tipset.blocks as [BlockHeader]
          const weight = parentWeight + 10n ** 12n
          const keys = { heaviestTipSet: tipset.blocks.map(headerCid), genesisHash: parseCid(values.genesis) }
          await claimHead(peer, { ...keys, heaviestTipSetHeight: height, heaviestTipSetWeight: weight })
          counts.hellos++
        }
        await sleep(50)
      }
      await peer.stop()
    } catch {
      counts.thrownOut++
      await sleep(200)
    }
  }
}

/** Deploys {@link HASHING}. @returns its address */
async function deployed(rpc: RpcClient, from: Address): Promise<Address> {
  const code = Buffer.from(HASHING, 'hex')
  // Copies what stands behind these 11 bytes, and returns it.
  const init = Buffer.from([0x60, code.length, 0x80, 0x60, 11, 0x60, 0, 0x39, 0x60, 0, 0xf3])
  const params = new CborWriter()
  params.bytes(Buffer.concat([init, code]))
  const draft = {
    ...{ From: from.toString('t'), To: 't010', Method: Number(EamMethod.CreateExternal), Value: '0' },
    ...{ Params: Buffer.from(params.finish()).toString('base64'), GasLimit: 0, GasFeeCap: '0', GasPremium: '0' },
  }
  const { CID: cid } = await rpc.call('MpoolPushMessage', draft, null)
  const { Receipt: receipt } = await rpc.call('StateWaitMsg', cid, 0, 100, true)
  assert.equal(receipt.ExitCode, 0)
  const reader = new CborReader(new Uint8Array(Buffer.from(receipt.Return, 'base64')))
  reader.readArray()
  return idAddress(reader.readUint())
}

/** Gives the producer messages that hash as long as their gas lasts. */
async function hash(rpc: RpcClient, seconds: number): Promise<void> {
  const keys = await keysOf(rpc, 'secp256k1')
  const to = await deployed(rpc, (keys[0] as Key).address)
  const nonces = await noncesOf(rpc, keys)
  for (let round = 0; round < HASHING_MESSAGES; round++) {
    for (const [i, key] of keys.entries()) {
      const one: Message = {
        ...{ version: 0, to, from: key.address, nonce: (nonces[i] as bigint) + BigInt(round), value: 0n },
        ...{ gasLimit: HASHING_GAS, gasFeeCap: 10n ** 9n, gasPremium: 10n ** 6n },
        ...{ method: EvmMethod.InvokeContract, params: new Uint8Array(0) },
      }
      const signed = { message: one, signature: signWith(key, messageCid(one).bytes) }
      await rpc.call('MpoolPush', signedMessage.toJson(signed, { addressPrefix: 't' }))
      counts.served++
    }
  }
  await sleep(1000 * seconds)
  const sum = (all: readonly bigint[]): bigint => all.reduce((a, b) => a + b, 0n)
  // In blocks.
  counts.blocks = Number(sum(await noncesOf(rpc, keys)) - sum(nonces)) / 10
  console.log(JSON.stringify(counts))
  process.exit(0)
}

async function child(): Promise<void> {
  await initCrypto()
  const rpc = new RpcClient(values.url, values.token)
  if (values.kind === 'hashes') return hash(rpc, Number(values.seconds))
  const [load, miners] = [await loadOf(rpc, values.kind), await hostileMiners(rpc)]
  const end = performance.now() + 1000 * Number(values.seconds)
  let tipset: ExchangeTipset | undefined
  const make = async (): Promise<void> => {
    let last = ''
    while (performance.now() < end) {
      const head: Answer = await rpc.call('ChainHead')
      const name: string = head.Cids[0]['/']
      if (name !== last) {
        last = name
        // Genesis has no miner's ticket to draw on.
        if (head.Height < 3) continue
        tipset = await tipsetBeside(rpc, await headerOf(rpc, parseCid(name)), miners, load)
        counts.tipsets += tipset === undefined ? 0 : 1
        counts.blocks += tipset?.blocks.length ?? 0
      }
      await sleep(50)
    }
  }
  const all = [make(), ...Array.from({ length: PEERS }, () => serve(() => tipset, end))]
  await Promise.race([Promise.all(all), sleep(1000 * Number(values.seconds) + 5000)])
  console.log(JSON.stringify(counts))
  process.exit(0)
}

async function main(target: Target, kinds: readonly string[]): Promise<void> {
  const { producer, victim } = target
  const genesis: string = (await victim.rpc.call('ChainGetGenesis')).Cids[0]['/']
  for (const kind of kinds) {
    console.log(`${kind === 'hashes' ? '10,000,000,000 gas' : '10,000 messages'} a block: ${kind}`)
    const before = victim.process.output().length
    try {
      const args = [
        ...['--target', victim.address, '--genesis', genesis, '--kind', kind, '--seconds', values.seconds],
        ...['--url', producer.process.url, '--token', producer.process.token],
      ]
      const moreMb = kind === 'valid' ? VALID_MB : CHECKED_MB
      const { counts: did } = await attack(target, import.meta.filename, args, moreMb)
      assert.ok(did.blocks > 0 && did.served > 0, 'the blocks were asked for')
    } finally {
      const log = victim.process.output().slice(before).split('\n')
      for (const line of log.filter((one) => / (WARN|ERROR) |head|miner/.test(one)).slice(0, 40))
        console.log(`  ${line.slice(0, 260)}`)
    }
  }
  console.log('the follower bore it')
}

const producing = [
  '--miners',
  String(MINERS),
  '--produce',
  String([...Array(HONEST).keys()]),
  '--accounts',
  String(SENDERS),
]
if (values.child) await child()
const chosen = KINDS.filter((kind) => kind.includes(values.only))
// Contracts need the network's own actors.
for (const actors of ['native', 'wasm'] as const) {
  const kinds = chosen.filter((kind) => (kind === 'hashes') === (actors === 'wasm'))
  const options = { producing, blockSeconds: BLOCK_SECONDS, actors }
  if (kinds.length > 0) await withTarget(1, (target) => main(target, kinds), options)
}
