/** Methods of F3 and of finality as Lotus answered them before, during and after (golden/f3/f3.jsonl.zst). */

import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import { finish } from '../../../src/base/steps.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { type Json, parseJson } from '../../../src/codec/jsonText.ts'
import { chainHead, type FinalityCertificate } from '../../../src/consensus/f3/certificate.ts'
import { F3 } from '../../../src/consensus/f3/f3.ts'
import { powerTableCid } from '../../../src/consensus/f3/powerTable.ts'
import { Finality } from '../../../src/consensus/finality.ts'
import { initCrypto } from '../../../src/crypto/init.ts'
import { openFinality } from '../../../src/node/followF3.ts'
import { EthReader } from '../../../src/rpc/ethReader.ts'
import type { ApiVersion, CallContext, MethodRow } from '../../../src/rpc/method.ts'
import { chainMethods } from '../../../src/rpc/methods/chain.ts'
import { f3Methods } from '../../../src/rpc/methods/f3.ts'
import { finalityMethods } from '../../../src/rpc/methods/finality.ts'
import { createMethodTable, type MethodTable } from '../../../src/rpc/table.ts'
import { type TipsetKey, tipsetKey } from '../../../src/types/tipset.ts'
import { decodedCertificates, type F3Chain, missing, openF3 } from '../../consensus/f3/support.ts'
import { type Row, readSharedZstd } from '../../support/recorded.ts'

const JSON_CONTEXT = { addressPrefix: 't' } as const

interface Asked {
  readonly version: ApiVersion
  readonly method: string
  readonly params: Json[]
  readonly response: Row
}

/** The recording in its parts: before F3 began, early, late, after. What was asked of an instance comes between the last two. */
function phases(): Asked[][] {
  const out: Asked[][] = [[]]
  for (const line of readSharedZstd('data/golden/f3/f3.jsonl.zst').trim().split('\n')) {
    const row = parseJson(line) as Row
    const request = row.request as Row
    const method = (request.method as string).replace('Filecoin.', '')
    if (method === 'F3IsRunning' && (out.at(-1)?.length ?? 0) > 0) out.push([])
    const version = (row.path as string).slice(-2) as ApiVersion
    out.at(-1)?.push({ version, method, params: request.params as Json[], response: row.response as Row })
  }
  return out
}

function keyOf(asked: readonly Asked[], method: string): TipsetKey | undefined {
  const found = asked.find((one) => one.method === method && JSON.stringify(one.params).includes('latest'))
  const result = found?.response.result as Row | undefined
  return result === undefined ? undefined : tipsetKey.fromJson(result.Cids, JSON_CONTEXT)
}

function finalityOf({ view, f3 }: F3Chain): Finality {
  return new Finality({
    store: view.store,
    chainFinality: view.network.protocol.chainFinality,
    safeDistance: view.network.protocol.safeHeightDistance,
    f3: () => f3.finalizedTipset(),
  })
}

function rowsOf(chain: F3Chain, withF3 = true): MethodRow[] {
  const { view, f3 } = chain
  return [
    ...chainMethods({
      view,
      vm: { executeTipset: () => Promise.reject(new Error('not here')) },
      setHead: () => undefined,
      f3Finalized: () => f3.finalizedTipset(),
    }),
    ...finalityMethods({ view, finality: finalityOf(chain) }),
    ...f3Methods({ f3: withF3 ? f3 : undefined }),
  ]
}

async function ask(table: MethodTable, { version, method, params }: Asked): Promise<Json> {
  const entry = table.find(version, `Filecoin.${method}`)
  if (entry === undefined || entry.row.kind !== 'call') throw new Error(`no row ${version} ${method}`)
  const { row } = entry
  const args = row.params.map(({ codec }, i) => codec.fromJson(params[i], JSON_CONTEXT))
  const context: CallContext = { version, json: JSON_CONTEXT, walk: finish } as unknown as CallContext
  return row.result.toJson(await row.handle(args, context), JSON_CONTEXT)
}

beforeAll(async () => {
  await initCrypto()
})

