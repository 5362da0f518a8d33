/**
 * Every certificate of the recorded chain (golden/f3) verified in order from the table of the chain's own state, and refused
 * with the code of its check when anything is changed.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { toHex, utf8 } from '../../../src/base/bytes.ts'
import { encode } from '../../../src/codec/description.ts'
import type { Json } from '../../../src/codec/jsonText.ts'
import { type FinalityCertificate, finalityCertificate, finalizedKey } from '../../../src/consensus/f3/certificate.ts'
import { merkleRoot, signingPayload, tipsetLeaf } from '../../../src/consensus/f3/chainKey.ts'
import { F3Error, type F3ErrorCode } from '../../../src/consensus/f3/errors.ts'
import {
  applyDelta,
  isStrongQuorum,
  type PowerTable,
  powerTableCid,
  powerTableDelta,
} from '../../../src/consensus/f3/powerTable.ts'
import { Committee, verifyCertificate } from '../../../src/consensus/f3/verifyCertificate.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { bitFieldOf } from '../../../src/ipld/bitfield.ts'
import { recordedCalls } from '../../support/recorded.ts'
import { missingShared, readSharedJson } from '../../support/shared.ts'
import { decodedCertificates, missing, openF3, recordedCertificates } from './support.ts'

const JSON_CONTEXT = { addressPrefix: 't' } as const

beforeAll(async () => {
  await initCrypto()
})

describe.skipIf(missing !== undefined)('recorded certificates', () => {
  it('encode to the bytes they came in', () => {
    const all = recordedCertificates()
    expect(all.length).toBe(124)
    const decoded = decodedCertificates()
    for (const [i, { cbor, instance }] of all.entries()) {
      expect(decoded[i]!.instance).toBe(instance)
      expect(toHex(encode(finalityCertificate, decoded[i]!))).toBe(toHex(cbor))
    }
  })

  it('carry the changes of the table as they are computed here', () => {
    const { f3 } = openF3()
    f3.start()
    let table = f3.powerTable(0)
    let changes = 0
    for (const { powerTableDelta: recordedDelta, instance } of decodedCertificates()) {
      const next = applyDelta(table, recordedDelta)
      expect(powerTableDelta(table, next), `instance ${instance}`).toEqual(recordedDelta)
      changes += recordedDelta.length
      table = next
    }
    expect(changes).toBeGreaterThan(0)
  })

  it('print as Lotus printed them', () => {
    const byInstance = new Map(decodedCertificates().map((one) => [one.instance, one]))
    const calls = recordedCalls('f3', 'f3.jsonl.zst', ['Filecoin.F3GetCertificate'])
    let compared = 0
    for (const { params, response } of calls) {
      const own = byInstance.get(params[0] as number)
      if (own === undefined || response.result === undefined) continue
      expect(finalityCertificate.toJson(own, JSON_CONTEXT)).toEqual(response.result)
      const again = finalityCertificate.fromJson(response.result as Json, JSON_CONTEXT)
      expect(encode(finalityCertificate, again)).toEqual(encode(finalityCertificate, own))
      compared++
    }
    expect(compared).toBeGreaterThan(100)
  })

  it('are all valid, from the first table of the state on', { timeout: 60_000 }, () => {
    const { f3, manifest, view } = openF3()
    expect(f3.isRunning).toBe(false)
    expect(() => f3.certificate(0)).toThrow(expect.objectContaining({ code: 'NOT_RUNNING' }))
    expect(f3.start()).toBe(true)
    expect(powerTableCid(f3.powerTable(0)).equals(manifest.initialPowerTable!)).toBe(true)
    const all = decodedCertificates()
    const heard: number[] = []
    f3.onCertificate(({ instance }) => heard.push(instance))
    expect(f3.importCertificates(all.slice(0, 60))).toBe(60)
    expect(f3.importCertificates(all.slice(40))).toBe(all.length - 60)
    expect(heard).toEqual([59, all.length - 1])
    expect(f3.pendingInstance()).toBe(all.length)
    // Tables by instance: of the store, and of the state that the lookback names.
    for (let instance = 0; instance <= all.length; instance += 7) {
      expect(f3.committeeFromState(instance), `instance ${instance}`).toEqual(f3.powerTable(instance))
    }
    expect(f3.finalizedTipset()?.key).toEqual(view.store.tipset(finalizedKey(all.at(-1)!)).key)
    expect(() => f3.powerTable(all.length + 1)).toThrow(expect.objectContaining({ code: 'FUTURE_INSTANCE' }))
    expect(() => f3.certificate(all.length)).toThrow(expect.objectContaining({ code: 'NOT_FOUND' }))
  })

  it('are still there after a restart', { timeout: 60_000 }, () => {
    const first = openF3()
    first.f3.start()
    const all = decodedCertificates()
    first.f3.importCertificates(all.slice(0, 30))
    const second = openF3(first.store)
    expect(second.f3.isRunning).toBe(true)
    expect(second.f3.latest()?.instance).toBe(29)
    expect(second.f3.powerTable(30)).toEqual(first.f3.powerTable(30))
    expect(second.f3.importCertificates(all.slice(30, 33))).toBe(3)
    expect(second.f3.certificateCbor(32)).toEqual(recordedCertificates()[32]!.cbor)
  })

  it('before a wrong one stay', () => {
    const { f3 } = openF3()
    f3.start()
    const [a, b, c] = decodedCertificates() as [FinalityCertificate, FinalityCertificate, FinalityCertificate]
    expect(() => f3.importCertificates([a, b, { ...c, instance: 9 }])).toThrow(
      expect.objectContaining({ code: 'INSTANCE_WRONG' }),
    )
    expect(f3.pendingInstance()).toBe(2)
  })

  it('name the first false one of a run whose signatures are verified together', { timeout: 60_000 }, () => {
    const all = decodedCertificates().slice(0, 40)
    const reversed = (one: FinalityCertificate): FinalityCertificate => ({
      ...one,
      signature: one.signature.slice().reverse(),
    })
    // Signatures of two certificates in each other's place: their sum is what it should be.
    const exchanged = (i: number): FinalityCertificate => ({ ...all[i]!, signature: all[i ^ 1]!.signature })
    const noQuorum = (one: FinalityCertificate): FinalityCertificate => ({ ...one, signers: bitFieldOf([1, 2]) })
    const noDelta = (one: FinalityCertificate): FinalityCertificate => ({ ...one, powerTableDelta: [] })
    const cases: [instance: number, code: F3ErrorCode, change: (one: FinalityCertificate, i: number) => unknown][] = [
      [7, 'SIGNATURE_INVALID', (one, i) => (i === 7 || i === 9 ? reversed(one) : one)],
      [4, 'SIGNATURE_INVALID', (one, i) => (i === 4 || i === 5 ? exchanged(i) : one)],
      [5, 'SIGNATURE_INVALID', (one, i) => (i === 5 ? reversed(one) : i === 6 ? noQuorum(one) : one)],
      [6, 'NO_QUORUM', (one, i) => (i === 6 ? noQuorum(one) : i === 7 ? reversed(one) : one)],
      [27, 'NEXT_TABLE_WRONG', (one, i) => (i === 27 ? noDelta(one) : one)],
      [27, 'SIGNATURE_INVALID', (one, i) => (i === 27 ? noDelta(reversed(one)) : one)],
      [32, 'SIGNATURE_INVALID', (one, i) => (i === 32 ? reversed(one) : one)],
    ]
    for (const [instance, code, change] of cases) {
      const { f3 } = openF3()
      f3.start()
      const given = all.map((one, i) => change(one, i) as FinalityCertificate)
      expect(() => f3.importCertificates(given), `${instance}`).toThrow(
        expect.objectContaining({ code, info: { instance } }),
      )
      expect(f3.pendingInstance()).toBe(instance)
      expect(f3.latest()).toEqual(all[instance - 1])
    }
  })
})

describe.skipIf(missing !== undefined)('a certificate is refused', () => {
  function checked(instance: number): { certificate: FinalityCertificate; table: PowerTable } {
    const { f3 } = openF3()
    f3.start()
    let table = f3.powerTable(0)
    const all = decodedCertificates()
    for (const one of all.slice(0, instance)) table = applyDelta(table, one.powerTableDelta)
    return { certificate: all[instance]!, table }
  }

  function codeOf(
    certificate: FinalityCertificate,
    table: PowerTable,
    like: FinalityCertificate,
  ): F3ErrorCode | 'valid' {
    try {
      verifyCertificate(certificate, {
        network: 'golden-f3',
        instance: like.instance,
        committee: new Committee(table),
        base: like.ecChain[0]!,
      })
      return 'valid'
    } catch (error) {
      if (error instanceof F3Error) return error.code
      throw error
    }
  }

  // The certificate with a change of the power table.
  const WITH_DELTA = 27
  const mutations: [F3ErrorCode, (one: FinalityCertificate, table: PowerTable) => Partial<FinalityCertificate>][] = [
    ['INSTANCE_WRONG', (one) => ({ instance: one.instance + 1 })],
    [
      'CHAIN_TOO_LONG',
      (one) => ({ ecChain: Array.from({ length: 129 }, (_, i) => ({ ...one.ecChain[0]!, epoch: i })) }),
    ],
    ['CHAIN_TIPSET_WRONG', (one) => ({ ecChain: [{ ...one.ecChain[0]!, key: new Uint8Array(0) }] })],
    ['CHAIN_EPOCHS_WRONG', (one) => ({ ecChain: [one.ecChain[0]!, one.ecChain[0]!] })],
    ['CHAIN_EMPTY', () => ({ ecChain: [] })],
    ['BASE_WRONG', (one) => ({ ecChain: [{ ...one.ecChain[0]!, epoch: one.ecChain[0]!.epoch - 1 }] })],
    ['SIGNER_UNKNOWN', () => ({ signers: bitFieldOf([0, 1, 4]) })],
    ['SIGNER_UNKNOWN', () => ({ signers: bitFieldOf([0, 1, 2 ** 50]) })],
    ['NO_QUORUM', () => ({ signers: bitFieldOf([1, 2]) })],
    ['SIGNATURE_INVALID', (one) => ({ signature: one.signature.slice().reverse() })],
    ['SIGNATURE_INVALID', () => ({ signers: bitFieldOf([0, 1, 2, 3]) })],
    [
      'SIGNATURE_INVALID',
      (one) => ({ supplementalData: { ...one.supplementalData, commitments: new Uint8Array(32).fill(1) } }),
    ],
    ['DELTA_NOT_SORTED', (one) => ({ powerTableDelta: [...one.powerTableDelta, ...one.powerTableDelta] })],
    ['DELTA_WRONG', (one) => ({ powerTableDelta: [{ ...one.powerTableDelta[0]!, powerDelta: 0n }] })],
    ['DELTA_WRONG', (one) => ({ powerTableDelta: [{ ...one.powerTableDelta[0]!, participantId: 5 }] })],
    ['DELTA_WRONG', (one) => ({ powerTableDelta: [{ ...one.powerTableDelta[0]!, participantId: 5, powerDelta: 1n }] })],
    ['DELTA_WRONG', (one) => ({ powerTableDelta: [{ ...one.powerTableDelta[0]!, powerDelta: -1_000_000_000n }] })],
    [
      'DELTA_WRONG',
      (_, table) => {
        const { id, publicKey } = table[3]!
        return { powerTableDelta: [{ participantId: id, powerDelta: 1n, signingKey: publicKey }] }
      },
    ],
    [
      'DELTA_WRONG',
      (_, table) => {
        const { id, power } = table[3]!
        return { powerTableDelta: [{ participantId: id, powerDelta: -power, signingKey: utf8('another key') }] }
      },
    ],
    ['NEXT_TABLE_WRONG', () => ({ powerTableDelta: [] })],
    ['NEXT_TABLE_WRONG', (one) => ({ powerTableDelta: [{ ...one.powerTableDelta[0]!, powerDelta: -1n }] })],
  ]
  for (const [index, [code, change]] of mutations.entries()) {
    it(`${code} (${index})`, () => {
      const { certificate, table } = checked(WITH_DELTA)
      expect(codeOf(certificate, table, certificate)).toBe('valid')
      const mutated = { ...certificate, ...change(certificate, table) }
      // The delta is not signed for itself: what it leads to is.
      expect(codeOf(mutated, table, certificate)).toBe(code)
    })
  }

  it('POWER_TABLE_WRONG and SIGNER_WITHOUT_POWER', () => {
    const { certificate, table } = checked(WITH_DELTA)
    const none = table.map((entry, i) => (i === 3 ? { ...entry, power: 0n } : entry))
    expect(codeOf(certificate, none, certificate)).toBe('POWER_TABLE_WRONG')
    // A participant beside whose power another's vanishes.
    const dust = table.map((entry, i) => (i === 0 ? { ...entry, power: 1n } : entry))
    expect(codeOf({ ...certificate, signers: bitFieldOf([0, 1, 2, 3]) }, dust, certificate)).toBe(
      'SIGNER_WITHOUT_POWER',
    )
  })

  it('on another network', () => {
    const { certificate, table } = checked(3)
    const check = { instance: 3, committee: new Committee(table), base: undefined }
    expect(() => verifyCertificate(certificate, { ...check, network: 'golden-f3' })).not.toThrow()
    expect(() => verifyCertificate(certificate, { ...check, network: 'filecoin' })).toThrow(
      expect.objectContaining({ code: 'SIGNATURE_INVALID' }),
    )
  })
})

const noVectors = missingShared('data/f3/vectors.json')
describe.skipIf(noVectors !== undefined)('F3 vectors (data/f3)', () => {
  interface Vectors {
    merkle: { roots: string[] }
    certificate6204: { json: Json; tipsetLeavesHex: string[]; chainKeyHex: string; signingPayloadHex: string }
  }
  const vectors = noVectors === undefined ? readSharedJson<Vectors>('data/f3/vectors.json') : (undefined as never)

  it('roots of trees', () => {
    for (const [i, root] of vectors.merkle.roots.entries()) {
      const leaves = Array.from({ length: i + 1 }, (_, k) => utf8(`golden${String(k).padStart(9, '0')}`))
      expect(toHex(merkleRoot(leaves)), `${i + 1} leaves`).toBe(root)
    }
  })

  it('payload of a certificate of calibnet', () => {
    const { json, tipsetLeavesHex, chainKeyHex, signingPayloadHex } = vectors.certificate6204
    const certificate = finalityCertificate.fromJson(json, JSON_CONTEXT)
    const leaves = certificate.ecChain.map(tipsetLeaf)
    expect(leaves.map(toHex)).toEqual(tipsetLeavesHex)
    expect(toHex(merkleRoot(leaves))).toBe(chainKeyHex)
    expect(toHex(signingPayload('calibrationnet', certificate))).toBe(signingPayloadHex)
  })

  it('CIDs of initial tables', () => {
    for (const name of ['filecoin', 'calibrationnet-run1']) {
      const file = readSharedJson<{ powerTableCid: string; scaledTotal: number; table: [number, string, string][] }>(
        `data/f3/initial-power-table-${name}.json`,
      )
      const table = file.table.map(([id, power, key]) => ({
        id,
        power: BigInt(power),
        publicKey: Uint8Array.from(atob(key), (one) => one.charCodeAt(0)),
      }))
      expect(powerTableCid(table).toString()).toBe(file.powerTableCid)
      expect(new Committee(table).scaled.total).toBe(file.scaledTotal)
    }
  })

  it('two thirds, rounded up', () => {
    expect(isStrongQuorum(66, 100)).toBe(false)
    expect(isStrongQuorum(67, 100)).toBe(true)
    expect(isStrongQuorum(2, 3)).toBe(true)
  })
})
