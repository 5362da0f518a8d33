/** A recorded chain opened in a tab of Chromium, from an address with range requests, asked over a message port. */
import { existsSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { openArchive } from '../../src/archive/openArchive.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { getCbor } from '../../src/ipld/blockstore.ts'
import { actorsVersionFor, networkVersionAt } from '../../src/networks/network.ts'
import { parseNetwork } from '../../src/networks/parseNetwork.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { signedMessage } from '../../src/types/signedMessage.ts'
import { type Chromium, openChromium } from '../../test/runtimes/chromiumHost.ts'
import { ACTORS } from '../../test/support/actors.ts'
import { SHARED } from '../../test/support/shared.ts'
import type { TextAnswer } from './httpClient.ts'
import { pooledTransactions } from './pooledMessages.ts'

/** JSON-RPC's own errors and a bug's are HTTP's 500, a method's refusal is 200. */
const REFUSED = new Set([-32700, -32600, -32601, -32602, 0])

/** Calls of {@link RecordedTab}, in the page. */
const HELPERS = `
globalThis.ports = new Map()
globalThis.asked = new Map()
globalThis.post = (version, body) => {
  if (!ports.has(version)) {
    const port = tab.connect({ token, version })
    port.onmessage = ({ data }) => {
      if (typeof data !== 'string') return
      port.postMessage({ read: data.length })
      asked.get(version)?.(data)
    }
    ports.set(version, port)
  }
  return new Promise((resolve) => {
    asked.set(version, resolve)
    ports.get(version).postMessage(body)
  })
}
`

/** One chain in one tab; requests one after the other. */
export interface RecordedTab {
  post(path: string, body: string): Promise<TextAnswer>
  close(): Promise<void>
}

/**
 * The bundles that a chain has come to use and that are on this machine, by their path on the test server: as
 * openRecorded has them.
 */
function bundlesOf(folder: string, networkText: string): string[] {
  const network = parseNetwork(parseJson(networkText))
  const archive = openArchive(memorySource(new Uint8Array(readFileSync(join(folder, 'chain.car.zst')))), {
    verify: 'never',
  })
  const { height } = getCbor(archive, blockHeader, archive.roots[0] as Cid)
  const latest = actorsVersionFor(networkVersionAt(network, height))
  return network.manifests
    .filter(({ actorsVersion }) => actorsVersion <= latest)
    .map(({ manifestCid }) => `${manifestCid}.car`)
    .filter((name) => existsSync(join(ACTORS, name)))
    .map((name) => `/actors/${name}`)
}

/** Opens a folder of shared/data/golden in a tab. */
export async function openRecordedTab(folder: string): Promise<RecordedTab> {
  const path = resolve(folder)
  if (SHARED === undefined || !path.startsWith(SHARED)) throw new Error(`expected a folder below ${SHARED}`)
  const network = readFileSync(join(path, 'network.json'), 'utf8')
  const snapshot = `/shared${path.slice(SHARED.length)}/chain.car.zst`
  const chromium: Chromium = await openChromium()
  try {
    const page = await chromium.openPage(await chromium.browser.newContext())
    const node = { kind: 'snapshot', network, snapshot, bundles: bundlesOf(path, network) }
    await page.evaluate(`startTab(${JSON.stringify({ node, log: 'error' })})`)
    await page.evaluate(`(async () => {
      ${HELPERS}
      globalThis.token = atob(await tab.request('AuthNew', [['read', 'write', 'sign', 'admin']]))
    })()`)
    for (const signed of pooledTransactions(path)) {
      const json = stringifyJson(signedMessage.toJson(signed, { addressPrefix: 't' }))
      await page.evaluate(`tab.request('MpoolPush', [${json}])`)
    }
    return {
      post: async (url, body) => {
        const text = await page.evaluate<string>(`post(${JSON.stringify(url.slice(-2))}, ${JSON.stringify(body)})`)
        const number = (parseJson(text) as { error?: { code?: number } }).error?.code
        return { status: number !== undefined && REFUSED.has(number) ? 500 : 200, body: text }
      },
      close: () => chromium.close(),
    }
  } catch (error) {
    await chromium.close()
    throw error
  }
}
