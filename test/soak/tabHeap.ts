/** What is alive on the heaps of a tab: the page's, its worker's and those of the worker's threads. */
import type { CDPSession, Page } from 'playwright-core'
import { COLLECT, type Heaps, type Message, Session, sum } from './heap.ts'

/** Events of a target within another one (Chrome DevTools Protocol, `Target`, not flattened). */
interface Within {
  readonly method?: string
  readonly params?: { readonly sessionId: string; readonly message: string }
}

const EVENTS = ['Target.attachedToTarget', 'Target.receivedMessageFromTarget', 'Target.detachedFromTarget'] as const

type Call = Session['call']

async function collected(call: Call): Promise<Heaps | undefined> {
  await call(COLLECT)
  const answer = (await call('Runtime.getHeapUsage')) as
    | { usedSize: number; embedderHeapUsedSize?: number; backingStorageSize?: number }
    | undefined
  if (answer === undefined) return
  return { heap: answer.usedSize, external: (answer.embedderHeapUsedSize ?? 0) + (answer.backingStorageSize ?? 0) }
}

/** The workers that a target has, and theirs, each with a session of its own. */
class Targets {
  readonly #sessions = new Map<string, Session>()
  readonly #inner = new Map<string, Targets>()
  readonly #call: Call

  constructor(call: Call) {
    this.#call = call
  }

  /** Ends when the workers that are there are attached, theirs as well. */
  async attach(): Promise<void> {
    await this.#call('Target.setAutoAttach', { autoAttach: true, waitForDebuggerOnStart: false, flatten: false })
    await Promise.all([...this.#inner.values()].map((one) => one.attach()))
  }

  all(): Call[] {
    return [
      ...[...this.#sessions.values()].map(({ call }) => call),
      ...[...this.#inner.values()].flatMap((one) => one.all()),
    ]
  }

  take({ method, params }: Within): void {
    if (params === undefined) return
    const { sessionId } = params
    if (method === 'Target.attachedToTarget') {
      const send = (message: string) => void this.#call('Target.sendMessageToTarget', { sessionId, message })
      const session = new Session(send)
      this.#sessions.set(sessionId, session)
      this.#inner.set(sessionId, new Targets(session.call))
    } else if (method === 'Target.receivedMessageFromTarget') {
      const message = JSON.parse(params.message) as Message
      this.#sessions.get(sessionId)?.answered(message)
      this.#inner.get(sessionId)?.take(message)
    } else if (method === 'Target.detachedFromTarget') {
      this.#sessions.get(sessionId)?.end()
      this.#sessions.delete(sessionId)
      this.#inner.delete(sessionId)
    }
  }
}

/** Connects for one look, as with a Node's. */
export async function liveTabHeaps(page: Page): Promise<Heaps> {
  const cdp: CDPSession = await page.context().newCDPSession(page)
  const call = cdp.send.bind(cdp) as Call
  const targets = new Targets(call)
  for (const method of EVENTS) cdp.on(method, (params: unknown) => targets.take({ method, params } as Within))
  await targets.attach()
  const heaps = await Promise.all([call, ...targets.all()].map(collected))
  await cdp.detach()
  return sum(heaps)
}
