/**
 * Makes a state: steps one after the other, each in pieces; behind every piece the run can be broken off and gone on
 * with. Blocks go to one file, digests of heads to another; what is held does not grow with the number of actors.
 */
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { scratchIn } from '../../../platform/server/scratchFiles.ts'
import { putGenesisHeader } from '../../../src/actors/genesis/block.ts'
import { carBlocks } from '../../../src/archive/car.ts'
import { fromHex, toHex } from '../../../src/base/bytes.ts'
import { memorySource } from '../../../src/codec/byteSource.ts'
import { type Cid, parseCid } from '../../../src/codec/cid.ts'
import { encode } from '../../../src/codec/description.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import { genesisTicket } from '../../../src/devnet/keys.ts'
import { EMPTY_ARRAY, EMPTY_ARRAY_CID } from '../../../src/fvm/emptyArray.ts'
import { putBlock, putCbor } from '../../../src/ipld/blockstore.ts'
import { accountState } from '../../../src/state/account.ts'
import type { ActorKind } from '../../../src/state/actorKind.ts'
import { multisigState } from '../../../src/state/multisig.ts'
import { stateRoot } from '../../../src/state/stateTree.ts'
import { actorV5 } from '../../../src/types/actor.ts'
import { idAddress } from '../../../src/types/address.ts'
import { blockHeader } from '../../../src/types/blockHeader.ts'
import { ATTO_PER_FIL } from '../../../src/types/scalars.ts'
import { addressesOf, balanceOf, KeyedAddresses, keySeed, nonceOf } from './accounts.ts'
import { BodyFile } from './body.ts'
import { sortedHamt } from './bulkHamt.ts'
import { type ContractCode, writeCodes, writeContract } from './contracts.ts'
import { Heads } from './heads.ts'
import { writeMarket } from './market.ts'
import { writeMiner } from './miner.ts'
import { GENESIS_TIMESTAMP, generatedManifest, generatedNetwork } from './network.ts'
import { noProgress, type Progress, readProgress, writeProgress } from './progress.ts'
import { PURPOSE, random32 } from './random.ts'
import { writeRegistry } from './registry.ts'
import { sectorCounts } from './sectors.ts'
import { type MinerRow, type Singleton, VERIFIER_ID, VERIFREG_ROOT_ID, writeSingletons } from './singletons.ts'
import { actorCount, FIRST_ID, firstIdOf, type Kind, kindOf, type StateSize, sizeOf } from './size.ts'
import { idBytes, writeTree } from './trees.ts'

const STATE_TREE_VERSION = 5
const SIGNERS = 3
const BODY = 'blocks'

const CODE_KINDS: Readonly<Record<Kind, ActorKind>> = {
  miner: 'storageminer',
  worker: 'account',
  secp256k1: 'account',
  bls: 'account',
  ethAccount: 'ethaccount',
  placeholder: 'placeholder',
  contract: 'evm',
  multisig: 'multisig',
}

/** How a state is made. */
export interface GenerateOptions {
  /** Where the work goes; kept until the state is whole. */
  readonly folder: string
  readonly scale: number
  readonly seed: number
  /** Bytes of the actors' bundle, whose blocks become part of the state; undefined: it has to be found elsewhere. */
  readonly bundle?: Uint8Array | undefined
  readonly say: (text: string) => void
  /** Between two places to go on from. Default: 3 seconds. */
  readonly checkpointMs?: number
}

/** A state that is whole. */
export interface GeneratedState {
  readonly size: StateSize
  /** Sections of all blocks, without a header. */
  readonly body: string
  readonly blocks: number
  readonly genesis: Cid
  /** Its header. */
  readonly header: Uint8Array
}

/** A step in pieces. */
interface Step {
  readonly name: string
  readonly pieces: number
  run(piece: number): void
}

/** Which part of `count` a piece is. */
function slice(count: number, pieces: number, piece: number): { from: number; to: number } {
  return { from: Math.floor((count * piece) / pieces), to: Math.floor((count * (piece + 1)) / pieces) }
}

