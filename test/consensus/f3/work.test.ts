/** What answers and checks take: tables that are computed once and in steps, keys that are decoded when somebody has signed for them. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { FinalityCertificate } from '../../../src/consensus/f3/certificate.ts'
import { applyDelta, type PowerTable } from '../../../src/consensus/f3/powerTable.ts'
import { Committee } from '../../../src/consensus/f3/verifyCertificate.ts'
import { verifyCertificates } from '../../../src/consensus/f3/verifyCertificates.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { CountingStore, certify, FIRST_TABLE, keyOf, NETWORK, ownF3, tipset } from './ownNetwork.ts'

beforeAll(async () => {
  await initCrypto()
})

/** Certificates that each give one participant more power, and the table of each instance. */
function growing(count: number): { all: FinalityCertificate[]; tables: PowerTable[] } {
  const all: FinalityCertificate[] = []
  const tables: PowerTable[] = [FIRST_TABLE()]
  for (let instance = 0; instance < count; instance++) {
    const table = tables[instance] as PowerTable
    const delta = [{ participantId: 1 + (instance % 3), powerDelta: 1n, signingKey: new Uint8Array(0) }]
    const chain = [tipset(instance), tipset(instance + 1)]
    all.push(certify({ instance, chain, table, delta, signers: [0, 1, 2] }))
    tables.push(applyDelta(table, delta))
  }
  return { all, tables }
}

describe('a power table by instance', () => {
  it('is computed once, in steps; one after it from there', () => {
    const { all, tables } = growing(12)
    const store = new CountingStore()
    const f3 = ownF3(store)
    f3.importCertificates(all)
    store.taken()
    const walk = f3.findPowerTable(7)
    let steps = 0
    let end = walk.next()
    for (; end.done !== true; end = walk.next()) steps++
    expect(end.value).toEqual(tables[7])
    expect(steps).toBe(7)
    expect(store.taken()).toEqual({ certificates: 7, tables: 1 })
    expect(f3.powerTable(7)).toEqual(tables[7])
    expect(store.taken()).toEqual({ certificates: 0, tables: 0 })
    expect(f3.powerTable(9)).toEqual(tables[9])
    expect(store.taken()).toEqual({ certificates: 2, tables: 0 })
    for (const [instance, table] of tables.entries()) expect(f3.powerTable(instance), `${instance}`).toEqual(table)
    for (const instance of [...tables.keys()].reverse()) expect(f3.powerTable(instance)).toEqual(tables[instance])
  })
})

describe('a certificate of an instance that is known', () => {
  const signed = (signers: number[], salt = 1): FinalityCertificate =>
    certify({ instance: 1, chain: [tipset(1), tipset(2, salt)], table: FIRST_TABLE(), signers })
  const first = (): FinalityCertificate =>
    certify({ instance: 0, chain: [tipset(0), tipset(1)], table: FIRST_TABLE(), signers: [0, 1] })

  it('is no fork where others signed the same, for which no table is read', () => {
    const store = new CountingStore()
    const f3 = ownF3(store)
    f3.importCertificates([first(), signed([0, 1])])
    store.taken()
    for (let round = 0; round < 2; round++) expect(f3.isFork(signed([0, 2]))).toBe(false)
    const unsigned = { ...signed([0, 2]), signature: signed([0, 2], 2).signature }
    expect(() => f3.isFork(unsigned)).toThrow(expect.objectContaining({ code: 'SIGNATURE_INVALID' }))
    expect(
      f3.isFork(certify({ instance: 0, chain: [tipset(0), tipset(1)], table: FIRST_TABLE(), signers: [1, 2] })),
    ).toBe(false)
    expect(store.taken().tables).toBe(0)
  })

  it('is one where they signed something else, and a lie where they did not: of the newest without a table', () => {
    const store = new CountingStore()
    ownF3(store).importCertificates([first(), signed([0, 1])])
    // Of one that was started again the table is read once.
    const f3 = ownF3(store)
    const forged = { ...signed([0, 2], 2), signature: signed([0, 2]).signature }
    expect(() => f3.isFork(forged)).toThrow(expect.objectContaining({ code: 'SIGNATURE_INVALID' }))
    store.taken()
    expect(() => f3.isFork(forged)).toThrow(expect.objectContaining({ code: 'SIGNATURE_INVALID' }))
    expect(f3.isFork(signed([0, 2], 2))).toBe(true)
    expect(f3.signedShareOf(f3.latest() as FinalityCertificate)).toBeCloseTo(2 / 3)
    expect(store.taken().tables).toBe(0)
    const other = certify({ instance: 0, chain: [tipset(0), tipset(1, 3)], table: FIRST_TABLE(), signers: [1, 2] })
    expect(f3.isFork(other)).toBe(true)
  })
})

describe('certificates that bring keys', () => {
  const first = { network: NETWORK, instance: 0, committee: new Committee([]), base: undefined }
  const delta = [{ participantId: 4, powerDelta: 1n << 40n, signingKey: new Uint8Array(48) }]

  it('are valid in a row with those that the new ones sign', () => {
    const table = FIRST_TABLE()
    const brings = [{ ...(delta[0] as (typeof delta)[number]), signingKey: keyOf(4) }]
    const next = applyDelta(table, brings)
    const [zero, one] = [
      certify({ instance: 0, chain: [tipset(0), tipset(1)], table, delta: brings, signers: [0, 1, 2] }),
      certify({ instance: 1, chain: [tipset(1), tipset(2)], table: next, signers: [1, 2, 3] }),
    ]
    const check = { ...first, committee: new Committee(table) }
    expect(verifyCertificates([zero, one], check)).toMatchObject({ verified: [{}, {}], error: undefined })
    const wrong = { ...one, signature: zero.signature }
    const run = verifyCertificates([zero, wrong], check)
    expect(run.verified).toHaveLength(1)
    expect(run.error).toMatchObject({ code: 'SIGNATURE_INVALID', info: { instance: 1 } })
    const unsorted = verifyCertificates([{ ...zero, powerTableDelta: [...brings, ...brings] }, one], check)
    expect(unsorted).toMatchObject({ verified: [], error: { code: 'DELTA_NOT_SORTED' } })
  })

  it('are looked at no further where nobody signed them: neither their keys nor what comes after', () => {
    const table = FIRST_TABLE()
    const one = certify({ instance: 1, chain: [tipset(1), tipset(2)], table, signers: [0, 1] })
    const zero = certify({ instance: 0, chain: [tipset(0), tipset(1)], table, delta, signers: [0, 1] })
    const forged = { ...zero, signature: one.signature }
    let looks = 0
    const later = {
      ...one,
      get signers() {
        looks++
        return one.signers
      },
    }
    const check = { ...first, committee: new Committee(table) }
    const { verified, error } = verifyCertificates([forged, later], check)
    expect(verified).toEqual([])
    expect(error).toMatchObject({ code: 'SIGNATURE_INVALID', info: { instance: 0 } })
    expect(looks).toBe(0)
  })
})
