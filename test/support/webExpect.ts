/** The part of vitest's `expect` that our unit tests use, without Node. */
import { Asymmetric, equal, type Fields } from './webEqual.ts'
import { describeError, show } from './webShow.ts'

class Failure extends Error {}

function throwIt(failure: Failure): never {
  throw failure
}

const softFailures: Failure[] = []

/** Takes what `expect.soft` left of the test that runs. */
export function takeSoftFailures(): Error[] {
  return softFailures.splice(0)
}

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
        ;(this.#value as () => unknown)()
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
    const promise = Promise.resolve(typeof given === 'function' ? (given as () => unknown)() : given)
    const [negated, label] = [this.#negated, this.#label]
    return new Proxy(
      {},
      {
        get:
          (_target, name: string) =>
          async (...args: unknown[]) => {
            const settled = new Expectation(await settle(promise), negated, label) as unknown as Record<string, unknown>
            const matcher = settled[name]
            if (typeof matcher !== 'function') throw new Failure(`no matcher ${name} in test/support/webExpect.ts`)
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

/** Vitest's `expect`. */
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
