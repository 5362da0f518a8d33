/** The thread that answers reads: what {@link Readers} starts. */
import { dirname, join } from 'node:path'
import { type MessagePort, parentPort, workerData } from 'node:worker_threads'
import { decode } from '../../../src/codec/description.ts'
import { valueFromBytes } from '../../../src/execution/valueBytes.ts'
import { type Blockstore, LayeredBlockstore } from '../../../src/ipld/blockstore.ts'
import { NodeCache } from '../../../src/ipld/nodeCache.ts'
import { Reader } from '../../../src/node/reader.ts'
import { blockHeader } from '../../../src/types/blockHeader.ts'
import { ActorBundles, bundledBlocks } from '../actorBundles.ts'
import { openArchiveReader } from '../archiveFile.ts'
import { systemClock, systemTimers } from '../clock.ts'
import { LmdbEnvironment } from '../lmdbStore.ts'
import { createLogger } from '../logger.ts'
import { systemRandom } from '../random.ts'
import { CLOSE_GRACE_MS } from '../rpcServer.ts'
import { startCrypto } from '../startCrypto.ts'
import { TrustedProxies } from '../trustedProxies.ts'
import type { FromReader, ReadThreadData, ToldStart, ToReader } from './messages.ts'
import { PassOn } from './passOn.ts'
import { startReaderServer } from './readerServer.ts'
import { SharedCounts } from './sharedCounts.ts'
import { Told } from './told.ts'

/** How long answers are gathered before the node hears of them, and between two looks at the cache, ms. */
const TOLD_MS = 200

/** What is stored is in the node's hands: headers that it tells of are kept decoded, and nothing else is written. */
const NO_BLOCKS: Blockstore = { get: () => undefined, has: () => false, put: () => undefined }

async function run(port: MessagePort, data: ReadThreadData): Promise<void> {
  const { places, sizes, host, shared } = data
  const held: ToReader[] = []
  let take = (message: ToReader): void => void held.push(message)
  port.on('message', (message: ToReader) => take(message))
  const tell = (message: FromReader): void => port.postMessage(message)
  await startCrypto()
  const nodes = new NodeCache(sizes.threadNodes)
  const environment = new LmdbEnvironment({ path: places.chain, nodes, readsOnly: true })
  const archive =
    places.archive === undefined
      ? []
      : [openArchiveReader(places.archive, { home: join(dirname(places.chain), 'snapshots'), nodes })]
  const bundles = bundledBlocks(new ActorBundles(places.actors))
  const log = createLogger({ level: 'warn', format: process.env.PETREL_LOG_FORMAT === 'json' ? 'json' : 'text' })
  const counts = new SharedCounts(data.counts.cells, data.counts.row)
  const calls = new Map<string, number[]>()
  const { cacheKib } = counts
  let kib = 0
  setInterval(() => {
    const before = kib
    kib = Math.round(nodes.bytes / 1024)
    cacheKib.add(kib - before)
    if (calls.size === 0) return
    tell({ kind: 'called', calls: new Map([...calls].map(([method, times]) => [method, Float64Array.from(times)])) })
    calls.clear()
  }, TOLD_MS).unref()
  const reader = new Reader(valueFromBytes(data.start) as ToldStart, {
    blocks: new LayeredBlockstore([NO_BLOCKS, environment.blocks, ...archive, bundles], nodes),
    meta: environment.meta,
    places: new LmdbEnvironment({ path: places.messages, readsOnly: true }).meta,
    ports: { clock: systemClock, timers: systemTimers, random: systemRandom, log },
    counts: (cost) => counts.calls(cost),
    called: (method, ms) => {
      const times = calls.get(method)
      if (times === undefined) calls.set(method, [ms])
      else times.push(ms)
    },
  })
  const told = new Told(shared, reader, environment)
  const proxies = new TrustedProxies(data.trustedProxies)
  let stop: () => Promise<void> = () => Promise.resolve()
  take = (message) => {
    switch (message.kind) {
      case 'head':
        reader.follow(message.tipsets.map((headers) => headers.map((bytes) => decode(blockHeader, bytes))))
        return told.head(message.count)
      case 'allow':
        proxies.replace(message.trustedProxies)
        return reader.allow(message.http)
      case 'stop':
        void stop().then(() => tell({ kind: 'stopped' }))
    }
  }
  for (const message of held.splice(0)) take(message)
  const server = await startReaderServer({
    ...{
      reader,
      proxies,
      passOn: new PassOn(data.behind, proxies),
      counts,
      log,
      host,
      port: data.port,
      closeGraceMs: CLOSE_GRACE_MS,
    },
    isCurrent: () => told.isCurrent(),
  })
  stop = () => server.close()
  tell({ kind: 'listens' })
}

if (parentPort !== null) await run(parentPort, workerData as ReadThreadData)
