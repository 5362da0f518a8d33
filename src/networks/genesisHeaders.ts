/**
 * The genesis blocks' headers of public networks: with it a chain can be opened before the archive that holds it at its
 * very end is indexed.
 * @see lotus build/genesis/*.car.zst
 */
import { fromBase64 } from '../base/bytes.ts'
import type { Network } from './network.ts'

/** CBOR as base64, by name of the network. */
const HEADERS: ReadonlyMap<string, string> = new Map([
  [
    'mainnet',
    'kEIAAIFYIF+KAzlrMJpg+309M90TSD0FRkvOX9nQYXHnqMKA4kIWggBAgYIAWCAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAICB' +
      '2CpYJQABcRIgEH2CHCXcBzUgAknflKi+vJyOSJdE+GpMqJGegfGdzXJAANgqWCcAAXGg5AIgj7wH91h+Lv66uf8asnySiIGr+dG35a1SBngU' +
      'FWFYZ67YKlgnAAFxoOQCIOVliz0YzQbh25AVtLDsVcEjok1b4eok2Dk4xbg5e08v2CpYJwABcaDkAiCYMH+uq90gjBMhvkweyE+7lSzYQkwk' +
      '2w1alsgDL7LOEPYaX0Q4YPYARQAF9eEA',
  ],
  [
    'calibnet',
    'kEIAAIFYIHr3saZtSNuQxYqxzmz4U561AccBjRO7lWfiuiFhk7q9ggBAgYIAWCAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAICB' +
      '2CpYJQABcRIgEH2CHCXcBzUgAknflKi+vJyOSJdE+GpMqJGegfGdzXJAANgqWCcAAXGg5AIgjQNk+zXeCKMbZmAd/xqtbuBbrbBivKjyd51q' +
      'S3mAlWLYKlgnAAFxoOQCIOVliz0YzQbh25AVtLDsVcEjok1b4eok2Dk4xbg5e08v2CpYJwABcaDkAiCYMH+uq90gjBMhvkweyE+7lSzYQkwk' +
      '2w1alsgDL7LOEPYaY2FhrPYARQAF9eEA',
  ],
])

/** CBOR of the genesis block's header; undefined for other networks. Its CID is `genesisCid`. */
export function genesisHeaderOf({ name }: Network): Uint8Array | undefined {
  const text = HEADERS.get(name)
  return text === undefined ? undefined : fromBase64(text)
}
