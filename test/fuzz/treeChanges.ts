/**
 * Trees of strangers that are written to, and compared with each other. The first byte says how many changes there are, a byte each; the
 * rest are the blocks.
 */
import { concatBytes, equalBytes, fromHex, utf8 } from '../../src/base/bytes.ts'
import { bytes } from '../../src/codec/description.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { Amt, amtOf } from '../../src/ipld/amt.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { HOSTILE_ROOT, HostileBlocks } from './hostileBlocks.ts'
import { packed } from './seeds.ts'

const MAX_CHANGES = 40
const DELETES = 128
/** A byte of the changes is an index below it, or one that makes the tree higher. */
const NEAR = 64
const FAR = 1_000_003
/** As the walks' callers end them. */
const MAX_DIFFERENCES = 5000
/** Of another tree in the same blocks. */
const OTHER = blockCid(utf8('another root'))
const SET = utf8('set')

let way = ''

interface Tree<K> {
  get(key: K): Uint8Array | undefined
  set(key: K, value: Uint8Array): void
  delete(key: K): boolean
  flush(): typeof OTHER
}

/**
 * What was set last is so in the tree that is written. What was removed may be there: of a key that a stranger has put into two places,
 * where no key of it leads, the second comes to light when a node shrinks to a bucket, as in go-hamt-ipld.
 */
function change<K>(
  input: Uint8Array,
  load: (store: HostileBlocks, root: typeof OTHER) => Tree<K>,
  keyOf: (n: number) => K,
): void {
  const count = Math.min(MAX_CHANGES, input[0] ?? 0)
  const store = new HostileBlocks(input.subarray(1 + count))
  const tree = load(store, HOSTILE_ROOT)
  const last = new Map<number, boolean>()
  for (const one of input.subarray(1, 1 + count)) {
    const key = one % DELETES
    if (one < DELETES) tree.set(keyOf(key), SET)
    else tree.delete(keyOf(key))
    last.set(key, one < DELETES)
  }
  const written = load(store, tree.flush())
  for (const [key, isSet] of last) {
    const found = written.get(keyOf(key))
    if (isSet && !(found !== undefined && equalBytes(found, SET))) throw new Error(`key ${key} was set, and is not`)
  }
  way = `${last.size} ${[...last.values()].filter((isSet) => isSet).length}`
}

const keyOf = (n: number): Uint8Array => Uint8Array.of(n)
const indexOf = (n: number): number => (n < NEAR ? n : (n - NEAR) * FAR)
const hamtOf = (store: HostileBlocks, root: typeof OTHER): Hamt<Uint8Array> => Hamt.load(store, root, bytes)

function compare(input: Uint8Array): void {
  const store = new HostileBlocks(input)
  let left = MAX_DIFFERENCES
  for (const difference of hamtOf(store, HOSTILE_ROOT).diff(hamtOf(store, OTHER))) {
    if (difference !== undefined) {
      const [, here, there] = difference
      if (here !== undefined && there !== undefined && equalBytes(here, there))
        throw new Error('a difference that is none')
    }
    if (left-- === 0) break
  }
  for (const one of hamtOf(store, HOSTILE_ROOT).diff(hamtOf(store, HOSTILE_ROOT))) {
    if (one !== undefined) throw new Error('a tree differs from itself')
    if (left-- === 0) break
  }
  way = String(MAX_DIFFERENCES - left)
}

function hamtBlocks(): Uint8Array {
  return packed((store) => {
    const tree = Hamt.empty(store, bytes)
    for (let i = 0; i < 60; i++) tree.set(keyOf(i), Uint8Array.of(i, i))
    return tree.flush()
  })
}

/** Two trees one behind the other: the second one's root is where {@link OTHER} leads to. */
function twoTrees(): Uint8Array {
  const one = new MemoryBlockstore()
  const [small, other] = [3, 4].map((most) => {
    const tree = Hamt.empty(one, bytes)
    for (let i = 0; i < most; i++) tree.set(keyOf(i), Uint8Array.of(i))
    return tree.flush()
  })
  return concatBytes(
    ...[small, other].flatMap((root) => {
      const block = one.get(root as typeof OTHER) as Uint8Array
      return [Uint8Array.of(block.length >> 8, block.length & 0xff), block]
    }),
  )
}

/** Nodes of one link each, without end; of two of them none is the other's. */
function deepTrees(): Uint8Array {
  return concatBytes(
    ...[0, 1, 0].flatMap((next) => {
      const node = fromHex(`82410181d82a5827000171a0e40220${'cd'.repeat(31)}0${next}`)
      return [Uint8Array.of(0, node.length), node]
    }),
  )
}

const CHANGES = Uint8Array.of(6, 1, 70, 2, 129, 198, 100)

export const hamtChanges: FuzzTarget = {
  seeds: () => [concatBytes(CHANGES, hamtBlocks())],
  run: (input) => change(input, hamtOf, keyOf),
  way: () => way,
}

export const amtChanges: FuzzTarget = {
  seeds: () => [
    concatBytes(
      CHANGES,
      packed((store) =>
        amtOf(
          store,
          bytes,
          Array.from({ length: 60 }, (_, i) => Uint8Array.of(i)),
        ),
      ),
    ),
  ],
  run: (input) => change(input, (store, root) => Amt.load(store, root, bytes), indexOf),
  way: () => way,
}

export const hamtDifference: FuzzTarget = {
  seeds: () => [twoTrees(), hamtBlocks(), deepTrees()],
  run: compare,
  way: () => way,
}
