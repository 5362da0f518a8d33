/** The machine's 1,024 nested calls need a thread with a larger stack than the default. */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import { expect, it } from 'vitest'
import { denoPath } from '../../support/deno.ts'
import { ROOT } from '../../support/shared.ts'

it('reaches 1024 calls in a Node worker with 16 MB of stack', async () => {
  const worker = new Worker(new URL('./depthThread.ts', import.meta.url), { resourceLimits: { stackSizeMb: 16 } })
  const depth = await new Promise((resolve, reject) => {
    worker.on('message', resolve)
    worker.on('error', reject)
  })
  await worker.terminate()
  expect(depth).toBe(1024)
})

it('reaches 1024 calls in Deno with 7 MB of stack', { timeout: 120_000 }, () => {
  const script = fileURLToPath(new URL('./depthDeno.ts', import.meta.url))
  const args = ['run', '-A', '--v8-flags=--stack-size=7000', script]
  const { stdout, stderr } = spawnSync(denoPath(), args, { cwd: ROOT, encoding: 'utf8' })
  expect(`${stdout}${stderr}`.trim().split('\n').at(-1)).toBe('1024')
})
