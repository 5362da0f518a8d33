/** Which unit tests run in Chromium: all that use nothing but src, the test support, and what the web has. */
import { readImports } from '../structure/imports.ts'

/** Folders whose tests are about something else than src. */
const ELSEWHERE = /^test\/(structure|contract|runtimes|pack|bench|chromium|deno|platform|examples|golden|cli)\//
/** Replaced by files of this folder when bundled. */
const REPLACED = new Set(['test/support/shared.ts', 'test/support/actors.ts'])
/** What a bundle for the browser can hold. */
const isWebPackage = (name: string): boolean =>
  name === 'vitest' || !/^(node:|lmdb|ws$|vitest\/|commander|hono|esbuild|playwright)/.test(name)

/** Tests of the browser's own shims. */
const BROWSER_TESTS: readonly string[] = [
  'test/platform/page/browserPorts.ts',
  'test/platform/page/endedConnections.ts',
  'test/platform/page/entryCopy.ts',
  'test/platform/page/keyCopy.ts',
  'test/platform/page/transactions.ts',
]

/** The test files by path from the root; slow ones run in Node alone. */
export function portableTests(): { readonly files: string[]; readonly nodeOnly: string[] } {
  const imports = readImports(['src', 'test', 'platform', 'scripts'])
  const known = new Map<string, boolean>()
  const isPortable = (file: string): boolean => {
    if (REPLACED.has(file)) return true
    const seen = known.get(file)
    if (seen !== undefined) return seen
    known.set(file, true)
    const found = imports.get(file)
    const portable =
      !/^platform\/(node|deno)\//.test(file) &&
      found !== undefined &&
      found.packages.every(isWebPackage) &&
      found.own.every(isPortable)
    known.set(file, portable)
    return portable
  }
  const tests = [...imports.keys()].filter(
    (file) => file.endsWith('.test.ts') && !ELSEWHERE.test(file) && !file.includes('slow'),
  )
  return { files: [...tests.filter(isPortable), ...BROWSER_TESTS], nodeOnly: tests.filter((file) => !isPortable(file)) }
}
