/** Revokes a token in the store of a folder, in a process of its own, for a test whose own process does nothing meanwhile. */
import { systemClock } from '../../../platform/server/clock.ts'
import { LmdbEnvironment } from '../../../platform/server/lmdbStore.ts'
import { systemRandom } from '../../../platform/server/random.ts'
import { fromHex } from '../../../src/base/bytes.ts'
import { Tokens } from '../../../src/rpc/tokens.ts'

const [path = '', secret = '', token = ''] = process.argv.slice(2)
const environment = new LmdbEnvironment({ path })
const ports = { clock: systemClock, random: systemRandom }
await new Tokens({ secret: fromHex(secret), ...ports, store: environment.meta }).revoke(token)
await environment.close()
