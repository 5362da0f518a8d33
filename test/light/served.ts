/** The endpoint of endpoint.ts on loopback, for pages; and what Lotus' chain holds. */
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { firstBlock } from '../../src/types/tipset.ts'
import { type Bends, endpoint } from './endpoint.ts'
import { recorded, type World } from './world.ts'

interface Served {
  readonly url: string
  /** Bodies that went either way, bytes. */
  readonly traffic: () => number
  close(): void
}

/** The endpoint on loopback, for pages of any origin. @param delayMs - how far away it is */
export async function serveEndpoint(from: Pick<World, 'data'>, bends: Bends = {}, delayMs = 0): Promise<Served> {
  const { post } = endpoint(from.data, bends)
  let bytes = 0
  const server: Server = createServer((request, response) => {
    response.setHeader('access-control-allow-origin', '*')
    response.setHeader('access-control-allow-headers', 'content-type, authorization')
    if (request.method === 'OPTIONS') {
      response.end()
      return
    }
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
    })
    request.on('end', () => {
      void post(Buffer.concat(chunks).toString('utf8'), undefined).then(({ text }) => {
        bytes += Buffer.byteLength(text)
        setTimeout(() => response.end(text), delayMs)
      })
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/rpc/v1`,
    traffic: () => bytes,
    close: () => server.close(),
  }
}

/** What the state under a tipset of Lotus' chain holds. */
export function balanceAt(epoch: number): string {
  const { view } = recorded().chain
  const tipset = view.store.tipsetByHeight(epoch, undefined, 'previous')
  return String(view.stateTree(firstBlock(tipset).parentStateRoot).getActor(1000n)?.balance)
}
