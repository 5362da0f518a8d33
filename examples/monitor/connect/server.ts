/** A node at the other end of a WebSocket, and why there is none: a browser says of a WebSocket only that it failed. */
import { createClient, openWebSocket } from 'petrel'
import type { Connection } from '../model/connection.ts'
import { MonitorError } from '../model/errors.ts'
import { SERVER_TRUST } from '../model/evidence.ts'
import { MONITOR_METHODS } from '../model/methods.ts'

const PROBE_MS = 10_000

/** @throws MonitorError `REFUSED`, `ORIGIN`, `MIXED` */
export async function connectServer(url: string, onClosed: () => void): Promise<Connection> {
  try {
    const transport = await openWebSocket(() => new WebSocket(url), onClosed)
    return { node: createClient(transport, MONITOR_METHODS), trust: SERVER_TRUST, close: () => transport.close() }
  } catch (cause) {
    throw await whyNot(url, cause)
  }
}

/** Looks whether anybody answers there, without reading what. */
async function whyNot(url: string, cause: unknown): Promise<MonitorError> {
  const place = new URL(url)
  const { host } = place
  if (location.protocol === 'https:' && place.protocol === 'ws:') {
    const text = `this page came over https, so the browser lets it ask no node over ws; give ${host} a name with TLS (wss)`
    return new MonitorError('MIXED', text, { url }, { cause })
  }
  place.protocol = place.protocol === 'wss:' ? 'https:' : 'http:'
  place.pathname = '/health/livez'
  try {
    await fetch(place, { mode: 'no-cors', cache: 'no-store', signal: AbortSignal.timeout(PROBE_MS) })
  } catch {
    const text = `nobody answers at ${host}: refused, or there is no way there`
    return new MonitorError('REFUSED', text, { url }, { cause })
  }
  const text =
    location.host === host
      ? `${host} answers, but opens no WebSocket at ${new URL(url).pathname}`
      : `${host} answers, but not to this page (CORS): its operator allows it with --cors-origin ${location.origin}`
  return new MonitorError('ORIGIN', text, { url }, { cause })
}
