/** Serves a folder on loopback. */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { extname, join, normalize } from 'node:path'

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.map': 'application/json',
  '.json': 'application/json',
  '.wasm': 'application/wasm',
  '.car': 'application/vnd.ipld.car',
}

/** The page talks to any node that its user names, and runs no script but its own. */
const POLICY =
  "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src *; img-src 'self' data:; object-src 'none'"

/** What a node in the tab needs to join the chain. */
const NETWORK_FILES = ['/network.json', '/genesis.car']

/** A running server. */
export interface PageServer {
  /** `http://127.0.0.1:port`. */
  readonly url: string
  /** Names the node that the page asks; until then it is told none. @param home - its `network.json` and `genesis.car` are served */
  use(nodeUrl: string, home: string): void
  close(): Promise<void>
}

/** @param port - 0: a free one */
export async function servePage(folder: string, port: number): Promise<PageServer> {
  let node = ''
  let nodeHome: string | undefined
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent((request.url ?? '/').split('?')[0] as string))
    const file = path === '/' ? '/index.html' : path
    let body: Buffer
    try {
      const isOfNode = nodeHome !== undefined && NETWORK_FILES.includes(file)
      body = readFileSync(join(isOfNode ? (nodeHome as string) : folder, file))
    } catch {
      response.writeHead(404).end('not found')
      return
    }
    const isPage = file === '/index.html'
    if (isPage && node !== '') {
      body = Buffer.from(body.toString().replace('<head>', `<head><meta name="petrel-node" content="${node}" />`))
    }
    response.writeHead(200, {
      'Content-Type': TYPES[extname(file)] ?? 'application/octet-stream',
      'Content-Security-Policy': POLICY,
      'X-Content-Type-Options': 'nosniff',
      'Cache-Control': 'no-cache',
    })
    response.end(body)
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', resolve)
  })
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    use: (nodeUrl, home) => {
      node = nodeUrl
      nodeHome = home
    },
    close: () => {
      server.closeAllConnections()
      return new Promise((resolve) => server.close(() => resolve()))
    },
  }
}
