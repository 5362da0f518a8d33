/** Pings are answered whole, one after the other, and nothing else is given back. @see go-libp2p p2p/protocol/ping/ping.go PingHandler */
import { afterEach, expect, it } from 'vitest'
import { answerPings } from '../../src/p2p/host/pingAnswers.ts'
import { silentLog } from '../support/recordedView.ts'
import { seeded } from '../support/seeded.ts'
import { VirtualTime } from '../support/virtualTime.ts'
import { connect, soon, startHost, stopHosts } from './testHosts.ts'

const PING = ['/ipfs/ping/1.0.0']

afterEach(stopHosts)

it('each of 32 bytes as it comes, however it is cut; what is less than one is not', async () => {
  const [server, client] = [await startHost(), await startHost()]
  await connect(client, server)
  const sent = seeded('pings').bytes(32 * 5 + 20)
  const stream = await client.links.open(server.id, PING, soon())
  for (const [from, to] of [
    [0, 20],
    [20, 70],
    [70, 71],
    [71, 180],
  ] as const)
    await stream.write(sent.subarray(from, to))
  await stream.closeWrite()
  const back: number[] = []
  for (let part = await stream.read(); part !== undefined; part = await stream.read()) back.push(...part)
  expect(back).toEqual([...sent.subarray(0, 160)])
})

it('a version of the library that answers elsewhere is named', () => {
  expect(() => answerPings({}, { timers: new VirtualTime(), log: silentLog })).toThrow('no method handlePing')
})
