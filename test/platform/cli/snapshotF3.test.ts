/** F3 data for exported snapshots: Lotus' certificates as they were recorded, out of a home and out of a node. */
import { beforeAll, describe, expect, it } from 'vitest'
import { f3DataOfHome, f3DataOfNode } from '../../../platform/cli/commands/snapshotF3.ts'
import type { RpcClient } from '../../../platform/cli/rpcClient.ts'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import { decode } from '../../../src/codec/description.ts'
import { finalityCertificate } from '../../../src/consensus/f3/certificate.ts'
import { type PowerTable, powerTable, powerTableCid } from '../../../src/consensus/f3/powerTable.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { MemoryBlockstore } from '../../../src/ipld/blockstore.ts'
import { readF3Data } from '../../../src/sync/snapshot/f3Data.ts'
import { missing, openF3, recordedCertificates } from '../../consensus/f3/support.ts'

const CONTEXT = { addressPrefix: 't' } as const
/** Enough for a second batch. */
const COUNT = 40

describe.skipIf(missing !== undefined)('F3 data of a snapshot', () => {
  beforeAll(() => initCrypto())

  it('holds the certificates byte for byte, and the first power table', async () => {
    const meta = new MemoryStore()
    expect(f3DataOfHome(meta)).toBe(undefined)
    const { f3 } = openF3(meta)
    f3.start()
    expect(f3DataOfHome(meta)).toBe(undefined)
    const recorded = recordedCertificates().slice(0, COUNT)
    f3.importCertificates(recorded.map(({ cbor }) => decode(finalityCertificate, cbor)))
    const found = f3DataOfHome(meta)
    if (found === undefined) throw new Error('nothing found')
    const blocks = new MemoryBlockstore()
    blocks.put(...found)
    const certificates: Uint8Array[] = []
    let first: PowerTable | undefined
    readF3Data(blocks, found[0], {
      header: (header) => {
        expect([header.firstInstance, header.latestInstance]).toEqual([0, COUNT - 1])
        first = decode(powerTable, header.initialPowerTable)
      },
      certificate: (bytes) => void certificates.push(bytes),
    })
    expect(certificates).toEqual(recorded.map(({ cbor }) => cbor))
    expect(powerTableCid(first ?? []).toString()).toBe(f3.manifest.initialPowerTable?.toString())

    const certificateJson = (instance: number): unknown => finalityCertificate.toJson(f3.certificate(instance), CONTEXT)
    const answers: Record<string, (at: number) => unknown> = {
      F3IsRunning: () => true,
      F3GetManifest: () => f3.manifest.json,
      F3GetLatestCertificate: () => certificateJson(COUNT - 1),
      F3GetPowerTableByInstance: (at) => powerTable.toJson([...f3.powerTable(at)], CONTEXT),
      F3GetCertificate: (at) => certificateJson(at),
    }
    const client = { call: (method: string, params: number[]) => Promise.resolve(answers[method]?.(params[0] ?? 0)) }
    const ofNode = await f3DataOfNode(client as unknown as RpcClient)
    expect(ofNode?.[0].toString()).toBe(found[0].toString())
  })

  it('is none where F3 is off', async () => {
    const client = { call: () => Promise.resolve(false) }
    expect(await f3DataOfNode(client as unknown as RpcClient)).toBe(undefined)
  })
})
