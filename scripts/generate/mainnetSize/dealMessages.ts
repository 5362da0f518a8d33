/**
 * Deals that a miner publishes: small ones without a price, each signed by its client, as many as the miner has something at stake for.
 * @see builtin-actors v18 actors/market/src/lib.rs publish_storage_deals
 */
import { EMPTY_BYTES } from '../../../src/base/bytes.ts'
import { encode } from '../../../src/codec/description.ts'
import type { DevnetKey } from '../../../src/devnet/keys.ts'
import { getCbor } from '../../../src/ipld/blockstore.ts'
import { Hamt } from '../../../src/ipld/hamt.ts'
import { dealProposal, marketState } from '../../../src/state/market.ts'
import { publishStorageDealsParams } from '../../../src/state/params/market.ts'
import type { StateTree } from '../../../src/state/stateTree.ts'
import { type Address, addressToId } from '../../../src/types/address.ts'
import { EPOCHS_PER_DAY } from '../../../src/types/protocol.ts'
import { ATTO_PER_FIL, type TokenAmount, tokenAmount } from '../../../src/types/scalars.ts'
import { MARKET_ADDRESS } from '../../../src/types/singletons.ts'
import { keyOf, signWith } from '../../../src/wallet/key.ts'
import { BALANCE_TABLE_BITS, DEAL_EPOCHS } from './market.ts'
import { pieceCid } from './sectors.ts'
import type { StateSize } from './size.ts'

/** Bytes: of a larger one the least stake would be more than a small network's miners have. */
const PIECE_BYTES = 128 * 1024
const STAKE: TokenAmount = ATTO_PER_FIL / 2000n
const MOST_DEALS = 4
/** Pieces of a miner's sectors have smaller numbers. */
const FIRST_PIECE = 100_000

/** AttoFIL of a miner that no deal holds. */
function available(tree: StateTree, miner: Address): TokenAmount {
  const actor = tree.getActor(addressToId(MARKET_ADDRESS))
  if (actor === undefined) return 0n
  const { escrowTable, lockedTable } = getCbor(tree.store, marketState, actor.head)
  const [escrow, locked] = [escrowTable, lockedTable].map(
    (root) => Hamt.load(tree.store, root, tokenAmount, { bitWidth: BALANCE_TABLE_BITS }).get(miner.bytes) ?? 0n,
  ) as [TokenAmount, TokenAmount]
  return escrow - locked
}

/** @param index - of the miner. @param height - of the tipset that the message comes on. @returns undefined: it has nothing to put at stake */
export function publishedDeals(
  { size, tree, height }: { readonly size: StateSize; readonly tree: StateTree; readonly height: number },
  { index, miner, client }: { readonly index: number; readonly miner: Address; readonly client: DevnetKey },
): Uint8Array | undefined {
  const count = Math.min(MOST_DEALS, Number(available(tree, miner) / STAKE))
  if (count === 0) return undefined
  const startEpoch = height + 3 * EPOCHS_PER_DAY
  const deals = Array.from({ length: count }, (_, i) => {
    const proposal = {
      pieceCid: pieceCid(size, index, FIRST_PIECE + height * MOST_DEALS + i),
      pieceSize: PIECE_BYTES,
      verifiedDeal: false,
      client: client.address,
      provider: miner,
      label: { isText: true, data: EMPTY_BYTES },
      startEpoch,
      endEpoch: startEpoch + DEAL_EPOCHS,
      storagePricePerEpoch: 0n,
      providerCollateral: STAKE,
      clientCollateral: 0n,
    }
    const key = keyOf({ type: client.kind, privateKey: client.secretKey })
    return { proposal, clientSignature: signWith(key, encode(dealProposal, proposal)) }
  })
  return encode(publishStorageDealsParams, { deals })
}
