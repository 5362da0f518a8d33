/**
 * A generated chain, followed from its genesis with another node as the only peer, as fast as it goes, while a client asks for the
 * head and old state is collected; then its messages are looked for.
 */
import { Agent, request } from 'node:http'
import { CHAIN_FILE, SNAPSHOT_FILES } from '../../scripts/generate/mainnetSize/files.ts'
import type { NodeProcess } from '../runtimes/nodeProcess.ts'
import { statusMb } from '../soak/sample.ts'
import { processorMs } from '../support/processorTime.ts'
import { RpcClient } from '../support/rpcClient.ts'
import { seeded } from '../support/seeded.ts'

/** Between two questions for the head. */
const ASK_MS = 25
/** Between two looks at memory. */
const LOOK_MS = 1000
/** How many messages are looked for. */
const SOUGHT = 300
export const LISTEN: readonly string[] = ['--listen', '/ip4/127.0.0.1/tcp/0']
export const KEEP: readonly string[] = ['--keep-state', '1800']
export const MEBI: number = 1024 * 1024

export type Report = (what: string, value: number, unit: string) => void
/** Starts a node on a file of the folder, in a home of that name. */
export type Start = (file: string, home: string, args: readonly string[]) => Promise<NodeProcess>

export interface Head {
  readonly Height: number
  readonly Cids: readonly unknown[]
}

function sorted(values: readonly number[]): number[] {
  return [...values].sort((a, b) => a - b)
}

export function quantile(values: readonly number[], part: number): number {
  return sorted(values)[Math.min(values.length - 1, Math.floor(values.length * part))] ?? Number.NaN
}

