/**
 * Methods `Eth…` that read the chain: blocks, transactions, receipts, logs, accounts.
 * @see lotus node/impl/eth
 */
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { tryActorOf } from '../../chain/actorLookup.ts'
import { CborReader, CborWriter } from '../../codec/cbor.ts'
import { bool, cid, type Json, json, nullable, text } from '../../codec/description.ts'
import { leftPad } from '../../eth/ethLogs.ts'
import { ethTransactionOf } from '../../eth/ethTransactionOf.ts'
import { getBlock, getCbor } from '../../ipld/blockstore.ts'
import { evmStateAt } from '../../state/evm.ts'
import type { ActorState } from '../../types/actor.ts'
import { ethAddressToAddress } from '../../types/ethAddress.ts'
import { EvmMethod } from '../../types/methodNumbers.ts'
import { signedMessageCid } from '../../types/signedMessage.ts'
import { SYSTEM_ADDRESS } from '../../types/singletons.ts'
import type { Tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type BlockParam, blockParam, type EthMethodsDeps, EthReader, locateIn } from '../ethReader.ts'
import { type MethodRow, method, param } from '../method.ts'
import {
  blockJson,
  ethBytes,
  ethHash,
  hexNumber,
  logsOf,
  NOWHERE,
  receiptAt,
  transactionAt,
  transactionJson,
} from '../types/eth.ts'
import { ethAddress, ethUint64 } from './ethAddress.ts'
import { eventMethods } from './ethEvents.ts'
import { type EthSubscribeDeps, ethSubscribeMethods } from './ethSubscribe.ts'
import { traceMethods } from './ethTrace.ts'

const hashParam = param('hash', ethHash)
const blockNumber = param('blockNumber', text)
const block = param('block', blockParam)
const fullParam = param('fullTransactions', bool)

/** Rows of `Eth…`. */
export function ethMethods(deps: EthMethodsDeps & Omit<EthSubscribeDeps, 'reader'>): MethodRow[] {
  const reader = new EthReader(deps)
  return [
    ...blockMethods(reader),
    ...transactionMethods(reader, deps),
    ...accountMethods(reader),
    ...netMethods(reader),
    ...eventMethods(reader),
    ...traceMethods(reader, locateIn(reader, deps)),
    ...ethSubscribeMethods({ ...deps, reader }),
  ]
}

function blockMethods(reader: EthReader): MethodRow[] {
  const { chainId } = reader
  const blockOf = async (tipset: Tipset, full: boolean): Promise<Json> =>
    blockJson(await reader.executed(tipset), chainId, full, tipset.height >= reader.view.store.head().height)
  return [
    method({
      name: 'EthBlockNumber',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Height of the last executed tipset.',
      aliases: ['eth_blockNumber'],
      params: [],
      result: ethUint64,
      handler: () => BigInt(reader.tipset('latest', false).height),
    }),
    method({
      name: 'EthGetBlockByNumber',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'A block by number or tag.',
      aliases: ['eth_getBlockByNumber'],
      params: [blockNumber, fullParam],
      result: json,
      handler: (one, full) => blockOf(reader.tipset(one, true), full),
    }),
    method({
      name: 'EthGetBlockByHash',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'A block by hash.',
      aliases: ['eth_getBlockByHash'],
      params: [hashParam, fullParam],
      result: json,
      handler: (hash, full) => blockOf(reader.tipset({ hash }, false), full),
    }),
    method({
      name: 'EthGetBlockReceipts',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: "Receipts of a block's transactions.",
      aliases: ['eth_getBlockReceipts'],
      params: [block],
      result: json,
      handler: async (one) => {
        const executed = await reader.executed(reader.tipset(one, true))
        const logs = logsOf(executed, chainId)
        return executed.messages.map((_, index) => receiptAt(executed, index, chainId, logs))
      },
    }),
    method({
      name: 'EthGetBlockTransactionCountByNumber',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Number of transactions of a block.',
      aliases: ['eth_getBlockTransactionCountByNumber'],
      params: [blockNumber],
      result: ethUint64,
      handler: (one) => BigInt(transactionCount(reader, reader.tipset(one, true))),
    }),
    method({
      name: 'EthGetBlockTransactionCountByHash',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Number of transactions of a block.',
      aliases: ['eth_getBlockTransactionCountByHash'],
      params: [hashParam],
      result: ethUint64,
      handler: (hash) => BigInt(transactionCount(reader, reader.tipset({ hash }, false))),
    }),
  ]
}

function transactionCount(reader: EthReader, tipset: Tipset): number {
  return tipset.height === 0 ? 0 : reader.view.tipsetMessages(tipset).length
}

