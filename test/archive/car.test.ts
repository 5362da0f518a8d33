import { beforeAll, describe, expect, it } from 'vitest'
import { carBlocks, carBytes, readCarHeader } from '../../src/archive/car.ts'
import { CarStore } from '../../src/archive/carStore.ts'
import { ForestCarStore } from '../../src/archive/forestCar.ts'
import { openArchive } from '../../src/archive/openArchive.ts'
import { decompressZstd, streamZstd } from '../../src/archive/zstd.ts'
import { zstdFrames } from '../../src/archive/zstdFrames.ts'
import { concatBytes, equalBytes, utf8 } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { type ByteSource, memorySource } from '../../src/codec/byteSource.ts'
import type { Cid } from '../../src/codec/cid.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { hasBlock } from '../../src/ipld/blockstore.ts'
import { walkDag } from '../../src/ipld/walkDag.ts'
import { headHeader } from '../support/archives.ts'
import { seeded } from '../support/seeded.ts'
import { missingShared, readShared } from '../support/shared.ts'

const missing = missingShared('data/snapshots') !== undefined

/** data/snapshots/README.md, data/genesis/README.md: root and number of blocks. */
const KNOWN: readonly (readonly [string, string, number])[] = [
  ['snapshots/chain4.car', 'bafy2bzacedjrqan2fwfvhfopi64yickki7miiksecglpeiavf7xueytnzevlu', 1222],
  ['snapshots/chain4.car.zst', 'bafy2bzacedjrqan2fwfvhfopi64yickki7miiksecglpeiavf7xueytnzevlu', 1222],
  ['snapshots/chain4.forest.car.zst', 'bafy2bzacedjrqan2fwfvhfopi64yickki7miiksecglpeiavf7xueytnzevlu', 1222],
  ['snapshots/carv2.car.zst', 'bafy2bzacecm7xklkq3hkc2kgm5wnb5shlxmffino6lzhh7lte5acytb7sssr4', 7153],
  ['genesis/mainnet.car', 'bafy2bzacecnamqgqmifpluoeldx7zzglxcljo6oja4vrmtj7432rphldpdmm2', 1222],
  ['genesis/calibnet.car', 'bafy2bzacecyaggy24wol5ruvs6qm73gjibs2l2iyhcqmvi7r7a4ph7zx3yqd4', 1207],
]

/** Bytes that count how many of them were read. */
function counted(data: Uint8Array): ByteSource & { read: ByteSource['read']; total: () => number } {
  let total = 0
  return {
    size: data.length,
    read: (offset, length) => {
      const part = data.slice(offset, offset + length)
      total += part.length
      return part
    },
    total: () => total,
  }
}

// A thousand blocks are hashed in each of a hundred archives.
beforeAll(async () => {
  await initCrypto()
})

