/**
 * Conversions between Filecoin's and Ethereum's addresses.
 * @see lotus node/impl/eth/filecoin.go
 */

import type { Steps } from '../../base/steps.ts'
import type { ChainView } from '../../chain/chainView.ts'
import { resolveId } from '../../chain/chainView.ts'
import type { Json } from '../../codec/description.ts'
import { CodecError } from '../../codec/errors.ts'
import { wrongJson } from '../../codec/goJson.ts'
import { type Address, address } from '../../types/address.ts'
import { addressToEthAddress, ethAddressToAddress, maskedIdAddress } from '../../types/ethAddress.ts'
import type { Tipset } from '../../types/tipset.ts'
import { RpcError } from '../errors.ts'
import { type MethodRow, method, rawMethod } from '../method.ts'
import { ethAddressToFilecoinAddress, ethChainId, filecoinAddressToEthAddress } from '../signatures/ethAddress.ts'

const FINALIZED = 'finalized'

/** What the methods need. */
export interface EthAddressMethodsDeps {
  readonly view: ChainView
  /** The tipset of a block parameter: a tag, or a number in hexadecimal. */
  readonly tipsetOf: (block: string) => Steps<Tipset>
}

/** Rows of the address conversions. */
export function ethAddressMethods({ view, tipsetOf }: EthAddressMethodsDeps): MethodRow[] {
  return [
    method({
      ...ethChainId,
      handler: () => BigInt(view.network.chainId),
    }),
    method({
      ...ethAddressToFilecoinAddress,
      handler: (ethAddress) => ethAddressToAddress(ethAddress),
    }),
    rawMethod({
      ...filecoinAddressToEthAddress,
      handler: async (params, call) => {
        const { who, block } = readParams(params, (json) => address.fromJson(json, call.json))
        const direct = addressToEthAddress(who)
        if (direct !== undefined) return direct
        if (who.isUndefined) throw new RpcError('FAILED', 'invalid filecoin address protocol: <empty>')
        const id = resolveId(view.stateBefore(await call.walk(tipsetOf(block))), who)
        if (id !== undefined) return maskedIdAddress(id)
        const name = view.addressText(who)
        throw new RpcError(
          'FAILED',
          `failed to lookup ID address for given Filecoin address ${name} (ensure that the address has been instantiated ` +
            'on-chain and sufficient epochs have passed since instantiation to confirm to the given ' +
            `'blkParam': "${block}"): resolve address ${name}: actor not found`,
        )
      },
    }),
  ]
}

/** One or two parameters. */
function readParams(params: Json | undefined, readAddress: (json: Json) => Address): { who: Address; block: string } {
  try {
    const list = Array.isArray(params) ? params : []
    if (list.length < 1 || list.length > 2) {
      throw new CodecError('INVALID_JSON', `expected 1 or 2 params, got ${list.length}`)
    }
    // The second first, as Lotus reads them.
    const block = list[1] ?? null
    if (block !== null && typeof block !== 'string') throw wrongJson(block, 'string')
    return { who: readAddress(list[0] as Json), block: block ?? FINALIZED }
  } catch (error) {
    if (!(error instanceof CodecError)) throw error
    throw new RpcError('FAILED', `decoding params: ${error.message}`, { cause: error })
  }
}
