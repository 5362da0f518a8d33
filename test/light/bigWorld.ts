/**
 * A world of mainnet's size for light nodes: so many participants with keys of their own, so many certificates behind the
 * checkpoint, a state of so many accounts under the final tipset. It stands on Lotus' recorded chain with certificates.
 */
import type { Cid } from '../../src/codec/cid.ts'
import { int, transparent } from '../../src/codec/description.ts'
import type { F3Tipset, FinalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { signingPayload } from '../../src/consensus/f3/chainKey.ts'
import { applyDelta, type PowerTable, powerTableCid, sortedPowerTable } from '../../src/consensus/f3/powerTable.ts'
import { bdnMultipliers } from '../../src/crypto/bdn.ts'
import { publicKey, sign } from '../../src/crypto/bls.ts'
import { bitFieldOf } from '../../src/ipld/bitfield.ts'
import { type Blockstore, getCbor, LayeredBlockstore, MemoryBlockstore, putCbor } from '../../src/ipld/blockstore.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import type { LightCheckpoint } from '../../src/light/checkpoint.ts'
import { initState } from '../../src/state/init.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { type Address, secp256k1Address } from '../../src/types/address.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import type { ActorId } from '../../src/types/scalars.ts'
import { INIT_ID } from '../../src/types/singletons.ts'
import { createTipset, firstBlock, type Tipset, tipsetKeyBytes } from '../../src/types/tipset.ts'
import { type Seeded, seeded } from '../support/seeded.ts'
import { type EndpointData, tableJson } from './endpoint.ts'
import { CHECKPOINT, recorded } from './world.ts'

/** How large it is. */
export interface BigWorldSize {
  readonly signers: number
  readonly certificates: number
  readonly accounts: number
  /** Every so many certificates the power of one participant changes. */
  readonly deltaEvery: number
  /** A contract in the state under the final tipset. */
  readonly contract?: WorldContract
}

/** A contract as its actor left it: the blocks of its state, its head first. */
export interface WorldContract {
  /** Its f410 address. */
  readonly address: Address
  readonly code: Cid
  readonly blocks: readonly (readonly [Cid, Uint8Array])[]
}

export interface BigWorld {
  readonly data: EndpointData
  readonly checkpoint: LightCheckpoint
  /** Of account `n`: its f1 address, and what it has, attoFIL. */
  readonly account: (n: number) => { readonly address: Address; readonly balance: bigint }
}

/** The order of BLS12-381's groups. */
const ORDER = 0x73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001n
const FIRST_PARTICIPANT = 1000
const FIRST_ID = 10_000_000
const CONTRACT_ID = 9_999_999n
const ZEROS = new Uint8Array(32)

const littleEndian = (number: bigint): Uint8Array =>
  Uint8Array.from({ length: 32 }, (_, i) => Number((number >> BigInt(8 * i)) & 0xffn))
const numberOf = (littleEnd: Uint8Array): bigint => littleEnd.reduceRight((sum, byte) => (sum << 8n) | BigInt(byte), 0n)

/** Participants by ID with their secrets: a table's order is its own. */
function participants(count: number, random: Seeded): { table: PowerTable; secrets: Map<number, bigint> } {
  const secrets = new Map<number, bigint>()
  const entries = Array.from({ length: count }, (_, i) => {
    const secret = numberOf(random.bytes(31)) + 1n
    secrets.set(FIRST_PARTICIPANT + i, secret)
    return {
      id: FIRST_PARTICIPANT + i,
      power: BigInt((1 << 18) + random.int(1 << 20)) << 40n,
      publicKey: publicKey(littleEndian(secret)),
    }
  })
  return { table: sortedPowerTable(entries), secrets }
}

/** What each participant's signature counts in an aggregate: its secret by its multiplier. */
function sharesOf(table: PowerTable, secrets: ReadonlyMap<number, bigint>): bigint[] {
  const multipliers = bdnMultipliers(table.map((one) => one.publicKey))
  return table.map(({ id }, i) => ((multipliers[i] as bigint) * (secrets.get(id) as bigint)) % ORDER)
}

/** By the stronger half and some of the others: two thirds of the power and more. */
function signed(
  unsigned: Omit<FinalityCertificate, 'signature' | 'signers'>,
  shares: readonly bigint[],
  random: Seeded,
): FinalityCertificate {
  const members = [...shares.keys()].filter((index) => index < shares.length / 2 || random.int(100) < 60)
  const sum = members.reduce((total, index) => (total + (shares[index] as bigint)) % ORDER, 0n)
  const certificate = { ...unsigned, signers: bitFieldOf(members), signature: new Uint8Array(96) }
  return { ...certificate, signature: sign(signingPayload(CHECKPOINT.f3Network, certificate), littleEndian(sum)) }
}

const idValue = transparent<ActorId, number>(int, BigInt, Number)

/** A recorded tipset at another height, whose state has `count` accounts more. */
function grown(
  store: Blockstore,
  final: Tipset,
  height: number,
  { accounts: count, contract }: BigWorldSize,
  account: BigWorld['account'],
): Tipset {
  const header = { ...firstBlock(final), height }
  const tree = StateTree.load(store, header.parentStateRoot)
  let like = tree.getActor(100n)
  for (let id = 101n; like === undefined && id < 2000n; id++) like = tree.getActor(id)
  const init = tree.getActor(INIT_ID)
  if (like === undefined || init === undefined) throw new Error('no actors in the recorded state')
  const state = getCbor(store, initState, init.head)
  const map = Hamt.load(store, state.addressMap, idValue)
  for (let n = 0; n < count; n++) {
    const { address, balance } = account(n)
    const id = BigInt(FIRST_ID + n)
    map.set(address.bytes, id)
    tree.setActor(id, { ...like, balance, nonce: BigInt(n), delegatedAddress: null })
  }
  if (contract !== undefined) {
    const { address, code, blocks } = contract
    for (const [cid, data] of blocks) store.put(cid, data)
    map.set(address.bytes, CONTRACT_ID)
    const [head] = blocks[0] as (typeof blocks)[number]
    tree.setActor(CONTRACT_ID, { code, head, nonce: 1n, balance: 0n, delegatedAddress: address })
  }
  const head = putCbor(store, initState, { ...state, addressMap: map.flush() })
  tree.setActor(INIT_ID, { ...init, head })
  const grownHeader = { ...header, parentStateRoot: tree.flush() }
  putCbor(store, blockHeader, grownHeader)
  return createTipset([grownHeader])
}

/** Makes one. @param say - told of each step */
export function bigWorld(size: BigWorldSize, say: (text: string) => void): BigWorld {
  const random = seeded('big world', 1)
  const { chain, all } = recorded()
  const store = new LayeredBlockstore([new MemoryBlockstore(), chain.view.store.blocks])
  const account: BigWorld['account'] = (n) => {
    const publicBytes = new Uint8Array(65)
    new DataView(publicBytes.buffer).setUint32(1, n)
    return { address: secp256k1Address(publicBytes), balance: BigInt(n + 1) * 10n ** 15n }
  }
  const base = all.at(-1)?.ecChain.at(-1) as F3Tipset
  const recordedFinal = chain.view.store.tipsetByHeight(base.epoch, undefined, 'previous')
  const final = grown(store, recordedFinal, base.epoch + size.certificates, size, account)
  say(`${size.accounts} accounts`)

  const { table: first, secrets } = participants(size.signers, random)
  let table = first
  let shares = sharesOf(table, secrets)
  const tables: PowerTable[] = []
  const certificates: FinalityCertificate[] = []
  let last: F3Tipset = { ...base, epoch: base.epoch - 1 }
  for (let instance = 0; instance < size.certificates; instance++) {
    const isLast = instance === size.certificates - 1
    const delta =
      instance % size.deltaEvery === size.deltaEvery - 1
        ? [
            {
              participantId: FIRST_PARTICIPANT + random.int(size.signers),
              powerDelta: 1n << 40n,
              signingKey: new Uint8Array(0),
            },
          ]
        : []
    const next = applyDelta(table, delta)
    const powerTable = powerTableCid(next)
    const key = isLast ? tipsetKeyBytes(final.key) : last.key
    const tip: F3Tipset = { epoch: isLast ? final.height : last.epoch + 1, key, powerTable, commitments: ZEROS }
    const unsigned = {
      instance,
      ecChain: [last, tip],
      supplementalData: { commitments: ZEROS, powerTable },
      powerTableDelta: delta,
    }
    tables.push(table)
    certificates.push(signed(unsigned, shares, random))
    if (next !== table) shares = sharesOf(next, secrets)
    table = next
    last = tip
  }
  tables.push(table)
  say(`${size.certificates} certificates of ${size.signers} signers`)
  return {
    data: {
      blocks: store,
      certificates,
      tableAt: (instance) => tableJson([...(tables[instance] as PowerTable)]),
      head: final,
    },
    checkpoint: { ...CHECKPOINT, powerTable: powerTableCid(first) },
    account,
  }
}
