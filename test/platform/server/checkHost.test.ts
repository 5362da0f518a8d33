/** The clock by a time server that tells one, that refuses, and that says something else. */
import { createSocket, type Socket } from 'node:dgram'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { checkClock } from '../../../platform/server/checkHost.ts'

const NTP_EPOCH_SEC = 2_208_988_800
const NOW_SEC = 1_800_000_000

let server: Socket | undefined
afterEach(() => server?.close())

/** A server that gives this answer. @returns its address */
function answering(answer: Uint8Array): Promise<string> {
  const socket = createSocket('udp4')
  server = socket
  socket.on('message', (_, from) => socket.send(answer, from.port, from.address))
  return new Promise((resolve) =>
    socket.bind(0, '127.0.0.1', () => resolve(`127.0.0.1:${(socket.address() as AddressInfo).port}`)),
  )
}

/** @see RFC 5905 section 7.3 */
function packet(stratum: number, receivedSec: number, sentSec: number): Uint8Array {
  const bytes = new Uint8Array(48)
  bytes[0] = 0x24
  bytes[1] = stratum
  const view = new DataView(bytes.buffer)
  view.setUint32(32, receivedSec)
  view.setUint32(40, sentSec)
  return bytes
}

const TIME = NOW_SEC + NTP_EPOCH_SEC
const look = async (answer: Uint8Array) => checkClock(await answering(answer), () => NOW_SEC * 1000)

describe('the clock', () => {
  it('is compared with what a server tells', async () => {
    expect(await look(packet(2, TIME, TIME))).toMatchObject({ state: 'ok' })
    server?.close()
    const late = await look(packet(2, TIME + 3, TIME + 3))
    expect(late.state).toBe('fault')
    expect(late.found).toMatch(/^3\.00 s behind /)
  })

  it.each([
    ['stratum 0, which refuses', packet(0, TIME, TIME)],
    ['no time of receipt', packet(2, 0, TIME)],
    ['no time of sending', packet(2, TIME, 0)],
  ])('is not compared with an answer of %s', async (_, answer) => {
    const check = await look(answer)
    expect(check.state).toBe('unknown')
    expect(check.found).toContain('tells no time')
  })
})
