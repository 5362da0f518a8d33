/** Keys of storage proofs on disk: taken by digest, checked before use, named when they are not there. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { ProofFiles } from '../../platform/server/proofFiles.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { presumedOf } from '../../src/node/proofs.ts'
import { readVerifierSrs, trimSrs } from '../../src/proofs/aggregate/verifierSrs.ts'
import { wasmCurve } from '../../src/proofs/curve/curveWasm.ts'
import { parameterDigest } from '../../src/proofs/keys/loadedKeys.ts'
import { networkKeyFiles } from '../../src/proofs/keys/networkKeys.ts'
import { fileName, KEY_FILES, type ParameterFile, SRS_FILE } from '../../src/proofs/keys/parameters.ts'
import { PROOF_VECTORS } from '../proofs/proofKeys.ts'
import { missingShared, readShared, readSharedJson } from '../support/shared.ts'

const missing = missingShared(PROOF_VECTORS)

describe.skipIf(missing !== undefined)('keys on disk', () => {
  let folder: string
  let files: ProofFiles

  beforeAll(initCrypto)
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'petrel-proofs-'))
    files = new ProofFiles(join(folder, 'proofs'))
  })
  afterEach(() => rmSync(folder, { recursive: true }))

  /** A key of the vectors, with its own digest in place of the ceremony's. */
  function ownKey(): { file: ParameterFile; bytes: Uint8Array } {
    const { keys } = readSharedJson<{ keys: { file: string; blake2b512_first16: string }[] }>(
      `${PROOF_VECTORS}/keys.json`,
    )
    const own = keys.find((one) => one.file.startsWith('vk/') && one.file.includes('empty-sector-update'))
    const known = KEY_FILES.find(({ name }) => own?.file.includes(name))
    if (own === undefined || known === undefined) throw new Error('no such key')
    return {
      file: { ...known, digest: own.blake2b512_first16 },
      bytes: readShared(`${PROOF_VECTORS}/${own.file}`),
    }
  }

  it('takes what has the right digest, and nothing else', () => {
    const { file, bytes } = ownKey()
    expect(files.read(fileName(file))).toBeUndefined()
    files.add(file, bytes)
    expect(files.read(fileName(file))).toEqual(bytes)
    files.check(file, bytes)
    expect(() => files.add(file, bytes.subarray(1))).toThrow('its digest is')
    expect(() => files.add({ ...file, digest: '00'.repeat(16) }, bytes)).toThrow('its digest is')
    expect(files.read(fileName(file))).toEqual(bytes)
  })

  it('keeps of the reference string what a verifier needs, and sees when that changes', async () => {
    const whole = readShared(`${PROOF_VECTORS}/srs/${fileName(SRS_FILE)}`)
    const kept = trimSrs(whole)
    expect(kept.length).toBeLessThan(1000)
    const curve = wasmCurve()
    const { g, gAlpha, gBeta, h, hAlpha, hBeta } = readVerifierSrs(kept, curve)
    const full = readVerifierSrs(whole, curve)
    expect([g, gAlpha, gBeta].map((one) => curve.writeG1(one))).toEqual(
      [full.g, full.gAlpha, full.gBeta].map((one) => curve.writeG1(one)),
    )
    expect([h, hAlpha, hBeta].map((one) => curve.writeG2(one))).toEqual(
      [full.h, full.hAlpha, full.hBeta].map((one) => curve.writeG2(one)),
    )
    // The ceremony's own is not here: only that another one is refused, and what is checked of one that was taken.
    expect(() => files.add(SRS_FILE, whole)).toThrow('its digest is')
    const { file, bytes } = ownKey()
    files.add(file, bytes)
    const path = files.path(fileName(SRS_FILE))
    writeFileSync(path, kept)
    expect(() => files.check(SRS_FILE, kept)).toThrow('its digest is')
    writeFileSync(`${path}.digest`, `${parameterDigest(kept)}\n`)
    files.check(SRS_FILE, new Uint8Array(readFileSync(path)))
    expect(() =>
      files.check(
        SRS_FILE,
        kept.map((one) => one ^ 1),
      ),
    ).toThrow('not what was put here')
  })

  it('names what is presumed', () => {
    const calibnet = builtinNetwork('calibnet')
    expect(networkKeyFiles('calibnet').map(({ circuit, size }) => `${circuit} ${size}`)).toEqual([
      ...['winning 32GiB', 'window 32GiB', 'seal 32GiB', 'update 32GiB'],
      ...['winning 64GiB', 'window 64GiB', 'seal 64GiB', 'update 64GiB'],
    ])
    const having = (has: (name: string) => boolean) => presumedOf(calibnet, { has, read: () => undefined })
    expect(having(() => true)).toBeUndefined()
    expect(having((name) => name.endsWith('.vk'))).toContain('for lack of keys: aggregated seals (see')
    expect(having((name) => !name.includes('spacetime'))).toContain('winning PoSt, window PoSt (see')
    expect(presumedOf(calibnet, undefined)).toContain('--proofs receipts')
    expect(presumedOf({ ...calibnet, proofs: 'accept' }, undefined)).toBeUndefined()
  })
})
