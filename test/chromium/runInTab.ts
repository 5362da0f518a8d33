/** Runs a script in a worker of a tab of Chromium. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { launchChromium } from '../support/chromium.ts'
import { ROOT } from '../support/shared.ts'
import { bundlePage } from './bundlePage.ts'
import { serveTests } from './serve.ts'

/**
 * What the script posts until it posts `done`.
 * @param source - TypeScript; imports begin with `./`, at the root of this repository
 */
export async function runInTab(source: string): Promise<unknown[]> {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-tab-'))
  try {
    const entry = join(folder, 'entry.ts')
    writeFileSync(entry, source.replaceAll("'./", `'${ROOT}/`))
    const out = join(folder, 'out')
    await bundlePage([entry], out)
    const server = await serveTests(out)
    const browser = await launchChromium()
    try {
      const page = await browser.newPage()
      await page.goto(`${server.url}/index.html`)
      return await page.evaluate<unknown[]>(`new Promise((resolve, reject) => {
        const posted = []
        const worker = new Worker('/entry.js', { type: 'module' })
        worker.onmessage = ({ data }) => (data === 'done' ? resolve(posted) : posted.push(data))
        worker.onerror = (event) => reject(new Error(event.message))
      })`)
    } finally {
      await browser.close()
      server.close()
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
