/**
 * The genesis block: Lotus' header for a network of its own.
 * @see lotus chain/gen/genesis/genesis.go MakeGenesisBlock, genblock.go
 */
import { EMPTY_BYTES, fromHex } from '../../base/bytes.ts'
import { type Cid, CODEC_DAG_CBOR, createCid, HASH_SHA2_256 } from '../../codec/cid.ts'
import { cid } from '../../codec/description.ts'
import { sha256 } from '../../crypto/hashes.ts'
import { amtOf } from '../../ipld/amt.ts'
import { type Blockstore, putCbor } from '../../ipld/blockstore.ts'
import { idAddress } from '../../types/address.ts'
import { type BlockHeader, blockHeader } from '../../types/blockHeader.ts'
import { msgMeta } from '../../types/msgMeta.ts'
import { SYSTEM_ID } from '../../types/singletons.ts'
import { createGenesisState } from './state.ts'
import type { GenesisTemplate } from './template.ts'

/** The block that every genesis names as its parent: a greeting from before there was a chain. */
const PRIMORDIAL_BLOCK =
  'a5684461746574696d6573323031372d30352d30352030313a32373a3531674e6574776f726b6846696c65636f696e65546f6b656e6846696c65' +
  '636f696e6c546f6b656e416d6f756e7473a36b546f74616c537570706c796d322c3030302c3030302c303030664d696e6572736d312c3430302c' +
  '3030302c3030306c50726f746f636f6c4c616273a36b446576656c6f706d656e746b3330302c3030302c3030306b46756e6472616973696e676b' +
  '3230302c3030302c3030306a466f756e646174696f6e6b3130302c3030302c303030674d657373616765784854686973206973207468652047656e' +
  '6573697320426c6f636b206f66207468652046696c65636f696e20446563656e7472616c697a65642053746f72616765204e6574776f726b2e'
const BEACON_ENTRY_LENGTH = 32

/**
 * Writes a genesis: state, empty lists, header.
 * @throws as {@link createGenesisState}
 */
export function createGenesisBlock(store: Blockstore, template: GenesisTemplate): BlockHeader {
  return putGenesisHeader(store, createGenesisState(store, template), template)
}

/** What a genesis block says beside its state. */
export type GenesisMoment = Pick<GenesisTemplate, 'timestamp' | 'ticket' | 'protocol'>

/** Writes the block over a state that is there: empty lists, header. */
export function putGenesisHeader(store: Blockstore, parentStateRoot: Cid, template: GenesisMoment): BlockHeader {
  const noMessages = amtOf(store, cid, [], { v0: true })
  const primordial = fromHex(PRIMORDIAL_BLOCK)
  const parent = createCid(CODEC_DAG_CBOR, HASH_SHA2_256, sha256(primordial))
  store.put(parent, primordial)
  const header: BlockHeader = {
    miner: idAddress(SYSTEM_ID),
    ticket: { vrfProof: template.ticket },
    electionProof: { winCount: 0, vrfProof: EMPTY_BYTES },
    beaconEntries: [{ round: 0, data: new Uint8Array(BEACON_ENTRY_LENGTH) }],
    winPoStProof: [],
    parents: [parent],
    parentWeight: 0n,
    height: 0,
    parentStateRoot,
    parentMessageReceipts: noMessages,
    messages: putCbor(store, msgMeta, { blsMessages: noMessages, secpkMessages: noMessages }),
    blsAggregate: null,
    timestamp: template.timestamp,
    blockSig: null,
    forkSignaling: 0n,
    parentBaseFee: BigInt(template.protocol.initialBaseFee),
  }
  putCbor(store, blockHeader, header)
  return header
}
