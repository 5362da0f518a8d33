/** The monitor's page (examples/monitor, built by scripts/monitor/buildPage.ts) as the node itself serves it. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { HttpResponse } from '../../src/rpc/httpMessage.ts'
import { PlatformError } from './errors.ts'

/** Set by the build (scripts/build.ts); absent in the sources. */
declare const PETREL_VERSION: string | undefined

/** Where the page is, on the API's port. */
export const MONITOR_PATH = '/monitor'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.car': 'application/vnd.ipld.car',
}

/** The page talks to any node that its reader names, runs no script but its own, and stands in no other's frame. */
const POLICY =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src *; img-src 'self' data:; object-src 'none'; " +
  "base-uri 'none'; frame-ancestors 'none'"

/** What a node in the tab needs to join a local chain: they lie in the node's home. */
const NETWORK_FILES = ['network.json', 'genesis.car']

function builtFolder(): string {
  const beside = typeof PETREL_VERSION === 'string' ? '../monitor/' : '../../dist/monitor/'
  return fileURLToPath(new URL(beside, import.meta.url))
}

/** @throws PlatformError `CONFIG_INVALID` in a clone where the page was not built yet */
export function assertMonitorBuilt(): void {
  const folder = builtFolder()
  if (existsSync(join(folder, 'index.html'))) return
  throw new PlatformError(
    'CONFIG_INVALID',
    `Cannot serve the monitor: ${folder} is not there; npx node scripts/monitor/buildPage.ts makes it`,
  )
}

/** Whether an address that the API listens on is reached from this machine alone. */
export function isThisMachine(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)
}

/**
 * Answers for paths below {@link MONITOR_PATH}.
 * @param home - folder with {@link NETWORK_FILES}, where there are any
 * @param folder - the built page
 */
export function monitorFiles(home: string, folder: string = builtFolder()): (path: string) => HttpResponse | undefined {
  // Names are looked up and never put together: no path leads out of the folder.
  const names = new Set(readdirSync(folder, { recursive: true, encoding: 'utf8' }))
  return (path) => {
    if (path === MONITOR_PATH) return { status: 308, headers: { Location: `${MONITOR_PATH}/` }, body: '' }
    if (!path.startsWith(`${MONITOR_PATH}/`)) return undefined
    const name = path.slice(MONITOR_PATH.length + 1) || 'index.html'
    if (NETWORK_FILES.includes(name)) return existsSync(join(home, name)) ? fileAnswer(join(home, name)) : undefined
    return names.has(join(name)) && statSync(join(folder, name)).isFile() ? fileAnswer(join(folder, name)) : undefined
  }
}

function fileAnswer(file: string): HttpResponse {
  return {
    status: 200,
    headers: {
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Referrer-Policy': 'no-referrer',
      'Cache-Control': 'no-cache',
    },
    body: '',
    pieces: [readFileSync(file)],
  }
}
