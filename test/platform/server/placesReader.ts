/**
 * Opens rows of where messages lie on the orders of a test, as a node does, in a process of its own: what a damaged page makes LMDB do may
 * end it. A line of input is the folder of an environment; of a line of output `values` are the rows in hex with blanks between, or the code of the
 * error, and `faults` is what was warned of, and what came of a row more.
 */
import { createInterface } from 'node:readline'
import { openPlaceRows } from '../../../platform/server/placeRows.ts'
import { concatBytes, toHex } from '../../../src/base/bytes.ts'
import { PetrelError } from '../../../src/base/errors.ts'
import type { KeyValueStore } from '../../../src/base/ports.ts'

const NEW_ROW = Uint8Array.of(255, 255, 255, 255)
const silent = (): void => undefined

/** A key that a page names and LMDB does not find is none. */
function rowsOf(store: KeyValueStore): string {
  const rows: string[] = []
  for (const key of store.keys()) {
    const value = store.get(key)
    if (value !== undefined) rows.push(toHex(concatBytes(key, value)))
  }
  return rows.join(' ')
}

async function addTo(store: KeyValueStore): Promise<string> {
  await store.commit([{ op: 'put', key: NEW_ROW, value: NEW_ROW }])
  return store.has(NEW_ROW) ? 'written' : 'lost'
}

async function attempt(run: () => string | Promise<string>): Promise<string> {
  try {
    return await run()
  } catch (error) {
    return error instanceof PetrelError ? String(error.code) : `BUG ${String(error)}`
  }
}

for await (const folder of createInterface({ input: process.stdin })) {
  const told: string[] = []
  const warn = (message: string): void => void told.push(message)
  const store = openPlaceRows(folder, { debug: silent, info: silent, warn, error: silent })
  const values = store === undefined ? 'none' : await attempt(() => rowsOf(store))
  if (store !== undefined) {
    told.push(await attempt(() => addTo(store)))
    await attempt(() => store.close().then(() => ''))
  }
  console.log(JSON.stringify({ values, faults: told.join(', ') }))
}
