/** The mark on a port: of two processes one has it, and it ends with that one. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { holdPort } from '../../../platform/server/portMark.ts'

const HOLDER = `
import { holdPort } from ${JSON.stringify(new URL('../../../platform/server/portMark.ts', import.meta.url).href)}
await holdPort('127.0.0.1', 1)
console.log('held')
setInterval(() => undefined, 1000)
`

test.skipIf(process.platform !== 'linux')('one process has it, however that one ends', async () => {
  const holder = spawn(process.execPath, ['--conditions=petrel-source', '--input-type=module', '-e', HOLDER], {
    cwd: fileURLToPath(new URL('../../../', import.meta.url)),
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const ended = once(holder, 'exit')
  try {
    await once(holder.stdout, 'data')
    await expect(holdPort('127.0.0.1', 1)).rejects.toMatchObject({ code: 'ADDRESS_IN_USE' })
    // Another address, and whichever port is free, are others.
    for (const [host, port] of [['::1', 1] as const, ['127.0.0.1', 0] as const]) await (await holdPort(host, port))()
  } finally {
    holder.kill('SIGKILL')
    await ended
  }
  const giveBack = await holdPort('127.0.0.1', 1)
  await expect(holdPort('127.0.0.1', 1)).rejects.toThrow('Cannot listen on 127.0.0.1:1: another node has the port')
  await giveBack()
  await (await holdPort('127.0.0.1', 1))()
})
