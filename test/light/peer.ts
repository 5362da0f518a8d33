/**
 * A peer on loopback that serves the recorded chain with certificates by libp2p: hello, certificate exchange, bitswap. What it
 * serves can be bent, to play a liar.
 */

import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { streamTransports } from '../../platform/server/streamTransports.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { encode } from '../../src/codec/description.ts'
import { type FinalityCertificate, finalityCertificate } from '../../src/consensus/f3/certificate.ts'
import type { PowerTable } from '../../src/consensus/f3/powerTable.ts'
import { type Blockstore, LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { startBitswap } from '../../src/p2p/bitswap/bitswap.ts'
import { serveCertExchange } from '../../src/p2p/certExchange/server.ts'
import { startHello } from '../../src/p2p/hello.ts'
import type { Tipset } from '../../src/types/tipset.ts'
import { newHome, newHost } from '../p2p/testHosts.ts'
import { silentLog } from '../support/recordedView.ts'
import { recorded, type World } from './world.ts'

/** How a peer lies. */
export interface PeerBends {
  readonly certificate?: (one: FinalityCertificate) => FinalityCertificate
  readonly table?: (table: PowerTable) => PowerTable
  /** undefined: the block is withheld. */
  readonly block?: (cid: Cid, data: Uint8Array) => Uint8Array | undefined
  readonly head?: (head: Tipset) => Tipset
}

class BentBlocks extends LayeredBlockstore {
  readonly #bend: NonNullable<PeerBends['block']>

  constructor(blocks: Blockstore, bend: NonNullable<PeerBends['block']>) {
    super([new MemoryBlockstore(), blocks])
    this.#bend = bend
  }

  override get(cid: Cid): Uint8Array | undefined {
    const data = super.get(cid)
    return data === undefined ? undefined : this.#bend(cid, data)
  }
}

/** Starts one that listens for WebSocket connections. @returns its address, with its name */
export async function startPeer(from: World, bends: PeerBends = {}): Promise<string> {
  const { data } = from
  const { f3, view } = recorded().chain
  const host = await newHost({ listen: ['/ip4/127.0.0.1/tcp/0/ws'] }, newHome(), streamTransports)
  const shared = { links: host.links, clock: systemClock, timers: systemTimers, log: silentLog }
  const bend = bends.block
  startBitswap({ ...shared, blocks: bend === undefined ? data.blocks : new BentBlocks(data.blocks, bend) })
  const certificateOf = (instance: number): FinalityCertificate | undefined =>
    data.certificates.find((one) => one.instance === instance)
  serveCertExchange({
    ...shared,
    f3Network: 'golden-f3',
    certificates: {
      pendingInstance: () => (data.certificates.at(-1)?.instance ?? -1) + 1,
      certificateCbor: (instance) => {
        const one = certificateOf(instance)
        return one === undefined ? undefined : encode(finalityCertificate, bends.certificate?.(one) ?? one)
      },
      *findPowerTable(instance) {
        const table = yield* f3.findPowerTable(instance)
        return bends.table?.(table) ?? table
      },
    },
  })
  startHello({
    ...shared,
    chain: {
      head: () => bends.head?.(data.head) ?? data.head,
      weight: (tipset) => view.weight(tipset),
      genesisCid: view.store.genesis().key[0] as Cid,
    },
    onHead: () => undefined,
  })
  await host.start()
  const { id, addresses } = host.net.addresses()
  return `${addresses.find((one) => one.endsWith('/ws'))}/p2p/${id}`
}