function transactionMethods(reader: EthReader, deps: EthMethodsDeps): MethodRow[] {
  const { chainId } = reader
  const locate = locateIn(reader, deps)
  const pendingJson = (hash: Uint8Array): Json => {
    const signed = reader.pendingMessage(hash)
    if (signed === undefined) return null
    const tree = reader.view.stateBefore(reader.view.store.head())
    return transactionJson(
      ethTransactionOf({ kind: 'signed', message: signed.message, signed }, tree, chainId),
      NOWHERE,
    )
  }
  const atIndex = async (tipset: Tipset, index: bigint): Promise<Json> =>
    transactionAt(await reader.executed(tipset), Number(index), chainId)
  return [
    method({
      name: 'EthGetTransactionByHash',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'A transaction by hash; null when it is not on the chain.',
      aliases: ['eth_getTransactionByHash'],
      params: [hashParam],
      result: json,
      handler: async (hash) => {
        const at = await locate(hash)
        return at === undefined ? pendingJson(hash) : transactionAt(at.executed, at.index, chainId)
      },
    }),
    method({
      name: 'EthGetTransactionReceipt',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Receipt of a transaction; null when it has not been executed.',
      aliases: ['eth_getTransactionReceipt'],
      params: [hashParam],
      result: json,
      handler: async (hash) => {
        const at = await locate(hash)
        return at === undefined ? null : receiptAt(at.executed, at.index, chainId, logsOf(at.executed, chainId))
      },
    }),
    method({
      name: 'EthGetTransactionByBlockNumberAndIndex',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'A transaction by its place.',
      aliases: ['eth_getTransactionByBlockNumberAndIndex'],
      params: [blockNumber, param('index', ethUint64)],
      result: json,
      handler: (one, index) => atIndex(reader.tipset(one, true), index),
    }),
    method({
      name: 'EthGetTransactionByBlockHashAndIndex',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'A transaction by its place.',
      aliases: ['eth_getTransactionByBlockHashAndIndex'],
      params: [hashParam, param('index', ethUint64)],
      result: json,
      handler: (hash, index) => atIndex(reader.tipset({ hash }, false), index),
    }),
    method({
      name: 'EthGetTransactionHashByCid',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Hash of the transaction that a message is.',
      params: [param('messageCid', cid)],
      result: nullable(ethHash),
      handler: (one) => reader.hashOfMessage(one),
    }),
    method({
      name: 'EthGetMessageCidByTransactionHash',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'CID of the message that a transaction is.',
      params: [hashParam],
      result: nullable(cid),
      handler: (hash) => {
        const known = reader.index.messageCid(hash)
        if (known !== undefined) return known
        const pending = reader.pendingMessage(hash)
        return pending === undefined ? null : signedMessageCid(pending)
      },
    }),
  ]
}

function accountMethods(reader: EthReader): MethodRow[] {
  const { view } = reader
  const accountParam = param('address', ethAddress)
  const actorAt = async (who: Uint8Array, at: BlockParam): Promise<ActorState | undefined> =>
    tryActorOf((await reader.executed(reader.tipset(at, false))).tree, ethAddressToAddress(who))
  const evmState = (actor: ActorState | undefined): ReturnType<ReturnType<typeof evmStateAt>['read']> | undefined => {
    const info = actor === undefined ? undefined : view.codes(actor.code)
    if (actor === undefined || info?.kind !== 'evm') return undefined
    return getCbor(view.store.blocks, evmStateAt(info.actorsVersion), actor.head)
  }
  return [
    method({
      name: 'EthGetBalance',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Balance after a block, attoFIL.',
      aliases: ['eth_getBalance'],
      params: [accountParam, block],
      result: json,
      handler: async (who, at) => hexNumber((await actorAt(who, at))?.balance ?? 0n),
    }),
    method({
      name: 'EthGetTransactionCount',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Nonce after a block; of a contract the number of contracts that it has made.',
      aliases: ['eth_getTransactionCount'],
      params: [accountParam, block],
      result: json,
      handler: async (who, at) => {
        const actor = await actorAt(who, at)
        return hexNumber(evmState(actor)?.nonce ?? actor?.nonce ?? 0n)
      },
    }),
    method({
      name: 'EthGetCode',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Code of a contract after a block.',
      aliases: ['eth_getCode'],
      params: [accountParam, block],
      result: ethBytes,
      handler: async (who, at) => {
        const state = evmState(await actorAt(who, at))
        return state === undefined || state.tombstone !== null
          ? EMPTY_BYTES
          : getBlock(view.store.blocks, state.bytecode)
      },
    }),
    method({
      name: 'EthGetStorageAt',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: "A slot of a contract's storage after a block.",
      aliases: ['eth_getStorageAt'],
      params: [accountParam, param('position', ethBytes), block],
      result: ethBytes,
      handler: async (who, position, at) => {
        if (position.length > 32) throw new RpcError('FAILED', 'supplied storage key is too long')
        const tipset = reader.tipset(at, false)
        if (evmState(await actorAt(who, at)) === undefined) return new Uint8Array(32)
        const { store } = view
        const head = store.head()
        // The machine runs on a tipset's parent state, so the child's is the state after the block.
        const child = tipset.height < head.height ? store.tipsetByHeight(tipset.height + 1, head, 'next') : tipset
        return storageAt(reader, who, position, child)
      },
    }),
  ]
}

async function storageAt(
  reader: EthReader,
  who: Uint8Array,
  position: Uint8Array,
  tipset: Tipset,
): Promise<Uint8Array> {
  const writer = new CborWriter()
  writer.array(1)
  writer.bytes(leftPad(position, 32))
  const result = await reader.vm.call(
    {
      version: 0,
      from: SYSTEM_ADDRESS,
      to: ethAddressToAddress(who),
      nonce: 0n,
      value: 0n,
      gasLimit: 0n,
      gasFeeCap: 0n,
      gasPremium: 0n,
      method: EvmMethod.GetStorageAt,
      params: writer.finish(),
    },
    tipset,
  )
  if (result.msgRct.exitCode !== 0) throw new RpcError('FAILED', `failed to lookup storage slot: ${result.error}`)
  return leftPad(new CborReader(result.msgRct.return).readBytes(), 32)
}

function netMethods(reader: EthReader): MethodRow[] {
  return [
    method({
      name: 'NetVersion',
      perm: 'read',
      versions: ['v1'],
      summary: 'The chain ID in decimal.',
      aliases: ['net_version'],
      params: [],
      result: text,
      handler: () => reader.chainId.toString(),
    }),
    method({
      name: 'EthAccounts',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'None: the node signs no Ethereum transactions.',
      aliases: ['eth_accounts'],
      params: [],
      result: json,
      handler: () => [],
    }),
  ]
}
