/** The network that a page names. */
import { parseJson } from '../../src/codec/jsonText.ts'
import { BUILTIN_NETWORKS, builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import type { Network } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { BrowserError } from './errors.ts'

/** A built-in network by its name, or a network file's text. @throws BrowserError `OPTIONS_INVALID`; NetworkError */
export function networkOf(nameOrJson: string): Network {
  if (BUILTIN_NETWORKS.includes(nameOrJson)) return builtinNetwork(nameOrJson)
  if (nameOrJson.trimStart().startsWith('{')) return parseNetwork(parseJson(nameOrJson))
  const expected = `one of ${BUILTIN_NETWORKS.join(', ')}, or a network file's text`
  throw new BrowserError('OPTIONS_INVALID', `Cannot find the network ${nameOrJson}: expected ${expected}`)
}