/** Calls on one connection that is kept: what `fetch` takes itself is more than the call. */
export class Asker {
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })
  readonly #node: NodeProcess

  constructor(node: NodeProcess) {
    this.#node = node
  }

  call<T>(method: string, ...params: unknown[]): Promise<T> {
    const { url, token } = this.#node
    return new Promise((resolve, reject) => {
      const headers = { authorization: `Bearer ${token}` }
      const call = request(`${url}/rpc/v1`, { method: 'POST', headers, agent: this.#agent }, (response) => {
        const parts: Buffer[] = []
        response.on('data', (part: Buffer) => parts.push(part))
        response.on('error', reject)
        response.on('end', () => {
          const { result, error } = JSON.parse(Buffer.concat(parts).toString('utf8'))
          if (error === undefined) resolve(result as T)
          else reject(new Error(`${method}: ${error.message}`))
        })
      })
      call.on('error', reject)
      call.end(JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Filecoin.${method}`, params }))
    })
  }

  close(): void {
    this.#agent.destroy()
  }
}

/** One figure of a node's metrics. */
export function metric(text: string, name: string): number {
  const line = text.split('\n').find((one) => one.startsWith(`${name} `))
  return line === undefined ? Number.NaN : Number(line.slice(name.length + 1))
}

export async function metrics({ url, token }: NodeProcess): Promise<string> {
  return await (await fetch(`${url}/debug/metrics`, { headers: { authorization: `Bearer ${token}` } })).text()
}

/** How long it takes until none is under way, s. */
export async function collected(node: NodeProcess): Promise<number> {
  const began = performance.now()
  while (metric(await metrics(node), 'petrel_collecting') === 1)
    await new Promise((resolve) => setTimeout(resolve, 1000))
  return (performance.now() - began) / 1000
}

export interface Followed {
  readonly epochs: number
  readonly seconds: number
  readonly waits: readonly number[]
  readonly own: readonly number[]
}

export async function follow(node: NodeProcess, until: number, progress: (text: string) => void): Promise<Followed> {
  const asker = new Asker(node)
  const waits: number[] = []
  const own: number[] = []
  const began = performance.now()
  let looked = began
  let saidAt = 0
  const first = (await asker.call<Head>('ChainHead')).Height
  for (;;) {
    const before = performance.now()
    const { Height } = await asker.call<Head>('ChainHead')
    const now = performance.now()
    waits.push(now - before)
    if (now - looked > LOOK_MS) {
      looked = now
      own.push(statusMb(node.pid, 'RssAnon'))
      if (Height >= saidAt + until / 10) {
        saidAt = Height
        progress(`epoch ${Height}: ${own.at(-1)?.toFixed(0)} MB of its own`)
      }
    }
    if (Height >= until) {
      asker.close()
      return { epochs: Height - first, seconds: (now - began) / 1000, waits, own }
    }
    await new Promise((resolve) => setTimeout(resolve, ASK_MS))
  }
}

/** Looks for messages of any epoch of the chain: by rows where the node followed it, by walking where it stands in an archive. */
async function search(label: string, node: NodeProcess, report: Report): Promise<void> {
  const asker = new Asker(node)
  const random = seeded('messages of a day')
  const { Height } = await asker.call<Head>('ChainHead')
  const cids: unknown[] = []
  while (cids.length < SOUGHT) {
    const tipset = await asker.call<Head>('ChainGetTipSetByHeight', 2 + random.int(Height - 3), [])
    const found = await asker.call<{ Cid: unknown }[] | null>('ChainGetParentMessages', tipset.Cids[0])
    if (found !== null && found.length > 0) cids.push(found[random.int(found.length)]?.Cid)
  }
  const took: number[] = []
  for (const cid of cids) {
    const before = performance.now()
    const result = await asker.call<unknown>('StateSearchMsg', [], cid, -1, true)
    took.push(performance.now() - before)
    if (result === null) throw new Error(`a message of the chain was not found: ${JSON.stringify(cid)}`)
  }
  asker.close()
  report(`${label}: StateSearchMsg of ${SOUGHT} messages of ${Height} epochs, median`, quantile(took, 0.5), 'ms')
  report('  99th percentile', quantile(took, 0.99), 'ms')
  report('  the slowest', Math.max(...took), 'ms')
}

async function measureOne(mode: string, address: string, until: number, start: Start, report: Report): Promise<void> {
  const node = await start(SNAPSHOT_FILES.forest, `follows-${mode}`, [
    ...['--bootstrap', address, '--validate', mode],
    ...LISTEN,
    ...KEEP,
  ])
  try {
    // What is asked for once begins anew.
    await metrics(node)
    const before = processorMs(node.pid)
    const { epochs, seconds, waits, own } = await follow(node, until, (text) => console.log(`  ${mode}: ${text}`))
    const atEnd = await metrics(node)
    report(`${mode}: ${epochs} epochs followed, a second`, epochs / seconds, 'epochs')
    report('  of the processor, each', (processorMs(node.pid) - before) / epochs, 'ms')
    report('  memory of its own, in the middle', quantile(own, 0.5), 'MB')
    report('  memory of its own, highest', Math.max(...own), 'MB')
    report('  ChainHead meanwhile, median', quantile(waits, 0.5), 'ms')
    report('  99th percentile', quantile(waits, 0.99), 'ms')
    report('  longest', Math.max(...waits), 'ms')
    for (const part of ['0.5', '0.99', '1']) {
      const late = metric(atEnd, `nodejs_eventloop_lag_seconds{quantile="${part}"}`)
      report(`  event loop late, quantile ${part}`, late * 1000, 'ms')
    }
    report('  a collection of old state, still under way then', await collected(node), 's')
    const text = await metrics(node)
    report('  collections of old state', metric(text, 'petrel_collections_total'), '')
    report('  their time, pauses in it', metric(text, 'petrel_collection_seconds_total'), 's')
    report('  blocks that they deleted', metric(text, 'petrel_collected_blocks_total'), '')
    report('  store', metric(text, 'petrel_store_bytes') / MEBI, 'MB')
    if (mode === 'execute') await search('followed', node, report)
  } catch (error) {
    console.error(node.output())
    throw error
  } finally {
    await node.kill()
  }
}

/** Where others reach a node. */
export async function addressOf({ url, token }: NodeProcess): Promise<string> {
  const { Addrs, ID } = (await new RpcClient(url, token).call('NetAddrsListen')) as { Addrs: string[]; ID: string }
  return `${Addrs.find((one) => /^\/ip4\/127.*\/tcp\/\d+$/.test(one)) ?? Addrs[0]}/p2p/${ID}`
}

/** @param modes - which kinds of followers */
export async function measureFollowing(start: Start, report: Report, modes: readonly string[]): Promise<void> {
  const source = await start(CHAIN_FILE, 'source', [...LISTEN, '--keep-state', 'all'])
  try {
    const { Height } = (await new RpcClient(source.url, source.token).call('ChainHead')) as Head
    const address = await addressOf(source)
    for (const mode of modes) await measureOne(mode, address, Height, start, report)
    if (modes.includes('execute')) await search('an archive', source, report)
  } finally {
    await source.kill()
  }
}
