/** Finality certificates of a version 2 snapshot reach F3. */
import { beforeAll, describe, expect, it, vi } from 'vitest'
import { carBytes } from '../../src/archive/car.ts'
import { CarStore } from '../../src/archive/carStore.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { CODEC_RAW } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { powerTable } from '../../src/consensus/f3/powerTable.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { importF3Data } from '../../src/node/f3FromSnapshot.ts'
import { encodeF3Header, f3Block } from '../../src/sync/snapshot/f3Data.ts'
import { encodeMetadata } from '../../src/sync/snapshot/metadata.ts'
import { missing, openF3, recordedCertificates } from '../consensus/f3/support.ts'
import { silentLog } from '../support/recordedView.ts'

const COUNT = 12
/** A timer that runs at once: nothing here waits for the clock. */
const ports = {
  log: silentLog,
  timers: {
    setTimeout: (run: () => void) => {
      queueMicrotask(run)
      return () => undefined
    },
  },
}

/**
 * A snapshot with the first certificates of the recorded chain, its blocks left out.
 * @param missingBytes - of its data, at their end
 */
function snapshot(certificates: Uint8Array[], missingBytes = 0): CarStore {
  const { f3, view } = openF3()
  f3.start()
  const header = encodeF3Header({
    firstInstance: 0,
    latestInstance: certificates.length - 1,
    initialPowerTable: encode(powerTable, [...f3.powerTable(0)]),
  })
  const whole = f3Block(header, certificates)[1]
  const f3Data = whole.subarray(0, whole.length - missingBytes)
  const f3Cid = blockCid(f3Data, CODEC_RAW)
  const metadata = encodeMetadata({ f3Data: f3Cid, headTipsetKey: view.store.head().key })
  const root = blockCid(metadata)
  return new CarStore(
    memorySource(
      carBytes(
        [root],
        [
          [root, metadata],
          [f3Cid, f3Data],
        ],
      ),
    ),
    { verify: 'open' },
  )
}

describe.skipIf(missing !== undefined)('finality certificates of a snapshot', () => {
  beforeAll(initCrypto)

  it('are verified and kept', async () => {
    const recorded = recordedCertificates().slice(0, COUNT)
    const { f3 } = openF3()
    await importF3Data(f3, snapshot(recorded.map(({ cbor }) => cbor)), ports, new AbortController().signal)
    expect(f3.latest()?.instance).toBe(COUNT - 1)
    expect(f3.certificateCbor(3)).toEqual(recorded[3]?.cbor)
  })

  it('end at a false one', async () => {
    const recorded = recordedCertificates()
      .slice(0, COUNT)
      .map(({ cbor }) => cbor)
    // Another certificate's bytes: right in form, of the wrong instance.
    recorded[5] = recorded[7] as Uint8Array
    const { f3 } = openF3()
    await importF3Data(f3, snapshot(recorded), ports, new AbortController().signal)
    expect(f3.latest()?.instance).toBe(4)
  })

  it('are taken up to where the data are cut off', async () => {
    const recorded = recordedCertificates().slice(0, COUNT)
    const { f3 } = openF3()
    const cut = snapshot(
      recorded.map(({ cbor }) => cbor),
      10,
    )
    await importF3Data(f3, cut, ports, new AbortController().signal)
    expect(f3.latest()?.instance).toBe(COUNT - 2)
  })

  it('are not decoded where they are known', async () => {
    const certificates = recordedCertificates().map(({ cbor }) => cbor)
    const { f3 } = openF3()
    const { signal } = new AbortController()
    await importF3Data(f3, snapshot(certificates.slice(0, COUNT)), ports, signal)
    const warned: string[] = []
    const log = { ...silentLog, warn: (text: string) => void warned.push(text) }
    const unreadable = certificates.slice(0, COUNT).map(() => Uint8Array.of(0xff))
    await importF3Data(f3, snapshot(unreadable), { ...ports, log }, signal)
    await importF3Data(
      f3,
      snapshot([...unreadable, ...certificates.slice(COUNT, COUNT + 2)]),
      { ...ports, log },
      signal,
    )
    expect(warned).toEqual([])
    expect(f3.latest()?.instance).toBe(COUNT + 1)
  })

  it('let others run while they are read, known or not, and end when they are told to', async () => {
    const known = Array.from({ length: 3000 }, () => new Uint8Array(500))
    const { f3 } = openF3()
    const stop = new AbortController()
    let pauses = 0
    const timers = {
      setTimeout: (run: () => void) => {
        pauses++
        if (pauses === 3) stop.abort()
        return ports.timers.setTimeout(run)
      },
    }
    f3.start()
    vi.spyOn(f3, 'pendingInstance').mockReturnValue(known.length - 1)
    await importF3Data(f3, snapshot(known), { ...ports, timers }, stop.signal)
    expect(pauses).toBe(3)
  })
})
