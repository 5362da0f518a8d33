/** Recorded executions of a golden chain: each message with its trace, and what it takes to run it again. */

import { memorySource } from '../../src/codec/byteSource.ts'
import { type Cid, parseCid } from '../../src/codec/cid.ts'
import { decode } from '../../src/codec/description.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { type ApplyResult, Executor } from '../../src/fvm/executor.ts'
import type { CodeLoader } from '../../src/fvm/kernel/kernel.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { getCbor, LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { carBlocks } from '../../src/ipld/car.ts'
import { type Network, networkVersionAt } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { type BlockHeader, blockHeader } from '../../src/types/blockHeader.ts'
import { type Message, message } from '../../src/types/message.ts'
import { type Row, recordedCalls } from './recorded.ts'
import { readSharedText, readSharedUnpacked } from './shared.ts'

/** A recorded message with the trace that Lotus gave, as JSON. */
export interface RecordedMessage {
  readonly cid: string
  readonly message: Message
  readonly isImplicit: boolean
  readonly receipt: Row
  readonly trace: Row
}

export interface RecordedTipset {
  readonly header: BlockHeader
  readonly messages: readonly RecordedMessage[]
  /** State root after it. */
  readonly root: string
}

export interface RecordedChain {
  readonly name: string
  readonly network: Network
  readonly store: MemoryBlockstore
  readonly tipsets: readonly RecordedTipset[]
}

const JSON_CONTEXT = { addressPrefix: 't' } as const

function recordedMessage(row: Row): RecordedMessage {
  const cost = row.GasCost as Row
  return {
    cid: (row.MsgCid as Row)['/'] as string,
    message: message.fromJson(row.Msg as Json, JSON_CONTEXT),
    isImplicit: cost.Message === null,
    receipt: row.MsgRct as Row,
    trace: row.ExecutionTrace as Row,
  }
}

/** Opens a chain with all its recorded executions. */
export function openRecordedChain(name: string): RecordedChain {
  const folder = `data/golden/${name}`
  const store = new MemoryBlockstore()
  const car = readSharedUnpacked(`${folder}/chain.car.zst`)
  for (const [cid, data] of carBlocks(memorySource(car))) store.put(cid, data)
  const tipsets: RecordedTipset[] = []
  for (const call of recordedCalls(name, 'chain.jsonl.zst', ['Filecoin.StateCompute'])) {
    const result = call.response.result as Row | undefined
    if (result === undefined || result.Trace === null) continue
    const key = call.params[2] as Row[] | null
    // Asked without a tipset: at the head of the moment.
    if (key === null || key.length === 0) continue
    const header = getCbor(store, blockHeader, parseCid(key[0]!['/'] as string))
    tipsets.push({
      header,
      messages: (result.Trace as Row[]).map(recordedMessage),
      root: (result.Root as Row)['/'] as string,
    })
  }
  return { name, network: parseNetwork(parseJson(readSharedText(`${folder}/network.json`))), store, tipsets }
}

/** Bytes of the message in the block: with its signature unless BLS. */
function rawLength(chain: RecordedChain, recorded: RecordedMessage): number {
  return recorded.isImplicit ? 0 : (chain.store.get(parseCid(recorded.cid))?.length ?? 0)
}

function attempt(
  chain: RecordedChain,
  executor: Executor,
  recorded: RecordedMessage,
): { result: ApplyResult | undefined; error: unknown } {
  try {
    const kind = recorded.isImplicit ? 'implicit' : 'explicit'
    return { result: executor.applyMessage(recorded.message, kind, rawLength(chain, recorded)), error: undefined }
  } catch (error) {
    return { result: undefined, error }
  }
}

/** What came of a message: its result, or what the host threw. */
export interface Replayed {
  readonly recorded: RecordedMessage
  readonly result: ApplyResult | undefined
  readonly error: unknown
  /** An earlier message of the tipset could not be executed: the state before this one is not the recorded one. */
  readonly isTainted: boolean
}

/**
 * Runs a tipset's recorded messages in their order. Actors that ask for randomness, older tipsets or the circulating
 * supply get none: native actors do not ask.
 * @param after - called after each message
 * @returns each message's outcome, and the state root
 */
export function replayTipset(
  chain: RecordedChain,
  tipset: RecordedTipset,
  loadCode: CodeLoader,
  after: (outcome: Replayed) => void = () => undefined,
): { outcomes: Replayed[]; root: Cid } {
  const { header } = tipset
  const store = new LayeredBlockstore([new MemoryBlockstore(), chain.store])
  let root = header.parentStateRoot
  const executorAt = (epoch: number): Executor =>
    new Executor(
      {
        networkVersion: networkVersionAt(chain.network, epoch),
        epoch,
        timestamp: header.timestamp,
        baseFee: header.parentBaseFee,
        circulatingSupply: 0n,
        chainId: BigInt(chain.network.chainId),
        stateRoot: root,
        tracing: true,
        actorDebugging: false,
      },
      {
        store,
        externs: {
          chainRandomness: () => new Uint8Array(32),
          beaconRandomness: () => new Uint8Array(32),
          tipsetCid: () => header.messages,
          verifyConsensusFault: () => undefined,
        },
        proofs: acceptAllProofs,
        loadCode,
      },
    )
  const outcomes: Replayed[] = []
  let isTainted = false
  let epoch = -1
  let executor: Executor | undefined
  for (const recorded of tipset.messages) {
    // An implicit message's nonce is its epoch: those of null rounds come first, in machines of their own.
    const at = recorded.isImplicit ? Number(recorded.message.nonce) : header.height
    if (executor === undefined || at !== epoch) {
      if (executor !== undefined) root = executor.flush()
      epoch = at
      executor = executorAt(epoch)
    }
    const outcome: Replayed = { recorded, ...attempt(chain, executor, recorded), isTainted }
    outcomes.push(outcome)
    if (outcome.result === undefined) isTainted = true
    after(outcome)
  }
  if (executor !== undefined) root = executor.flush()
  return { outcomes, root }
}

/** The header of a recorded block. */
export function recordedHeader(chain: RecordedChain, cid: string): BlockHeader {
  return decode(blockHeader, chain.store.get(parseCid(cid))!)
}
