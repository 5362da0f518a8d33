import { expect, it } from 'vitest'
import { trimEnd } from '../../src/base/trimEnd.ts'

it.each([
  ['http://x//', 'http://x'],
  ['http://x', 'http://x'],
  ['a//b/', 'a//b'],
  ['///', ''],
  ['', ''],
])('%j without slashes behind it', (text, expected) => expect(trimEnd(text, '/')).toBe(expected))

// By a regular expression it is hours.
it('rows in the midst of a text cost nothing', { timeout: 20_000 }, () => {
  const text = `${'/'.repeat(1_000_000)}x`
  expect(trimEnd(text, '/')).toBe(text)
})
