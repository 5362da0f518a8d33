/**
 * Reads stores on the orders of a test, in a process of its own: what a damaged page makes LMDB do may end it. A line of input is
 * the folder of a store; a line of output is what its content comes to: a digest, or the code of the error.
 */
import { createHash } from 'node:crypto'
import { createInterface } from 'node:readline'
import { checkHome } from '../../../platform/server/checkHome.ts'
import { Home } from '../../../platform/server/home.ts'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { PetrelError } from '../../../src/base/errors.ts'
import { initCrypto } from '../../../src/crypto/init.ts'

/** Everything of the key-value part, as a node reads it. */
async function digestOf(home: Home): Promise<string> {
  const environment = new LmdbEnvironment({ path: home.chain })
  try {
    const hash = createHash('sha256')
    for (const key of environment.meta.keys()) hash.update(key).update(environment.meta.get(key) ?? '')
    return hash.digest('hex')
  } finally {
    await environment.close()
  }
}

async function attempt(read: () => Promise<string>): Promise<string> {
  try {
    return await read()
  } catch (error) {
    return error instanceof PetrelError ? String(error.code) : `BUG ${String(error)}`
  }
}

await initCrypto()
for await (const folder of createInterface({ input: process.stdin })) {
  const home = new Home(folder)
  const values = await attempt(() => digestOf(home))
  const faults = await attempt(async () => {
    const report = await checkHome(home)
    return report === undefined ? 'no store' : report.faults.length === 0 ? 'sound' : 'faults'
  })
  console.log(JSON.stringify({ values, faults }))
}
