import { openSession } from '../../platform/browser/frames.ts'
import type { OpenFrames } from '../../platform/browser/portSessions.ts'
import { followTabs, serveTabs } from '../../platform/browser/tabRelay.ts'
import { fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { silentLog } from '../rpc/stubTable.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { LAST, sessionHost } from './portMessages.ts'

/** The channel of all tabs of the origin, in one thread: messages arrive a turn later, as clones. */
class Bus {
  onmessage: ((event: { data: unknown }) => void) | null = null
  static all = new Set<Bus>()
  static heard: unknown[] = []

  constructor() {
    Bus.all.add(this)
  }

  postMessage(message: unknown): void {
    const data: unknown = structuredClone(message)
    Bus.heard.push(data)
    for (const other of Bus.all) if (other !== this) queueMicrotask(() => other.onmessage?.({ data }))
  }

  close(): void {
    Bus.all.delete(this)
  }
}

const asked = { access: { as: 'token', token: '' }, version: 'v1' } as const
const seal = Uint8Array.from({ length: 32 }, (_, i) => i)
const frame = (text: string): string => JSON.stringify({ frame: text })
const ask = (n: number, body: unknown): string =>
  JSON.stringify({
    t: 'ask',
    leader: '@leader',
    session: 's',
    n,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

async function turns(count: number): Promise<void> {
  for (let i = 0; i < count; i++) await new Promise((resolve) => setImmediate(resolve))
}

async function served(open: OpenFrames): Promise<string[]> {
  const told: string[] = []
  const session = await open(asked, {
    frame: (text) => void told.push(text),
    unreadBytes: () => 0,
    refused: (why) => void told.push(why),
  })
  session.receive(LAST)
  for (let i = 0; i < 50 && told.length === 0; i++) await turns(1)
  session.end()
  return told
}

let way = ''

async function run(input: Uint8Array, secret: Uint8Array | undefined): Promise<void> {
  const { BroadcastChannel: before } = globalThis
  Object.assign(globalThis, { BroadcastChannel: Bus })
  Bus.all.clear()
  Bus.heard = []
  const open: OpenFrames = (request, receiver) => Promise.resolve(openSession(sessionHost, request, receiver))
  const deps = { channel: 'fuzz', secret, log: silentLog }
  const stop = serveTabs(deps, open, (request) => ({ ...request, access: asked.access }))
  try {
    const [hello] = Bus.heard as [{ leader: string }]
    const stranger = new Bus()
    const lines = fromUtf8(input).replaceAll('@leader', hello.leader).split('\n').slice(0, 100)
    const say = (line: string): void => {
      try {
        stranger.postMessage(JSON.parse(line))
      } catch (error) {
        if (!(error instanceof SyntaxError)) throw error
      }
    }
    for (const line of lines) say(line)
    await turns(1)
    const leaders: OpenFrames[] = []
    const tab = followTabs(deps, { leader: (one) => void leaders.push(one), mismatch: () => undefined })
    for (const line of lines.slice(0, 5)) say(line)
    await turns(2)
    // A stranger may have said that it leads: then the tab has heard of ours before or after.
    const told = (
      await Promise.all(leaders.slice(0, 1).map((one) => Promise.race([served(one), turns(12).then(() => ['nobody'])])))
    ).flat()
    const isOurs = !lines.some((line) => line.includes('"leader"') && !line.includes('"ask"'))
    if (isOurs && !told.some((text) => text.includes('"the last"'))) throw new Error(`not served: ${told.join()}`)
    tab.stop()
    const answers = Bus.heard.map((one) => JSON.stringify(one))
    if (answers.some((text) => text.includes('the secret\\"'))) throw new Error('a method of the admin was answered')
    way = [...new Set(answers.map((text) => text.replace(/\d+|"leader":"[^"]*"|"session":"[^"]*"/g, '#').slice(0, 70)))]
      .sort()
      .join(' ')
  } finally {
    stop()
    Bus.all.clear()
    Object.assign(globalThis, { BroadcastChannel: before })
  }
}

/**
 * What another script of the origin may say on the channel by which tabs share one node, without a secret and with one: a
 * line is a message as JSON, in which `@leader` is the leader's name. A tab of ours is served all the same, and nobody is
 * told what it may not ask.
 */
export const relayMessages: FuzzTarget = {
  seeds: () => [
    utf8(
      [
        '{"t":"who"}',
        ask(1, { open: asked }),
        ask(2, { frame: LAST }),
        ask(3, { read: 9 }),
        ask(4, { close: true }),
      ].join('\n'),
    ),
    utf8(
      [
        ask(1, { open: { access: { as: 'page' }, version: 'v1' } }),
        ask(2, frame('{"jsonrpc":"2.0","id":1,"method":"Filecoin.Secret","params":[]}')),
      ].join('\n'),
    ),
    utf8(
      '{"t":"leader","leader":"other","isSealed":false}\n{"t":"answer","leader":"@leader","session":"s","n":1,"body":"{}"}\nnull\n[]',
    ),
    utf8(
      `${ask(1, '{"open":null}')}\n${ask(1, '{"open":{}}')}\n{"t":"ask","leader":"@leader","session":{},"n":1e999,"body":[1]}`,
    ),
  ],
  run: async (input) => {
    // Sealed frames are what a stranger can make nothing of: less to find.
    await run(input, input.length % 4 === 0 ? seal : undefined)
  },
  way: () => way,
}
