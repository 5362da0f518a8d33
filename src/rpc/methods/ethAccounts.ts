/**
 * Methods of Ethereum's interface about accounts: balance, nonce, code, storage.
 * @see lotus node/impl/eth/lookup.go, transaction.go EthGetTransactionCount
 */
import { EMPTY_BYTES } from '../../base/bytes.ts'
import { tryActorOf } from '../../chain/actorLookup.ts'
import { ChainError } from '../../chain/errors.ts'
import type { InvocResult } from '../../chain/vm.ts'
import { CborReader } from '../../codec/cborReader.ts'
import { CborWriter } from '../../codec/cborWriter.ts'
import type { Cid } from '../../codec/cid.ts'
import { leftPad } from '../../eth/ethLogs.ts'
import { getBlock, getCbor } from '../../ipld/blockstore.ts'
import type { MessagePool } from '../../mempool/messagePool.ts'
import { type EvmState, evmStateAt } from '../../state/evm.ts'
import type { ActorState } from '../../types/actor.ts'
import { ethAddressToAddress } from '../../types/ethAddress.ts'
import type { Message } from '../../types/message.ts'
import { EvmMethod } from '../../types/methodNumbers.ts'
import { SYSTEM_ADDRESS } from '../../types/singletons.ts'
import type { Tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import type { EthReader, Walking } from '../ethReader.ts'
import { awaitInContext, inContext } from '../inContext.ts'
import { type MethodRow, method } from '../method.ts'
import { ethGetBalance, ethGetCode, ethGetStorageAt, ethGetTransactionCount } from '../signatures/ethAccounts.ts'
import { withNumbers } from '../typedFailure.ts'
import type { BlockParam } from '../types/ethCall.ts'

const SLOT_BYTES = 32
const PENDING = 'pending'

/** Rows about accounts. */
export function ethAccountMethods(reader: EthReader, pool: Pick<MessagePool, 'nonce'>): MethodRow[] {
  const { view } = reader
  const actorAt = async (who: Uint8Array, tipset: Tipset, call: Walking): Promise<ActorState | undefined> =>
    tryActorOf(view.stateTree(await reader.stateRoot(tipset, call)), ethAddressToAddress(who))
  /** What is wrong with the address is said before the block is looked at. */
  const actorOf = async (who: Uint8Array, at: BlockParam, call: Walking): Promise<ActorState | undefined> => {
    ethAddressToAddress(who)
    return actorAt(who, await call.walk(reader.tipset(at, false)), call)
  }
  const evmState = (actor: ActorState | undefined): EvmState | undefined => {
    const info = actor === undefined ? undefined : view.codes(actor.code)
    if (actor === undefined || info?.kind !== 'evm') return undefined
    return getCbor(view.store.blocks, evmStateAt(info.actorsVersion), actor.head)
  }
  return [
    method({
      ...ethGetBalance,
      handler: async (who, at, call) => (await actorOf(who, at, call))?.balance ?? 0n,
    }),
    method({
      ...ethGetTransactionCount,
      handler: async (who, at, call) => {
        const address = inContext('invalid address: ', () => ethAddressToAddress(who))
        if (at === PENDING) return awaitInContext('failed to get nonce from mpool: ', pool.nonce(address))
        const actor = await actorOf(who, at, call)
        const state = evmState(actor)
        if (state === undefined) return actor?.nonce ?? 0n
        return state.tombstone === null ? state.nonce : 0n
      },
    }),
    method({
      ...ethGetCode,
      handler: async (who, at, call) => {
        inContext('cannot get Filecoin address: ', () => ethAddressToAddress(who))
        const tipset = await call.walk(reader.tipset(at, false))
        if (tipset.height === 0) throw new RpcError('FAILED', 'block param must not specify genesis block')
        const state = evmState(await actorAt(who, tipset, call))
        return state === undefined || state.tombstone !== null
          ? EMPTY_BYTES
          : getBlock(view.store.blocks, state.bytecode)
      },
    }),
    method({
      ...ethGetStorageAt,
      handler: async (who, position, at, call) => {
        const tipset = await call.walk(reader.tipset(at, false))
        if (position.length > SLOT_BYTES) throw new RpcError('FAILED', 'supplied storage key is too long')
        if (evmState(await actorAt(who, tipset, call)) === undefined) return new Uint8Array(SLOT_BYTES)
        return withNumbers(() => storageAt(reader, who, position, tipset, call))
      },
    }),
  ]
}

async function storageAt(
  reader: EthReader,
  who: Uint8Array,
  position: Uint8Array,
  tipset: Tipset,
  call: Walking,
): Promise<Uint8Array> {
  const writer = new CborWriter()
  writer.array(1)
  writer.bytes(leftPad(position, SLOT_BYTES))
  const message: Message = {
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
  }
  const result = await callOn(reader, message, tipset, await reader.stateRoot(tipset, call), call.signal)
  if (result.msgRct.exitCode !== 0) throw new RpcError('FAILED', `failed to lookup storage slot: ${result.error}`)
  return leftPad(new CborReader(result.msgRct.return).readBytes(), SLOT_BYTES)
}

/**
 * Runs a message on what a tipset left. At a height whose migration is too dear for a call, in the circumstances of the tipset before it:
 * the answer lies in the state.
 * @see lotus node/impl/eth/lookup.go EthGetStorageAt "Rewind ts to escape the fork guard"
 */
async function callOn(
  { vm, view }: EthReader,
  message: Message,
  tipset: Tipset,
  stateRoot: Cid,
  signal: AbortSignal,
): Promise<InvocResult> {
  // The system actor may not send: without this it would be refused.
  const options = { priorMessages: [], tipsetMessages: 'none', skipSenderValidation: true, tracing: false } as const
  for (let at = tipset; ; at = view.store.parent(at)) {
    try {
      return await vm.callWithGas(message, at, { ...options, stateRoot }, signal)
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== 'EXPENSIVE_FORK') throw error
    }
  }
}
