import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    exclude: ['test/runtimes/**', 'test/pack/**'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // Two cores are the smallest machine that the suite has to run on.
    maxWorkers: 2,
    pool: 'threads',
  },
})
