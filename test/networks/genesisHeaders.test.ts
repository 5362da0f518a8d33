import { describe, expect, it } from 'vitest'
import { decode } from '../../src/codec/description.ts'
import { isBlockOf } from '../../src/ipld/verifyBlock.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { genesisHeaderOf } from '../../src/networks/genesisHeaders.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'

describe('genesis headers', () => {
  it.each(['mainnet', 'calibnet'])('%s: the block that the network names', (name) => {
    const network = builtinNetwork(name)
    const header = genesisHeaderOf(network)!
    expect(isBlockOf(network.genesisCid!, header)).toBe(true)
    expect(decode(blockHeader, header).height).toBe(0)
  })

  it('others have none here', () => expect(genesisHeaderOf(builtinNetwork('devnet'))).toBeUndefined())
})
