/**
 * The light node over Lotus' recorded certificates and state: what it proves, and that no liar makes it show anything else. The
 * whole node is opened (src/node/openLight.ts); answers are compared with those that Lotus gave.
 */
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { systemRandom } from '../../platform/server/random.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { readGenesisCar } from '../../src/chain/genesisCar.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { cidFromBytes } from '../../src/codec/cid.ts'
import { chainHead, type FinalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { LayeredBlockstore, MemoryBlockstore, putCbor } from '../../src/ipld/blockstore.ts'
import type { LightCheckpoint } from '../../src/light/checkpoint.ts'
import type { LightStatus } from '../../src/light/lightFollower.ts'
import { openLight } from '../../src/node/openLight.ts'
import type { OpenNode } from '../../src/node/openNode.ts'
import type { FetchLike } from '../../src/rpc/client/httpTransport.ts'
import { type BlockHeader, blockHeader } from '../../src/types/blockHeader.ts'
import { createTipset, firstBlock, type Tipset, tipsetKeyText } from '../../src/types/tipset.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { missing } from '../consensus/f3/support.ts'
import { silentLog } from '../support/recordedView.ts'
import { type Bends, type Endpoint, endpoint } from './endpoint.ts'
import { CHECKPOINT, flipped, recorded, type World, world } from './world.ts'

const opened: OpenNode[] = []

afterEach(async () => {
  for (const { node, close } of opened.splice(0)) {
    await node.stop()
    await close()
  }
})

beforeAll(async () => {
  await initCrypto()
})

function fetchOf(endpoints: Readonly<Record<string, Endpoint>>): FetchLike {
  return async (url, { body, signal }) => {
    const to = endpoints[url]
    if (to === undefined) throw new Error(`nobody at ${url}`)
    const { status, text } = await to.post(body, signal)
    return { status, text: () => Promise.resolve(text) }
  }
}

interface Open {
  readonly endpoints: Readonly<Record<string, Endpoint>>
  /** null: none is given. */
  readonly checkpoint?: LightCheckpoint | null
  readonly meta?: MemoryStore
  readonly blocks?: MemoryBlockstore
  readonly signal?: AbortSignal
}

async function open(from: World, { endpoints, checkpoint = CHECKPOINT, meta, blocks, signal }: Open) {
  const node = await openLight(
    {
      network: from.network,
      checkpoint: checkpoint ?? undefined,
      importGenesis: (into, part) => Promise.resolve(readGenesisCar(into, memorySource(from.genesisCar), part)),
      endpoints: Object.keys(endpoints).map((url) => ({ url, pushes: false })),
      signal: signal ?? AbortSignal.timeout(60_000),
    },
    {
      ports: { clock: systemClock, timers: systemTimers, random: systemRandom, log: silentLog },
      stores: { blocks: blocks ?? new MemoryBlockstore(), meta: meta ?? new MemoryStore() },
      keystore: new KeyStore(new MemorySecretStore()),
      settings: { version: 'test', shutdown: () => undefined },
      fetch: fetchOf(endpoints),
      openMachine: () => ({ vm: undefined as never, close: () => undefined }),
      say: () => undefined,
    },
  )
  opened.push(node)
  return node
}

/** Resolves when the light node says so; it is asked after each of its rounds. */
function until(node: OpenNode, isSo: (status: LightStatus) => boolean): Promise<LightStatus> {
  const { light } = node.node
  if (light === undefined) throw new Error('this is no light node')
  return new Promise((resolve) => {
    const look = (): void => {
      const status = light.status()
      if (!isSo(status)) return
      stop()
      resolve(status)
    }
    const stop = light.onChange(look)
    look()
  })
}

function statusOf(node: OpenNode) {
  return node.node.light?.status()
}

function source(node: OpenNode, name: string) {
  return statusOf(node)?.sources.find((one) => one.name === name)
}

describe.skipIf(missing !== undefined)('light node', () => {
  it('goes from the checkpoint to the newest certificate, and follows the head above it', async () => {
    const from = world(60)
    const node = await open(from, { endpoints: { a: endpoint(from.data) } })
    const last = from.all[60] as FinalityCertificate
    const status = await until(node, ({ head }) => head?.height === from.data.head.height)
    expect(status.final?.instance).toBe(60)
    expect(status.final?.tipset.height).toBe(chainHead(last).epoch)
    expect(status.final?.signedShare).toBeGreaterThanOrEqual(2 / 3)
    expect(tipsetKeyText(node.node.view.store.head().key)).toBe(tipsetKeyText(from.data.head.key))
  })

  it('reads no header below what is final', async () => {
    const from = world(60)
    const low = new Set<string>()
    const { store } = recorded().chain.view
    let at = from.tipsetOf(from.all[60] as FinalityCertificate)
    for (; at.height > 1; at = store.parent(at)) for (const cid of store.parent(at).key) low.add(cid.toString())
    const asked: string[] = []
    const spy = endpoint(from.data, {
      block: (cid, text) => {
        asked.push(cid)
        return text
      },
    })
    const node = await open(from, { endpoints: { a: spy } })
    await until(node, ({ head }) => head?.height === from.data.head.height)
    // Beacon entries are looked for in the tipsets just below: those of the same few epochs may be read.
    const below = asked.filter((cid) => low.has(cid))
    expect(below.length).toBeLessThanOrEqual(20)
  })

  it('goes on from where it was, without asking for the certificates again', async () => {
    const from = world(60)
    const kept = { meta: new MemoryStore(), blocks: new MemoryBlockstore() }
    const first = await open(from, { ...kept, endpoints: { a: endpoint(from.data) } })
    await until(first, ({ final }) => final?.instance === 60)
    await first.node.stop()
    await first.close()
    opened.splice(0)
    const later = world(63)
    const again = endpoint(later.data)
    const second = await open(later, { ...kept, endpoints: { a: again } })
    // At once: nobody had to be asked.
    expect(statusOf(second)?.final?.instance).toBe(60)
    await until(second, ({ final }) => final?.instance === 63)
    expect(again.calls.get('Filecoin.F3GetCertificate')).toBeLessThanOrEqual(8)
    expect(again.calls.get('Filecoin.F3GetPowerTableByInstance')).toBeUndefined()
  })

  it('goes on without being told the checkpoint again, on a network that names none', async () => {
    const from = world(60)
    const { f3 } = from.network
    const network = {
      ...from.network,
      f3: { ...f3, manifest: { ...(f3.manifest as object), InitialPowerTable: null } },
    }
    const nameless: World = { ...from, network }
    const endpoints = { a: endpoint(from.data) }
    await expect(open(nameless, { endpoints, checkpoint: null })).rejects.toMatchObject({ code: 'CHECKPOINT_INVALID' })
    const kept = { meta: new MemoryStore(), blocks: new MemoryBlockstore() }
    const first = await open(nameless, { ...kept, endpoints })
    await until(first, ({ final }) => final?.instance === 60)
    await first.node.stop()
    await first.close()
    opened.splice(0)
    const second = await open(nameless, { ...kept, endpoints, checkpoint: null })
    expect(statusOf(second)).toMatchObject({ checkpoint: { instance: 0 }, final: { instance: 60 } })
  })

  it('begins at a later checkpoint', async () => {
    const from = world(60)
    const before = from.all[29] as FinalityCertificate
    const checkpoint = { ...CHECKPOINT, instance: 30, powerTable: before.supplementalData.powerTable }
    const a = endpoint(from.data)
    const node = await open(from, { endpoints: { a }, checkpoint })
    await until(node, ({ final }) => final?.instance === 60)
    expect(a.calls.get('Filecoin.F3GetCertificate')).toBeLessThanOrEqual(34)
  })

  it('refuses a checkpoint that what it verified contradicts', async () => {
    const from = world(60)
    const kept = { meta: new MemoryStore(), blocks: new MemoryBlockstore() }
    const first = await open(from, { ...kept, endpoints: { a: endpoint(from.data) } })
    await until(first, ({ final }) => final?.instance === 60)
    const other = (from.all[5] as FinalityCertificate).ecChain[0]?.key.subarray(0, 38) as Uint8Array
    const checkpoint = { ...CHECKPOINT, instance: 40, powerTable: cidFromBytes(other) }
    await expect(open(from, { ...kept, endpoints: { a: endpoint(from.data) }, checkpoint })).rejects.toMatchObject({
      code: 'POWER_TABLE_WRONG',
    })
  })

  const lies: readonly [string, Bends, RegExp][] = [
    ['a wrong signature', { certificate: (one) => ({ ...one, signature: flipped(one.signature) }) }, /false/],
    [
      'a replayed instance',
      { certificate: (one) => ({ ...one, ecChain: one.ecChain.map((at) => ({ ...at, epoch: at.epoch + 1 })) }) },
      /false/,
    ],
    [
      'another power table',
      { table: (json) => (json as { Power: string }[]).map((one) => ({ ...one, Power: '1' })) },
      /power table/,
    ],
    ['a wrong block', { block: (_, text) => `${text.slice(0, 8)}AAAA${text.slice(12)}` }, /hashes to something else/],
  ]
  for (const [what, bends, reason] of lies) {
    it(`drops who gives ${what}, names it, and goes on with another`, async () => {
      const from = world(30)
      const liar = endpoint(from.data, bends)
      // A liar about blocks is asked for one: the other has none before.
      const block = (_: string, text: string) =>
        bends.block === undefined || liar.calls.has('Filecoin.ChainReadObj') ? text : undefined
      const node = await open(from, { endpoints: { liar, honest: endpoint(from.data, { block }) } })
      await until(node, ({ final }) => final?.instance === 30)
      const state = await until(node, ({ sources }) =>
        sources.some((one) => one.name === 'liar' && one.state === 'dropped'),
      )
      expect(state.sources.find((one) => one.name === 'liar')?.reason).toMatch(reason)
      expect(source(node, 'honest')?.state).toBe('usable')
    })
  }

  it('has nothing final while liars are all there is', async () => {
    const from = world(30)
    const liar = endpoint(from.data, { certificate: (one) => ({ ...one, signature: flipped(one.signature) }) })
    await expect(open(from, { endpoints: { liar }, signal: AbortSignal.timeout(3000) })).rejects.toThrow()
  })

  const falseHeads: readonly [string, (head: Tipset, put: (header: BlockHeader) => Tipset) => Tipset][] = [
    [
      'a forged signature',
      (head, put) => {
        const header = firstBlock(head)
        const blockSig = header.blockSig as NonNullable<BlockHeader['blockSig']>
        return put({ ...header, blockSig: { ...blockSig, data: flipped(blockSig.data) } })
      },
    ],
    ['another state', (head, put) => put({ ...firstBlock(head), parentStateRoot: firstBlock(head).messages })],
    ['a weight of its own', (head, put) => put({ ...firstBlock(head), parentWeight: 1n << 80n })],
    ['parents that nobody has', (head, put) => put({ ...firstBlock(head), parents: [firstBlock(head).messages] })],
    ['a block that is withheld', (head) => createTipset([{ ...firstBlock(head), forkSignaling: 7n }])],
  ]
  for (const [what, bend] of falseHeads) {
    it(`does not take a head with ${what}`, async () => {
      const from = world(30)
      const blocks = new LayeredBlockstore([new MemoryBlockstore(), from.data.blocks])
      const put = (header: BlockHeader): Tipset => {
        putCbor(blocks, blockHeader, header)
        return createTipset([header])
      }
      const bent = endpoint({ ...from.data, blocks }, { head: (head) => bend(head, put) })
      const node = await open(from, { endpoints: { a: bent } })
      let rounds = 0
      await until(node, () => ++rounds > 2)
      const final = from.tipsetOf(from.all[30] as FinalityCertificate)
      expect(tipsetKeyText(node.node.view.store.head().key)).toBe(tipsetKeyText(final.key))
    })
  }

  it('keeps what is proven, and says how old it is, when every source falls silent', async () => {
    const from = world(30)
    let silent = false
    const inner = endpoint(from.data)
    const post: Endpoint['post'] = (body, signal) =>
      silent ? Promise.reject(new Error('gone')) : inner.post(body, signal)
    const node = await open(from, { endpoints: { a: { ...inner, post } } })
    await until(node, ({ confirmedMsAgo }) => confirmedMsAgo !== undefined)
    silent = true
    const status = await until(node, ({ trouble }) => trouble !== '')
    expect(status.final?.instance).toBe(30)
    expect(status.trouble).toMatch(/gone|connect|NO_|Cannot follow/)
    expect(status.confirmedMsAgo).toBeGreaterThanOrEqual(0)
  })
})
