/** A process that grows and collects a chain on LMDB until it is killed: `node gcVictim.ts <folder> <seed>`. */
import { LmdbEnvironment } from '../../platform/server/lmdbStore.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { seeded } from '../support/seeded.ts'
import { Model } from './gcModel.ts'

const [path = '', seed = '1'] = process.argv.slice(2)
await initCrypto()
const environment = new LmdbEnvironment({ path })
const random = seeded('victim', Number(seed))
const model = new Model(random, environment.blocks, environment.meta)
console.log('ready')
for (;;) {
  for (let i = 0; i < 40; i++) {
    const choice = random.int(10)
    if (choice < 2) model.draft()
    else if (choice < 4) model.finishDraft()
    else if (choice < 5) model.startCollection()
    else model.stepCollection()
    model.nowMs += random.int(60_000)
  }
  model.forgetOldStates()
  // Signals and the other processes of a small machine.
  await new Promise((resolve) => setTimeout(resolve, 0))
}