describe.skipIf(missing !== undefined)('F3 and finality over RPC', () => {
  /** How far the recording node was, by its newest certificate; of the last part the archive has not all. */
  const UP_TO: (number | undefined)[] = [undefined, 28, 123]

  for (const [index, latest] of UP_TO.entries()) {
    it(`answers as Lotus did, part ${index + 1}`, { timeout: 120_000 }, async () => {
      const chain = openF3()
      // Nothing is executed here.
      const reader = new EthReader({
        view: chain.view,
        vm: undefined as never,
        pool: undefined as never,
        finality: finalityOf(chain),
      })
      const asked = phases()[index] as Asked[]
      chain.view.store.setHead(chain.view.store.tipset(keyOf(asked, 'ChainGetTipSet') as TipsetKey))
      if (latest !== undefined) {
        expect(chain.f3.start()).toBe(true)
        chain.f3.importCertificates(decodedCertificates().slice(0, latest + 1))
      }
      const table = createMethodTable(rowsOf(chain))
      let compared = 0
      for (const one of asked) {
        if (one.method === 'eth_getBlockByNumber') {
          const result = one.response.result as Row
          const tipset = finish(reader.tipset(one.params[0] as string, true))
          expect(`0x${tipset.height.toString(16)}`, `${one.version} ${JSON.stringify(one.params)}`).toBe(result.number)
          continue
        }
        // The head moved on; executing needs the machine; the recording node voted and so stood in the midst of a round.
        if (['ChainHead', 'F3ListParticipants', 'F3GetProgress'].includes(one.method)) continue
        if (one.method === 'F3GetManifest' && latest === undefined) continue
        // Certificates went on coming while it was recorded.
        const height = ((one.response.result ?? {}) as Row).Height
        if (
          one.method === 'ChainGetFinalizedTipSet' &&
          Number(height) > (chain.f3.finalizedTipset()?.height ?? Infinity)
        ) {
          const next = chain.f3.pendingInstance()
          chain.f3.importCertificates(decodedCertificates().slice(next, next + 1))
        }
        const what = `${one.version} ${one.method} ${JSON.stringify(one.params)}`
        if (one.response.error !== undefined) {
          await expect(ask(table, one), what).rejects.toThrow(String((one.response.error as Row).message))
        } else {
          expect(await ask(table, one), what).toEqual(one.response.result)
        }
        compared++
      }
      expect(compared).toBeGreaterThan(8)
    })
  }

  it('progress is the pending instance, participants are none', async () => {
    const chain = openF3()
    const table = createMethodTable(rowsOf(chain))
    const call = (method: string, params: Json[] = []) => ask(table, { version: 'v1', method, params, response: {} })
    expect(await call('F3GetProgress')).toEqual({ ID: 0, Round: 0, Phase: 0, Input: null })
    chain.f3.start()
    chain.f3.importCertificates(decodedCertificates().slice(0, 2))
    expect(await call('F3GetProgress')).toMatchObject({ ID: 2 })
    expect(await call('F3ListParticipants')).toEqual([])
    await expect(call('F3Participate', ['AA=='])).rejects.toThrow(/^not supported/)
    await expect(call('F3GetCertificate', [7])).rejects.toThrow('cert at 7: certificate not found')
  })

  it('knows the manifest of a node that began at a checkpoint, without the first certificate', async () => {
    const chain = openF3()
    chain.f3.start()
    const all = decodedCertificates().slice(0, 12)
    chain.f3.importCertificates(all)
    const initialPowerTable = powerTableCid(chain.f3.powerTable(0))
    const table = chain.f3.powerTable(10)
    const manifestOf = async (known: Cid | null): Promise<Json> => {
      const f3 = new F3({
        view: chain.view,
        manifest: { ...chain.manifest, initialPowerTable: known },
        store: new MemoryStore(),
        checkpoint: { instance: 10, powerTable: powerTableCid(table) },
      })
      f3.startFrom(table)
      expect(f3.importCertificates(all)).toBe(2)
      return ask(createMethodTable(f3Methods({ f3 })), {
        version: 'v1',
        method: 'F3GetManifest',
        params: [],
        response: {},
      })
    }
    expect(await manifestOf(null)).toMatchObject({ InitialInstance: 0, InitialPowerTable: null })
    expect(await manifestOf(initialPowerTable)).toMatchObject({
      InitialPowerTable: { '/': initialPowerTable.toString() },
    })
  })

  it('what certificates make final is told when they come', () => {
    const chain = openF3()
    const { finality } = openFinality({ view: chain.view, meta: new MemoryStore(), light: { f3: chain.f3 } })
    const heard: number[] = []
    const stop = finality.onCertificate(() => heard.push(finality.finalized().height))
    chain.f3.start()
    const all = decodedCertificates()
    chain.f3.importCertificates(all.slice(0, 20))
    expect(heard).toEqual([chainHead(all[19] as FinalityCertificate).epoch])
    stop()
    chain.f3.importCertificates(all.slice(20, 40))
    expect(heard).toHaveLength(1)
  })

  it('is refused where there is no F3', async () => {
    const table = createMethodTable(rowsOf(openF3(), false))
    const one: Asked = { version: 'v1', method: 'F3GetLatestCertificate', params: [], response: {} }
    await expect(ask(table, one)).rejects.toMatchObject({ code: 'F3_DISABLED', message: 'f3 is disabled' })
  })

  it('tells the whole status', async () => {
    const chain = openF3()
    chain.f3.start()
    chain.f3.importCertificates(decodedCertificates())
    const table = createMethodTable(rowsOf(chain))
    const one: Asked = { version: 'v2', method: 'ChainGetTipSetFinalityStatus', params: [], response: {} }
    const status = (await ask(table, one)) as Row
    const final = chain.f3.finalizedTipset()
    expect(status.ecFinalityThresholdDepth).toBe(-1)
    expect(status.ecFinalizedTipSet).toBeNull()
    expect((status.f3FinalizedTipSet as Row).Height).toBe(final?.height)
    expect((status.finalizedTipSet as Row).Height).toBe(final?.height)
    expect((status.head as Row).Height).toBe(chain.view.store.head().height)
  })
})
