/** Ports of the last start: what is damaged, taken or cannot be written is none. */
import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { PlatformError } from '../../../platform/server/errors.ts'
import { keepPorts, keptListen } from '../../../platform/server/keptPorts.ts'
import { utf8 } from '../../../src/base/bytes.ts'
import { MemoryStore } from '../../../src/base/memoryStore.ts'

const HOST = '127.0.0.1'
const ANY = [`/ip4/${HOST}/tcp/0`, `/ip4/${HOST}/tcp/0/ws`, `/ip4/${HOST}/udp/0/webrtc-direct`]

/** A port that nobody listens on. */
async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

it('the first start takes any, the next ones the same; of several addresses the first counts', async () => {
  const store = new MemoryStore()
  expect(await keptListen(HOST, store)).toEqual(ANY)
  const [tcp, ws, udp] = [await freePort(), await freePort(), await freePort()]
  const certificate = `/ip4/${HOST}/udp/${udp}/webrtc-direct/certhash/uEiB`
  keepPorts([`/ip6/::1/tcp/9`, `/ip4/${HOST}/tcp/${ws}/ws`, certificate, `/ip4/${HOST}/tcp/${tcp}`], store)
  expect(await keptListen(HOST, store)).toEqual([
    `/ip4/${HOST}/tcp/${tcp}`,
    `/ip4/${HOST}/tcp/${ws}/ws`,
    `/ip4/${HOST}/udp/${udp}/webrtc-direct`,
  ])
})

it.each(['', '0', '65536', '-1', '1.5', 'x', '1e9'])('"%s" is no port', async (text) => {
  const store = new MemoryStore()
  store.put(utf8('p2p/port/tcp'), utf8(text))
  expect(await keptListen(HOST, store)).toEqual(ANY)
})

it('bytes that are no text are no port; a full disk does not end the start', async () => {
  const store = new MemoryStore()
  store.put(utf8('p2p/port/tcp'), Uint8Array.of(0xff, 0xfe))
  expect(await keptListen(HOST, store)).toEqual(ANY)
  store.put = () => {
    throw new PlatformError('STORE_FULL', 'Cannot write to the store: the disk is full')
  }
  expect(() => keepPorts([`/ip4/${HOST}/tcp/4001`], store)).not.toThrow()
})
