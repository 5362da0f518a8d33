/**
 * The recorded WebSocket session of golden/wire: the same requests at the same heads, and the same frames in the same
 * order on each channel. (Between channels the order is not promised: Lotus' streams run side by side.)
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { firstDifference } from '../../scripts/golden/compare.ts'
import { openRecorded, type RecordedNode } from '../../scripts/golden/openRecorded.ts'
import { cid } from '../../src/codec/description.ts'
import { type Json, parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { RpcSession } from '../../src/rpc/session.ts'
import { createTipset } from '../../src/types/tipset.ts'
import { missingShared, readSharedText, sharedPath } from '../support/shared.ts'
import { SESSION_DIFFERENCES } from './differences.ts'

type Frame = { readonly [key: string]: Json }
type Step = { readonly send?: Json; readonly sendRaw?: string; readonly receive?: Frame; readonly quiet?: number }
type HeadChange = { readonly Type: string; readonly Val: { readonly Cids: Json[]; readonly Height: number } }

const FOLDER = 'data/golden/wire'
/** Height of the head when the session began. */
const FIRST_HEIGHT = 118
/** Kind of an update of the pool. */
const MESSAGE_ADDED = 0
const missing = missingShared(`${FOLDER}/websocket.jsonl`)

/** Which stream a frame belongs to: a channel, a subscription, or the answer to one request. */
function streamOf(frame: Frame): string {
  if (frame.method === undefined) return `answer ${String(frame.id)}`
  const { params } = frame
  return Array.isArray(params) ? `channel ${String(params[0])}` : String(frame.method)
}

/** An event of a subscription without its random id and without Lotus' trace context. */
function comparable(frame: Frame | undefined): Frame | undefined {
  if (frame?.method !== 'eth_subscription') return frame
  const { result } = frame.params as { readonly result: Json }
  return { jsonrpc: '2.0', method: 'eth_subscription', params: { result } }
}

/** A frame that has not come by then will not come, ms. */
const FRAME_BOUND_MS = 5000

/** Number of the block in an event of newHeads. */
function blockNumber(frame: Frame): number {
  return Number((frame.params as { readonly result: { readonly number: string } }).result.number)
}

/** The change of the head in a frame of ChainNotify. */
function headChanges(frame: Frame | undefined): HeadChange[] | undefined {
  if (frame?.method !== 'xrpc.ch.val' || !Array.isArray(frame.params)) return undefined
  const [channel, value] = frame.params
  return channel === 1 && Array.isArray(value) ? (value as unknown as HeadChange[]) : undefined
}

