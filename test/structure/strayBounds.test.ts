/** What others can make a node hold, read or do is bounded in the files of bounds: no other file has a bound of its own. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { ROOT } from '../support/shared.ts'
import { sourceFiles } from './imports.ts'

const BOUNDS = /(^|\/)(bounds|limits|hostLimits)\.ts$/

/** What is called so elsewhere, and why it is no bound of ours. */
const OTHERS: Readonly<Record<string, string>> = {
  // Facts of a format, or of another program.
  'src/archive/car.ts MAX_VARINT': 'a length of a CAR',
  'src/archive/carScanner.ts MAX_CID': 'what a CID can take',
  'src/archive/carScanner.ts MAX_VARINT': 'a length of a CAR',
  'src/archive/forestWriter.ts MAX_VARINT': 'a length of a CAR',
  'src/archive/zstdFrames.ts MAX_FRAME_HEADER': 'the parts of a header of zstd',
  'src/p2p/bitswap/protobuf.ts MAX_VARINT_BYTES': 'ten bytes: a negative number',
  'src/p2p/framing/streamReader.ts MAX_VARINT_BYTES': 'a length, whose value the reader is given a bound of',
  'src/p2p/gossip/rules.ts MAX_OWN_BLOCK_BYTES': "Lotus' bound of a block of our own",
  'src/p2p/helloMessage.ts MAX_ITEMS': "cbor-gen's, far above what MAX_HELLO_BYTES lets come",
  'src/rpc/types/logFilter.ts MAX_INT64': 'the largest number of 64 bits',
  // Of what this node makes itself, or its operator asks for.
  'src/archive/cidIndex.ts MAX_LOAD': 'share of a table that is used',
  'src/archive/findSection.ts MAX_LENGTH_BYTES': 'above it another way of reading is taken',
  'src/archive/forestWriter.ts MAX_FRAME_BUFFER': 'room that is kept for the next frame written',
  'src/archive/forestWriter.ts MAX_INDEX_FRAME': 'where the index written is cut into frames',
  'src/archive/forestWriter.ts MAX_RATIO': 'what a frame written is taken to shrink by',
  'src/archive/hashIndex.ts MAX_BUCKETS': 'exactness of its arithmetic',
  'src/archive/remoteArchive.ts MAX_READ_BYTES': 'MAX_REQUESTS_PER_BLOCK, in bytes',
  'src/p2p/chainExchange/peerTracker.ts MAX_COOL_DOWN_MS': 'pace of asking one that fails',
  'src/rpc/methods/net.ts MAX_CONNECTIONS': 'what an operator may set',
}

/** Names of the bounds that a file declares. */
function boundsIn(text: string): string[] {
  return [...text.matchAll(/^(?:export )?const (MAX_\w+)/gm)].map(([, name = '']) => name)
}

it('nowhere but there', () => {
  const files = ['src/archive', 'src/p2p', 'src/rpc'].flatMap(sourceFiles)
  expect(files.filter((file) => BOUNDS.test(file)).length).toBeGreaterThan(6)
  const strays = files
    .filter((file) => !BOUNDS.test(file))
    .flatMap((file) => boundsIn(readFileSync(join(ROOT, file), 'utf8')).map((name) => `${file} ${name}`))
  expect(strays.sort()).toEqual(Object.keys(OTHERS).sort())
})

it('the search finds them', () => {
  const text = 'const MAX_A = 1\nexport const MAX_B: number = 2\n  const MAX_INNER = 3\nconst LEAST = 4\n'
  expect(boundsIn(text)).toEqual(['MAX_A', 'MAX_B'])
})
