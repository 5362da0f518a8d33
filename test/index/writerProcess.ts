/**
 * A writer in a process of its own, to be killed: `node writerProcess.ts <url> <epochs>` makes the same chain each time, writes its
 * index as it grows, and says when it begins and when it is done.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { IndexWriter } from '../../src/index/indexWriter.ts'
import { growTo } from './indexedChain.ts'
import { neverFinal, writerOf } from './writers.ts'

const [url = '', epochs = '0'] = process.argv.slice(2)
let writer: IndexWriter | undefined
const written = async (): Promise<void> => {
  while (writer?.status.behind !== 0) await sleep(5)
}
let count = 0
await growTo(
  Number(epochs),
  ({ node }) => {
    writer = writerOf(node, url)
    writer.start(neverFinal(node))
    console.log('begun')
  },
  // Some tipsets alone, some many at once.
  async () => {
    if (count++ % 4 === 3) await written()
  },
)
await written()
await writer?.stop()
console.log('done')
