import { fileURLToPath } from 'node:url'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longestFirst.ts'

const source = (path: string): string => fileURLToPath(new URL(path, import.meta.url))

export default defineConfig({
  // The package's names are its sources in a clone (`petrel-source` in package.json).
  resolve: {
    alias: [
      { find: /^petrel$/, replacement: source('platform/library/petrel.ts') },
      { find: /^petrel\/browser$/, replacement: source('platform/browser/client.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/runtimes/**', 'test/pack/**'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Two cores are the smallest machine that the suite has to run on.
    maxWorkers: 2,
    pool: 'threads',
    // Node.js loads modules, as in the product: through Vitest's own loader each use of an import costs a getter, a third more time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
  },
})
