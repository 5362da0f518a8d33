/** Lines about peers, as their number changes. */
import { expect, it } from 'vitest'
import { logPeers, PEERS_LOOK_MS } from '../../src/node/peerLog.ts'
import { silentLog } from '../rpc/stubTable.ts'
import { VirtualTime } from '../support/virtualTime.ts'

it('tells of peers that are lost, once, and of those that come back', async () => {
  const time = new VirtualTime()
  const lines: string[] = []
  const told =
    (level: string) =>
    (message: string, info?: object): void => {
      lines.push(`${level} ${message} ${JSON.stringify(info)}`)
    }
  let count = 0
  const stop = logPeers({
    peers: () => count,
    timers: time,
    log: { ...silentLog, info: told('info'), warn: told('warn') },
  })
  const counts = [0, 2, 9, 8, 5, 4, 4, 3, 0, 0, 1, 6, 9, 9, 1]
  for (const peers of counts) {
    count = peers
    await time.advance(PEERS_LOOK_MS)
  }
  expect(lines).toEqual([
    'warn peers lost {"peers":4,"before":9}',
    'warn peers lost {"peers":0,"before":4}',
    'info peers again {"peers":9}',
    'warn peers lost {"peers":1,"before":9}',
  ])
  stop()
  count = 0
  await time.advance(PEERS_LOOK_MS)
  expect(lines).toHaveLength(4)
})
