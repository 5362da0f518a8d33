/**
 * A thread that answers reads beside the node: the chain on disk, the node's head, no pool, no wallet, no machine. What it cannot answer
 * whole and well it leaves to the node, failures too: a caller never notices which of them answered.
 *
 *     request -> may ask, head is the node's, row of the chain -> answer, or too many of its kind -> busy
 *             -> anything else: the node's to answer
 */
import { MemoryStore } from '../base/memoryStore.ts'
import type { KeyValueStore, Logger } from '../base/ports.ts'
import { ActorStates } from '../chain/actorStates.ts'
import { ChainStore } from '../chain/chainStore.ts'
import type { ChainView } from '../chain/chainView.ts'
import { MessagePlaces } from '../chain/messagePlaces.ts'
import { recordedState } from '../chain/recordedState.ts'
import { NO_LOOKBACK_LIMIT, searchByCid } from '../chain/searchMessage.ts'
import { vmHost } from '../chain/vm.ts'
import type { Cid } from '../codec/cid.ts'
import type { Blockstore } from '../ipld/blockstore.ts'
import { BlockMissing } from '../ipld/errors.ts'
import type { Network } from '../networks/network.ts'
import type { CallCounts } from '../rpc/callCounts.ts'
import { CostQueues, type DearClass } from '../rpc/cost.ts'
import { type Caller, type EngineDeps, RpcEngine } from '../rpc/engine.ts'
import { apiVersionOf, HttpHandler, type HttpOptions } from '../rpc/http.ts'
import type { HttpRequest, HttpResponse } from '../rpc/httpMessage.ts'
import type { MethodRow } from '../rpc/method.ts'
import { chainMethods } from '../rpc/methods/chain.ts'
import { ethReadMethods } from '../rpc/methods/eth.ts'
import { minerMethods } from '../rpc/methods/miner.ts'
import { networkMethods } from '../rpc/methods/network.ts'
import { objectMethods } from '../rpc/methods/objects.ts'
import { registryMethods } from '../rpc/methods/registry.ts'
import { searchMethods } from '../rpc/methods/search.ts'
import { sectorMethods } from '../rpc/methods/sectors.ts'
import { stateMethods } from '../rpc/methods/state.ts'
import type { Outcome, StreamedOutcome } from '../rpc/outcome.ts'
import type { RpcRequest } from '../rpc/request.ts'
import { createMethodTable } from '../rpc/table.ts'
import { Tokens } from '../rpc/tokens.ts'
import type { BlockHeader } from '../types/blockHeader.ts'
import { createTipset } from '../types/tipset.ts'
import { NodeError } from './errors.ts'
import type { NodePorts } from './nodePorts.ts'
import { viewOf } from './openNode.ts'

/** What a thread is told of its node. */
export interface ReaderStart {
  readonly network: Network
  readonly genesis: Cid
  /** Secret of the API's tokens. */
  readonly secret: Uint8Array
  /** Whether it has an index of old tipsets and messages. */
  readonly hasIndex: boolean
  readonly http: Pick<HttpOptions, 'maxRequestBytes' | 'allowedOrigins' | 'allowedHosts'>
}

/** What a thread has of its own. */
export interface ReaderDeps {
  /** The chain on disk, its archive. Nothing is written there. */
  readonly blocks: Blockstore
  /** The node's settings on disk: revoked tokens. */
  readonly meta: KeyValueStore
  /** The node's rows of where messages lie. */
  readonly places?: KeyValueStore | undefined
  readonly ports: NodePorts
  /** Where its dear calls are counted together with the node's; undefined: they are not. */
  readonly counts?: ((cost: DearClass) => CallCounts | undefined) | undefined
  /** Hears of each answer. */
  called(method: string, ms: number): void
}

/** Rows of Ethereum's interface that need neither pool nor machine nor finality. */
const ETH_READS = /^Eth(ChainId|BlockNumber|GetBlock|GetTransactionReceipt|GetCode|GetStorageAt|GetBalance)/
/** Reads that wait, ask for what is final, or whether something is there: not here does not mean nowhere. */
const OF_THE_NODE = /^(StateWaitMsg|ChainGetFinalizedTipSet|ChainHasObj)/
/** Reads that the node's index answers better. */
const BY_INDEX = /^(StateSearchMsg|EthGetTransactionReceipt)/

/** HTTP status of who asks too much at once. */
const TOO_MANY = 429

/** Thrown in place of an answer that is the node's to give. */
class Left extends NodeError {
  constructor() {
    super('LEFT', 'the node is to answer')
  }
}

const leave = (): never => {
  throw new Left()
}

/** Gives good answers alone; throws {@link Left} in place of any other. */
class ReadEngine extends RpcEngine {
  readonly #nowMs: () => number
  readonly #called: ReaderDeps['called']
  /** The node would refuse what is refused here: passed on, it would cost twice, when there is most to do. */
  readonly #sharesCounts: boolean

  constructor(deps: EngineDeps, nowMs: () => number, { called, counts }: Pick<ReaderDeps, 'called' | 'counts'>) {
    super(deps)
    this.#nowMs = nowMs
    this.#called = called
    this.#sharesCounts = counts !== undefined
  }

  /** Of a batch. */
  override dispatch(): never {
    return leave()
  }

