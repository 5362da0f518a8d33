/** A TCP link between two nodes that a test can cut, slow down and heal. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, Socket } from 'node:net'

/** One direction of dialling: whoever connects to {@link LinkProxy.port} reaches the target. */
export class LinkProxy {
  readonly #server: Server
  #target: number
  readonly #sockets = new Set<Socket>()
  #cut = false
  #delayMs = 0

  private constructor(server: Server, target: number) {
    this.#server = server
    this.#target = target
    server.on('connection', (socket) => this.#connect(socket))
  }

  /** @param target - port on the loopback; it need not listen yet */
  static async open(target: number): Promise<LinkProxy> {
    const server = createServer()
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    return new LinkProxy(server, target)
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** Ends what is connected and refuses what comes. */
  cut(): void {
    this.#cut = true
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Ends what is connected; what comes is led to another port of the loopback. */
  retarget(target: number): void {
    this.#target = target
    for (const socket of this.#sockets) socket.destroy()
  }

  /** Lets through everything, after so many milliseconds. */
  heal(delayMs = 0): void {
    this.#cut = false
    this.#delayMs = delayMs
  }

  async close(): Promise<void> {
    this.cut()
    this.#server.close()
    await once(this.#server, 'close')
  }

  #connect(near: Socket): void {
    if (this.#cut) {
      near.destroy()
      return
    }
    const far = new Socket()
    far.connect(this.#target, '127.0.0.1')
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        this.#sockets.delete(from)
        to.destroy()
      })
      from.on('data', (chunk: Buffer) => this.#pass(to, chunk))
      from.on('end', () => this.#later(() => to.end()))
    }
  }

  #pass(to: Socket, chunk: Buffer): void {
    this.#later(() => {
      if (!to.destroyed) to.write(chunk)
    })
  }

  /** In order: the delay is the same for all that is under way. */
  #later(run: () => void): void {
    if (this.#delayMs === 0) run()
    else setTimeout(run, this.#delayMs)
  }
}
