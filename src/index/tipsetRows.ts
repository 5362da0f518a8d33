/**
 * The rows of a tipset that was executed. They follow from the tipset alone, whatever the index holds and whoever writes it; only the
 * first one of an index has more: every address and balance that was there before.
 */
import { fromHex, toHex } from '../base/bytes.ts'
import type { ChainView } from '../chain/chainView.ts'
import type { VmHost } from '../chain/vm.ts'
import type { Json } from '../codec/jsonText.ts'
import { ethBlockHash } from '../eth/ethIndex.ts'
import { type ExecutedTipset, executedTipset } from '../eth/executedTipset.ts'
import { BlockMissing } from '../ipld/errors.ts'
import { present } from '../ipld/found.ts'
import { balanceChanges } from '../transfers/balanceChanges.ts'
import { type AddressedTransfers, TransferReader } from '../transfers/tipsetTransfers.ts'
import { addressToId, idAddress } from '../types/address.ts'
import { blsChainMessage, chainMessageCid, signedChainMessage } from '../types/chainMessage.ts'
import { firstBlock, type Tipset, tipsetKeyCid } from '../types/tipset.ts'
import { addressRows, type ExecutedStates } from './addressRows.ts'
import { ethRows } from './ethRows.ts'
import type { AppliedTipset, IndexTable, Row, RowBatch, TipsetName } from './indexStore.ts'
import { messageRows } from './messageRows.ts'
import { byteText } from './rowText.ts'

/** Rows of one batch, which are made and written down in one turn, where there are more than a tipset's. */
const BATCH_ROWS = 500
const MS_PER_SEC = 1000
/** Genesis executes none. */
const NO_MESSAGES = { bls: [], signed: [] }

/** See {@link TipsetName}. */
export function tipsetName(tipset: Tipset): TipsetName {
  return toHex(ethBlockHash(tipset))
}

/** Makes the rows of tipsets of one chain. */
export class TipsetRows {
  readonly #view: ChainView
  readonly #vm: VmHost
  readonly #transfers: TransferReader

  constructor(view: ChainView, vm: VmHost) {
    this.#view = view
    this.#vm = vm
    this.#transfers = new TransferReader(view, vm)
  }

  /**
   * @param isFirst - of an index
   * @throws BlockMissing, VmError where the tipset cannot be executed any more
   */
  async read(tipset: Tipset, isFirst: boolean): Promise<AppliedTipset> {
    try {
      return await this.#read(tipset, isFirst)
    } catch (error) {
      // Snapshots leave out what executions left besides the state: then it is executed for keeps.
      if (!(error instanceof BlockMissing)) throw error
      await this.#vm.executeTipset(tipset)
      return await this.#read(tipset, isFirst)
    }
  }

  async #read(tipset: Tipset, isFirst: boolean): Promise<AppliedTipset> {
    const transfers = await this.#transfers.read(tipset)
    const executed = await executedTipset(this.#view, this.#vm, tipset)
    const { receiptsRoot, stateRoot } = await this.#vm.tipsetState(tipset)
    const states = { before: this.#view.stateBefore(tipset), after: executed.tree }
    const name = tipsetName(tipset)
    const place = { height: tipset.height, tipset: byteText(fromHex(name)) }
    const eth = ethRows(this.#view, executed)
    const { parents, parentBaseFee, timestamp } = firstBlock(tipset)
    const own: Row = {
      ...place,
      key: tipset.key.map(String),
      parent: tipset.height === 0 ? null : byteText(tipsetKeyCid(parents).digest),
      time: new Date(timestamp * MS_PER_SEC).toISOString(),
      base_fee: String(parentBaseFee),
      state_root: String(stateRoot),
      receipts_root: String(receiptsRoot),
      logs_bloom: eth.bloom,
    }
    const put = (table: IndexTable, rows: Iterable<Row>): Iterable<RowBatch> => batches(table, place, rows)
    const all = function* (view: ChainView): Iterable<RowBatch> {
      yield* put('blocks', blockRows(view, executed))
      yield* put('messages', messageRows(view, executed, states, transfers.fees))
      yield* put('transfers', transferRows(view, transfers))
      yield* put('balance_changes', balanceRows(transfers, states, isFirst))
      yield* put('addresses', addressRows(view, states, isFirst))
      yield* put('eth_transactions', eth.transactions)
      yield* put('logs', eth.logs)
    }
    // A tipset's own rows are made now, so that what is missing is found before anything is written.
    const lists = all(this.#view)
    return { tipset: name, height: tipset.height, rows: { own, batches: isFirst ? lists : [...lists] } }
  }
}

function* batches(table: IndexTable, place: Row, rows: Iterable<Row>): Iterable<RowBatch> {
  let batch: Row[] = []
  for (const row of rows) {
    batch.push({ ...place, ...row })
    if (batch.length < BATCH_ROWS) continue
    yield { table, rows: batch }
    batch = []
  }
  if (batch.length > 0) yield { table, rows: batch }
}

function blockRows(view: ChainView, { tipset, messages: executed }: ExecutedTipset): Row[] {
  const positions = new Map(executed.map(({ message }, position) => [chainMessageCid(message).key, position]))
  return tipset.blocks.map((block, position) => {
    const { bls, signed } = tipset.height === 0 ? NO_MESSAGES : view.blockMessages(block)
    const messages = [...bls.map(blsChainMessage), ...signed.map(signedChainMessage)]
    return {
      position,
      cid: String(tipset.key[position]),
      miner: addressToId(block.miner),
      win_count: block.electionProof?.winCount ?? 0,
      parent_weight: String(block.parentWeight),
      messages: messages.map((message) => positions.get(chainMessageCid(message).key) ?? null),
    }
  })
}

function transferRows(view: ChainView, { transfers, addressOf }: AddressedTransfers): Row[] {
  return transfers.map(({ kind, message, index, path, from, to, value, method }, position) => ({
    position,
    kind,
    message: message === null ? null : String(message),
    execution: index,
    path: [...path],
    from_actor: from,
    from_address: view.addressText(addressOf.get(from) ?? idAddress(from)),
    to_actor: to,
    to_address: view.addressText(addressOf.get(to) ?? idAddress(to)),
    value: String(value),
    method: String(method),
  }))
}

function* balanceRows(
  { transfers, fees }: AddressedTransfers,
  { after }: ExecutedStates,
  isFirst: boolean,
): Iterable<Row> {
  const changes = balanceChanges(transfers, fees)
  const row = (actor: bigint, balance: bigint): Row => {
    const change: Json = String(changes.get(actor) ?? 0n)
    return { actor, change, balance: String(balance) }
  }
  if (isFirst) {
    for (const [id, { balance }] of present(after.found()))
      if (balance !== 0n || changes.has(id)) yield row(id, balance)
    for (const id of changes.keys()) if (after.getActor(id) === undefined) yield row(id, 0n)
  } else {
    for (const id of changes.keys()) yield row(id, after.getActor(id)?.balance ?? 0n)
  }
}