  override dispatchStreaming(
    request: RpcRequest,
    caller: Caller,
  ): Outcome | StreamedOutcome | Promise<Outcome | StreamedOutcome> {
    const startedMs = this.#nowMs()
    const good = (outcome: Outcome | StreamedOutcome): Outcome | StreamedOutcome => {
      if (outcome.kind === 'busy' && this.#sharesCounts) return outcome
      if (outcome.kind !== 'streamed' && (outcome.kind !== 'answered' || outcome.failed === true)) return leave()
      this.#called(request.method.slice(request.method.indexOf('.') + 1), this.#nowMs() - startedMs)
      return outcome
    }
    const outcome = super.dispatchStreaming(request, caller)
    return outcome instanceof Promise ? outcome.then(good) : good(outcome)
  }
}

const SILENT_LOG: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}

function readRows(view: ChainView, hasIndex: boolean, rowsOfPlaces: KeyValueStore | undefined): MethodRow[] {
  const { store } = view
  const vm = vmHost(async (call) => {
    const known = call.method === 'tipsetState' ? recordedState(store, call.tipset) : undefined
    return known ?? leave()
  })
  const places = rowsOfPlaces === undefined ? undefined : new MessagePlaces({ view, rows: rowsOfPlaces })
  const search = { view, vm, log: SILENT_LOG, places }
  const states = new ActorStates(store.blocks, view.codes)
  // What nobody may look at here: it would say less than the node's.
  const absent = new Proxy({}, { get: leave }) as never
  const eth = ethReadMethods({
    ...{ view, vm, places, pool: absent, gas: absent, finality: absent, clientVersion: '' },
    findMessage: async (cid, { walk }, limit = NO_LOOKBACK_LIMIT) => {
      const found = await searchByCid(cid, store.head(), { limit, allowReplaced: false, walk }, search)
      return found === undefined ? undefined : { message: found.cid, tipset: found.tipset.key }
    },
  })
  const rows = [
    ...chainMethods({ view, vm, setHead: leave }),
    ...objectMethods({ view, states }),
    ...stateMethods({ view, vm, states }),
    ...minerMethods({ view, vm, signBlock: leave }),
    ...sectorMethods(view),
    ...networkMethods(view),
    ...registryMethods(view),
    ...searchMethods(search),
    ...eth.filter(({ name }) => ETH_READS.test(name)),
  ]
  return rows.filter(
    ({ kind, perm, name }) =>
      kind !== 'channel' && perm === 'read' && !OF_THE_NODE.test(name) && !(hasIndex && BY_INDEX.test(name)),
  )
}

/** Answers reads of one chain. */
export class Reader {
  readonly #store: ChainStore
  readonly #handler: HttpHandler
  readonly #openTokens: () => Tokens
  #tokens: Tokens

  constructor(
    { network, genesis, secret, hasIndex, http }: ReaderStart,
    { blocks, meta, places, ports, counts, called }: ReaderDeps,
  ) {
    const { clock, random } = ports
    this.#store = new ChainStore({ blocks, meta: new MemoryStore(), log: ports.log })
    this.#store.setGenesis(this.#store.header(genesis))
    this.#openTokens = () => new Tokens({ secret, clock, random, store: meta })
    this.#tokens = this.#openTokens()
    const table = createMethodTable(readRows(viewOf(this.#store, network), hasIndex, places))
    const engine = new ReadEngine(
      {
        table,
        json: { addressPrefix: network.addressPrefix },
        log: SILENT_LOG,
        queues: new CostQueues(ports, undefined, counts),
      },
      () => clock.monotonicMs(),
      { called, counts },
    )
    this.#handler = new HttpHandler(engine, {
      verifier: { verify: (token) => this.#tokens.verify(token) },
      // No batch is begun: one that is sent in parts could not be left to the node any more.
      turn: leave,
      // As the node's own answers; for a head that is not there yet the node waits.
      ...(hasIndex ? { epochs: { epoch: () => this.#store.head().height, reached: leave } } : {}),
      ...http,
    })
  }

  /**
   * Moves to the node's head.
   * @param tipsets - headers of those on the way, lowest first, each with all of its blocks; the last is the head
   */
  follow(tipsets: readonly (readonly BlockHeader[])[]): void {
    for (const headers of tipsets) for (const header of headers) this.#store.putHeader(header)
    const head = createTipset(tipsets.at(-1) as readonly BlockHeader[])
    try {
      this.#store.setHead(head)
    } catch (error) {
      // The way there is longer than what was told, and not all of it is on disk yet.
      if (!(error instanceof BlockMissing)) throw error
      this.#store.jumpTo(head)
    }
  }

  /** A token was revoked: all are looked at anew. */
  forgetTokens(): void {
    this.#tokens = this.#openTokens()
  }

  /** See {@link HttpHandler.allow}. */
  allow(who: ReaderStart['http']): void {
    this.#handler.allow(who)
  }

  /** See {@link HttpHandler.admit}. */
  admit(request: Pick<HttpRequest, 'url' | 'header'>): HttpResponse | number {
    return this.#handler.admit(request)
  }

  /** @returns a good answer, or that there are too many calls; undefined: the node is to answer */
  async answer(request: HttpRequest): Promise<HttpResponse | undefined> {
    if (request.verb !== 'POST' || apiVersionOf(request.url) === undefined) return undefined
    try {
      const answer = await this.#handler.handle(request)
      return answer.status === 200 || answer.status === TOO_MANY ? answer : undefined
    } catch (error) {
      if (error instanceof Left) return undefined
      throw error
    }
  }
}
