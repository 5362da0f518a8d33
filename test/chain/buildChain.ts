/** Chains of bare headers for tests of the store: no messages, no valid signatures. */
import { utf8 } from '../../src/base/bytes.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { idAddress } from '../../src/types/address.ts'
import type { BlockHeader } from '../../src/types/blockHeader.ts'
import type { Tipset } from '../../src/types/tipset.ts'

const NOTHING = parseCid('bafy2bzacecmda75ovposbdateg7eyhwij65zklgyijgcjwynlklmqazpwlhba')

/** A header on top of `parent`; `salt` makes siblings differ. */
export function header(parent: Tipset | undefined, height: number, salt: number): BlockHeader {
  return {
    miner: idAddress(1000 + salt),
    ticket: { vrfProof: utf8(`ticket ${height} ${salt}`) },
    electionProof: { winCount: 1, vrfProof: utf8('proof') },
    beaconEntries: [],
    winPoStProof: [],
    parents: parent === undefined ? [] : [...parent.key],
    parentWeight: BigInt(height),
    height,
    parentStateRoot: NOTHING,
    parentMessageReceipts: NOTHING,
    messages: NOTHING,
    blsAggregate: null,
    timestamp: 1_600_000_000 + 30 * height,
    blockSig: null,
    forkSignaling: 0n,
    parentBaseFee: 100n,
  }
}
