/** Nodes of a network in memory that serve a recorded chain, and ask for it. */
import { toHex } from '../../src/base/bytes.ts'
import type { Random } from '../../src/base/ports.ts'
import type { ChainStore } from '../../src/chain/chainStore.ts'
import { ExchangeClient } from '../../src/p2p/chainExchange/client.ts'
import { CHAIN_EXCHANGE_PROTOCOL } from '../../src/p2p/chainExchange/messages.ts'
import { serveChainExchange } from '../../src/p2p/chainExchange/server.ts'
import type { MemoryNetwork, MemoryNode } from '../support/memoryNetwork.ts'
import { openRecordedView, silentLog } from '../support/recordedView.ts'
import type { VirtualTime } from '../support/virtualTime.ts'
import { readAll } from './streams.ts'

/** Chooses the same each time. */
export const steadyRandom: Random = { fill: (out) => out.fill(0) }

let opened: ChainStore | undefined

/** The chain of `golden/wire`. Opened once; nothing writes to it. */
export function wireChain(): ChainStore {
  opened ??= openRecordedView('wire').view.store
  return opened
}

/** A node that serves the recorded chain. */
export function addServer(
  network: MemoryNetwork,
  time: VirtualTime,
  name: string,
  maxServedBytes?: number,
): MemoryNode {
  const node = network.addNode(name)
  serveChainExchange({
    links: node.links,
    chain: wireChain(),
    clock: time,
    timers: time,
    log: silentLog,
    ...(maxServedBytes === undefined ? {} : { maxServedBytes }),
  })
  return node
}

/** A node that asks. */
export function addClient(
  network: MemoryNetwork,
  time: VirtualTime,
  name: string,
): MemoryNode & { client: ExchangeClient } {
  const node = network.addNode(name)
  const deps = { links: node.links, clock: time, timers: time, random: steadyRandom, log: silentLog }
  return Object.assign(node, { client: new ExchangeClient(deps) })
}

/** Sends a request as it is. @returns the answer, hexadecimal */
export async function askRaw(node: MemoryNode, peer: string, request: Uint8Array): Promise<string> {
  const stream = await node.links.open(peer, [CHAIN_EXCHANGE_PROTOCOL], new AbortController().signal)
  await stream.write(request)
  await stream.closeWrite()
  return toHex(await readAll(stream))
}

/** A peer that answers every request with these bytes. */
export function addLiar(network: MemoryNetwork, name: string, answer: (request: Uint8Array) => Uint8Array): MemoryNode {
  const node = network.addNode(name)
  node.links.handle(CHAIN_EXCHANGE_PROTOCOL, async (_, stream) => {
    const request = await readAll(stream)
    await stream.write(answer(request))
    await stream.closeWrite()
  })
  return node
}
