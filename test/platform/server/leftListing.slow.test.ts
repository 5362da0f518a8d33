/** A list of many parts that the server of a thread for reads sends, and whose client leaves in its midst. */
import { connect, type Socket } from 'node:net'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { systemClock, systemTimers } from '../../../platform/server/clock.ts'
import { systemRandom } from '../../../platform/server/random.ts'
import { PassOn } from '../../../platform/server/readers/passOn.ts'
import { startReaderServer } from '../../../platform/server/readers/readerServer.ts'
import { SharedCounts } from '../../../platform/server/readers/sharedCounts.ts'
import type { Listening } from '../../../platform/server/rpcServer.ts'
import { TrustedProxies } from '../../../platform/server/trustedProxies.ts'
import { COST_LIMITS } from '../../../src/base/bounds.ts'
import { MemoryStore } from '../../../src/base/memoryStore.ts'
import { openChain } from '../../../src/chain/openChain.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { Amt } from '../../../src/ipld/amt.ts'
import { getCbor, LayeredBlockstore, MemoryBlockstore, putCbor } from '../../../src/ipld/blockstore.ts'
import { Reader } from '../../../src/node/reader.ts'
import { minerState } from '../../../src/state/miner.ts'
import { type SectorOnChainInfo, sectorOnChainInfo } from '../../../src/state/sector.ts'
import { StateTree } from '../../../src/state/stateTree.ts'
import type { ActorState } from '../../../src/types/actor.ts'
import { firstBlock } from '../../../src/types/tipset.ts'
import { openGolden } from '../../support/archives.ts'
import { silentLog } from '../../support/recordedView.ts'
import { missingShared } from '../../support/shared.ts'

/** Sectors of the miner: some 25 MB, several times what systems keep for both ends of a connection. */
const SECTORS = 30_000
const MINER = 1000n
/** On a busy machine. */
const WAIT = { timeout: 10_000 }

const call = (method: string, params: unknown[]): string =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params })
const LIST = call('StateMinerSectors', [`t0${MINER}`, null, null])

/** The recorded chain, whose miner has very many sectors at the head. */
function readerOfMany(counts: SharedCounts): Reader {
  const { store: archive, network } = openGolden('nv28')
  const blocks = new LayeredBlockstore([new MemoryBlockstore(), archive])
  const store = openChain({ blocks, meta: new MemoryStore(), log: silentLog, roots: archive.roots })
  const header = firstBlock(store.head())
  const tree = StateTree.load(blocks, header.parentStateRoot)
  const miner = tree.getActor(MINER) as ActorState
  const state = getCbor(blocks, minerState, miner.head)
  const sectors = Amt.load(blocks, state.sectors, sectorOnChainInfo)
  const [[, sector] = []] = sectors.entries()
  for (let sectorNumber = 0; sectorNumber < SECTORS; sectorNumber++) {
    sectors.set(sectorNumber, { ...(sector as SectorOnChainInfo), sectorNumber })
  }
  tree.setActor(MINER, { ...miner, head: putCbor(blocks, minerState, { ...state, sectors: sectors.flush() }) })
  const [genesis] = store.genesis().key
  const reader = new Reader(
    { network, genesis: genesis as Cid, secret: new Uint8Array(32), hasIndex: false, http: {} },
    {
      ...{ blocks, meta: new MemoryStore(), counts: (cost) => counts.calls(cost), called: () => undefined },
      ports: { clock: systemClock, timers: systemTimers, random: systemRandom, log: silentLog },
    },
  )
  reader.follow([[{ ...header, parentStateRoot: tree.flush() }]])
  return reader
}

describe.skipIf(missingShared('data/golden/nv28') !== undefined)('a list whose client leaves', () => {
  const node = SharedCounts.create()
  const counts = new SharedCounts(node.cells, 1)
  const scans = node.calls('scan')
  const mine = scans?.ofCaller('address 127.0.0.1')
  const sockets: Socket[] = []
  let server: Pick<Listening, 'port' | 'close'>

  beforeAll(async () => {
    node.opened()
    const proxies = new TrustedProxies([])
    server = await startReaderServer({
      ...{ reader: readerOfMany(counts), counts, proxies, passOn: new PassOn({ port: 1, secret: '' }, proxies) },
      ...{ log: silentLog, host: '127.0.0.1', port: 0, closeGraceMs: 0, isCurrent: () => true },
    })
  }, 60_000)
  afterAll(async () => {
    for (const socket of sockets) socket.destroy()
    await server?.close()
  })

  const ask = (body: string): Promise<Response> =>
    fetch(`http://127.0.0.1:${server.port}/rpc/v1`, { method: 'POST', body })

  /** Asks for the list, and reads no further than its beginning. */
  async function readBeginning(): Promise<Socket> {
    const head = `POST /rpc/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: ${LIST.length}\r\n\r\n`
    const socket = connect(server.port, '127.0.0.1', () => socket.write(head + LIST))
    sockets.push(socket)
    const first = await new Promise<Buffer>((resolve) => socket.once('data', resolve))
    socket.pause()
    expect(first.toString()).toMatch(/^HTTP\/1\.1 200 /)
    return socket
  }

  it('leaves nothing behind: its caller may have as many calls as before, and the thread answers on', async () => {
    const { perAddress } = COST_LIMITS.scan
    // The node has all but one of this address under way.
    mine?.add(perAddress - 1)
    for (let i = 0; i < 3; i++) {
      const socket = await readBeginning()
      expect(mine?.total()).toBe(perAddress)
      const refused = await ask(LIST)
      expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
      expect(await refused.json()).toMatchObject({ error: { code: -32005 } })
      socket.destroy()
      await vi.waitFor(() => expect(mine?.total()).toBe(perAddress - 1), WAIT)
      expect([scans?.running.total(), scans?.waiting.total()]).toEqual([0, 0])
      await vi.waitFor(() => expect([node.of('unread').total(), node.of('bodies').total()]).toEqual([0, 0]), WAIT)
      expect((await ask(call('ChainHead', []))).status).toBe(200)
    }
    const whole = (await (await ask(LIST)).json()) as { result: { SectorNumber: number }[] }
    expect(whole.result.map(({ SectorNumber }) => SectorNumber)).toEqual(Array.from({ length: SECTORS }, (_, i) => i))
    await vi.waitFor(() => expect(mine?.total()).toBe(perAddress - 1), WAIT)
  }, 120_000)
})
