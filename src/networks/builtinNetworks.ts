/** The networks that the node knows without a file. */
import type { Json } from '../codec/jsonText.ts'
import { butterflynetData } from './data/butterflynet.ts'
import { calibnetData } from './data/calibnet.ts'
import { devnetData } from './data/devnet.ts'
import { mainnetData } from './data/mainnet.ts'
import { NetworkError } from './errors.ts'
import type { Network } from './network.ts'
import { parseNetwork } from './parseNetwork.ts'

const DATA: ReadonlyMap<string, Json> = new Map([
  ['mainnet', mainnetData],
  ['calibnet', calibnetData],
  ['butterflynet', butterflynetData],
  ['devnet', devnetData],
])

/** Their names. */
export const BUILTIN_NETWORKS: readonly string[] = [...DATA.keys()]

/**
 * A network by its common name.
 * @throws NetworkError `UNKNOWN_NETWORK`
 */
export function builtinNetwork(name: string): Network {
  const data = DATA.get(name)
  if (data === undefined) {
    throw new NetworkError(
      'UNKNOWN_NETWORK',
      `Cannot find network ${name}: expected one of ${BUILTIN_NETWORKS.join(', ')}`,
    )
  }
  return parseNetwork(data)
}
