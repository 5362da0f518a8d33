/**
 * A network in memory: nodes with links, streams and topics, and faults to order. Deterministic: what is delayed is
 * delayed by the timers that the test gives.
 */
import { toHex } from '../../src/base/bytes.ts'
import type { Timers } from '../../src/base/ports.ts'
import { blake2b256 } from '../../src/crypto/blake2b.ts'
import { P2pError } from '../../src/p2p/errors.ts'
import { penaltyOf } from '../../src/p2p/faults.ts'
import type { ByteStream, Misbehaviour, PeerLinks, PeerName } from '../../src/p2p/peerLinks.ts'
import type { GossipMessage, PubSub, Verdict } from '../../src/p2p/pubSub.ts'
import { type LinkFaults, MemoryStream, Pipe } from './memoryStream.ts'

/** A message that a validator refused or dropped. */
export interface JudgedMessage {
  readonly message: GossipMessage
  readonly verdict: Verdict
}

/** One node's view of the network. */
export interface MemoryNode {
  readonly name: PeerName
  readonly links: PeerLinks
  readonly pubsub: PubSub
  /** What the protocols reported, in order. */
  readonly reports: { readonly peer: PeerName; readonly what: Misbehaviour }[]
  /** Tags by peer and name. */
  readonly tags: Map<PeerName, Map<string, number>>
  /** Verdicts of this node's own validators, in order. */
  readonly judged: JudgedMessage[]
  /** Peers that were banned: they cannot connect again. */
  readonly banned: ReadonlySet<PeerName>
  /** Streams that are open at this node's end. */
  readonly openStreams: number
}

/** Largest gossip message, bytes. */
const MAX_GOSSIP_BYTES = 1 << 20

type Validator = (message: GossipMessage) => Verdict | Promise<Verdict>
type Serve = (peer: PeerName, stream: ByteStream) => Promise<void>

class Node implements MemoryNode, PeerLinks, PubSub {
  readonly name: PeerName
  readonly reports: { peer: PeerName; what: Misbehaviour }[] = []
  readonly tags = new Map<PeerName, Map<string, number>>()
  readonly judged: JudgedMessage[] = []
  readonly banned = new Set<PeerName>()
  readonly handlers = new Map<string, Serve>()
  readonly topics = new Map<string, Validator>()
  readonly streams = new Map<MemoryStream, PeerName>()
  readonly identified = new Set<(peer: PeerName) => void>()
  readonly disconnected = new Set<(peer: PeerName) => void>()
  readonly #seen = new Set<string>()
  readonly #network: MemoryNetwork

  constructor(name: PeerName, network: MemoryNetwork) {
    this.name = name
    this.#network = network
  }

  get links(): PeerLinks {
    return this
  }

  get pubsub(): PubSub {
    return this
  }

  get openStreams(): number {
    return this.streams.size
  }

  async open(peer: PeerName, protocols: readonly string[], signal: AbortSignal): Promise<ByteStream> {
    signal.throwIfAborted()
    return this.#network.openStream(this, peer, protocols)
  }

  handle(protocol: string, serve: Serve): () => void {
    this.handlers.set(protocol, serve)
    return () => {
      if (this.handlers.get(protocol) === serve) this.handlers.delete(protocol)
    }
  }

  peers(): readonly PeerName[] {
    return this.#network.peersOf(this.name)
  }

  speaks(peer: PeerName, protocol: string): boolean | undefined {
    return this.peers().includes(peer) && this.#network.get(peer).handlers.has(protocol)
  }

  onIdentified(listener: (peer: PeerName) => void): () => void {
    this.identified.add(listener)
    return () => this.identified.delete(listener)
  }

  onDisconnected(listener: (peer: PeerName) => void): () => void {
    this.disconnected.add(listener)
    return () => this.disconnected.delete(listener)
  }

  async disconnect(peer: PeerName): Promise<void> {
    this.#network.cut(this.name, peer)
  }

  expect(): void {}

  report(peer: PeerName, what: Misbehaviour): void {
    this.reports.push({ peer, what })
    if (penaltyOf(what.fault) !== 'ban') return
    this.banned.add(peer)
    this.#network.cut(this.name, peer)
  }

  demerits(peer: PeerName): number {
    return this.reports.filter((one) => one.peer === peer).length
  }

  tag(peer: PeerName, name: string, weight: number): void {
    const tags = this.tags.get(peer) ?? new Map<string, number>()
    tags.set(name, weight)
    this.tags.set(peer, tags)
  }

  join(topic: string, validate: Validator): () => void {
    this.topics.set(topic, validate)
    return () => this.topics.delete(topic)
  }

  subscribers(topic: string): readonly PeerName[] {
    return this.peers().filter((peer) => this.#network.get(peer).topics.has(topic))
  }

  async publish(topic: string, data: Uint8Array): Promise<void> {
    if (data.length > MAX_GOSSIP_BYTES) throw new P2pError('TOO_LARGE', `Cannot publish ${data.length} bytes`)
    if (this.subscribers(topic).length === 0) throw new P2pError('NO_PEERS', `Cannot publish: nobody in ${topic}`)
    this.#seen.add(messageId(topic, data))
    this.#pass({ topic, data: data.slice(), author: this.name, from: this.name })
  }

  #pass(message: GossipMessage): void {
    for (const peer of this.subscribers(message.topic)) {
      if (peer === message.from || peer === message.author) continue
      this.#network.sendGossip(this.name, peer, { ...message, from: this.name })
    }
  }

