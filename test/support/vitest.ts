/**
 * The part of vitest's interface that our unit tests use, without Node: takes the place of `vitest` in Chromium and Deno.
 * A matcher that is not here fails the test that uses it; add it.
 */
import { takeSoftFailures } from './webExpect.ts'
import { describeError, show } from './webShow.ts'

export { expect } from './webExpect.ts'

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
    const [soft] = takeSoftFailures()
    if (soft !== undefined) throw soft
    report({ name, state: 'passed' })
  } catch (error) {
    if (error instanceof Skip) report({ name, state: 'skipped' })
    else report({ name, state: 'failed', message: describeError(error) })
  }
}
