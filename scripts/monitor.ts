/**
 * Starts a local chain with several producers, null rounds and traffic, and serves the monitor page against it.
 *
 *     npm run monitor -- [--port 8080]
 *
 * Ends with Ctrl-C.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buildPage } from './monitor/buildPage.ts'
import { startLocalChain } from './monitor/localChain.ts'
import { servePage } from './monitor/servePage.ts'
import { runTraffic } from './monitor/traffic.ts'
import { programArgs } from './programArgs.ts'

/** What the chart shows at once. */
const AGE_SEC = 160

const { values } = programArgs(import.meta.filename, { options: { port: { type: 'string', default: '8080' } } })
const stop = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())

const folder = mkdtempSync(join(tmpdir(), 'petrel-page-'))
try {
  await buildPage(folder)
  const page = await servePage(folder, Number(values.port))
  const chain = await startLocalChain(page.url, AGE_SEC)
  try {
    page.use(chain.url, chain.home)
    const ready = (): void => {
      console.log(`monitor: ${page.url}`)
      console.log(`  against a local chain at ${chain.url} (keys are public: never for real funds); Ctrl-C ends both`)
      console.log(`  a chain in the tab itself: ${page.url}/#local`)
      console.log(`  a node in the tab that follows this one: ${page.url}/#follow=${chain.url}`)
    }
    console.log('a local chain with some history is made …')
    await runTraffic(chain, stop.signal, ready, (text) => console.error(text))
  } finally {
    await chain.stop()
    await page.close()
  }
} finally {
  rmSync(folder, { recursive: true, force: true })
}
