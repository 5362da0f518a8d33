/** Several Petrel nodes of one local chain, each a process with a home of its own, joined by links that can be cut. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type NodeProcess, startNode } from '../runtimes/nodeProcess.ts'
import { freePort } from '../support/freePort.ts'
import { LinkProxy } from './linkProxy.ts'

/** What one node is. */
export interface Member {
  readonly runtime: 'node' | 'deno'
  /** Producers that run in it, by index; none: it follows. */
  readonly produce: readonly number[]
  /** How a follower validates. */
  readonly validate?: 'execute' | 'headers' | 'light'
  /** More for its command line. */
  readonly flags?: readonly string[]
}

/** A chain's head as the API tells it. */
export interface Head {
  readonly Cids: readonly { readonly '/': string }[]
  readonly Height: number
}

/** One node, running or not. */
export class ClusterNode {
  readonly index: number
  readonly member: Member
  readonly home: string
  readonly p2pPort: number
  /** Links that this node dials, by the index of the other node. */
  readonly links = new Map<number, LinkProxy>()
  process: NodeProcess | undefined
  peerId: string | undefined

  constructor(index: number, member: Member, home: string, p2pPort: number) {
    this.index = index
    this.member = member
    this.home = home
    this.p2pPort = p2pPort
  }

  /** Calls a method with all permissions. @throws Error with the node's own text */
  async call<T>(method: string, ...params: unknown[]): Promise<T> {
    if (this.process === undefined) throw new Error(`node ${this.index} does not run`)
    const response = await fetch(`${this.process.url}/rpc/v1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.process.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: `Node.${method}`, params }),
    })
    const answer = (await response.json()) as { result?: T; error?: { message: string } }
    if (answer.error !== undefined) throw new Error(`node ${this.index} ${method}: ${answer.error.message}`)
    return answer.result as T
  }

  /** Resident memory, MB. */
  residentMb(): number {
    const text = readFileSync(`/proc/${this.process?.pid}/status`, 'utf8')
    return Number(/VmRSS:\s+(\d+)/.exec(text)?.[1]) / 1024
  }
}

/** How the chain is made. */
export interface ClusterOptions {
  readonly members: readonly Member[]
  readonly miners: number
  readonly blockTimeSec: number
  /** Which nodes dial which: pairs of indexes, the first dials. */
  readonly topology: readonly (readonly [number, number])[]
  /** How long ago the chain began, in seconds: as much of it can be made at once. Default 0. */
  readonly pastSec?: number
}

/** The nodes of one test, and the links between them. */
export class Cluster {
  readonly nodes: readonly ClusterNode[]
  readonly #options: ClusterOptions
  readonly #genesisTime: number
  readonly #folder: string

  private constructor(nodes: readonly ClusterNode[], options: ClusterOptions, folder: string) {
    this.nodes = nodes
    this.#options = options
    this.#folder = folder
    this.#genesisTime = Math.floor(Date.now() / 1000) - (options.pastSec ?? 0)
  }

  /** Starts all nodes, producers first. */
  static async start(options: ClusterOptions): Promise<Cluster> {
    const folder = mkdtempSync(join(tmpdir(), 'petrel-cluster-'))
    const nodes: ClusterNode[] = []
    for (const [index, member] of options.members.entries()) {
      nodes.push(new ClusterNode(index, member, join(folder, `node${index}`), await freePort()))
    }
    const cluster = new Cluster(nodes, options, folder)
    try {
      for (const [from, to] of options.topology) {
        const target = nodes[to] as ClusterNode
        ;(nodes[from] as ClusterNode).links.set(to, await LinkProxy.open(target.p2pPort))
      }
      for (const node of nodes) await cluster.startNode(node)
    } catch (error) {
      // What is open would keep whoever asked for it alive.
      await cluster.close()
      throw error
    }
    return cluster
  }

  /** Starts a node that does not run. */
  async startNode(node: ClusterNode): Promise<void> {
    const { miners, blockTimeSec } = this.#options
    const { produce, validate, runtime, flags = [] } = node.member
    const bootstrap: string[] = []
    for (const [to, link] of node.links) {
      const { peerId } = this.nodes[to] as ClusterNode
      if (peerId === undefined) throw new Error(`node ${node.index} dials node ${to}, which has never run`)
      bootstrap.push('--bootstrap', `/ip4/127.0.0.1/tcp/${link.port}/p2p/${peerId}`)
    }
    const net = [
      '--api',
      '0',
      '--listen',
      `/ip4/127.0.0.1/tcp/${node.p2pPort}`,
      // Nobody may find a way round the links.
      '--announce',
      '/ip4/127.0.0.1/tcp/1',
      ...bootstrap,
      ...flags,
    ]
    const args =
      produce.length > 0
        ? [
            'devnet',
            ...['--miners', String(miners), '--block-time', String(blockTimeSec)],
            // Alone it may run ahead of the clock.
            ...(produce.length === miners ? [] : ['--produce', produce.join(',')]),
            ...['--genesis-time', String(this.#genesisTime)],
            ...net,
          ]
        : [
            'daemon',
            ...['--network', join((this.nodes[0] as ClusterNode).home, 'network.json')],
            ...['--validate', validate ?? 'execute'],
            ...net,
          ]
    node.process = await startNode(runtime, node.home, args)
    node.peerId ??= await node.call<string>('ID')
  }

  /** kill -9. */
  async killNode(node: ClusterNode): Promise<void> {
    await node.process?.kill()
    node.process = undefined
  }

  /** Heals every link and starts what does not run. */
  async healAll(): Promise<void> {
    for (const node of this.nodes) {
      for (const link of node.links.values()) link.heal()
      if (node.process === undefined) await this.startNode(node)
    }
  }

  /**
   * Waits until all nodes have a common tipset not further than `slack` epochs below each head, above `height`.
   * @returns that height
   */
  async agreement(height: number, timeoutMs: number, slack = 2): Promise<number> {
    const deadline = performance.now() + timeoutMs
    let seen = ''
    while (performance.now() < deadline) {
      const heads = await Promise.all(this.nodes.map((node) => node.call<Head>('ChainHead')))
      const low = Math.min(...heads.map((head) => head.Height)) - slack
      seen = heads.map((head) => head.Height).join(' ')
      const isClose = Math.max(...heads.map((head) => head.Height)) - low <= 3 * slack
      if (low >= height && isClose) {
        const keys = await Promise.all(
          this.nodes.map(async (node) => {
            const tipset = await node.call<Head>('ChainGetTipSetByHeight', low, [])
            return JSON.stringify(tipset.Cids)
          }),
        )
        if (keys.every((key) => key === keys[0])) return low
      }
      // Heads move once a block time: asking more often shows nothing new.
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    throw new Error(`no agreement above ${height} in ${timeoutMs} ms: heads ${seen}`)
  }

  /** Stops everything that runs and removes the homes. */
  async close(): Promise<void> {
    for (const node of this.nodes) {
      await node.process?.stop()
      for (const link of node.links.values()) await link.close()
    }
    rmSync(this.#folder, { recursive: true, force: true })
  }
}
