/** Options of a tab: a name that is none would be an option that nobody hears. */
import { describe, expect, it } from 'vitest'
import { checkOptions } from '../../platform/browser/checkOptions.ts'
import type { PetrelOptions } from '../../platform/browser/nodeOptions.ts'

describe('options of a tab', () => {
  it.each([
    [
      { node: { kind: 'local', bundle: 'a.car' } },
      'nothing in node of kind local is called "bundle"; there are kind, devnet, bundles',
    ],
    [{ node: { kind: 'local', devnet: { blocktime: 1 } } }, 'nothing in node.devnet is called "blocktime"'],
    [{ node: { kind: 'local', devnet: { produce: [0] } } }, 'called "produce"'],
    [
      { node: { kind: 'follow', network: 'mainnet', snapshot: 'x' } },
      'nothing in node of kind follow is called "snapshot"',
    ],
    [{ node: { kind: 'locl' } }, 'nothing in node.kind is called "locl"; there are local, follow, snapshot'],
    [{ node: { kind: 'local' }, pasphrase: 'x' }, 'nothing in the options is called "pasphrase"'],
  ])('%j', (options, text) => {
    expect(() => checkOptions(options as unknown as PetrelOptions)).toThrow(text)
  })

  it('takes what the page says', () => {
    checkOptions({ node: { kind: 'local', devnet: { blockTimeMs: 0 }, bundles: [] }, passphrase: 'x', persist: false })
    checkOptions({ node: { kind: 'follow', network: 'mainnet', mode: 'light', proofs: 'receipts', keyGateways: [] } })
    checkOptions({ node: { kind: 'follow', network: 'mainnet', mode: 'headers', syncPeers: 1 } })
  })
})
