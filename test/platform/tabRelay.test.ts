/** Sessions with the node of another tab, and how they end. */
import { BroadcastChannel } from 'node:worker_threads'
import { afterEach, describe, expect, it } from 'vitest'
import { type FrameReceiver, type FrameSession, openSession } from '../../platform/browser/frames.ts'
import type { OpenFrames } from '../../platform/browser/portSessions.ts'
import { followTabs, serveTabs } from '../../platform/browser/tabRelay.ts'
import { MAX_ANONYMOUS_REQUEST_BYTES, MAX_UNREAD_BYTES } from '../../src/base/bounds.ts'
import { json } from '../../src/codec/description.ts'
import { RpcEngine } from '../../src/rpc/engine.ts'
import { HttpHandler } from '../../src/rpc/http.ts'
import { method } from '../../src/rpc/method.ts'
import { createMethodTable } from '../../src/rpc/table.ts'
import { silentLog, stubVerifier } from '../rpc/stubTable.ts'

const small = method({ name: 'Small', perm: 'read', params: [], result: json, handler: () => 'an answer' })
const engine = new RpcEngine({ table: createMethodTable([small]), json: { addressPrefix: 't' }, log: silentLog })
const host = { node: { engine, handler: new HttpHandler(engine, { verifier: stubVerifier }) }, settle: () => undefined }
const openHere: OpenFrames = (request, receiver) => Promise.resolve(openSession(host, request, receiver))
const asked = { access: { as: 'token', token: '' }, version: 'v1' } as const
const call = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.Small","params":[]}'

const closers: (() => void)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

let channels = 0

/** A channel that a leader serves. */
function lead(open: OpenFrames, secret?: Uint8Array) {
  const deps = { channel: `petrel/relay-${channels++}`, secret, log: silentLog }
  closers.push(serveTabs(deps, open, (request) => request))
  return deps
}

/** A client in another tab: what it hears, one after the other. */
function listen(): { readonly receiver: FrameReceiver; readonly next: () => Promise<string> } {
  const heard: string[] = []
  let wake = (): void => undefined
  const hear = (text: string): void => {
    heard.push(text)
    wake()
  }
  return {
    receiver: { frame: hear, unreadBytes: () => 0, refused: (reason) => hear(`refused: ${reason}`) },
    next: async () => {
      while (heard.length === 0) await new Promise<void>((resolve) => (wake = resolve))
      return heard.shift() as string
    },
  }
}

/** Speaks on the channel as a tab does, frame by frame. */
class RawTab {
  readonly #channel: BroadcastChannel
  #leader = ''
  #sent = 0
  readonly #answers: string[] = []
  #wake: () => void = () => undefined

  constructor(name: string) {
    this.#channel = new BroadcastChannel(name)
    closers.push(() => this.#channel.close())
    this.#channel.onmessage = (event) => {
      const { data } = event as { data: { t: string; leader: string; body: string } }
      if (data.t === 'leader') this.#leader = data.leader
      else if (data.t === 'answer') this.#answers.push(data.body)
      this.#wake()
    }
  }

  async findLeader(): Promise<void> {
    this.#channel.postMessage({ t: 'who' })
    while (this.#leader === '') await new Promise<void>((resolve) => (this.#wake = resolve))
  }

  say(inner: unknown): void {
    const body = JSON.stringify(inner)
    this.#channel.postMessage({ t: 'ask', leader: this.#leader, session: 'raw', n: ++this.#sent, body })
  }

  async answer(): Promise<unknown> {
    while (this.#answers.length === 0) await new Promise<void>((resolve) => (this.#wake = resolve))
    return JSON.parse(this.#answers.shift() as string)
  }
}

describe('a session with the node of another tab', () => {
  for (const [kind, secret] of [
    ['plain', undefined],
    ['sealed', new Uint8Array(32).fill(7)],
  ] as const) {
    it(`hears that the leader ended it, on a ${kind} channel`, async () => {
      const deps = lead(openHere, secret)
      const open = await new Promise<OpenFrames>((leader, mismatch) => {
        const follower = followTabs(deps, { leader, mismatch })
        closers.push(() => follower.stop())
      })
      const { receiver, next } = listen()
      const session = await open(asked, receiver)
      session.receive(call)
      expect(await next()).toContain('an answer')
      session.receive(call.padEnd(MAX_ANONYMOUS_REQUEST_BYTES + 1, ' '))
      expect(await next()).toBe(`refused: a frame has at most ${MAX_ANONYMOUS_REQUEST_BYTES} characters`)
    })
  }

  it('that has ended refuses each frame that comes after', async () => {
    const { channel } = lead(openHere)
    const tab = new RawTab(channel)
    await tab.findLeader()
    tab.say({ open: asked })
    expect(await tab.answer()).toEqual({ opened: true })
    tab.say({ close: true })
    for (let i = 0; i < 3; i++) {
      tab.say({ frame: call })
      expect(await tab.answer()).toEqual({ refused: 'the session has ended' })
    }
  })

  it('that was closed, or asked too much, while it was being opened is ended when it is open', async () => {
    for (const isClosed of [true, false]) {
      const opening = Promise.withResolvers<FrameSession>()
      const ended = Promise.withResolvers<string>()
      const received: string[] = []
      const { channel } = lead(() => opening.promise)
      const tab = new RawTab(channel)
      await tab.findLeader()
      tab.say({ open: asked })
      tab.say({ frame: call })
      if (isClosed) tab.say({ close: true })
      else {
        tab.say({ frame: 'x'.repeat(MAX_UNREAD_BYTES) })
        expect(await tab.answer()).toEqual({ refused: 'too much was asked before the node answers' })
      }
      tab.say({ frame: call })
      expect(await tab.answer()).toEqual({ refused: 'the session has ended' })
      opening.resolve({
        receive: (text) => void received.push(text),
        drained: () => undefined,
        end: () => ended.resolve('ended'),
      })
      expect(await ended.promise).toBe('ended')
      expect(received).toEqual([])
    }
  })
})
