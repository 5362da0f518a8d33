/** Recorded executions of a golden chain: each message with its trace, and what it takes to run it again. */
import { zstdDecompressSync } from 'node:zlib'
import { carBlocks, readCarHeader } from '../../src/archive/car.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainView } from '../../src/chain/chainView.ts'
import { openChain } from '../../src/chain/openChain.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { type Cid, parseCid } from '../../src/codec/cid.ts'
import { type Json, parseJson } from '../../src/codec/jsonText.ts'
import { mockBeacon } from '../../src/consensus/beacon.ts'
import { ChainExterns } from '../../src/execution/chainExterns.ts'
import { createExecutor } from '../../src/execution/executeTipset.ts'
import type { ApplyResult, Executor } from '../../src/fvm/executor.ts'
import type { CodeLoader } from '../../src/fvm/kernel/kernel.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import type { Network } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import { type Message, message } from '../../src/types/message.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { type Row, recordedCalls } from './recorded.ts'
import { silentLog } from './recordedView.ts'
import { readShared, readSharedText } from './shared.ts'

/** A recorded message with the trace that Lotus gave, as JSON. */
export interface RecordedMessage {
  readonly cid: string
  readonly message: Message
  readonly isImplicit: boolean
  readonly receipt: Row
  readonly trace: Row
}

export interface RecordedTipset {
  readonly tipset: Tipset
  readonly header: BlockHeader
  readonly messages: readonly RecordedMessage[]
  /** State root after it. */
  readonly root: string
}

export interface RecordedChain {
  readonly name: string
  readonly network: Network
  readonly store: MemoryBlockstore
  readonly view: ChainView
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
  const network = parseNetwork(parseJson(readSharedText(`${folder}/network.json`)))
  const store = new MemoryBlockstore()
  const car = memorySource(new Uint8Array(zstdDecompressSync(readShared(`${folder}/chain.car.zst`))))
  for (const [cid, data] of carBlocks(car)) store.put(cid, data)
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), store])
  const chain = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: readCarHeader(car).roots })
  const view = new ChainView({ store: chain, network, beaconRound: mockBeacon.roundAt })
  const tipsets: RecordedTipset[] = []
  for (const call of recordedCalls(name, 'chain.jsonl.zst', ['Filecoin.StateCompute'])) {
    const result = call.response.result as Row | undefined
    if (result === undefined || result.Trace === null) continue
    const key = call.params[2] as Row[] | null
    // Asked without a tipset: at the head of the moment.
    if (key === null || key.length === 0) continue
    const tipset = chain.tipset(key.map((one) => parseCid(one['/'] as string)))
    tipsets.push({
      tipset,
      header: firstBlock(tipset),
      messages: (result.Trace as Row[]).map(recordedMessage),
      root: (result.Root as Row)['/'] as string,
    })
  }
  return { name, network, store, view, tipsets }
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

export interface ReplayOptions {
  readonly loadCode: CodeLoader
  /** Runs the messages that `loadCode`'s actors cannot, so that those after them have their state. */
  readonly fallback?: CodeLoader
  /** Called after each message. */
  readonly after?: (outcome: Replayed) => void
}

/**
 * Runs a tipset's recorded messages in their order.
 * @returns each message's outcome, and the state root
 */
export function replayTipset(
  chain: RecordedChain,
  recordedTipset: RecordedTipset,
  { loadCode, fallback, after }: ReplayOptions,
): { outcomes: Replayed[]; root: Cid } {
  const { header, tipset } = recordedTipset
  const { view, network } = chain
  const store = new LayeredBlockstore([new MemoryBlockstore(), chain.store])
  const externs = new ChainExterns(view, tipset, { watermelonFix: undefined, workerKey: () => undefined })
  const genesisTimestamp = firstBlock(view.store.genesis()).timestamp
  let root = header.parentStateRoot
  const executorAt = (epoch: number, loader: CodeLoader): Executor => {
    const deps = { network, genesisTimestamp, store, externs, proofs: acceptAllProofs, loadCode: loader }
    const timestamp = epoch === header.height ? header.timestamp : genesisTimestamp + network.blockDelaySecs * epoch
    return createExecutor(deps, root, epoch, timestamp, header.parentBaseFee, true)
  }
  const outcomes: Replayed[] = []
  let isTainted = false
  let epoch = -1
  let executor: Executor | undefined
  for (const recorded of recordedTipset.messages) {
    // An implicit message's nonce is its epoch: those of null rounds come first, in machines of their own.
    const at = recorded.isImplicit ? Number(recorded.message.nonce) : header.height
    if (executor === undefined || at !== epoch) {
      if (executor !== undefined) root = executor.flush()
      epoch = at
      executor = executorAt(epoch, loadCode)
    }
    const outcome: Replayed = { recorded, ...attempt(chain, executor, recorded), isTainted }
    outcomes.push(outcome)
    if (outcome.result === undefined) {
      root = executor.flush()
      const other = fallback === undefined ? undefined : executorAt(epoch, fallback)
      const replaced = other === undefined ? undefined : attempt(chain, other, recorded).result
      if (other === undefined || replaced?.receipt.exitCode !== Number(recorded.receipt.ExitCode)) isTainted = true
      if (other !== undefined) root = other.flush()
      executor = executorAt(epoch, loadCode)
    }
    after?.(outcome)
  }
  if (executor !== undefined) root = executor.flush()
  return { outcomes, root }
}
