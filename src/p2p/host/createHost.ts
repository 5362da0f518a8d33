/**
 * The one libp2p host of all runtimes: security, multiplexing, services and their bounds. The runtime brings transports.
 * @see lotus node/builder.go LibP2P
 */
import { circuitRelayServer } from '@libp2p/circuit-relay-v2'
import { type Identify, identify, identifyPush } from '@libp2p/identify'
import { type KadDHT, kadDHT, passthroughMapper, removePrivateAddressesMapper } from '@libp2p/kad-dht'
import { noise } from '@libp2p/noise'
import { ping } from '@libp2p/ping'
import { yamux } from '@libp2p/yamux'
import { createLibp2p, type Libp2p, type Libp2pInit } from 'libp2p'
import { P2pError } from '../errors.ts'
import { topicScores } from '../gossip/scores.ts'
import { allowedTopics } from '../gossip/topics.ts'
import { BAN_POLICY, Bans } from '../peers/bans.ts'
import { BlockList } from '../peers/blockList.ts'
import { Demerits } from '../peers/demerits.ts'
import { IpWhitelist } from '../peers/ipWhitelist.ts'
import { PeerTags } from '../peers/peerTags.ts'
import { peerOfAddress } from './addresses.ts'
import { announceFilter } from './announceFilter.ts'
import { BoundedDatastore } from './boundedDatastore.ts'
import { deriveCertificate } from './certificate.ts'
import { boundAnswers } from './dhtAnswers.ts'
import { serveRequests } from './dhtRequests.ts'
import { createGater } from './gater.ts'
import { P2pHost } from './host.ts'
import { ConnectionBounds, HOST_LIMITS, type HostLimits } from './hostLimits.ts'
import { HostLinks } from './hostLinks.ts'
import type { HostOptions, HostPorts, HostTransports } from './hostOptions.ts'
import { HostPubSub } from './hostPubSub.ts'
import { loadIdentity, withSigning } from './identity.ts'
import { answerPings, type PingService } from './pingAnswers.ts'
import { createRouter, type Router } from './router.ts'
import { Traffic } from './traffic.ts'

const SEED_BYTES = 32

/** libp2p's own watch has two under way at most; before, Petrel's had four. */
const PING_STREAMS = 8

/** Any number of nodes of a local chain may run on one machine. */
const OWN_MACHINE = '127.0.0.0/8'

type Services = NonNullable<Libp2pInit['services']>

/** Services of the host by their libp2p names. */
interface HostServices {
  readonly [name: string]: unknown
  readonly pubsub: Router
  readonly dht: KadDHT
  readonly identify: Identify
  readonly ping: PingService
}

/**
 * Makes a host; it neither listens nor dials before `start()`.
 * @throws P2pError `BAD_IDENTITY`, `BAD_ADDRESS`, `NOT_SUPPORTED`; WalletError `LOCKED`, `WRONG_PASSPHRASE`
 */