class Generator {
  readonly #size: StateSize
  readonly #options: GenerateOptions
  readonly #network = generatedNetwork()
  readonly #manifest = generatedManifest(this.#network)
  readonly #keyed: KeyedAddresses
  readonly #sectors: number[]
  readonly #body: BodyFile
  readonly #heads: Heads
  readonly #results: Record<string, unknown>
  #codes: ContractCode[] | undefined

  constructor(options: GenerateOptions, progress: Progress) {
    this.#options = options
    this.#size = sizeOf(options.scale, options.seed)
    this.#keyed = new KeyedAddresses(this.#size)
    this.#sectors = sectorCounts(this.#size)
    this.#body = new BodyFile(join(options.folder, BODY), progress)
    this.#heads = new Heads(join(options.folder, 'heads'), progress.step === 0 && progress.done === 0)
    this.#results = { ...progress.results }
  }

  get size(): StateSize {
    return this.#size
  }

  steps(): Step[] {
    const pieces = (count: number, each: number): number => Math.ceil(count / each)
    const { counts } = this.#size
    const actors = actorCount(this.#size)
    return [
      { name: 'actors of the network', pieces: 1, run: () => this.#bundle() },
      { name: 'miners', pieces: counts.miner, run: (piece) => this.#miner(piece) },
      {
        name: 'other actors',
        pieces: pieces(actors, 20_000),
        run: (piece) => this.#actors(piece, pieces(actors, 20_000)),
      },
      { name: 'market', pieces: 1, run: () => this.#market() },
      { name: 'verified registry', pieces: 1, run: () => this.#registry() },
      { name: 'address map', pieces: 1, run: () => this.#addressMap() },
      { name: 'singletons', pieces: 1, run: () => this.#singletons() },
      { name: 'state tree', pieces: 1, run: () => this.#tree() },
    ]
  }

  run(step: Step, piece: number): void {
    step.run(piece)
    this.#body.endPiece()
  }

  checkpoint(step: number, done: number): Progress {
    this.#heads.flush()
    const { scale, seed } = this.#size
    return { scale, seed, step, done, ...this.#body.checkpoint(), results: this.#results }
  }

  close(): void {
    this.#body.close()
    this.#heads.close()
  }

  finish(): void {
    this.#body.finish()
    this.#heads.close()
  }

  #cid(name: string): Cid {
    return parseCid(this.#results[name] as string)
  }

  #amount(name: string): bigint {
    return BigInt((this.#results[name] as string | undefined) ?? '0')
  }

  #bundle(): void {
    putBlock(this.#body, EMPTY_ARRAY)
    const { bundle } = this.#options
    if (bundle !== undefined) for (const [cid, data] of carBlocks(memorySource(bundle))) this.#body.put(cid, data)
    writeCodes(this.#body, this.#size)
  }

  #miner(index: number): void {
    const { head, power, pledge, locked, balance, cronEpoch } = writeMiner(
      this.#body,
      this.#size,
      index,
      this.#sectors[index] as number,
    )
    this.#heads.set(FIRST_ID + index, head)
    this.#results.miners ??= []
    ;(this.#results.miners as unknown[])[index] = [
      ...[power.raw, power.qa, pledge, locked, balance].map(String),
      cronEpoch,
    ]
  }

  #minerRows(): MinerRow[] {
    return (this.#results.miners as (string | number)[][]).map((row) => {
      const [raw, qa, pledge, locked, balance] = row.slice(0, 5).map(BigInt) as [bigint, bigint, bigint, bigint, bigint]
      return { raw, qa, pledge, locked, balance, cronEpoch: row[5] as number }
    })
  }

  #actors(piece: number, pieces: number): void {
    const { miner } = this.#size.counts
    const { from, to } = slice(actorCount(this.#size) - miner, pieces, piece)
    let balance = this.#amount('others')
    for (let id = FIRST_ID + miner + from; id < FIRST_ID + miner + to; id++) {
      this.#heads.set(id, this.#head(id))
      balance += balanceOf(this.#size, id)
    }
    this.#results.others = String(balance)
  }

  #head(id: number): Cid {
    const size = this.#size
    const { kind, index } = kindOf(size, id)
    if (kind === 'ethAccount' || kind === 'placeholder') return EMPTY_ARRAY_CID
    if (kind === 'contract') {
      // Of every run: those of the first one may not be known any more.
      this.#codes ??= writeCodes({ get: () => undefined, has: () => false, put: () => undefined }, size)
      return writeContract(this.#body, size, this.#codes, index)
    }
    if (kind === 'multisig') return this.#multisig(id)
    const { robust } = addressesOf(size, id, this.#keyed)
    if (robust === undefined) throw new RangeError(`actor ${id} has no key address`)
    return putCbor(this.#body, accountState, { address: robust })
  }

  #multisig(id: number): Cid {
    const first = firstIdOf(this.#size, 'secp256k1')
    const { index } = kindOf(this.#size, id)
    // The first ones can be signed for.
    const start = index < this.#size.keyed ? index : random32(this.#size.seed, PURPOSE.signers, id)
    const signers = Array.from({ length: SIGNERS }, (_, i) =>
      idAddress(BigInt(first + ((start + i) % this.#size.counts.secp256k1))),
    )
    return putCbor(this.#body, multisigState, {
      signers,
      numApprovalsThreshold: 2,
      nextTxnId: 0,
      initialBalance: 0n,
      startEpoch: 0n,
      unlockDuration: 0n,
      pendingTxns: sortedHamt(this.#body, []),
    })
  }

  #market(): void {
    const { head, balance } = writeMarket(this.#body, this.#size)
    this.#results.market = head.toString()
    this.#results.marketBalance = String(balance)
  }

  #registry(): void {
    const ids = { rootKey: VERIFREG_ROOT_ID, verifier: VERIFIER_ID }
    const { registry, datacap } = writeRegistry(this.#body, this.#size, ids)
    this.#results.registry = registry.toString()
    this.#results.datacap = datacap.toString()
  }

  /** Two addresses an actor at most: number `2 id` is the robust one, `2 id + 1` the delegated one. */
  #addressMap(): void {
    const size = this.#size
    const keyed = this.#keyed
    const end = FIRST_ID + actorCount(size)
    function* numbers(): Iterable<number> {
      for (let id = FIRST_ID; id < end; id++) {
        const { robust, delegated } = addressesOf(size, id, keyed)
        if (robust !== undefined) yield 2 * id
        if (delegated !== undefined) yield 2 * id + 1
      }
    }
    const root = writeTree(this.#body, scratchIn(this.#options.folder), numbers(), (number) => {
      const id = number >> 1
      const { robust, delegated } = addressesOf(size, id, keyed)
      const address = number % 2 === 0 ? robust : delegated
      if (address === undefined) throw new RangeError(`actor ${id} has no such address`)
      return { key: address.bytes, raw: () => idBytes(id) }
    })
    this.#results.addressMap = root.toString()
  }

  #singletons(): void {
    const made = writeSingletons(this.#body, this.#size, {
      manifest: this.#manifest,
      miners: this.#minerRows(),
      market: { head: this.#cid('market'), balance: this.#amount('marketBalance') },
      registry: this.#cid('registry'),
      datacap: this.#cid('datacap'),
      addressMap: this.#cid('addressMap'),
      reward: BigInt(this.#network.protocol.initialRewardBalanceFil) * ATTO_PER_FIL,
      others: this.#amount('others'),
      minPower: this.#network.protocol.consensusMinerMinPowerBytes,
    })
    this.#results.singletons = made.map(({ id, kind, head, balance }) => [
      Number(id),
      kind,
      head.toString(),
      String(balance),
    ])
  }

  #tree(): void {
    const size = this.#size
    const keyed = this.#keyed
    const code = (kind: ActorKind): Cid => {
      const found = this.#manifest.actors.get(kind)
      if (found === undefined) throw new RangeError(`the manifest has no ${kind}`)
      return found
    }
    const codes = Object.fromEntries(Object.entries(CODE_KINDS).map(([kind, name]) => [kind, code(name)])) as Record<
      Kind,
      Cid
    >
    const singletons = new Map<number, Singleton>()
    for (const [id, kind, head, balance] of this.#results.singletons as [number, ActorKind, string, string][]) {
      singletons.set(id, { id: BigInt(id), kind, head: parseCid(head), balance: BigInt(balance) })
    }
    const miners = this.#minerRows()
    const raw = (id: number): Uint8Array => {
      const single = singletons.get(id)
      if (single !== undefined) {
        const { kind, head, balance } = single
        return encode(actorV5, { code: code(kind), head, nonce: 0n, balance, delegatedAddress: null })
      }
      const { kind, index } = kindOf(size, id)
      return encode(actorV5, {
        code: codes[kind],
        head: this.#heads.get(id),
        nonce: nonceOf(size, id),
        balance: kind === 'miner' ? (miners[index] as MinerRow).balance : balanceOf(size, id),
        delegatedAddress: addressesOf(size, id, keyed).delegated ?? null,
      })
    }
    function* ids(): Iterable<number> {
      yield* singletons.keys()
      for (let id = FIRST_ID; id < FIRST_ID + actorCount(size); id++) yield id
    }
    const actors = writeTree(this.#body, scratchIn(this.#options.folder), ids(), (id) => ({
      key: idAddress(BigInt(id)).bytes,
      raw: () => raw(id),
    }))
    const root = putCbor(this.#body, stateRoot, { version: STATE_TREE_VERSION, actors, info: EMPTY_ARRAY_CID })
    const header = putGenesisHeader(this.#body, root, {
      timestamp: GENESIS_TIMESTAMP,
      ticket: genesisTicket(keySeed(size)),
      protocol: this.#network.protocol,
    })
    this.#results.header = toHex(encode(blockHeader, header))
  }
}

const CHECKPOINT_MS = 3000

/**
 * Makes a state, or goes on with one.
 * @throws RangeError for a scale or a seed that cannot be; what the disk says
 */
export function generateState(options: GenerateOptions): GeneratedState {
  const { folder, scale, seed, say, checkpointMs = CHECKPOINT_MS } = options
  mkdirSync(folder, { recursive: true })
  const progress = readProgress(folder, scale, seed) ?? noProgress(scale, seed)
  const body = join(folder, BODY)
  if (existsSync(body) && progress.results.header !== undefined) return wholeState(body, progress)
  const generator = new Generator(options, progress)
  let last = progress
  try {
    const steps = generator.steps()
    for (let at = progress.step; at < steps.length; at++) {
      const step = steps[at] as Step
      let since = performance.now()
      for (let piece = at === progress.step ? progress.done : 0; piece < step.pieces; piece++) {
        generator.run(step, piece)
        if (performance.now() - since < checkpointMs) continue
        last = generator.checkpoint(at, piece + 1)
        writeProgress(folder, last)
        say(`${step.name}: ${piece + 1} of ${step.pieces}`)
        since = performance.now()
      }
      last = generator.checkpoint(at + 1, 0)
      writeProgress(folder, last)
      say(`${step.name}: made, ${last.blocks} blocks, ${Math.round(last.bytes / 1e6)} MB`)
    }
  } catch (error) {
    generator.close()
    throw error
  }
  generator.finish()
  return wholeState(body, last)
}

function wholeState(body: string, { scale, seed, blocks, results }: Progress): GeneratedState {
  const header = fromHex(results.header as string)
  return { size: sizeOf(scale, seed), body, blocks, header, genesis: blockCid(header) }
}
