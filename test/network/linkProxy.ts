/** A TCP link between two nodes that a test can cut, silence, slow down and heal. */
import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, Socket } from 'node:net'

/** What is on its way through a link whose sockets stay open: all of it goes on, it is kept for later, or lost. */
type Flow = 'passes' | 'waits' | 'lost'

/** A connection through a link, and what neither side has been given yet. */
interface Line {
  flow: Flow
  readonly kept: (() => void)[]
}

/** One direction of dialling: whoever connects to {@link LinkProxy.port} reaches the target. */
export class LinkProxy {
  readonly #server: Server
  #target: number
  readonly #sockets = new Set<Socket>()
  readonly #lines = new Set<Line>()
  #cut = false
  #delayMs = 0
  /** Of the connections to come. */
  #flow: Flow = 'passes'

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

  /**
   * Nothing gets through any more, and nobody is told: as where a firewall has forgotten its connections (`lost`), or where the line is
   * down for a while and TCP sends all of it again (`waits`).
   * @param comes - the same of connections that are dialled from now on
   */
  silence(flow: 'waits' | 'lost', comes: Flow): void {
    this.#flow = comes
    for (const line of this.#lines) line.flow = flow
  }

  /** Lets through everything, after so many milliseconds; what was lost in a connection stays so, and what comes after it. */
  heal(delayMs = 0): void {
    this.#cut = false
    this.#delayMs = delayMs
    this.#flow = 'passes'
    for (const line of this.#lines) {
      if (line.flow !== 'waits') continue
      line.flow = 'passes'
      for (const run of line.kept.splice(0)) run()
    }
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
    const line: Line = { flow: this.#flow, kept: [] }
    this.#lines.add(line)
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      this.#sockets.add(from)
      from.on('error', () => to.destroy())
      from.on('close', () => {
        this.#sockets.delete(from)
        // The other side of a silent line is not told of its end either.
        this.#later(line, () => {
          this.#lines.delete(line)
          to.destroy()
        })
      })
      from.on('data', (chunk: Buffer) =>
        this.#later(line, () => {
          if (!to.destroyed) to.write(chunk)
        }),
      )
      from.on('end', () => this.#later(line, () => to.end()))
    }
  }

  /** In order: the delay is the same for all that is under way. */
  #later(line: Line, run: () => void): void {
    if (line.flow === 'lost') return
    if (line.flow === 'waits') line.kept.push(run)
    else if (this.#delayMs === 0) run()
    else setTimeout(run, this.#delayMs)
  }
}
