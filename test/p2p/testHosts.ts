/** Real libp2p hosts on loopback for tests, stopped by {@link stopHosts}. */

import { systemClock, systemTimers } from '../../platform/server/clock.ts'
import { ed25519Signing } from '../../platform/server/ed25519Signing.ts'
import { streamTransports } from '../../platform/server/streamTransports.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { KeyValueStore } from '../../src/base/ports.ts'
import { createHost } from '../../src/p2p/host/createHost.ts'
import type { P2pHost } from '../../src/p2p/host/host.ts'
import type { HostOptions, HostTransports } from '../../src/p2p/host/hostOptions.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { silentLog } from '../support/recordedView.ts'

export const NETWORK = 'testing'
export const LOOPBACK = '/ip4/127.0.0.1/tcp/0'

const running: P2pHost[] = []

/** What of a node outlives its host. */
export interface HostHome {
  readonly keystore: KeyStore
  readonly store: KeyValueStore
}

export function newHome(): HostHome {
  return { keystore: new KeyStore(new MemorySecretStore()), store: new MemoryStore() }
}

/** A host that listens on TCP; not started. */
export async function newHost(
  options: Partial<HostOptions> = {},
  home: HostHome = newHome(),
  transports: HostTransports = streamTransports,
): Promise<P2pHost> {
  const host = await createHost(
    {
      version: 'test',
      networkName: NETWORK,
      listen: [LOOPBACK],
      privateAddresses: true,
      dht: 'server',
      ...options,
    },
    transports,
    {
      clock: systemClock,
      timers: systemTimers,
      random: { fill: (out) => void crypto.getRandomValues(out as Uint8Array<ArrayBuffer>) },
      log: silentLog,
      signing: ed25519Signing,
      ...home,
    },
  )
  running.push(host)
  return host
}

/** A host of the network: it speaks hello, which is how others know it. */
export async function startHost(options: Partial<HostOptions> = {}, home: HostHome = newHome()): Promise<P2pHost> {
  const host = await newHost(options, home)
  host.links.handle('/fil/hello/1.0.0', () => Promise.resolve())
  await host.start()
  return host
}

export async function stopHosts(): Promise<void> {
  await Promise.all(running.splice(0).map((host) => host.stop()))
}

/** Resolves when `holds` does; looks every few milliseconds. */
export async function until(
  holds: () => boolean | undefined | Promise<boolean>,
  what: string,
  ms = 10_000,
): Promise<void> {
  const end = Date.now() + ms
  while (!(await holds())) {
    if (Date.now() > end) throw new Error(`waited ${ms} ms for: ${what}`)
    await new Promise((done) => setTimeout(done, 20))
  }
}

export function soon(ms = 10_000): AbortSignal {
  return AbortSignal.timeout(ms)
}

/** Connects and waits until each knows what the other speaks. */
export async function connect(from: P2pHost, to: P2pHost, address?: string): Promise<void> {
  const { id, addresses } = to.net.addresses()
  await from.net.connect({ id, addresses: address === undefined ? addresses : [address] }, soon())
  const known = (host: P2pHost, peer: string): boolean => host.parts.links.says(peer) !== undefined
  await until(() => known(from, to.id) && known(to, from.id), 'identify')
}
