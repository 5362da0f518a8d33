/** The node in this tab: its worker is loaded when it is asked for. */

import { createClient, equalTipsetKeys, RpcClientError } from 'petrel'
import type { NodeKind, Petrel } from 'petrel/browser'
import type { Connection } from '../model/connection.ts'
import type { Trust } from '../model/evidence.ts'
import { MONITOR_METHODS, type MonitorNode } from '../model/methods.ts'
import type { Target } from './target.ts'

/** Seconds per epoch of a chain of one's own. */
const LOCAL_BLOCK_MS = 4000
const LOCAL_MINERS = 3

/**
 * Every head that this node tells of was validated here: it made or executed it, or it checked its headers back to
 * genesis. A snapshot that was only opened would be its maker's word; the page offers none.
 */
const TAB_TRUST: Trust = { kind: 'tab', isValidated: () => true }

/** A light node proves its final tipset, and by hashes what is below it; the head above it is checked as far as it can be. */
function lightTrust(node: MonitorNode): Trust {
  return {
    kind: 'tab',
    isValidated: async (key) => {
      const { final } = await node.LightStatus()
      return final !== null && equalTipsetKeys(final.key, key)
    },
  }
}

/** @throws RpcClientError `UNREACHABLE`; BrowserError as startPetrel */
export async function connectTab(
  target: Exclude<Target, { kind: 'server' }>,
  onClosed: () => void,
): Promise<Connection> {
  const { startPetrel } = await import('petrel/browser')
  const workerUrl = new URL('worker.js', document.baseURI)
  const vmWorkerUrl = new URL('vmWorker.js', document.baseURI)
  const petrel: Petrel = await startPetrel({ node: await nodeKind(target), workerUrl, vmWorkerUrl })
  let isClosing = false
  petrel.listen({
    state: ({ at }) => {
      if ((at === 'failed' || at === 'stopped') && !isClosing) onClosed()
    },
  })
  const node = createClient(petrel.transport, MONITOR_METHODS)
  const isLight = target.kind === 'light'
  return {
    node,
    trust: isLight ? lightTrust(node) : TAB_TRUST,
    isLight,
    isFollower: target.kind !== 'local',
    close: () => {
      isClosing = true
      void petrel.stop()
    },
  }
}

async function nodeKind(target: Exclude<Target, { kind: 'server' }>): Promise<NodeKind> {
  if (target.kind === 'local') {
    return { kind: 'local', devnet: { blockTimeMs: LOCAL_BLOCK_MS, miners: LOCAL_MINERS } }
  }
  if (target.kind === 'light') return lightKind(target)
  const base = target.peer.replace(/\/+$/, '')
  const place = (await fetchJson(`${base}/p2p`)) as { readonly addrs?: readonly string[] }
  const bootstrap = place.addrs ?? []
  if (bootstrap.length === 0) throw new RpcClientError('UNREACHABLE', `${base} tells of no address that a tab can dial`)
  const own = await ownNetwork()
  return { kind: 'follow', mode: 'headers', ...(own ?? { network: await networkName(base) }), bootstrap }
}

async function lightKind({ network, sources, peers }: Extract<Target, { kind: 'light' }>): Promise<NodeKind> {
  const own = await ownNetwork()
  const bootstrap = own === undefined && peers.length === 0 ? {} : { bootstrap: peers }
  return { kind: 'follow', mode: 'light', ...(own ?? { network }), sources, ...bootstrap }
}

/** The network that the page brings along, where it does. */
async function ownNetwork(): Promise<{ readonly network: string; readonly genesis: URL } | undefined> {
  const own = await fetch(new URL('network.json', document.baseURI))
  return own.ok ? { network: await own.text(), genesis: new URL('genesis.car', document.baseURI) } : undefined
}

async function fetchJson(url: string): Promise<unknown> {
  try {
    const response = await fetch(url)
    if (response.ok) return (await response.json()) as unknown
    throw new RpcClientError('UNREACHABLE', `${url} answers with status ${response.status}`)
  } catch (cause) {
    if (cause instanceof RpcClientError) throw cause
    throw new RpcClientError('UNREACHABLE', `${url} cannot be read from this page`, {}, { cause })
  }
}

async function networkName(base: string): Promise<string> {
  const response = await fetch(`${base}/rpc/v1`, {
    method: 'POST',
    body: '{"jsonrpc":"2.0","id":1,"method":"Filecoin.StateNetworkName","params":[]}',
  })
  const { result } = (await response.json()) as { readonly result?: string }
  return result === 'calibrationnet' ? 'calibnet' : (result ?? '')
}
