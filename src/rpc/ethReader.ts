/**
 * What the methods of Ethereum's interface read: executed tipsets by block parameter, transactions by hash.
 */
import { equalBytes } from '../base/bytes.ts'
import { Lru } from '../base/lru.ts'
import type { ChainView } from '../chain/chainView.ts'
import { ChainError } from '../chain/errors.ts'
import { messageByCid } from '../chain/messageByCid.ts'
import type { VmHost } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import { type Codec, jsonOnly, text } from '../codec/description.ts'
import type { Finality } from '../consensus/finality.ts'
import { EthIndex } from '../eth/ethIndex.ts'
import { ethTipset } from '../eth/ethTipset.ts'
import { ethHashOf } from '../eth/ethTransactionOf.ts'
import { type ExecutedTipset, executedTipset } from '../eth/executedTipset.ts'
import { chainMessageCid } from '../types/chainMessage.ts'
import { SIGNATURE_DELEGATED } from '../types/signature.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import { type Tipset, tipsetKeyText } from '../types/tipset.ts'
import { RpcError } from './errors.ts'
import type { FoundMessage } from './methods/execution.ts'
import { ethHash, hexBytes } from './types/eth.ts'

/** Executed tipsets kept, entries. */
const EXECUTED_CACHE = 128

/** What the methods need. */
export interface EthMethodsDeps {
  readonly view: ChainView
  readonly vm: Pick<VmHost, 'tipsetState' | 'call' | 'compute'>
  /** Messages that wait in the pool. */
  readonly pending: () => readonly SignedMessage[]
  /** Which tipsets are final; default: distances from the head alone. */
  readonly finality?: Finality
  /** Searches the head's chain for a message; undefined when it is not there. */
  readonly findMessage: (messageCid: Cid) => Promise<FoundMessage | undefined> | FoundMessage | undefined
}

/** A block by tag or number, or by hash: `"latest"`, `"0x10"`, `{blockHash}`, `{blockNumber}`. */
export type BlockParam = string | { readonly hash: Uint8Array }

export const blockParam: Codec<BlockParam> = jsonOnly<BlockParam>(
  'ethtypes.EthBlockNumberOrHash',
  (value) => (typeof value === 'string' ? value : hexBytes(value.hash)),
  (given, context) => {
    if (typeof given === 'object' && given !== null && !Array.isArray(given)) {
      if (given.blockHash !== undefined) return { hash: ethHash.fromJson(given.blockHash, context) }
      return text.fromJson(given.blockNumber, context)
    }
    return text.fromJson(given, context)
  },
  { type: 'string' },
)

/** Reads executed tipsets, remembering the last ones. */
export class EthReader {
  readonly view: ChainView
  readonly vm: EthMethodsDeps['vm']
  readonly index: EthIndex
  readonly #pending: EthMethodsDeps['pending']
  readonly #executed = new Lru<string, ExecutedTipset>(EXECUTED_CACHE)

  readonly #finality: Finality | undefined

  constructor({ view, vm, pending, finality }: Pick<EthMethodsDeps, 'view' | 'vm' | 'pending' | 'finality'>) {
    this.#finality = finality
    this.view = view
    this.vm = vm
    this.#pending = pending
    this.index = new EthIndex(view)
  }

  get chainId(): bigint {
    return BigInt(this.view.network.chainId)
  }

  /** @param strict - a null round is refused with number 12 */
  tipset(block: BlockParam, strict: boolean): Tipset {
    if (typeof block !== 'string') {
      const found = this.index.tipset(block.hash)
      if (found === undefined)
        throw new RpcError('FAILED', `failed to get tipset by hash: unknown block ${hexBytes(block.hash)}`)
      return found
    }
    try {
      return ethTipset(this.view.store, block, strict, this.#finality)
    } catch (error) {
      if (!(error instanceof ChainError) || error.code !== 'NULL_ROUND') throw error
      throw new RpcError('NULL_ROUND', error.message, { data: Number(error.info.epoch), cause: error })
    }
  }

  /** The delegated message in the pool that is a transaction. */
  pendingMessage(hash: Uint8Array): SignedMessage | undefined {
    return this.#pending().find((signed) => {
      if (signed.signature.type !== SIGNATURE_DELEGATED) return false
      return equalBytes(ethHashOf({ kind: 'signed', message: signed.message, signed }, this.chainId), hash)
    })
  }

  /** Hash of the transaction that a message is. */
  hashOfMessage(one: Cid): Uint8Array {
    const found = messageByCid(this.view.store.blocks, one)
    const isDelegated = found.kind === 'signed' && found.signed.signature.type === SIGNATURE_DELEGATED
    return isDelegated ? ethHashOf(found, this.chainId) : one.digest
  }

  async executed(tipset: Tipset): Promise<ExecutedTipset> {
    const key = tipsetKeyText(tipset.key)
    const known = this.#executed.get(key)
    if (known !== undefined) return known
    const executed = await executedTipset(this.view, this.vm, tipset)
    this.#executed.set(key, executed)
    return executed
  }
}

/** A transaction on the chain. */
export interface Located {
  /** The executed tipset that holds it. */
  readonly executed: ExecutedTipset
  /** Its index there. */
  readonly index: number
}

/** Finds transactions on the head's chain. */
export function locateIn(reader: EthReader, deps: EthMethodsDeps): (hash: Uint8Array) => Promise<Located | undefined> {
  const { store } = reader.view
  return async (hash) => {
    const found = reader.index.messageCid(hash)
    const where = found === undefined ? undefined : await deps.findMessage(found)
    if (where === undefined) return undefined
    const executed = await reader.executed(store.parent(store.tipset(where.tipset)))
    const index = executed.messages.findIndex(({ message }) => chainMessageCid(message).equals(where.message))
    return index < 0 ? undefined : { executed, index }
  }
}
