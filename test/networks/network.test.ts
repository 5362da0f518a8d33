import { describe, expect, it } from 'vitest'
import { PetrelError } from '../../src/base/errors.ts'
import { type Json, parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { BUILTIN_NETWORKS, builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { actorsVersionFor, manifestFor, networkVersionAt, upgradeHeight } from '../../src/networks/network.ts'
import { networkJson } from '../../src/networks/networkJson.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { goldenChains, openGolden } from '../support/archives.ts'
import { missingShared, readSharedText } from '../support/shared.ts'

describe('built-in networks', () => {
  it.skipIf(missingShared('data/networks') !== undefined)('say what the shared files say', () => {
    for (const name of BUILTIN_NETWORKS) {
      const shared = parseNetwork(parseJson(readSharedText(`data/networks/${name}.json`)))
      // The files do not say it: lotus build/buildconstants/params_*.go ActorDebugging is true in params_2k.go alone.
      expect(builtinNetwork(name)).toEqual({ ...shared, actorDebugging: name === 'devnet' })
    }
  })

  it('are written as they were read', () => {
    for (const name of BUILTIN_NETWORKS) {
      const network = builtinNetwork(name)
      expect(parseNetwork(parseJson(stringifyJson(networkJson(network))))).toEqual(network)
    }
  })

  it('have the schedule of mainnet', () => {
    // lotus build/buildconstants/params_mainnet.go
    const mainnet = builtinNetwork('mainnet')
    expect(networkVersionAt(mainnet, 0)).toBe(0)
    expect(networkVersionAt(mainnet, 41_280)).toBe(0)
    expect(networkVersionAt(mainnet, 41_281)).toBe(1)
    expect(networkVersionAt(mainnet, 138_720)).toBe(3)
    expect(networkVersionAt(mainnet, 138_721)).toBe(4)
    expect(networkVersionAt(mainnet, 2_683_348)).toBe(17)
    expect(networkVersionAt(mainnet, 2_683_349)).toBe(18)
    expect(networkVersionAt(mainnet, 7_000_000)).toBe(28)
    expect(upgradeHeight(mainnet, 'Phoenix')).toBe(3_855_480)
    expect(upgradeHeight(mainnet, 'Nowhere')).toBeUndefined()
    expect(mainnet.addressPrefix).toBe('f')
    expect(mainnet.chainId).toBe(314)
    expect(mainnet.beacon.kind === 'drand' ? mainnet.beacon.schedule.map((one) => one.name) : []).toEqual([
      'incentinet',
      'mainnet',
      'quicknet',
    ])
  })

  it('have the names of go-state-types for versions of actors', () => {
    expect([0, 3, 4, 9, 10, 11, 12, 16, 17, 19, 20, 21, 25, 26, 27, 28].map(actorsVersionFor)).toEqual([
      0, 0, 2, 2, 3, 3, 4, 8, 9, 11, 11, 12, 16, 16, 17, 18,
    ])
    expect(() => actorsVersionFor(99)).toThrow('unsupported network version 99')
  })

  it('have a manifest with all sixteen actors from version 10 on', () => {
    for (const name of BUILTIN_NETWORKS) {
      for (let version = 10; version <= 18; version++) {
        expect(manifestFor(builtinNetwork(name), version)?.actors.size, `${name} ${version}`).toBe(16)
      }
      expect(manifestFor(builtinNetwork(name), 7)).toBeUndefined()
    }
  })

  it('refuse another name', () => {
    expect(() => builtinNetwork('testnet')).toThrow('Cannot find network testnet')
  })
})

describe.skipIf(missingShared('data/golden') !== undefined)('recorded networks', () => {
  it.each(goldenChains())('%s', (chain) => {
    const { network } = openGolden(chain)
    expect(network.beacon).toEqual({ kind: 'mock' })
    expect(network.proofs).toBe('accept')
    const first = chain.startsWith('nv')
      ? Number(chain.slice(2, 4))
      : chain.startsWith('up')
        ? Number(chain.slice(3, 5))
        : 28
    expect(networkVersionAt(network, 1)).toBe(first)
    const last = chain.startsWith('up') ? Number(chain.slice(6)) : first
    expect(networkVersionAt(network, 900)).toBe(last)
  })
})

describe('a network file', () => {
  const good = (): { [key: string]: Json } =>
    structuredClone(parseJson(readSharedText('data/networks/devnet.json'))) as never
  const faults: readonly (readonly [string, (file: { [key: string]: Json }) => void])[] = [
    ['without a name', (file) => delete file.name],
    ['with a height that is no number', (file) => (((file.upgrades as Json[])[0] as { height: Json }).height = '5')],
    ['with another prefix', (file) => (file.addressPrefix = 'x')],
    ['with a CID that is none', (file) => ((file.genesis as { cid: Json }).cid = 'bafy')],
    ['with an unknown beacon', (file) => (file.beacon = { kind: 'dice' })],
    ['with unknown proofs', (file) => (file.proofs = 'hope')],
    ['with a list for an object', (file) => (file.protocol = [])],
  ]
  it.skipIf(missingShared('data/networks') !== undefined).each(faults)('%s is refused', (_, spoil) => {
    const file = good()
    parseNetwork(file)
    spoil(file)
    expect(() => parseNetwork(file)).toThrow(PetrelError)
  })
})
