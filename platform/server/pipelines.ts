/**
 * Requests that clients send on one connection without waiting for answers. node:http begins all of them at once; so that one connection
 * has no more under way than the bound, the next ones are begun as others have left.
 */
import type { Socket } from 'node:net'
import { MAX_PIPELINED_REQUESTS } from '../../src/base/bounds.ts'
import type { Room } from '../../src/rpc/held.ts'

/** What node:http holds for a request that has not begun, bytes: about what 10,000 of them took. */
const WAITING_BYTES = 4_096

interface Pipeline {
  underWay: number
  readonly waiting: { readonly run: () => void; readonly room: Room }[]
}

/** The requests of all connections of a server. */
export class Pipelines {
  readonly #pipelines = new WeakMap<Socket, Pipeline>()

  /**
   * Begins a request when it may. Say {@link Pipelines.left} when its answer has left.
   * @param room - what it is counted in while it waits: where there is none for it the connection ends
   */
  begin(socket: Socket, room: () => Room, run: () => void): void {
    const pipeline = this.#of(socket)
    if (pipeline.underWay < MAX_PIPELINED_REQUESTS) {
      pipeline.underWay++
      run()
      return
    }
    const waiting = { run, room: room() }
    if (!waiting.room.take(WAITING_BYTES)) {
      socket.destroy()
      return
    }
    pipeline.waiting.push(waiting)
    // Nothing more is read before the next one begins: its body is asked for then, and node:http reads on.
    socket.pause()
  }

  /** @returns whether nothing of the connection is under way any more */
  left(socket: Socket): boolean {
    const pipeline = this.#of(socket)
    const next = pipeline.waiting.shift()
    if (next === undefined) return --pipeline.underWay === 0
    next.room.give(WAITING_BYTES)
    next.run()
    return false
  }

  #of(socket: Socket): Pipeline {
    const known = this.#pipelines.get(socket)
    if (known !== undefined) return known
    const pipeline: Pipeline = { underWay: 0, waiting: [] }
    this.#pipelines.set(socket, pipeline)
    socket.once('close', () => {
      for (const { room } of pipeline.waiting.splice(0)) room.give(WAITING_BYTES)
    })
    return pipeline
  }
}
