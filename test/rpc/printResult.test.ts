/** Long results are printed in short steps, and are the text of the whole at once. */
import { expect, it } from 'vitest'
import { MAX_ANSWER_BYTES } from '../../src/base/bounds.ts'
import { type Codec, list, listOrEmpty, nullable, struct, text, uint } from '../../src/codec/description.ts'
import { withForm, withShown } from '../../src/codec/structJson.ts'
import { printResult } from '../../src/rpc/printResult.ts'
import { randomOf } from '../fuzz/mutate.ts'

interface Leaf {
  readonly name: string
  readonly path: number[]
}
interface Branch {
  readonly height: number
  readonly leaves: Leaf[]
  readonly names: string[] | null
  readonly twigs: Leaf[]
}
interface Tree {
  readonly up: Branch[]
  readonly one: Branch
  readonly down: Branch[]
}

const JSON_CONTEXT = { addressPrefix: 'f' } as const
const leaf: Codec<Leaf> = struct<Leaf>('Leaf', [
  ['name', 'Name', text],
  ['path', 'Path', list(uint)],
])
const plain: Codec<Branch> = struct<Branch>('Branch', [
  ['height', 'Height', uint],
  ['leaves', 'Leaves', list(leaf)],
  ['names', 'Names', nullable(listOrEmpty(text))],
  ['twigs', 'Twigs', listOrEmpty(leaf)],
])
// As a type that is told apart from its JSON, and one that shows a field more: neither may lose it.
const formed: Codec<Branch> = {
  ...plain,
  toJson: withForm(plain, (branch: Branch) => ({ ...branch, height: branch.height + 1 })),
}
const shown = withShown(formed, 'Count', uint, ({ leaves }) => leaves.length)

function tree(branch: Codec<Branch>): Codec<unknown> {
  return struct<Tree>('Tree', [
    ['up', 'Up', listOrEmpty(branch)],
    ['one', 'One', branch],
    ['down', 'Down', list(branch)],
  ]) as Codec<unknown>
}

function all(codec: Codec<unknown>, value: unknown): { text: string; steps: number } {
  const walk = printResult(codec, value, JSON_CONTEXT)
  for (let steps = 1; ; steps++) {
    const next = walk.next()
    if (next.done === true) return { text: next.value, steps }
  }
}

const seed = Date.now() % 0x7fffffff
it(`any tree is the text of the whole at once (seed ${seed})`, () => {
  const random = randomOf(seed)
  const many = <T>(most: number, make: () => T): T[] => Array.from({ length: random(random(most) + 1) }, make)
  const makeLeaf = (): Leaf => ({ name: 'n"ä'.repeat(random(9)), path: many(12, () => random(99)) })
  const makeBranch = (): Branch => ({
    height: random(1000),
    leaves: many(200, makeLeaf),
    names: random(3) === 0 ? null : many(200, () => 'x'.repeat(random(40))),
    twigs: many(20, makeLeaf),
  })
  for (const branch of [plain, formed, shown]) {
    const codec = tree(branch)
    for (let i = 0; i < 200; i++) {
      const value: Tree = { up: many(40, makeBranch), one: makeBranch(), down: many(40, makeBranch) }
      expect(all(codec, value).text).toBe(JSON.stringify(codec.toJson(value, JSON_CONTEXT)))
    }
    expect(all(listOrEmpty(codec) as unknown as Codec<unknown>, []).text).toBe('[]')
    expect(all(list(codec) as unknown as Codec<unknown>, []).text).toBe('null')
  }
})

it('a list deep inside is printed in short steps, a short result in one', () => {
  const leaves = Array.from({ length: 10_000 }, (_, i) => ({ name: `leaf ${i}`, path: [1, 2, 3] }))
  const branch: Branch = { height: 1, leaves, names: [], twigs: [] }
  const long: Tree = { up: [], one: branch, down: [branch] }
  for (const codec of [plain, formed]) expect(all(tree(codec), long).steps).toBeGreaterThan(800)
  const short: Tree = { up: [], one: { ...branch, leaves: leaves.slice(0, 5) }, down: [] }
  expect(all(tree(plain), short).steps).toBe(1)
})

it('what is longer than answers may be is refused before all of it is in memory', () => {
  const name = 'x'.repeat(1024 * 1024)
  const names = Array.from({ length: MAX_ANSWER_BYTES / name.length + 1 }, () => name)
  let printed = 0
  const toJson = (value: string): string => {
    printed++
    return value
  }
  const counted: Codec<string> = { ...text, toJson }
  const walk = printResult(listOrEmpty(counted) as unknown as Codec<unknown>, [...names, ...names], JSON_CONTEXT)
  expect(() => {
    while (walk.next().done !== true);
  }).toThrow(/^the answer has more than \d+ bytes/)
  expect(printed).toBeLessThanOrEqual(names.length)
})
