/** A connection that asks one question without end, many times at once: load that costs its maker little. */
import { connect, type Socket } from 'node:net'

const AT_ONCE = 10

/** See the file's head. It connects again when the server ends its connection. */
export class Pipelined {
  /** Good answers so far, and others. */
  answered = 0
  refused = 0
  readonly #port: number
  readonly #questions: string
  #socket: Socket
  #isClosed = false

  /** @param body - of a `POST` to `/rpc/v1` */
  constructor(url: string, body: string) {
    this.#port = Number(new URL(url).port)
    const head = 'POST /rpc/v1 HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n'
    this.#questions = `${head}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`.repeat(AT_ONCE)
    this.#socket = this.#connect()
  }

  close(): void {
    this.#isClosed = true
    this.#socket.destroy()
  }

  #connect(): Socket {
    const socket = connect(this.#port, '127.0.0.1', () => socket.write(this.#questions))
    let unanswered = AT_ONCE
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      const count = text.split('HTTP/1.1 ').length - 1
      const good = text.split('HTTP/1.1 200 ').length - 1
      this.answered += good
      this.refused += count - good
      unanswered -= count
      if (unanswered > 0) return
      unanswered += AT_ONCE
      socket.write(this.#questions)
    })
    socket.on('error', () => undefined)
    socket.on('close', () => {
      if (!this.#isClosed) this.#socket = this.#connect()
    })
    return socket
  }
}
