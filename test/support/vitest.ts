/**
 * The part of vitest's interface that our unit tests use, without Node: takes the place of `vitest` in Chromium and Deno.
 * A matcher that is not here fails the test that uses it; add it.
 */

type Run = () => unknown

/** One test as it ran. */
export interface TestResult {
  readonly name: string
  readonly state: 'passed' | 'failed' | 'skipped'
  readonly message?: string
}

class Suite {
  readonly name: string
  readonly parent: Suite | undefined
  readonly isSkipped: boolean
  readonly steps: (Suite | { readonly name: string; readonly run: Run | undefined })[] = []
  readonly beforeAll: Run[] = []
  readonly afterAll: Run[] = []
  readonly beforeEach: Run[] = []
  readonly afterEach: Run[] = []

  constructor(name: string, parent: Suite | undefined, isSkipped: boolean) {
    this.name = name
    this.parent = parent
    this.isSkipped = isSkipped
  }
}

const root = new Suite('', undefined, false)
let current = root

type Title = string | ((...args: never[]) => unknown)
/** Vitest's forms: (name, run), (name, run, timeout), (name, options, run). */
type Body = Run | { readonly timeout?: number } | number | undefined

function bodyOf(first: Body, second: Body): Run | undefined {
  if (typeof first === 'function') return first
  return typeof second === 'function' ? second : undefined
}

function titleOf(title: Title): string {
  return typeof title === 'string' ? title : title.name
}

