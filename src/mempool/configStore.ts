/** The pool's settings on disk, as Lotus writes them: JSON. */
import { fromUtf8, utf8 } from '../base/bytes.ts'
import type { KeyValueStore } from '../base/ports.ts'
import type { JsonContext } from '../codec/description.ts'
import { parseJson, stringifyJson } from '../codec/jsonText.ts'
import { DEFAULT_MEMPOOL_CONFIG, type MempoolConfig, mempoolConfig } from './config.ts'
import { CONFIG_KEY } from './storeKeys.ts'

/** The settings of an earlier run, else the defaults. */
export function loadConfig(store: KeyValueStore, context: JsonContext): MempoolConfig {
  const stored = store.get(utf8(CONFIG_KEY))
  return stored === undefined ? DEFAULT_MEMPOOL_CONFIG : mempoolConfig.fromJson(parseJson(fromUtf8(stored)), context)
}

/** @returns when they survive a crash */
export async function saveConfig(store: KeyValueStore, config: MempoolConfig, context: JsonContext): Promise<void> {
  store.put(utf8(CONFIG_KEY), utf8(stringifyJson(mempoolConfig.toJson(config, context))))
  await store.flush()
}