export async function createHost(options: HostOptions, transports: HostTransports, ports: HostPorts): Promise<P2pHost> {
  const limits: HostLimits = { ...HOST_LIMITS, ...options.limits }
  const identity = await loadIdentity(ports.keystore, ports.random)
  const { signing } = ports
  const bootstrap = options.bootstrap ?? []
  const topics = allowedTopics(options.networkName)
  const ipWhitelist = new IpWhitelist(options.privateAddresses === true ? [OWN_MACHINE] : [])
  const bans = new Bans(ports.clock, ports.store, BAN_POLICY, ports.log)
  const blocked = new BlockList(ports.store)
  const tags = new PeerTags()
  const connections = new ConnectionBounds(limits)
  let started: Libp2p | undefined
  const traffic = new Traffic(ports.clock, (stream) =>
    started
      ?.getConnections()
      .find(({ streams }) => streams.includes(stream))
      ?.remotePeer.toString(),
  )
  const certificate = deriveCertificate(identity.privateKey.raw.subarray(0, SEED_BYTES))
  const bootstrappers = new Set<string>()
  for (const address of bootstrap) {
    const peer = peerOfAddress(address)
    if (peer !== undefined) bootstrappers.add(peer)
  }
  const router = createRouter({
    topics,
    topicScores: topicScores(options.networkName),
    bootstrappers,
    hasShown: (peer) => tags.hasShown(peer),
    bootstrapper: options.bootstrapper ?? false,
    ipWhitelist,
  })
  const node = await createLibp2p({
    start: false,
    privateKey: signing === undefined ? identity.privateKey : withSigning(identity.privateKey, signing),
    nodeInfo: { name: 'petrel', version: options.version, userAgent: `petrel-${options.version}` },
    addresses: {
      listen: [...options.listen],
      announce: [...(options.announce ?? [])],
      announceFilter: announceFilter(options.noAnnounce ?? []),
    },
    datastore: new BoundedDatastore(limits.addressBook, limits.addressBytes),
    connectionGater: createGater(bans, blocked, () => (started?.getConnections().length ?? 0) >= connections.most),
    connectionManager: {
      // Its own way to choose who goes favours whose key is near ours in the DHT: who makes many keys has such ones.
      maxConnections: Number.MAX_SAFE_INTEGER,
      maxParallelDials: limits.parallelDials,
      maxIncomingPendingConnections: limits.pendingConnections,
      inboundConnectionThreshold: limits.connectionsPerSecond,
      // Whoever is dialled waits that long: libp2p's 6 s give a loaded peer, or a tab behind a relay, up before it does.
      addressDialTimeout: limits.handshakeMs,
      inboundUpgradeTimeout: limits.handshakeMs,
      inboundStreamProtocolNegotiationTimeout: limits.handshakeMs,
      reconnectRetries: 0,
    },
    // libp2p cuts who does not answer. Its own 5 s cut every connection once this process stands still for as long.
    // A ping begins when the one before is over: go-libp2p lets a peer have two of them open (limits.go), and resets the third.
    connectionMonitor: {
      pingInterval: limits.pingMs,
      pingTimeout: { minTimeout: limits.pingMs, maxTimeout: limits.pingMs },
    },
    metrics: () => traffic,
    transports: transports(certificate),
    // An address that is taken must be heard of; without any address the node can still dial.
    transportManager: { faultTolerance: options.listen.length === 0 ? 1 : 0 },
    connectionEncrypters: [noise()],
    streamMuxers: [
      yamux({
        maxInboundStreams: limits.streamsPerConnection,
        maxOutboundStreams: limits.streamsPerConnection,
        streamOptions: {
          maxStreamWindowSize: limits.streamWindow,
          maxReadBufferLength: limits.streamBuffer,
        },
      }),
    ],
    services: services(options, limits, router),
  })
  started = node as unknown as Libp2p
  const { pubsub, dht, identify: identification, ping: pings } = node.services as unknown as HostServices
  answerPings(pings, ports)
  withoutRecords(dht)
  boundAnswers(dht)
  serveRequests(dht, ports)
  const { clock, timers, log } = ports
  return new P2pHost({
    node: started,
    identity,
    router: pubsub,
    dht,
    links: new HostLinks({
      node: started,
      identify: (connection, signal) => identification.identify(connection, { signal }),
      bans,
      demerits: new Demerits(clock),
      tags,
      limits,
      clock,
      timers,
      log,
    }),
    pubsub: new HostPubSub(pubsub, topics, log, { clock, timers }),
    bans,
    blocked,
    tags,
    traffic,
    limits,
    connections,
    ipWhitelist,
    bootstrap,
    bootstrappers,
    options,
    ports,
  })
}

function services(options: HostOptions, limits: HostLimits, router: ReturnType<typeof createRouter>): Services {
  const { dht = 'auto', privateAddresses = false, relay = false } = options
  return {
    identify: identify({ timeout: limits.handshakeMs }),
    identifyPush: identifyPush(),
    ping: ping({ maxInboundStreams: PING_STREAMS, maxOutboundStreams: PING_STREAMS }),
    dht: kadDHT({
      protocol: `/fil/kad/${options.networkName}/kad/1.0.0`,
      ...(dht === 'auto' ? {} : { clientMode: dht === 'client' }),
      peerInfoMapper: privateAddresses ? passthroughMapper : removePrivateAddressesMapper,
      validators: {},
      selectors: {},
    }) as unknown as Services[string],
    pubsub: router,
    randomWalk: () => NO_RANDOM_WALK,
    ...options.services,
    ...(relay
      ? {
          relay: circuitRelayServer({
            reservations: {
              maxReservations: limits.relayReservations,
              defaultDurationLimit: limits.relayDurationMs,
              defaultDataLimit: BigInt(limits.relayBytes),
            },
          }),
        }
      : {}),
  }
}

/**
 * Where a tab has no relay yet, libp2p walks the DHT without a pause until it finds one: in a small network that is a busy
 * loop. Relays are found among the peers that the node connects to anyway.
 */
const NO_RANDOM_WALK = {
  async *walk(): AsyncGenerator<never> {},
}

/**
 * Filecoin's DHT routes to peers and keeps nothing: neither provider nor value records.
 * @see lotus node/modules/lp2p/host.go DHTRouting (DisableProviders, DisableValues)
 */
function withoutRecords(dht: KadDHT): void {
  const { rpc } = dht as unknown as { readonly rpc?: { readonly handlers?: Record<string, unknown> } }
  for (const name of ['GET_VALUE', 'PUT_VALUE', 'ADD_PROVIDER', 'GET_PROVIDERS']) {
    // Private to the library: a version that calls them otherwise must not leave the records on unseen.
    if (rpc?.handlers?.[name] === undefined) throw new P2pError('NOT_SUPPORTED', `this kad-dht has no handler ${name}`)
    delete rpc.handlers[name]
  }
}
