/** Channels of a page over a port, while the node that answers changes. The test is the node's end. */
import { expect, it } from 'vitest'
import type { FramePort, PortSignal } from '../../platform/browser/framePort.ts'
import { TabTransport } from '../../platform/browser/tabTransport.ts'

interface Asked {
  readonly id?: number
  readonly method: string
}

/** The page's end of a port: what it sent, and a way to tell it anything. */
class NodeEnd implements FramePort {
  readonly asked: Asked[] = []
  onmessage: ((event: never) => void) | null = null

  postMessage(message: string | PortSignal): void {
    if (typeof message === 'string') this.asked.push(JSON.parse(message) as Asked)
  }

  start(): void {}
  close(): void {}
  addEventListener(): void {}

  tell(data: unknown): void {
    this.onmessage?.({ data: typeof data === 'string' || isSignal(data) ? data : JSON.stringify(data) } as never)
  }

  /** Answers the last call. */
  answer(result: number): void {
    this.tell({ jsonrpc: '2.0', id: this.asked.at(-1)?.id, result })
  }

  value(channel: number, value: string): void {
    this.tell({ jsonrpc: '2.0', method: 'xrpc.ch.val', params: [channel, value] })
  }

  count(method: string): number {
    return this.asked.filter((one) => one.method === method).length
  }
}

function isSignal(data: unknown): boolean {
  return typeof data === 'object' && data !== null && 'changed' in data
}

/** Lets all promises that are settled tell it. */
function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve))
}

async function openChannel() {
  const port = new NodeEnd()
  const transport = new TabTransport(port)
  const heard: unknown[] = []
  const opened = transport.subscribe('Filecoin.ChainNotify', [], {
    value: (value) => void heard.push(value),
    end: () => void heard.push('the end'),
  })
  port.answer(1)
  return { port, heard, stop: await opened }
}

it('a channel that is given up while another tab takes over is cancelled there and tells nothing', async () => {
  const { port, heard, stop } = await openChannel()
  port.value(1, 'before')
  port.tell({ changed: true })
  expect(port.count('Filecoin.ChainNotify')).toBe(2)
  stop()
  port.answer(7)
  port.value(7, 'at once')
  await turn()
  port.value(7, 'later')
  expect(heard).toEqual(['before'])
  expect(port.count('xrpc.cancel')).toBe(1)
  stop()
  expect(port.count('xrpc.cancel')).toBe(1)
})

it('a channel goes on when the node changes again before it was opened', async () => {
  const { port, heard, stop } = await openChannel()
  port.tell({ changed: true })
  port.tell({ changed: true })
  await turn()
  port.answer(9)
  port.value(9, 'after both')
  expect(heard).toEqual(['after both'])
  await turn()
  stop()
  expect(port.count('xrpc.cancel')).toBe(1)
})
