/** A stretch of the line between two programs, which a test shuts and opens. */
import { connect, createServer, type Server, type Socket } from 'node:net'

/** Stands before a server on this machine, and can stop what flows: nothing says so. */
export class Valve {
  readonly #server: Server
  readonly #sockets = new Set<Socket>()
  #isShut = false

  constructor(target: URL) {
    this.#server = createServer((near) => {
      const far = connect(Number(target.port), target.hostname)
      for (const [one, other] of [
        [near, far],
        [far, near],
      ] as const) {
        this.#sockets.add(one)
        one.pipe(other)
        one.on('error', () => other.destroy())
        one.on('close', () => other.destroy())
        if (this.#isShut) one.pause()
      }
    }).listen(0, '127.0.0.1')
  }

  url(target: URL): string {
    const address = this.#server.address()
    const through = new URL(target)
    if (address !== null && typeof address === 'object') through.port = String(address.port)
    return through.toString()
  }

  shut(): void {
    this.#isShut = true
    for (const one of this.#sockets) one.pause()
  }

  open(): void {
    this.#isShut = false
    for (const one of this.#sockets) one.resume()
  }

  end(): void {
    for (const one of this.#sockets) one.destroy()
    this.#server.close()
  }
}
