/** Finality certificates of a version 2 snapshot reach F3. */
import { beforeAll, describe, expect, it } from 'vitest'
import { carBytes } from '../../src/archive/car.ts'
import { CarStore } from '../../src/archive/carStore.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
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

/** A snapshot with the first certificates of the recorded chain, its blocks left out. */
function snapshot(certificates: Uint8Array[]): CarStore {
  const { f3, view } = openF3()
  f3.start()
  const header = encodeF3Header({
    firstInstance: 0,
    latestInstance: certificates.length - 1,
    initialPowerTable: encode(powerTable, [...f3.powerTable(0)]),
  })
  const [f3Cid, f3Data] = f3Block(header, certificates)
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
})
