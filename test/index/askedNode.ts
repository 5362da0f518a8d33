/** A node over a chain, with an index or without, asked as clients do. */
import { systemClock } from '../../platform/server/clock.ts'
import { PostgresReader } from '../../platform/server/index/postgresReader.ts'
import { systemRandom } from '../../platform/server/random.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { ChainStore } from '../../src/chain/chainStore.ts'
import type { ChainView } from '../../src/chain/chainView.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import { type Json, parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { startNode } from '../../src/node/node.ts'
import { viewOf } from '../../src/node/openNode.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import type { Row } from '../support/recorded.ts'
import { silentLog } from '../support/recordedView.ts'
import { timers } from './writers.ts'

/** A node that can be asked. */
export interface AskedNode {
  /** @returns the member `result`, or `error` */
  ask(method: string, params: Json, path?: string): Promise<Row>
  close(): Promise<void>
}

/** @param index - URL of its database; undefined: none */
export async function askedNode(
  { view, vm }: { readonly view: ChainView; readonly vm: VmHost },
  index?: { readonly url: string; readonly isFirst: boolean },
): Promise<AskedNode> {
  const reader = index === undefined ? undefined : new PostgresReader(index.url, timers)
  const node = await startNode(
    {
      ...{ network: view.network, store: view.store, view, vm, meta: new MemoryStore() },
      keystore: new KeyStore(new MemorySecretStore()),
      index:
        reader === undefined
          ? undefined
          : {
              ...{ reader, isFirst: index?.isFirst ?? false, health: () => ({ ok: true, text: '' }) },
              ...{ start: () => undefined, stop: () => Promise.resolve() },
            },
    },
    { version: 'test', shutdown: () => undefined },
    { clock: systemClock, timers, random: systemRandom, log: silentLog },
  )
  return {
    ask: async (method, params, path = '/rpc/v1') => {
      const body = stringifyJson({ jsonrpc: '2.0', id: 1, method, params })
      const response = await node.handler.handle({
        ...{ verb: 'POST', url: path, body, address: '127.0.0.1' },
        header: (name) => (name === 'host' ? 'localhost' : undefined),
      })
      return parseJson(response.body) as Row
    },
    close: async () => {
      await node.stop()
      await reader?.close()
    },
  }
}

/** A node whose store has forgotten everything but the headers of its chain. */
export function headersOnly({ store, network }: ChainView): ChainView {
  const bare = new ChainStore({ blocks: new MemoryBlockstore(), meta: new MemoryStore(), log: silentLog })
  bare.setGenesis(firstBlock(store.genesis()))
  for (let tipset = store.head(); tipset.height > 0; tipset = store.parent(tipset)) {
    for (const block of tipset.blocks) bare.putHeader(block)
  }
  bare.setHead(store.head())
  return viewOf(bare, network)
}
