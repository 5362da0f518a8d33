/**
 * A call that is only tried: `eth_call`.
 * @see lotus chain/types/ethtypes/eth_types.go EthCall; node/impl/eth/gas.go EthCall, applyMessage
 */
import { EMPTY_BYTES } from '../base/bytes.ts'
import { errorMessage, PetrelError } from '../base/errors.ts'
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { executionReverted } from '../chain/executionReverted.ts'
import type { InvocResult, VmHost } from '../chain/vm.ts'
import { CborReader } from '../codec/cborReader.ts'
import { CborWriter } from '../codec/cborWriter.ts'
import type { Cid } from '../codec/cid.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { delegatedAddress, NAMESPACE_EAM, PROTOCOL_DELEGATED } from '../types/address.ts'
import { ethAddressToAddress } from '../types/ethAddress.ts'
import { Exit } from '../types/exitCodes.ts'
import type { Message } from '../types/message.ts'
import { EamMethod, EvmMethod } from '../types/methodNumbers.ts'
import { BLOCK_GAS_LIMIT } from '../types/protocol.ts'
import type { TokenAmount } from '../types/scalars.ts'
import { EAM_ADDRESS } from '../types/singletons.ts'
import type { Tipset } from '../types/tipset.ts'

const ADDRESS_BYTES = 20

/** What is called. The gas and the price that a client gives do not matter: a call may use a block's gas and pays none. */
export interface EthCall {
  /** 20 bytes; undefined: the address of zeros. */
  readonly from: Uint8Array | undefined
  /** 20 bytes; undefined: a contract is created. */
  readonly to: Uint8Array | undefined
  /** AttoFIL. */
  readonly value: TokenAmount
  /** Call data or creation code. */
  readonly data: Uint8Array
}

/** What a call needs. */
export interface EthCallDeps {
  readonly view: Pick<ChainView, 'stateTree'>
  readonly vm: Pick<VmHost, 'callWithGas'>
}

/** @throws ChainError `WRONG_ADDRESS` when the sender is a masked ID */
export function ethCallMessage({ from, to, value, data }: EthCall): Message {
  const isNobody = from === undefined || from.every((byte) => byte === 0)
  const sender = isNobody ? delegatedAddress(NAMESPACE_EAM, new Uint8Array(ADDRESS_BYTES)) : ethAddressToAddress(from)
  if (sender.protocol !== PROTOCOL_DELEGATED) {
    throw new ChainError('WRONG_ADDRESS', `expected a class 4 address, got: ${sender.protocol}`)
  }
  return {
    version: 0,
    from: sender,
    to: to === undefined ? EAM_ADDRESS : ethAddressToAddress(to),
    nonce: 0n,
    value,
    method: to === undefined ? EamMethod.CreateExternal : EvmMethod.InvokeContract,
    params: data.length === 0 ? EMPTY_BYTES : byteString(data),
    gasLimit: BLOCK_GAS_LIMIT,
    gasFeeCap: 0n,
    gasPremium: 0n,
  }
}

function byteString(data: Uint8Array): Uint8Array {
  const writer = new CborWriter(data.length + 9)
  writer.bytes(data)
  return writer.finish()
}

/**
 * Runs a message on what a tipset left. A sender that may not send (a contract, or nobody yet) is let through.
 * @param stateRoot - what the tipset left
 * @throws ChainError `EXECUTION_REVERTED` (info: `data`) when it fails, `EXPENSIVE_FORK`
 */
export async function applyEthCall(
  message: Message,
  tipset: Tipset,
  stateRoot: Cid,
  { view, vm }: EthCallDeps,
  signal?: AbortSignal,
): Promise<InvocResult> {
  const run = async (skipSenderValidation: boolean): Promise<InvocResult | undefined> => {
    const options = {
      priorMessages: [],
      tipsetMessages: 'none',
      skipSenderValidation,
      tracing: false,
      stateRoot,
    } as const
    try {
      return await vm.callWithGas(message, tipset, options, signal)
    } catch (cause) {
      if (cause instanceof BlockMissing || !(cause instanceof PetrelError) || cause.code === 'EXPENSIVE_FORK')
        throw cause
      if (cause.code === 'SENDER_INVALID' && !skipSenderValidation) return undefined
      const name = skipSenderValidation ? 'ApplyOnStateWithGasSkipSenderValidation' : 'ApplyOnStateWithGas'
      throw new ChainError('WRONG_MESSAGE', `${name} failed: ${errorMessage(cause)}`, {}, { cause })
    }
  }
  // Most calls name no sender: that nobody is known is seen here sooner than by a run.
  let result = view.stateTree(stateRoot).lookupId(message.from) === undefined ? undefined : await run(false)
  if (result === undefined || result.msgRct.exitCode === Exit.SYS_SENDER_INVALID) {
    result = (await run(true)) as InvocResult
  }
  const { msgRct: receipt, error } = result
  if (receipt.exitCode !== 0) throw executionReverted({ receipt, error })
  return result
}

/** What a successful call returned. Of a creation: nothing. @throws CodecError when it is no byte string */
export function returnedData({ msg, msgRct }: InvocResult): Uint8Array {
  if (msg.to.equals(EAM_ADDRESS) || msgRct.return.length === 0) return EMPTY_BYTES
  return new CborReader(msgRct.return).readBytes()
}
