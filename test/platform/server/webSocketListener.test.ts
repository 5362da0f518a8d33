/** Sockets that come to the port of peers' WebSockets and say nothing. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { afterEach, expect, it, vi } from 'vitest'
import type { P2pHost } from '../../../src/p2p/host/host.ts'
import { HOST_LIMITS } from '../../../src/p2p/host/hostLimits.ts'
import { connect as connectHosts, startHost, stopHosts, until } from '../../p2p/testHosts.ts'

const sockets: Socket[] = []

afterEach(async () => {
  vi.useRealTimers()
  for (const socket of sockets.splice(0)) socket.destroy()
  await stopHosts()
})

const listening = (): Promise<P2pHost> => startHost({ listen: ['/ip4/127.0.0.1/tcp/0/ws'] })

async function open(host: P2pHost, says = '', from = '127.0.0.1'): Promise<Socket> {
  const port = Number(/tcp\/(\d+)/.exec(host.net.addresses().addresses[0] as string)?.[1])
  const socket = connect({ port, host: '127.0.0.1', localAddress: from })
  socket.on('error', () => undefined)
  socket.resume()
  sockets.push(socket)
  await once(socket, 'connect')
  if (says !== '') socket.write(says)
  return socket
}

const isOpen = (socket: Socket): boolean => !socket.closed && !socket.readableEnded

it('so many may be open, the oldest of the address with most of them goes, and peers come in beside them', async () => {
  const host = await listening()
  const other = await open(host, '', '127.0.0.2')
  const silent: Socket[] = []
  for (let i = 1; i < HOST_LIMITS.pendingConnections; i++) silent.push(await open(host, i % 2 === 0 ? '' : 'GET / HT'))
  const late = (await startHost({ listen: [] })) as P2pHost
  await connectHosts(late, host)
  // Its own socket took a place until it was a WebSocket: the oldest of its address has gone for that.
  await until(() => !isOpen(silent[0] as Socket), 'the oldest one goes')
  expect(silent.filter(isOpen)).toHaveLength(HOST_LIMITS.pendingConnections - 2)
  expect(isOpen(other)).toBe(true)
  silent.push(await open(host), await open(host))
  await until(() => !isOpen(silent[1] as Socket), 'the next one goes')
  expect(silent.filter(isOpen)).toHaveLength(HOST_LIMITS.pendingConnections - 1)
  expect(isOpen(other)).toBe(true)
  expect(host.parts.links.says(late.id)).toBeDefined()
})

it('for as long as a handshake may take', async () => {
  const host = await listening()
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const socket = await open(host)
  /** What came before has been seen when this is answered. */
  const asked = async (): Promise<unknown> =>
    once(await open(host, 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'), 'close')
  await asked()
  vi.advanceTimersByTime(HOST_LIMITS.handshakeMs - 1)
  await asked()
  expect(isOpen(socket)).toBe(true)
  vi.advanceTimersByTime(1)
  await once(socket, 'close')
})

it('none keeps a host from stopping', async () => {
  const host = await listening()
  const socket = await open(host)
  await host.stop()
  await until(() => !isOpen(socket), 'it is closed')
})
