/**
 * To actors v16 (Teep): miners keep the next vesting amount in their own state and every deadline's live power and daily
 * fee (FIP-0100); contracts get room for transient storage (FIP-0097).
 * @see go-state-types builtin/v16/migration/miner.go, evm.go; lotus UpgradeActorsV16
 */

import { bigInt } from '../../codec/bigInteger.ts'
import { CborReader } from '../../codec/cborReader.ts'
import type { Cid } from '../../codec/cid.ts'
import type { Codec } from '../../codec/description.ts'
import { Amt } from '../../ipld/amt.ts'
import { type Blockstore, getBlock, putBlock } from '../../ipld/blockstore.ts'
import { type PowerPair, powerPair } from '../../state/scalars.ts'
import { migrateActors } from './migrateActors.ts'
import { item, rewriteState, tupleFields, tupleOf } from './rewriteTuple.ts'

const MINER_FIELDS = 15
const VESTING_INDEX = 3
const DEADLINES_INDEX = 12
const DEADLINE_FIELDS = 11
const PARTITIONS_BIT_WIDTH = 3
const EVM_FIELDS = 5
/** TransientData stands behind ContractState. */
const TRANSIENT_INDEX = 3

/** Of a partition only its live power is read. */
const partitionLivePower: Codec<PowerPair> = {
  ...powerPair,
  read: (reader) => {
    const fields = reader.readArray()
    for (let i = 0; i < 7; i++) reader.skip()
    const live = powerPair.read(reader)
    for (let i = 8; i < fields; i++) reader.skip()
    return live
  },
}

const NULL = item((writer) => writer.null())

function readLink(field: Uint8Array): Cid {
  return new CborReader(field).readCid()
}

function linkItem(link: Cid): Uint8Array {
  return item((writer) => writer.cid(link))
}

/** [[[epoch, amount]...]] becomes null, or [first, link to a list of the others]. */
function migrateVesting(store: Blockstore, vesting: Cid): Uint8Array {
  const reader = new CborReader(getBlock(store, vesting))
  reader.readArray()
  const count = reader.readArray()
  const funds: Uint8Array[] = []
  for (let i = 0; i < count; i++) funds.push(reader.readRaw())
  const [first, ...rest] = funds
  if (first === undefined) return NULL
  return tupleOf([first, linkItem(putBlock(store, tupleOf(rest)))])
}

function migrateDeadline(store: Blockstore, deadline: Cid): Cid {
  return rewriteState(store, deadline, DEADLINE_FIELDS, (fields) => {
    const partitions = Amt.load(store, readLink(fields[0] as Uint8Array), partitionLivePower, {
      bitWidth: PARTITIONS_BIT_WIDTH,
    })
    let raw = 0n
    let qa = 0n
    partitions.forEach((_index, live) => {
      raw += live.raw
      qa += live.qa
    })
    return [
      ...fields,
      item((writer) => powerPair.write(writer, { raw, qa })),
      item((writer) => bigInt.write(writer, 0n)),
    ]
  })
}

function migrateDeadlines(store: Blockstore, deadlines: Cid): Cid {
  const [due] = tupleFields(getBlock(store, deadlines), 1)
  const reader = new CborReader(due as Uint8Array)
  const count = reader.readArray()
  const links: Uint8Array[] = []
  for (let i = 0; i < count; i++) links.push(linkItem(migrateDeadline(store, reader.readCid())))
  return putBlock(store, tupleOf([tupleOf(links)]))
}

/**
 * Rewrites miners, contracts and code CIDs.
 * @param root - the state before
 * @param newManifest - of actors v16, in `store`
 * @returns the state after, written to `store`
 * @throws BlockMissing; ChainError `INVALID_STATE`
 */
export function migrateToNv25(store: Blockstore, root: Cid, newManifest: Cid): Cid {
  return migrateActors(store, root, newManifest, {
    storageminer: (blocks, head) =>
      rewriteState(blocks, head, MINER_FIELDS, (fields) => {
        const next = [...fields]
        next[VESTING_INDEX] = migrateVesting(blocks, readLink(fields[VESTING_INDEX] as Uint8Array))
        next[DEADLINES_INDEX] = linkItem(migrateDeadlines(blocks, readLink(fields[DEADLINES_INDEX] as Uint8Array)))
        return next
      }),
    evm: (blocks, head) =>
      rewriteState(blocks, head, EVM_FIELDS, (fields) => [
        ...fields.slice(0, TRANSIENT_INDEX),
        NULL,
        ...fields.slice(TRANSIENT_INDEX),
      ]),
  })
}
