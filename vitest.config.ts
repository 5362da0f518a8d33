import { setFlagsFromString } from 'node:v8'
import { defineConfig } from 'vitest/config'
import { LongestFirst } from './test/support/longestFirst.ts'

// As the machine's threads have it (platform/server/vmThreads.ts): half of what executing the recorded chains takes were collections.
setFlagsFromString('--external-memory-accounted-in-global-limit')

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/runtimes/**', 'test/pack/**'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Two cores are the smallest machine that the suite has to run on; many files wait for other processes.
    maxWorkers: 3,
    pool: 'threads',
    // No test changes what all modules share: files of one thread have the modules, and their compiled code, together.
    isolate: false,
    // The package's names are its sources in a clone.
    execArgv: ['--conditions=petrel-source'],
    // Node.js loads modules, as in the product: through Vitest's own loader each use of an import costs a getter, a third more time.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    sequence: { sequencer: LongestFirst },
  },
})
