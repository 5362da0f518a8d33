import { expect, it } from 'vitest'
import { trimEnd } from '../../src/base/trimEnd.ts'

it.each([
  ['http://x//', 'http://x'],
  ['http://x', 'http://x'],
  ['a//b/', 'a//b'],
  ['///', ''],
  ['', ''],
])('%j without slashes behind it', (text, expected) => expect(trimEnd(text, '/')).toBe(expected))

it('rows in the midst of a text cost nothing', () => {
  const text = `${'/'.repeat(1_000_000)}x`
  const started = performance.now()
  expect(trimEnd(text, '/')).toBe(text)
  // By a regular expression it is minutes.
  expect(performance.now() - started).toBeLessThan(5000)
})
