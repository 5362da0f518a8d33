/**
 * The price list of each network version.
 * @see ref-fvm fvm/src/gas/price_list.rs price_list_by_network_version
 */
import { VmError } from '../errors.ts'
import { hyggePriceList } from './hyggePriceList.ts'
import type { PriceList } from './priceList.ts'
import { HYGGE, TEEP, WATERMELON } from './prices.ts'
import { skyrPriceList } from './skyrPriceList.ts'

const hygge: PriceList = hyggePriceList(HYGGE, false)
const watermelon: PriceList = hyggePriceList(WATERMELON, true)
const teep: PriceList = hyggePriceList(TEEP, true)

/**
 * The price list of a network version.
 * @throws VmError `UNSUPPORTED_NETWORK_VERSION` below 16 and above 29
 */
export function priceListAt(networkVersion: number): PriceList {
  if (networkVersion === 16 || networkVersion === 17) return skyrPriceList
  if (networkVersion >= 18 && networkVersion <= 20) return hygge
  if (networkVersion >= 21 && networkVersion <= 24) return watermelon
  if (networkVersion >= 25 && networkVersion <= 29) return teep
  throw new VmError(
    'UNSUPPORTED_NETWORK_VERSION',
    `not supported: network version ${networkVersion}, expected 16 to 29`,
    {
      networkVersion,
    },
  )
}