describe.skipIf(missing !== undefined)('recorded WebSocket session', () => {
  let recorded: RecordedNode
  beforeAll(async () => {
    recorded = await openRecorded(sharedPath(FOLDER), FIRST_HEIGHT)
  })
  afterAll(() => recorded?.close())

  function moveHead(changes: readonly HeadChange[]): void {
    const { store } = recorded.node.view
    const { Cids } = (changes.at(-1) as HeadChange).Val
    store.setHead(createTipset(Cids.map((one) => store.header(cid.fromJson(one, { addressPrefix: 't' })))))
  }

  /** Moves the head to a tipset of the chain as it ended. */
  function canonicalHead(height: number): void {
    const { store } = recorded.node.view
    const { head } = JSON.parse(readSharedText(`${FOLDER}/head.json`)) as { head: Json[] }
    const top = store.tipset(head.map((one) => cid.fromJson(one, { addressPrefix: 't' })))
    store.setHead(store.tipsetByHeight(height, top, 'previous'))
  }

  async function pushMessage(message: Json): Promise<void> {
    const body = stringifyJson({ jsonrpc: '2.0', id: 1, method: 'Filecoin.MpoolPush', params: [message] })
    const answer = await fetch(`${recorded.url}/rpc/v1`, {
      method: 'POST',
      headers: { authorization: `Bearer ${recorded.token}` },
      body,
    })
    const { error } = (await answer.json()) as { error?: Json }
    expect(error).toBeUndefined()
  }

  it('has the same frames in the same order', async () => {
    const steps = readSharedText(`${FOLDER}/websocket.jsonl`)
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => parseJson(line) as unknown as Step)
    const frames: Frame[] = []
    const session = new RpcSession({
      engine: recorded.node.engine,
      version: 'v1',
      permissions: () => new Set(['read', 'write', 'sign', 'admin']),
      sink: {
        send: (text) => {
          frames.push(parseJson(text) as Frame)
          arrived()
        },
        unreadBytes: () => 0,
        close: () => undefined,
      },
    })
    let arrived: () => void = () => undefined
    /** Resolves when a frame of the same stream is there; after the bound without one. */
    const frameLike = async (wanted: Frame): Promise<void> => {
      const end = performance.now() + FRAME_BOUND_MS
      while (!frames.some((one) => streamOf(one) === streamOf(wanted)) && performance.now() < end) {
        await new Promise<void>((resolve) => {
          const bound = setTimeout(resolve, end - performance.now())
          arrived = () => {
            clearTimeout(bound)
            resolve()
          }
        })
      }
    }
    /** Lets everything happen that is under way: a whole request over a socket goes through the same event loop. */
    const roundTrip = async (): Promise<void> => {
      await (await fetch(`${recorded.url}/health/livez`)).text()
    }
    const caused = new Set<number>()
    const cause = async (index: number): Promise<void> => {
      const { receive } = steps[index] as Step
      if (receive === undefined || caused.has(index)) return
      caused.add(index)
      if (receive.method === 'eth_subscription') canonicalHead(blockNumber(receive) + 1)
      const changes = headChanges(receive)
      if (changes !== undefined && changes[0]?.Type !== 'current') moveHead(changes)
      if (changes !== undefined || receive.method !== 'xrpc.ch.val') return
      const update = (receive.params as Json[])[1] as { Type: number; Message: Json }
      if (update.Type === MESSAGE_ADDED) await pushMessage(update.Message)
      // A message leaves the pool because a tipset that holds it is applied: the next one.
      else await cause(steps.findIndex((one, at) => at > index && headChanges(one.receive) !== undefined))
    }
    const failures: string[] = []
    for (let i = 0; i < steps.length; i++) {
      const step = steps[i] as Step
      // The value that follows the cancellation was on its way when it was sent.
      if (stringifyJson(step.send ?? null).includes('xrpc.cancel')) {
        await cause(i + 1)
        const late = comparable(steps[i + 1]?.receive)
        if (late?.method === 'xrpc.ch.val') await frameLike(late)
      }
      const event = steps.slice(i).find((one) => one.receive?.method === 'eth_subscription')?.receive
      if (stringifyJson(step.send ?? null).includes('"newHeads"') && event !== undefined) {
        canonicalHead(blockNumber(event))
      }
      if (step.send !== undefined) session.receive(stringifyJson(step.send))
      if (step.sendRaw !== undefined) session.receive(step.sendRaw)
      await cause(i)
      const receive = comparable(step.receive)
      if (receive === undefined) await roundTrip()
      else await frameLike(receive)
      const difference = SESSION_DIFFERENCES.find((one) => one.frame.test(stringifyJson(receive ?? null)))
      if (receive !== undefined) {
        const at = frames.findIndex((one) => streamOf(one) === streamOf(receive))
        const got = at < 0 ? undefined : comparable(frames.splice(at, 1)[0])
        const found = firstDifference(receive, got)
        if (found !== undefined && difference === undefined) failures.push(`frame ${i}: ${found}`)
        if (found === undefined && difference !== undefined) failures.push(`frame ${i}: needs no difference any more`)
      } else if (step.quiet !== undefined) {
        for (const one of frames.splice(0)) failures.push(`frame ${i}: unexpected ${stringifyJson(one).slice(0, 200)}`)
      }
    }
    session.end()
    expect(failures).toEqual([])
  })
})
