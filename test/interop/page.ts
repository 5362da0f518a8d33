/** A page of Chromium follows the Go peer by WebTransport, with nothing of ours in between. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { type Chromium, evaluate } from '../runtimes/chromiumHost.ts'
import { until } from '../support/until.ts'
import { NETWORK_NAME, type RecordedFiles } from './follows.ts'
import { startGoPeer, type TipsetNote } from './goPeer.ts'

const WEB_TRANSPORT = '/ip4/127.0.0.1/udp/0/quic-v1/webtransport'
const WITHHELD = 2
const FOLLOW_MS = 120_000

/** Chain by chain exchange, new blocks by gossip, state by bitswap. */
export async function pageFollows(program: string, files: RecordedFiles, chromium: Chromium): Promise<void> {
  const options = { chain: files.car, network: NETWORK_NAME, withhold: WITHHELD, listen: [WEB_TRANSPORT] }
  const peer = await startGoPeer(program, options)
  const context = await chromium.browser.newContext()
  const log: string[] = []
  try {
    const page = await chromium.openPage(context, log)
    const bootstrap = [peer.address('/webtransport/')]
    const node = { kind: 'follow', network: readFileSync(files.network, 'utf8'), mode: 'headers', bootstrap }
    await page.evaluate(`startTab(${JSON.stringify({ node, log: 'debug' })})`)
    let head = (await peer.call('head')) as TipsetNote | null
    while (head !== null) {
      const { height, cids } = head
      await until(
        async () => {
          const { Cids } = await evaluate(page, `tab.request('ChainHead')`)
          return JSON.stringify(Cids.map((one: { '/': string }) => one['/'])) === JSON.stringify(cids)
        },
        `the page is at epoch ${height}`,
        FOLLOW_MS,
      )
      head = await peer.call('next')
    }
    const reward = await evaluate(page, `tab.request('StateGetActor', ['t02', []])`)
    assert.ok(BigInt(reward.Balance) > 0n)
    assert.equal((await peer.stats()).counts['hello heard'], 1)
  } catch (error) {
    console.log(log.slice(-30).join('\n'))
    console.log(JSON.stringify(await peer.stats()))
    throw error
  } finally {
    await context.close()
    await peer.stop()
  }
}
