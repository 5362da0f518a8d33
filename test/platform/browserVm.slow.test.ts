/** The machine in a Web Worker of Chromium gives what it gives in the page itself, and the page goes on meanwhile. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { build } from 'esbuild'
import { expect, it } from 'vitest'
import { serveTests } from '../chromium/serve.ts'
import { findChromium, launchChromium } from '../support/chromium.ts'
import { ROOT } from '../support/shared.ts'

const missing = findChromium() === undefined
if (missing) console.warn('skipped: no Chromium on this machine')

it.skipIf(missing)('runs in a Web Worker', { timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-browser-'))
  await build({
    entryPoints: {
      page: join(ROOT, 'test/platform/page/browserVm.ts'),
      vmWorker: join(ROOT, 'platform/browser/vmWorker.ts'),
    },
    outdir: folder,
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'chrome130',
    absWorkingDir: ROOT,
    logLevel: 'warning',
  })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><script type="module" src="page.js"></script>')
  const server = await serveTests(folder)
  const browser = await launchChromium()
  try {
    const page = await browser.newPage()
    await page.goto(`${server.url}/index.html`)
    await page.waitForFunction('globalThis.outcome !== undefined', undefined, { timeout: 90_000 })
    const outcome = await page.evaluate('globalThis.outcome')
    expect(outcome).toMatchObject({ equal: true, messages: 3, code: 'CANCELLED' })
    expect((outcome as { ticks: number }).ticks).toBeGreaterThan(0)
  } finally {
    await browser.close()
    server.close()
    rmSync(folder, { recursive: true })
  }
})
