/** A stream of libp2p that is none. */
import { PetrelError } from '../../src/base/errors.ts'

/** The part of libp2p's stream that is used, and what was done to it. */
export class FakeStream extends EventTarget {
  readonly protocol = '/test/1'
  status = 'open'
  readStatus = 'readable'
  remoteWriteStatus = 'writable'
  readonly writableNeedsDrain = false
  readonly readBufferLength = 0
  readableEnded = false
  readonly sent: Uint8Array[] = []

  send(bytes: Uint8Array): boolean {
    if (this.status !== 'open') throw new PetrelError('STREAM_CLOSED', 'closed')
    this.sent.push(bytes)
    return true
  }

  say(data: Uint8Array): void {
    if (this.status === 'open') this.dispatchEvent(Object.assign(new Event('message'), { data }))
  }

  end(): void {
    if (this.status !== 'open') return
    this.remoteWriteStatus = 'closed'
    this.readStatus = 'closed'
    this.readableEnded = true
    this.dispatchEvent(new Event('remoteCloseWrite'))
    this.dispatchEvent(new Event('end'))
  }

  pause(): void {}

  resume(): void {}

  close(): Promise<void> {
    this.#finish('closed', undefined)
    return Promise.resolve()
  }

  abort(error: Error): void {
    this.#finish('aborted', error)
  }

  reset(): void {
    this.#finish('reset', new Error('reset'))
  }

  #finish(status: string, error: Error | undefined): void {
    if (this.status !== 'open') return
    this.status = status
    this.readStatus = 'closed'
    this.dispatchEvent(Object.assign(new Event('close'), { error }))
  }
}
