/** The test server: the bundles, the page, and the files that tests read. Loopback, free port. */
import { createReadStream, readdirSync, statSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join, normalize } from 'node:path'
import { createGunzip, createZstdDecompress } from 'node:zlib'
import { ACTORS } from '../support/actors.ts'
import { ROOT, SHARED } from '../support/shared.ts'

const TYPES: Readonly<Record<string, string>> = { js: 'text/javascript', html: 'text/html', json: 'application/json' }

/** A running test server. */
export interface TestServer {
  readonly url: string
  close(): void
}

/** The part that a header `Range: bytes=0-99` asks for. */
function rangeOf(
  header: string | undefined,
  size: number,
): { readonly start: number; readonly end: number } | undefined {
  const [, start, end] = /^bytes=(\d+)-(\d+)$/.exec(header ?? '') ?? []
  if (start === undefined || end === undefined || Number(start) >= size) return undefined
  return { start: Number(start), end: Math.min(Number(end), size - 1) }
}

/** Serves `bundles` at `/`, the shared data at `/shared`, actors at `/actors`, this repository at `/root`; `/whole/…` without ranges. */
export async function serveTests(bundles: string): Promise<TestServer> {
  const folders: Readonly<Record<string, string | undefined>> = { shared: SHARED, actors: ACTORS, root: ROOT }
  const pathOf = (url: string): string | undefined => {
    const [top = '', ...rest] = normalize(decodeURIComponent(url)).replace(/^\/+/, '').split('/')
    if (rest.includes('..')) return undefined
    if (!(top in folders)) return join(bundles, top, ...rest)
    const folder = folders[top]
    return folder === undefined ? undefined : join(folder, ...rest)
  }
  const server = createServer((request, response) => {
    const url = (request.url ?? '/').split('?')[0] as string
    const isList = url.startsWith('/list/')
    const isPacked = url.startsWith('/unpacked/')
    const isWhole = url.startsWith('/whole/')
    const path = pathOf(url.replace(/^\/(list|unpacked|whole)\//, '/'))
    const stat = path === undefined ? undefined : statSync(path, { throwIfNoEntry: false })
    if (path === undefined || stat === undefined || stat.isDirectory() !== isList) {
      response.writeHead(404).end()
      return
    }
    const type = TYPES[path.slice(path.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
    // The same isolation as the browser node's own page asks for, so that shared memory and fine clocks are there.
    const range = isList || isPacked || isWhole ? undefined : rangeOf(request.headers.range, stat.size)
    response.writeHead(range === undefined ? 200 : 206, {
      ...(range === undefined ? {} : { 'Content-Range': `bytes ${range.start}-${range.end}/${stat.size}` }),
      'Content-Type': isList ? 'application/json' : type,
      'Cross-Origin-Opener-Policy': 'same-origin',
      'Cross-Origin-Embedder-Policy': 'require-corp',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    })
    if (isList) response.end(JSON.stringify(readdirSync(path).sort()))
    else if (!isPacked) createReadStream(path, range).pipe(response)
    else
      createReadStream(path)
        .pipe(path.endsWith('.zst') ? createZstdDecompress() : createGunzip())
        .pipe(response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