describe.skipIf(missing)('archives', () => {
  it.each(KNOWN)('%s', (path, root, count) => {
    const store = openArchive(memorySource(readShared(`data/${path}`)))
    expect(store.roots.map(String)).toEqual([root])
    const cids = [...store.cids()]
    expect(cids.length).toBe(count)
    for (const cid of cids) expect(hasBlock(store, cid)).toBe(true)
    expect(store.get(blockCid(utf8('not there')))).toBeUndefined()
    // The parent of genesis is no header, but everything in the state is there.
    expect(headHeader(store).height).toBe(path.includes('chain4') ? 3 : 0)
  })

  it('opens recorded chains, with all blocks as their CIDs say', () => {
    for (const chain of ['nv17', 'nv28-depth', 'up-24-28', 'f3', 'wire']) {
      const store = openArchive(memorySource(readShared(`data/golden/${chain}/chain.car.zst`)), { verify: 'open' })
      let blocks = 0
      walkDag(store, headHeader(store).parentMessageReceipts, () => blocks++)
      expect(blocks, chain).toBeGreaterThan(0)
    }
  })

  it('reads a plain file in place: one small read for a block', () => {
    const source = counted(readShared('data/snapshots/chain4.car'))
    const store = new CarStore(source, { verify: 'read' })
    const before = source.total()
    expect(headHeader(store).height).toBe(3)
    expect(source.total() - before).toBeLessThan(8192)
  })

  it("reads Forest's file in place: index, then one frame", () => {
    const source = counted(readShared('data/snapshots/chain4.forest.car.zst'))
    const store = new ForestCarStore(source)
    const before = source.total()
    expect(headHeader(store).height).toBe(3)
    expect(source.total() - before).toBeLessThan(source.size / 4)
  })

  it("finds the frames of Forest's file, and the bytes are those of the plain one", () => {
    const packed = memorySource(readShared('data/snapshots/chain4.forest.car.zst'))
    const frames = [...zstdFrames(packed)]
    // README: 54 data frames, an index frame and a footer frame.
    expect(frames.map((frame) => frame.kind === 'data').filter(Boolean).length).toBe(54)
    expect(frames.length).toBe(56)
    const plain = readShared('data/snapshots/chain4.car')
    const unpacked = decompressZstd(packed, 1 << 24)
    expect(unpacked.length).toBe(1_107_835)
    expect(equalBytes(unpacked, plain)).toBe(true)
    const pieces: Uint8Array[] = []
    streamZstd(packed, (piece) => pieces.push(piece.slice()))
    expect(equalBytes(concatBytes(...pieces), plain)).toBe(true)
  })

  it('writes the same archive that it reads', () => {
    for (const path of ['snapshots/chain4.car', 'genesis/mainnet.car']) {
      const data = readShared(`data/${path}`)
      const { roots } = readCarHeader(memorySource(data))
      expect(equalBytes(carBytes(roots, carBlocks(memorySource(data))), data)).toBe(true)
    }
  })

  it('refuses to grow beyond its bound', () => {
    const packed = memorySource(readShared('data/snapshots/chain4.car.zst'))
    expect(() => openArchive(packed, { maxMemoryBytes: 1000 })).toThrow('at most 1000')
  })

  it('refuses a changed block', () => {
    const data = readShared('data/snapshots/chain4.car').slice()
    data[data.length - 1] = (data[data.length - 1] as number) ^ 1
    expect(() => openArchive(memorySource(data))).toThrow('hash to something else')
    const last = [...openArchive(memorySource(data), { verify: 'never' }).cids()].at(-1) as Cid
    expect(() => openArchive(memorySource(data), { verify: 'read' }).get(last)).toThrow('hash to something else')
  })

  it('takes damaged archives for what they are, or refuses them', () => {
    const random = seeded('CAR fuzz')
    for (const path of ['snapshots/chain4.car', 'snapshots/chain4.car.zst', 'snapshots/chain4.forest.car.zst']) {
      const whole = readShared(`data/${path}`)
      for (let i = 0; i < 25; i++) {
        const data = whole.slice(0, random.int(4) === 0 ? random.int(whole.length) : whole.length)
        for (let n = random.int(6); n > 0 && data.length > 0; n--) {
          // Mostly where the structure is: the first and the last bytes.
          const at =
            random.int(2) === 0
              ? random.int(Math.min(data.length, 200))
              : data.length - 1 - random.int(Math.min(data.length, 200))
          data[at] = random.int(256)
        }
        try {
          const store = openArchive(memorySource(data), { maxMemoryBytes: 1 << 24 })
          for (const root of store.roots) store.get(root)
        } catch (error) {
          expect(error, `${path} ${i}`).toBeInstanceOf(PetrelError)
        }
      }
    }
  })

  it('reads random bytes without surprise', () => {
    const random = seeded('CAR fuzz, random bytes')
    for (let i = 0; i < 3000; i++) {
      const data = random.bytes(random.int(80))
      if (random.int(2) === 0 && data.length > 4) data.set([0x28, 0xb5, 0x2f, 0xfd])
      expect(() => openArchive(memorySource(data), { maxMemoryBytes: 1 << 16 })).toThrow(PetrelError)
    }
  })
})
