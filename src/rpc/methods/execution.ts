/** Methods that execute: StateCall, StateReplay, StateCompute. */

import { MAX_COMPUTED_EPOCHS } from '../../base/bounds.ts'
import type { Walk } from '../../base/steps.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { assertEpochsAhead } from '../../chain/epochsAhead.ts'
import { ChainError } from '../../chain/errors.ts'
import { type InvocResult, isPrinted, type VmHost } from '../../chain/vm.ts'
import type { Cid } from '../../codec/cid.ts'
import { type Codec, decode, encode, i64, list, listOrEmpty, tuple } from '../../codec/description.ts'
import { verifyDealsForActivationReturn } from '../../state/params/market.ts'
import { dealId, registeredSealProof } from '../../state/scalars.ts'
import { type Address, idAddress } from '../../types/address.ts'
import type { Message } from '../../types/message.ts'
import type { Tipset, TipsetKey } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method, PrintedResult } from '../method.ts'
import { stateCall, stateCompute, stateComputeDataCID, stateReplay } from '../signatures/execution.ts'
import { computeOutputText, invocResultText, printedOutput } from '../types/execution.ts'
import { loadTipset } from './chain.ts'

/** Where a message was executed. */
export interface FoundMessage {
  /** May be a message that replaced the one asked for. */
  readonly message: Cid
  /** The tipset that executed it: the child of the one that included it. */
  readonly tipset: TipsetKey
}

/** What the methods need. */
export interface ExecutionMethodsDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'call' | 'replay' | 'computeForText'>
  /** Searches the head's chain for a message, replacements allowed; undefined when it is not there. */
  readonly findMessage: (messageCid: Cid, walk: Walk) => Promise<FoundMessage | undefined> | FoundMessage | undefined
}

const MARKET_ACTOR = 5n
const VERIFY_DEALS = 5n
const NO_FIELDS = {
  version: 0,
  nonce: 0n,
  value: 0n,
  gasLimit: 0n,
  gasFeeCap: 0n,
  gasPremium: 0n,
} as const

/** Rows of the methods that execute. */
export function executionMethods(deps: ExecutionMethodsDeps): MethodRow[] {
  const { view, vm } = deps
  return [
    method({
      ...stateCall,
      resultText: invocResultText,
      handler: (message, at, { signal }) => callOn(deps, given(message), loadTipset(view, at), signal),
    }),
    method({
      ...stateReplay,
      resultText: invocResultText,
      handler: async (at, messageCid, { signal, walk }): Promise<InvocResult> => {
        if (at.length > 0) return vm.replay(view.store.tipset(at), messageCid, signal)
        const found = await sought(deps, messageCid, walk)
        if (found === undefined) throw new RpcError('FAILED', `didn't find msg ${messageCid}`)
        return vm.replay(view.store.parent(view.store.tipsetOrHead(found.tipset)), found.message, signal)
      },
    }),
    method({
      ...stateCompute,
      resultText: computeOutputText,
      handler: async (vmHeight, messages, at, { signal }) => {
        const tipset = loadTipset(view, at)
        assertEpochsAhead(tipset, vmHeight, MAX_COMPUTED_EPOCHS)
        const output = await vm.computeForText(tipset, vmHeight, messages.map(given), signal)
        return isPrinted(output) ? new PrintedResult(printedOutput(output)) : output
      },
    }),
    method({
      ...stateComputeDataCID,
      handler: (miner, sealProof, deals, at, { signal }) =>
        deals.length === 0 ? null : dataCid(deps, miner, sectorDeals(sealProof, deals), loadTipset(view, at), signal),
    }),
  ]
}

/** Lotus' text says what it was looking for. @see lotus node/impl/full/state.go StateReplay */
async function sought(
  { findMessage }: Pick<ExecutionMethodsDeps, 'findMessage'>,
  message: Cid,
  walk: Walk,
): Promise<FoundMessage | undefined> {
  try {
    return await findMessage(message, walk)
  } catch (cause) {
    if (!(cause instanceof ChainError)) throw cause
    throw new ChainError(cause.code, `searching for msg ${message}: ${cause.message}`, cause.info, { cause })
  }
}

interface LastingSectorDeals {
  readonly sectors: readonly { readonly sectorType: number; readonly expiry: bigint; readonly deals: number[] }[]
}

const lastingSectorDeals: Codec<LastingSectorDeals> = tuple<LastingSectorDeals>('VerifyDealsForActivationParams', [
  [
    'sectors',
    'Sectors',
    listOrEmpty(
      tuple('SectorDeals', [
        ['sectorType', 'SectorType', registeredSealProof],
        ['expiry', 'SectorExpiry', i64],
        ['deals', 'DealIDs', list(dealId)],
      ]),
    ) as Codec<LastingSectorDeals['sectors']>,
  ],
])

/** Parameters in the layout of actors v12, which Lotus sends to every version. */
function sectorDeals(sectorType: number, deals: number[]): Uint8Array {
  return encode(lastingSectorDeals, { sectors: [{ sectorType, expiry: (1n << 63n) - 1n, deals }] })
}

/** @see lotus node/impl/full/state.go StateComputeDataCID */
async function dataCid(
  deps: ExecutionMethodsDeps,
  from: Address,
  params: Uint8Array,
  at: Tipset,
  signal: AbortSignal,
): Promise<Cid> {
  const call: Message = { ...NO_FIELDS, from, to: idAddress(MARKET_ACTOR), method: VERIFY_DEALS, params }
  const { msgRct } = await callOn(deps, call, at, signal)
  if (msgRct.exitCode !== 0) {
    throw new RpcError('FAILED', `receipt for VerifyDealsForActivation had exit code ${msgRct.exitCode}`)
  }
  const { unsealedCids } = decode(verifyDealsForActivationReturn, msgRct.return)
  if (unsealedCids.length !== 1) throw new RpcError('FAILED', 'Sectors output must have 1 entry')
  const found = unsealedCids[0]
  if (found === null || found === undefined) throw new RpcError('FAILED', 'computed data CID is nil')
  return found
}

function given(message: Message | null): Message {
  if (message === null) throw new RpcError('FAILED', 'message is nil')
  return message
}

/** Steps back over an expensive fork, as Lotus does. */
async function callOn(
  deps: ExecutionMethodsDeps,
  message: Message,
  start: Tipset,
  signal: AbortSignal,
): Promise<InvocResult> {
  for (let tipset = start; ; tipset = deps.view.store.parent(tipset)) {
    try {
      return await deps.vm.call(message, tipset, signal)
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== 'EXPENSIVE_FORK') throw error
    }
  }
}