/** `%s`, `%i`, `%d`, `%j`, `%#` and `$field` of a table's title. */
function tableTitle(title: string, row: readonly unknown[], index: number): string {
  let next = 0
  const first = row[0]
  return title
    .replace(/%([sidjo#])/g, (_all, kind: string) => {
      if (kind === '#') return String(index)
      const value = row[next++]
      return kind === 'j' || kind === 'o' ? show(value) : String(value)
    })
    .replace(/\$(\w+)/g, (all, name: string) =>
      typeof first === 'object' && first !== null && name in first ? String((first as never)[name]) : all,
    )
}

function rowsOf(table: readonly unknown[]): (readonly unknown[])[] {
  return table.map((row) => (Array.isArray(row) ? (row as unknown[]) : [row]))
}

interface Declare {
  (title: Title, first?: Body, second?: Body): void
  skip: (title: Title, first?: Body, second?: Body) => void
  skipIf(condition: unknown): (title: Title, first?: Body, second?: Body) => void
  runIf(condition: unknown): (title: Title, first?: Body, second?: Body) => void
  for(
    table: readonly unknown[],
  ): (
    title: string,
    run: (row: never, context: never) => unknown,
    options?: number | { readonly timeout?: number },
  ) => void
  each(
    table: readonly unknown[],
  ): (title: string, run: (...row: never[]) => unknown, options?: number | { readonly timeout?: number }) => void
}

function declare(add: (name: string, run: Run | undefined, isSkipped: boolean) => void): Declare {
  const plain = (title: Title, first?: Body, second?: Body): void => add(titleOf(title), bodyOf(first, second), false)
  const skip = (title: Title, first?: Body, second?: Body): void => add(titleOf(title), bodyOf(first, second), true)
  return Object.assign(plain, {
    skip,
    skipIf: (condition: unknown) => (condition ? skip : plain),
    runIf: (condition: unknown) => (condition ? plain : skip),
    for: (table: readonly unknown[]) => (title: string, run: (row: never, context: never) => unknown) => {
      table.forEach((row, index) => {
        const name = tableTitle(title, Array.isArray(row) ? (row as unknown[]) : [row], index)
        add(name, ((context: never) => run(row as never, context)) as Run, false)
      })
    },
    each: (table: readonly unknown[]) => (title: string, run: (...row: never[]) => unknown) => {
      rowsOf(table).forEach((row, index) => {
        add(tableTitle(title, row, index), () => run(...(row as never[])), false)
      })
    },
  })
}

export const describe: Declare = declare((name, run, isSkipped) => {
  const suite = new Suite(name, current, isSkipped)
  current.steps.push(suite)
  current = suite
  try {
    run?.()
  } finally {
    current = suite.parent ?? root
  }
})

export const it: Declare = declare((name, run, isSkipped) => {
  current.steps.push({ name, run: isSkipped ? undefined : run })
})
export const test: Declare = it

export const beforeAll = (run: Run): void => void current.beforeAll.push(run)
export const afterAll = (run: Run): void => void current.afterAll.push(run)
export const beforeEach = (run: Run): void => void current.beforeEach.push(run)
export const afterEach = (run: Run): void => void current.afterEach.push(run)

function lineage(suite: Suite): Suite[] {
  return suite.parent === undefined ? [suite] : [...lineage(suite.parent), suite]
}

function describeError(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return (error.stack ?? '').includes(error.message) ? (error.stack ?? '') : `${error.message}\n${error.stack ?? ''}`
}

/** Hears the name of each test before it runs, and its result. */
export type Report = (event: TestResult | { readonly started: string }) => void

/** Runs everything that was declared, in order. */
export async function runDeclared(report: Report): Promise<void> {
  await runSuite(root, '', false, report)
}

async function runSuite(suite: Suite, path: string, isSkipped: boolean, report: Report): Promise<void> {
  const skipped = isSkipped || suite.isSkipped
  let broken: unknown
  if (!skipped) {
    try {
      for (const run of suite.beforeAll) await run()
    } catch (error) {
      broken = error
    }
  }
  for (const step of suite.steps) {
    const name = path === '' ? step.name : `${path} > ${step.name}`
    if (step instanceof Suite) {
      await runSuite(step, name, skipped || broken !== undefined, report)
      if (broken !== undefined) report({ name, state: 'failed', message: `beforeAll: ${describeError(broken)}` })
    } else if (skipped || step.run === undefined) report({ name, state: 'skipped' })
    else if (broken !== undefined) report({ name, state: 'failed', message: `beforeAll: ${describeError(broken)}` })
    else await runTest(suite, name, step.run, report)
  }
  if (skipped) return
  try {
    for (const run of suite.afterAll) await run()
  } catch (error) {
    report({ name: `${path} > afterAll`, state: 'failed', message: describeError(error) })
  }
}

class Skip extends Error {}

async function runTest(suite: Suite, name: string, run: Run, report: Report): Promise<void> {
  const context = {
    skip(condition: unknown = true): void {
      if (condition !== false) throw new Skip('skipped')
    },
  }
  report({ started: name })
  try {
    for (const { beforeEach: runs } of lineage(suite)) for (const before of runs) await before()
    try {
      await (run as (context: unknown) => unknown)(context)
    } finally {
      for (const { afterEach: runs } of lineage(suite).reverse()) for (const after of runs) await after()
    }
    const [soft] = softFailures.splice(0)
    if (soft !== undefined) throw soft
    report({ name, state: 'passed' })
  } catch (error) {
    if (error instanceof Skip) report({ name, state: 'skipped' })
    else report({ name, state: 'failed', message: describeError(error) })
  }
}

/** Short text of any value for a failure's message. */
function show(value: unknown): string {
  let text: string
  try {
    text =
      JSON.stringify(value, (_key, item: unknown) => {
        if (typeof item === 'bigint') return `${item}n`
        if (item instanceof Uint8Array)
          return `bytes ${[...item.subarray(0, 64)].map((b) => b.toString(16).padStart(2, '0')).join('')}`
        if (item instanceof Map || item instanceof Set) return [...(item as Iterable<unknown>)]
        return item instanceof Error ? `${item.name}: ${item.message}` : item
      }) ?? String(value)
  } catch {
    text = String(value)
  }
  return text.length > 600 ? `${text.slice(0, 600)}…` : text
}

/** A value that decides by itself what equals it (`expect.any`, `expect.objectContaining`). */
class Asymmetric {
  readonly matches: (value: unknown) => boolean
  constructor(matches: (value: unknown) => boolean) {
    this.matches = matches
  }
}

/** How strictly values are compared: `loose` as toEqual (absent equals undefined, classes ignored). */
type Mode = 'loose' | 'strict' | 'subset'

function equal(actual: unknown, expected: unknown, mode: Mode): boolean {
  if (expected instanceof Asymmetric) return expected.matches(actual)
  if (actual instanceof Asymmetric) return actual.matches(expected)
  if (Object.is(actual, expected)) return true
  if (typeof actual !== 'object' || typeof expected !== 'object' || actual === null || expected === null) return false
  if (actual instanceof Error && expected instanceof Error) {
    return actual.message === expected.message && actual.name === expected.name
  }
  if (ArrayBuffer.isView(actual) || ArrayBuffer.isView(expected)) return equalBytes(actual, expected)
  if (Array.isArray(actual) !== Array.isArray(expected)) return false
  if (mode === 'strict' && Object.getPrototypeOf(actual) !== Object.getPrototypeOf(expected)) return false
  if (actual instanceof Map && expected instanceof Map) return equalMaps(actual, expected, mode)
  if (actual instanceof Set && expected instanceof Set) {
    return actual.size === expected.size && [...actual].every((a) => [...expected].some((b) => equal(a, b, mode)))
  }
  if (actual instanceof Date && expected instanceof Date) return actual.getTime() === expected.getTime()
  return equalFields(actual as Fields, expected as Fields, mode)
}

type Fields = Record<string, unknown>

function equalBytes(actual: object, expected: object): boolean {
  if (!ArrayBuffer.isView(actual) || !ArrayBuffer.isView(expected)) return false
  const [a, b] = [actual, expected] as unknown as [ArrayLike<unknown>, ArrayLike<unknown>]
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (!Object.is(a[i], b[i])) return false
  return true
}

function equalMaps(actual: Map<unknown, unknown>, expected: Map<unknown, unknown>, mode: Mode): boolean {
  if (actual.size !== expected.size) return false
  for (const [key, value] of expected) if (!actual.has(key) || !equal(actual.get(key), value, mode)) return false
  return true
}

function keysOf(value: Fields, mode: Mode): string[] {
  const keys = Object.keys(value)
  return mode === 'strict' ? keys : keys.filter((key) => value[key] !== undefined)
}

function equalFields(actual: Fields, expected: Fields, mode: Mode): boolean {
  if (Array.isArray(expected) && actual.length !== expected.length) return false
  const keys = mode === 'subset' ? Object.keys(expected) : keysOf(expected, mode)
  if (mode !== 'subset' && keysOf(actual, mode).length !== keys.length) return false
  return keys.every((key) => (key in actual || mode === 'loose') && equal(actual[key], expected[key], mode))
}

class Failure extends Error {}

function throwIt(failure: Failure): never {
  throw failure
}

/** Of the test that runs. */
const softFailures: Failure[] = []

type ErrorPattern = string | RegExp | Error | Asymmetric | (new (...args: never[]) => Error) | undefined

function errorMatches(error: unknown, pattern: ErrorPattern): boolean {
  const message = error instanceof Error ? error.message : String(error)
  if (pattern === undefined) return true
  if (typeof pattern === 'string') return message.includes(pattern)
  if (pattern instanceof RegExp) return pattern.test(message)
  if (pattern instanceof Asymmetric) return pattern.matches(error)
  if (typeof pattern === 'function') return error instanceof pattern
  return message === pattern.message
}

/** What `expect(value)` gives. */
class Expectation {
  readonly #value: unknown
  readonly #negated: boolean
  readonly #label: string
  /** Fails by throwing, or (soft) by leaving a note that fails the test when it ends. */
  readonly #fail: (failure: Failure) => void

  constructor(value: unknown, negated: boolean, label: string, fail: (failure: Failure) => void = throwIt) {
    this.#value = value
    this.#negated = negated
    this.#label = label
    this.#fail = fail
  }

  get not(): Expectation {
    return new Expectation(this.#value, !this.#negated, this.#label, this.#fail)
  }

  #check(passed: boolean, claim: string, expected?: unknown): void {
    if (passed !== this.#negated) return
    const label = this.#label === '' ? '' : `${this.#label}: `
    const rest = expected === undefined ? '' : ` ${show(expected)}`
    this.#fail(new Failure(`${label}expected ${show(this.#value)} ${this.#negated ? 'not ' : ''}${claim}${rest}`))
  }

  toBe(expected: unknown): void {
    this.#check(Object.is(this.#value, expected), 'to be', expected)
  }
  toEqual(expected: unknown): void {
    this.#check(equal(this.#value, expected, 'loose'), 'to equal', expected)
  }
  toStrictEqual(expected: unknown): void {
    this.#check(equal(this.#value, expected, 'strict'), 'to strictly equal', expected)
  }
  toMatchObject(expected: unknown): void {
    this.#check(equal(this.#value, expected, 'subset'), 'to match', expected)
  }
  toBeUndefined(): void {
    this.#check(this.#value === undefined, 'to be undefined')
  }
  toBeDefined(): void {
    this.#check(this.#value !== undefined, 'to be defined')
  }
  toBeNull(): void {
    this.#check(this.#value === null, 'to be null')
  }
  toBeTruthy(): void {
    this.#check(Boolean(this.#value), 'to be truthy')
  }
  toBeFalsy(): void {
    this.#check(!this.#value, 'to be falsy')
  }
  toBeNaN(): void {
    this.#check(Number.isNaN(this.#value), 'to be NaN')
  }
  toBeInstanceOf(type: new (...args: never[]) => unknown): void {
    this.#check(this.#value instanceof type, 'to be an instance of', type.name)
  }
  toBeTypeOf(type: string): void {
    this.#check(typeof this.#value === type, 'to be of type', type)
  }
  toBeGreaterThan(bound: number | bigint): void {
    this.#check((this.#value as number) > bound, 'to be greater than', bound)
  }
  toBeGreaterThanOrEqual(bound: number | bigint): void {
    this.#check((this.#value as number) >= bound, 'to be at least', bound)
  }
  toBeLessThan(bound: number | bigint): void {
    this.#check((this.#value as number) < bound, 'to be less than', bound)
  }
  toBeLessThanOrEqual(bound: number | bigint): void {
    this.#check((this.#value as number) <= bound, 'to be at most', bound)
  }
  toBeCloseTo(expected: number, digits = 2): void {
    this.#check(Math.abs((this.#value as number) - expected) < 10 ** -digits / 2, 'to be close to', expected)
  }
  toHaveLength(length: number): void {
    this.#check((this.#value as ArrayLike<unknown>).length === length, 'to have length', length)
  }
  toHaveProperty(name: string, ...value: unknown[]): void {
    const owner = this.#value as Fields
    const has = typeof owner === 'object' && owner !== null && name in owner
    this.#check(has && (value.length === 0 || equal(owner[name], value[0], 'loose')), 'to have property', name)
  }
  toContain(item: unknown): void {
    const value = this.#value
    const found =
      typeof value === 'string' ? value.includes(String(item)) : [...(value as Iterable<unknown>)].includes(item)
    this.#check(found, 'to contain', item)
  }
  toContainEqual(item: unknown): void {
    this.#check(
      [...(this.#value as Iterable<unknown>)].some((one) => equal(one, item, 'loose')),
      'to contain',
      item,
    )
  }
  toMatch(pattern: string | RegExp): void {
    const text = String(this.#value)
    this.#check(typeof pattern === 'string' ? text.includes(pattern) : pattern.test(text), 'to match', String(pattern))
  }
  toSatisfy(predicate: (value: never) => boolean): void {
    this.#check(predicate(this.#value as never), 'to satisfy the predicate')
  }
  toThrow(pattern?: ErrorPattern): void {
    let thrown: { readonly error: unknown } | undefined
    if (typeof this.#value === 'function') {
      try {
        ;(this.#value as Run)()
      } catch (error) {
        thrown = { error }
      }
    } else thrown = { error: this.#value } // from `rejects`
    const passed = thrown !== undefined && errorMatches(thrown.error, pattern)
    const seen = thrown === undefined ? 'nothing' : describeError(thrown.error)
    this.#check(passed, `to throw ${String(pattern ?? 'an error')}; thrown: ${seen}`)
  }
  toThrowError(pattern?: ErrorPattern): void {
    this.toThrow(pattern)
  }

  /** The matchers on what the promise becomes. */
  get resolves(): Record<string, (...args: unknown[]) => Promise<void>> {
    return this.#later((promise) => promise)
  }
  get rejects(): Record<string, (...args: unknown[]) => Promise<void>> {
    return this.#later((promise) =>
      promise.then(
        (value) => {
          throw new Failure(`${this.#label} expected a rejection, got ${show(value)}`)
        },
        (error: unknown) => error,
      ),
    )
  }

  #later(
    settle: (promise: Promise<unknown>) => Promise<unknown>,
  ): Record<string, (...args: unknown[]) => Promise<void>> {
    const given = this.#value
    const promise = Promise.resolve(typeof given === 'function' ? (given as Run)() : given)
    const [negated, label] = [this.#negated, this.#label]
    return new Proxy(
      {},
      {
        get:
          (_target, name: string) =>
          async (...args: unknown[]) => {
            const settled = new Expectation(await settle(promise), negated, label) as unknown as Record<string, unknown>
            const matcher = settled[name]
            if (typeof matcher !== 'function') throw new Failure(`no matcher ${name} in test/support/vitest.ts`)
            ;(matcher as (...args: unknown[]) => void).apply(settled, args)
          },
      },
    )
  }
}

const PRIMITIVES = new Map<unknown, string>([
  [Number, 'number'],
  [String, 'string'],
  [Boolean, 'boolean'],
  [BigInt, 'bigint'],
  [Function, 'function'],
])

function isAny(value: unknown, type: unknown): boolean {
  const primitive = PRIMITIVES.get(type)
  return primitive === undefined ? value instanceof (type as new () => unknown) : typeof value === primitive
}

export const expect = Object.assign((value: unknown, label = ''): Expectation => new Expectation(value, false, label), {
  soft: (value: unknown, label = ''): Expectation =>
    new Expectation(value, false, label, (failure) => void softFailures.push(failure)),
  any: (type: unknown) => new Asymmetric((value) => isAny(value, type)),
  anything: () => new Asymmetric((value) => value !== undefined && value !== null),
  objectContaining: (fields: Fields) =>
    new Asymmetric((value) => typeof value === 'object' && value !== null && equal(value, fields, 'subset')),
  arrayContaining: (items: readonly unknown[]) =>
    new Asymmetric(
      (value) => Array.isArray(value) && items.every((item) => value.some((one) => equal(one, item, 'loose'))),
    ),
  stringContaining: (part: string) => new Asymmetric((value) => typeof value === 'string' && value.includes(part)),
  stringMatching: (pattern: string | RegExp) =>
    new Asymmetric((value) => typeof value === 'string' && new RegExp(pattern).test(value)),
  fail: (message: string): never => {
    throw new Failure(message)
  },
})
