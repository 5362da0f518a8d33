/**
 * Every node names hello and the chain exchange in each identify, whether or not it serves them: Forest bans for an hour whoever
 * leaves one out. @see forest src/libp2p/service.rs handle_discovery_event
 */
import { afterEach, expect, it } from 'vitest'
import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { systemRandom } from '../../platform/server/random.ts'
import { Closers } from '../../src/base/closers.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import { connect as connectNode } from '../../src/node/openNode.ts'
import { CHAIN_EXCHANGE_PROTOCOL } from '../../src/p2p/chainExchange/messages.ts'
import { HELLO_PROTOCOL } from '../../src/p2p/hello.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { silentLog } from '../support/recordedView.ts'
import { connect, NETWORK, newHost, soon, startHost, stopHosts, until } from './testHosts.ts'

const BOTH = [HELLO_PROTOCOL, CHAIN_EXCHANGE_PROTOCOL]

afterEach(stopHosts)

/** What a node of any kind has of the network, before it serves anything: light, replica, one that asks for its genesis. */
async function netOfNode(): Promise<P2pHost> {
  const net = await connectNode(
    {
      ports: { clock: systemClock, timers: systemTimers, random: systemRandom, log: silentLog },
      stores: { blocks: new MemoryBlockstore(), meta: new MemoryStore() },
      keystore: new KeyStore(new MemorySecretStore()),
      settings: { version: 'test', shutdown: () => undefined },
      openHost: () => newHost(),
      openMachine: () => ({ vm: undefined as never, close: () => undefined }),
      say: () => undefined,
    },
    builtinNetwork('calibnet'),
    NETWORK,
    new Closers(),
  )
  if (net === undefined) throw new Error('no host')
  return net.host
}

it('whatever a node serves, and while it is being stopped', async () => {
  const node = await netOfNode()
  await node.start()
  const forest = await startHost()
  const lists: string[][] = []
  forest.parts.node.addEventListener('peer:identify', ({ detail }) => lists.push(detail.protocols))
  await connect(forest, node)
  expect(lists.length).toBeGreaterThan(0)

  const served: string[] = []
  const ends = BOTH.map((protocol) =>
    node.links.handle(protocol, async () => {
      served.push(protocol)
    }),
  )
  const ask = async (): Promise<unknown> => {
    const stream = await forest.links.open(node.id, BOTH, soon())
    return await stream.read().catch((error: unknown) => error)
  }
  await ask()
  await until(() => served.length === 1, 'what it serves')
  for (const end of ends) end()
  expect(await ask()).toMatchObject({ code: 'STREAM_RESET' })
  expect(served).toHaveLength(1)

  // A change of the list is told after a while, together with all others of that time.
  node.links.handle('/last/1.0.0', () => Promise.resolve())
  await until(() => forest.links.speaks(node.id, '/last/1.0.0'), 'the list with the last change')
  expect(lists.filter((list) => !BOTH.every((protocol) => list.includes(protocol)))).toEqual([])
})
