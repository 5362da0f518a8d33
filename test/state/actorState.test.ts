import { describe, expect, it } from 'vitest'
import { methodNumber } from '../../src/actors/frc42.ts'
import { openArchive } from '../../src/archive/openArchive.ts'
import { fromBase64, toHex } from '../../src/base/bytes.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { type Cid, parseCid } from '../../src/codec/cid.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { type Json, stringifyJson } from '../../src/codec/jsonText.ts'
import { getBlock, getCbor, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { ACTOR_KINDS } from '../../src/state/actorKind.ts'
import { actorMethod, actorMethods } from '../../src/state/actorMethods.ts'
import { actorStateCodec } from '../../src/state/actorState.ts'
import { codeLookup, loadManifest } from '../../src/state/manifest.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { parseAddress } from '../../src/types/address.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { bundlesHere, readBundle } from '../support/actors.ts'
import { openGolden } from '../support/archives.ts'
import { recordedCalls } from '../support/recorded.ts'
import { missingShared } from '../support/shared.ts'

const json = { addressPrefix: 't' } as const

/** Of each layout that differs much; `npm run golden` asks all chains. */
const CHAINS = ['nv17', 'nv24', 'nv28']

type Object = { [key: string]: Json }

describe.skipIf(missingShared('data/golden') !== undefined)('states that Lotus read', () => {
  it.each(CHAINS)('%s', (chain) => {
    const { store, network } = openGolden(chain)
    const codes = codeLookup(network)
    const calls = recordedCalls(chain, 'chain.jsonl.zst', ['Filecoin.StateReadState'])
    expect(calls.length).toBeGreaterThan(20)
    for (const { params, response } of calls) {
      const [who, key] = params as [string, { '/': string }[]]
      const head = key.length === 0 ? (store.roots[0] as Cid) : parseCid((key[0] as { '/': string })['/'])
      const tree = StateTree.load(store, getCbor(store, blockHeader, head).parentStateRoot)
      const actor = tree.getActor(tree.lookupId(parseAddress(who)) ?? -1n)
      const info = actor === undefined ? undefined : codes(actor.code)
      if (actor === undefined || info === undefined) throw new Error(`no actor ${who}`)
      const codec = actorStateCodec(info.kind, info.actorsVersion)
      const expected = (response.result as Object).State as Json
      if (codec === undefined) {
        expect(expected).toBe(null)
        continue
      }
      const data = getBlock(store, actor.head)
      const state = decode(codec, data)
      expect(stringifyJson(codec.toJson(state, json)), `${who} ${info.name}`).toBe(stringifyJson(expected))
      expect(toHex(encode(codec, state))).toBe(toHex(data))
    }
  })
})

describe.skipIf(missingShared('data/golden') !== undefined)('return values that Lotus decoded', () => {
  it.each(CHAINS)('%s', (chain) => {
    const { store, network } = openGolden(chain)
    const codes = codeLookup(network)
    const messages = new Map<string, Object>()
    for (const { params, response } of recordedCalls(chain, 'chain.jsonl.zst', ['Filecoin.ChainGetMessage'])) {
      messages.set((params[0] as { '/': string })['/'], response.result as Object)
    }
    let decoded = 0
    for (const { response } of recordedCalls(chain, 'chain.jsonl.zst', ['Filecoin.StateWaitMsg'])) {
      const result = response.result as Object
      const message = messages.get((result.Message as { '/': string })['/'])
      const receipt = result.Receipt as { ExitCode: number; Return: string | null }
      if (message === undefined || receipt.ExitCode !== 0 || receipt.Return === null) continue
      const first = parseCid(((result.TipSet as Object[])[0] as { '/': string })['/'])
      const tree = StateTree.load(store, getCbor(store, blockHeader, first).parentStateRoot)
      const actor = tree.getActor(tree.lookupId(parseAddress(message.To as string)) ?? -1n)
      const info = actor === undefined ? undefined : codes(actor.code)
      if (info === undefined) continue
      const returns = actorMethod(info.kind, info.actorsVersion, BigInt(message.Method as number))?.returns
      if (returns === undefined || returns === null) continue
      const value = decode(returns, fromBase64(receipt.Return))
      expect(stringifyJson(returns.toJson(value, json))).toBe(stringifyJson(result.ReturnDec as Json))
      expect(toHex(encode(returns, value))).toBe(toHex(fromBase64(receipt.Return)))
      // What JSON says can be read back.
      expect(toHex(encode(returns, returns.fromJson(result.ReturnDec as Json, json)))).toBe(
        toHex(fromBase64(receipt.Return)),
      )
      decoded++
    }
    expect(decoded).toBeGreaterThan(10)
  })
})

describe('method tables', () => {
  it('have exported numbers that follow from the names', () => {
    for (const kind of ACTOR_KINDS) {
      for (const row of actorMethods(kind, 18)) {
        if (row.number < 1n << 24n) continue
        const name = row.name.replace(/Exported$/, '')
        const named = { UniversalReceiverHook: 'Receive', InvokeContract: 'InvokeEVM', Symbol: 'Symbol' }[name] ?? name
        expect(methodNumber(named), `${kind} ${row.name}`).toBe(row.number)
      }
    }
  })

  it('have one row for a number and a version', () => {
    for (const kind of ACTOR_KINDS) {
      for (let version = 9; version <= 18; version++) {
        const numbers = actorMethods(kind, version).map((row) => row.number)
        expect(new Set(numbers).size, `${kind} ${version}`).toBe(numbers.length)
      }
    }
  })
})

describe('manifests', () => {
  const bundles = bundlesHere()
  it.skipIf(bundles.length === 0 || missingShared('data/golden/nv28') !== undefined)(
    'of bundles name the codes of the network',
    () => {
      const { network } = openGolden('nv28')
      let checked = 0
      for (const { manifestCid, actors, actorsVersion } of network.manifests) {
        if (!bundles.includes(String(manifestCid))) continue
        const store = openArchive(memorySource(readBundle(String(manifestCid))), { verify: 'never' })
        const manifest = loadManifest(store, manifestCid)
        expect([...manifest].map(([name, code]) => `${name} ${code}`).sort()).toEqual(
          [...actors].map(([name, code]) => `${name} ${code}`).sort(),
        )
        for (const code of manifest.values())
          expect(codeLookup(network)(code)?.actorsVersion).toBeLessThanOrEqual(actorsVersion)
        checked++
      }
      expect(checked).toBeGreaterThan(0)
    },
  )

  it('are refused in another version', () => {
    expect(() => loadManifest(new MemoryBlockstore(), parseCid('bafkqactgnfwc6mjpnfxgs5a'))).toThrow()
  })
})