  /** A message arrived: validated once, then passed on. */
  async receive(message: GossipMessage): Promise<void> {
    const validate = this.topics.get(message.topic)
    const id = messageId(message.topic, message.data)
    if (validate === undefined || this.#seen.has(id)) return
    this.#seen.add(id)
    const verdict = await validate(message)
    this.judged.push({ message, verdict })
    if (verdict === 'accept') this.#pass(message)
  }
}

function messageId(topic: string, data: Uint8Array): string {
  return `${topic}/${toHex(blake2b256(data))}`
}

/** Nodes and the links between them. */
export class MemoryNetwork {
  readonly #timers: Timers | undefined
  readonly #nodes = new Map<PeerName, Node>()
  readonly #connected = new Map<PeerName, Set<PeerName>>()
  readonly #faults = new Map<string, LinkFaults>()

  /** @param timers - for delayed links */
  constructor(timers?: Timers) {
    this.#timers = timers
  }

  /** A new node, connected to nobody. */
  addNode(name: PeerName): MemoryNode {
    const node = new Node(name, this)
    this.#nodes.set(name, node)
    this.#connected.set(name, new Set())
    return node
  }

  get(name: PeerName): Node {
    const node = this.#nodes.get(name)
    if (node === undefined) throw new Error(`no node ${name}`)
    return node
  }

  /** Connects two nodes; both hear of the other's protocols soon after. */
  connect(a: PeerName, b: PeerName): void {
    const [one, other] = [this.get(a), this.get(b)]
    if (one.banned.has(b) || other.banned.has(a)) throw new P2pError('PEER_BANNED', `Cannot connect ${a} and ${b}`)
    if (this.#of(a).has(b)) return
    this.#of(a).add(b)
    this.#of(b).add(a)
    queueMicrotask(() => {
      if (!this.#of(a).has(b)) return
      for (const listener of [...one.identified]) listener(b)
      for (const listener of [...other.identified]) listener(a)
    })
  }

  /** Ends a connection with all its streams. */
  cut(a: PeerName, b: PeerName): void {
    if (!this.#of(a).delete(b)) return
    this.#of(b).delete(a)
    for (const [self, peer] of [
      [a, b],
      [b, a],
    ] as const) {
      const node = this.get(self)
      for (const [stream, of] of [...node.streams]) {
        if (of === peer) stream.reset(new P2pError('STREAM_RESET', 'connection closed'))
      }
      queueMicrotask(() => {
        for (const listener of [...node.disconnected]) listener(peer)
      })
    }
  }

  /** What is wrong with what `from` sends to `to`, from now on; `{}` heals it. */
  setFaults(from: PeerName, to: PeerName, faults: LinkFaults): void {
    this.#faults.set(`${from}>${to}`, faults)
  }

  /** The same in both directions. */
  setLink(a: PeerName, b: PeerName, faults: LinkFaults): void {
    this.setFaults(a, b, faults)
    this.setFaults(b, a, faults)
  }

  peersOf(name: PeerName): readonly PeerName[] {
    return [...this.#of(name)]
  }

  #of(name: PeerName): Set<PeerName> {
    const connected = this.#connected.get(name)
    if (connected === undefined) throw new Error(`no node ${name}`)
    return connected
  }

  #faultsOf(from: PeerName, to: PeerName): LinkFaults {
    return this.#faults.get(`${from}>${to}`) ?? {}
  }

  openStream(from: Node, to: PeerName, protocols: readonly string[]): ByteStream {
    if (!this.#of(from.name).has(to))
      throw new P2pError('NOT_CONNECTED', `Cannot open a stream: not connected to ${to}`)
    const target = this.get(to)
    const protocol = protocols.find((one) => target.handlers.has(one))
    const serve = protocol === undefined ? undefined : target.handlers.get(protocol)
    if (protocol === undefined || serve === undefined) {
      throw new P2pError('PROTOCOL_UNSUPPORTED', `Cannot open a stream: ${to} speaks none of ${protocols.join(', ')}`)
    }
    const there = new Pipe(() => this.#faultsOf(from.name, to), this.#timers)
    const back = new Pipe(() => this.#faultsOf(to, from.name), this.#timers)
    const mine: MemoryStream = new MemoryStream(protocol, back, there, () => from.streams.delete(mine))
    const theirs: MemoryStream = new MemoryStream(protocol, there, back, () => target.streams.delete(theirs))
    from.streams.set(mine, to)
    target.streams.set(theirs, from.name)
    queueMicrotask(() => {
      serve(from.name, theirs).catch((error: unknown) => {
        theirs.abort(error instanceof Error ? error : new Error(String(error)))
      })
    })
    return mine
  }

  /** Brings a gossip message from one node to another, by the faults of their link. */
  sendGossip(from: PeerName, to: PeerName, message: GossipMessage): void {
    const faults = this.#faultsOf(from, to)
    if (faults.silent === true) return
    const data = faults.garble === undefined ? message.data.slice() : faults.garble(message.data.slice())
    const arrive = (): void => {
      if (this.#of(from).has(to)) void this.get(to).receive({ ...message, data })
    }
    if (faults.delayMs === undefined || faults.delayMs === 0) queueMicrotask(arrive)
    else if (this.#timers === undefined) throw new Error('a delayed link needs the network to have timers')
    else this.#timers.setTimeout(arrive, faults.delayMs)
  }
}
