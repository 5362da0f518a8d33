/** A port of 127.0.0.1 for a process that is to be found again at it. */
import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below what a kernel gives to whoever asks for any port: such a one would be given away again before it is used. */
const LOWEST = 10_000
const HIGHEST = 32_000

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

/** One that nobody listens on now. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(LOWEST, HIGHEST)
    if (await isFree(port)) return port
  }
}
