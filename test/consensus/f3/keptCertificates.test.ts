/** A store that keeps the newest certificates alone. */
import { describe, expect, it } from 'vitest'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import type { FinalityCertificate } from '../../../src/consensus/f3/certificate.ts'
import { CertificateStore, TABLE_EVERY } from '../../../src/consensus/f3/certificateStore.ts'
import { F3 } from '../../../src/consensus/f3/f3.ts'
import { powerTableCid } from '../../../src/consensus/f3/powerTable.ts'
import { decodedCertificates, missing, openF3 } from './support.ts'

const KEPT = 100
const FIRST = TABLE_EVERY - 3

describe.skipIf(missing !== undefined)('a store of the newest certificates', () => {
  /** One of the recorded ones, of any instance, which changes nothing of a table. */
  const recorded = missing === undefined ? (decodedCertificates()[0] as FinalityCertificate) : undefined
  const certificate = (instance: number): FinalityCertificate => ({
    ...(recorded as FinalityCertificate),
    instance,
    powerTableDelta: [],
  })

  function filled(until: number, kept?: number) {
    const { view, manifest, f3 } = openF3()
    f3.start()
    const table = f3.powerTable(0)
    const store = new MemoryStore()
    const certificates = new CertificateStore(store, manifest.networkName, kept)
    certificates.initialize(FIRST, table)
    for (let instance = FIRST; instance <= until; instance++) {
      certificates.add([{ certificate: certificate(instance), next: table }])
    }
    return { view, manifest, store, certificates, table: powerTableCid(table) }
  }

  it('has all until there are so many above the next table, and from that on with the next one', () => {
    const edge = TABLE_EVERY + KEPT - 1
    const { manifest, store, certificates, table } = filled(edge, KEPT)
    expect([certificates.first(), certificates.certificate(FIRST)?.instance]).toEqual([FIRST, FIRST])
    certificates.add([{ certificate: certificate(edge + 1), next: certificates.table(edge + 1) }])
    expect([certificates.first(), certificates.latest()]).toEqual([TABLE_EVERY, edge + 1])
    expect(certificates.certificate(TABLE_EVERY - 1)).toBeUndefined()
    expect(certificates.certificate(TABLE_EVERY)?.instance).toBe(TABLE_EVERY)
    expect(() => certificates.table(FIRST)).toThrow(`before the first instance: ${TABLE_EVERY}`)
    // Also for one that opens it anew.
    const again = new CertificateStore(store, manifest.networkName)
    for (const instance of [TABLE_EVERY, TABLE_EVERY + 1, edge + 2]) {
      expect(powerTableCid(again.table(instance)).equals(table), `${instance}`).toBe(true)
    }
  })

  it('does not grow', () => {
    const count = (until: number): number => [...filled(until, KEPT).store.keys(new Uint8Array())].length
    const twoTables = 2 * TABLE_EVERY + KEPT
    expect(count(twoTables + TABLE_EVERY)).toBe(count(twoTables))
    expect(count(twoTables)).toBeLessThan(TABLE_EVERY + KEPT + 10)
  })

  it('keeps all without a number', () => {
    const { certificates } = filled(2 * TABLE_EVERY + KEPT)
    expect(certificates.first()).toBe(FIRST)
    expect(certificates.certificate(FIRST)?.instance).toBe(FIRST)
  })

  it('a node goes on from what is left', () => {
    const until = TABLE_EVERY + KEPT
    const { view, manifest, store, table } = filled(until, KEPT)
    const f3 = new F3({ view, manifest, store, kept: KEPT })
    expect([f3.isRunning, f3.latest()?.instance, f3.pendingInstance()]).toEqual([true, until, until + 1])
    expect(powerTableCid(f3.powerTable(until + 1)).equals(table)).toBe(true)
    expect(() => f3.certificate(FIRST)).toThrow('certificate not found')
    expect(() => f3.powerTable(FIRST)).toThrow('before the first instance')
  })
})
