/** Opens the store in the folder that it is given, and says so: for tests that end the process meanwhile. */
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'

console.log('opening')
const environment = new LmdbEnvironment({ path: process.argv[2] as string })
await environment.close()
console.log('opened')
