/**
 * Every actor of mainnet's bundles, byte for byte as the reference instruments it. The digests were computed with
 * fvm-wasm-instrument 0.4.0 and 0.2.0 over the same modules (custom sections left out): SHA-256 of the SHA-256 digests'
 * first 16 bytes, actors in the order of their code's digest.
 */
import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { openArchive } from '../../../src/archive/openArchive.ts'
import { toHex } from '../../../src/base/bytes.ts'
import { memorySource } from '../../../src/codec/byteSource.ts'
import { instrument } from '../../../src/fvm/wasm/instrument.ts'
import { FVM2_RULES, FVM4_RULES, type InstrumentationRules } from '../../../src/fvm/wasm/rules.ts'
import { getBlock } from '../../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../../src/networks/builtinNetworks.ts'
import { missingBundle, readBundle } from '../../support/actors.ts'
import { normalise } from './normalise.ts'

/** By manifest CID: FVM 3 and 4, then FVM 2 where 0.2.0 takes all of the bundle's actors. */
const DIGESTS: Readonly<Record<string, readonly [string, string?]>> = {
  bafy2bzaceai74ppsvuxs3nvpzzeuptdr3wl7vmdpbphvtz4qt5hfq2qdfvz3e: ['c0d6d7c89f1cabb5e25d8d164cd7a524'],
  bafy2bzaceakwje2hyinucrhgtsfo44p54iw4g6otbv5ghov65vajhxgntr53u: ['a8c842d22113a39a5e7b3f69fc70c2b9'],
  bafy2bzaceapkgfggvxyllnmuogtwasmsv5qi2qzhc2aybockd6kag2g5lzaio: ['b588682bdc10a78ff8edbddf9a20eb44'],
  bafy2bzaceb6j6666h36xnhksu3ww4kxb6e25niayfgkdnifaqi6m6ooc66i6i: [
    'f62fa6e1ece4e0233456843039e42be3',
    'b2fbc2e2761cf29be0671c74510a2997',
  ],
  bafy2bzacecbueuzsropvqawsri27owo7isa5gp2qtluhrfsto2qg7wpgxnkba: ['0c34897267fa8122bfc8f008bb419772'],
  bafy2bzacecdhvfmtirtojwhw2tyciu4jkbpsbk5g53oe24br27oy62sn4dc4e: ['2d647f6730ea00fd311279ea92727e95'],
  bafy2bzacecnepvsh4lw6pwljobvwm6zwu6mbwveatp7llhpuguvjhjiqz7o46: ['fff1f942dc86644af5d793bedfb49d51'],
  bafy2bzacecnhaiwcrpyjvzl4uv4q3jzoif26okl3m66q3cijp3dfwlcxwztwo: [
    '99d52994dc87116c46f4bff9a33e25ef',
    '4c209e2c8ff53e3ddc1902253c468d72',
  ],
  bafy2bzacecsuyf7mmvrhkx2evng5gnz5canlnz2fdlzu2lvcgptiq2pzuovos: [
    'dad530b7a041dafc81bbc09169abfeae',
    '966b7df80b030d52e16a2e3cd61d1e72',
  ],
  bafy2bzacedxsqapxwj5znwy4leem5gsuenhhfyqcntews3yis5iek67thy6lc: ['567db1fc73cc03fe59c4a6cbfe9ccb5c'],
}

function digestOf(modules: readonly Uint8Array[], rules: InstrumentationRules, style: 'fvm4' | 'fvm2'): string {
  const all = createHash('sha256')
  for (const wasm of modules) {
    const instrumented = normalise(instrument(wasm, rules, { forRun: false }), style)
    all.update(createHash('sha256').update(instrumented).digest().subarray(0, 16))
  }
  return all.digest('hex').slice(0, 32)
}

describe('the actors of mainnet', () => {
  for (const { manifestCid, actorsVersion, actors } of builtinNetwork('mainnet').manifests) {
    const name = String(manifestCid)
    const expected = DIGESTS[name]
    if (expected === undefined) continue
    it.skipIf(missingBundle(name) !== undefined)(`version ${actorsVersion}`, { timeout: 120_000 }, () => {
      const archive = openArchive(memorySource(readBundle(name)), { verify: 'never' })
      const unique = new Map([...actors.values()].map((code) => [toHex(code.digest), code]))
      const modules = [...unique].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, code]) => getBlock(archive, code))
      expect(digestOf(modules, FVM4_RULES, 'fvm4')).toBe(expected[0])
      if (expected[1] !== undefined) expect(digestOf(modules, FVM2_RULES, 'fvm2')).toBe(expected[1])
    })
  }
})
