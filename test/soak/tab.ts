/** A tab that follows the producer of a soak, headers alone, and what its renderer takes. */
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { evaluate, openChromium } from '../runtimes/chromiumHost.ts'
import { chromiumProcesses } from '../support/chromiumProcesses.ts'
import { MEBI, type Memory, statusMb } from './sample.ts'
import { liveTabHeaps } from './tabHeap.ts'

/** Small, as the nodes' `--cache`: they are soon full, and what grows then is none of them. */
const BOUNDS = { maxMemoryBytes: 32 * 1024 * 1024, maxDiskBytes: 64 * 1024 * 1024 }

/** What is looked at of a tab. */
export interface TabSample {
  readonly memory: Memory
  readonly handles: number
  readonly head: number
}

/** An open tab. */
export interface SoakTab {
  sample(): Promise<TabSample>
  /** The page anew, as when somebody reloads it: it goes on with what it kept. */
  reload(): Promise<void>
  close(): Promise<void>
}

/** @param home - of the producer; @param bootstrap - its address for WebSocket */
export async function openTab(home: string, bootstrap: string): Promise<SoakTab> {
  const chromium = await openChromium()
  copyFileSync(join(home, 'genesis.car'), join(chromium.folder, 'genesis.car'))
  const network = readFileSync(join(home, 'network.json'), 'utf8')
  const node = { kind: 'follow', network, genesis: '/genesis.car', mode: 'headers', bootstrap: [bootstrap] }
  const context = await chromium.browser.newContext()
  const open = async () => {
    const page = await chromium.openPage(context)
    await page.evaluate(`startTab(${JSON.stringify({ node, ...BOUNDS })})`)
    return page
  }
  let page = await open()
  return {
    sample: async () => {
      const { heap, external } = await liveTabHeaps(page)
      const { Height: head } = await evaluate(page, `tab.request('ChainHead')`)
      const mb = (name: string): number =>
        chromiumProcesses('renderer').reduce((sum, pid) => sum + statusMb(pid, name), 0)
      const handles = chromiumProcesses('renderer').reduce((sum, pid) => sum + readdirSync(`/proc/${pid}/fd`).length, 0)
      const memory = { own: mb('RssAnon'), files: mb('RssFile'), heap: heap / MEBI, external: external / MEBI }
      return { memory, handles, head }
    },
    reload: async () => {
      await page.close()
      page = await open()
    },
    close: () => chromium.close(),
  }
}
