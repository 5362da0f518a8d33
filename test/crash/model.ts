/**
 * What a node has acknowledged, beside the node: after every kill it must still know all of it, and nothing twice.
 */
import { errorMessage } from '../../src/base/errors.ts'
import type { NodeClient } from '../runtimes/nodeHost.ts'
import { KeyModel } from './keys.ts'

/** A send: what was asked, and what the node said. */
interface Send {
  readonly uuid: string
  readonly from: string
  /** undefined: no answer came. */
  cid?: string
  nonce?: number
}

/** A certificate of finality, as the RPC gives it. */
interface Certificate {
  readonly GPBFTInstance: number
  readonly ECChain: readonly { readonly Epoch: number; readonly Key: unknown }[]
}

/** Each send gives so much, attoFIL. */
export const VALUE = 1000n

/** A restarted node has its pool again, and has made a tipset or two, after so long, milliseconds. */
const SETTLE_MS = 30_000

/** What was acknowledged to the test so far; compared with the node after each start. */
export class CrashModel {
  readonly sends: Send[] = []
  readonly keys = new KeyModel()
  /** Certificates of finality, by their instances: what was told once is final. */
  readonly certificates = new Map<number, Certificate>()
  head = 0
  /** One account that all sends go to. */
  to = ''

  get acknowledged(): number {
    return this.sends.filter(({ cid }) => cid !== undefined).length
  }

  /** Sends, and notes what was said; what fails stays unanswered. */
  async send(client: NodeClient, from: string, uuid: string): Promise<void> {
    const send: Send = { uuid, from }
    this.sends.push(send)
    await this.#ask(client, send)
  }

  async #ask(client: NodeClient, send: Send): Promise<void> {
    const message = { From: send.from, To: this.to, Value: String(VALUE) }
    const signed = await client.call('MpoolPushMessage', message, { MsgUuid: send.uuid })
    const cid: string = signed.CID['/']
    const nonce: number = signed.Message.Nonce
    if (send.cid !== undefined && (send.cid !== cid || send.nonce !== nonce)) {
      throw new Error(
        `send ${send.uuid} was ${send.cid} with nonce ${send.nonce}, now it is ${cid} with nonce ${nonce}`,
      )
    }
    send.cid = cid
    send.nonce = nonce
  }

  async seeHead(client: NodeClient): Promise<void> {
    const { Height: height } = await client.call('ChainHead')
    this.head = Math.max(this.head, height)
  }

  async seeFinality(client: NodeClient): Promise<void> {
    const newest: Certificate = await client.call('F3GetLatestCertificate')
    this.certificates.set(newest.GPBFTInstance, newest)
  }

  /**
   * Compares the node with the model, after a start.
   * @returns what is wrong, each as a line
   */
  async check(client: NodeClient): Promise<string[]> {
    const faults: string[] = []
    const { Height: height } = await client.call('ChainHead')
    if (height < this.head) faults.push(`the head is at ${height}, ${this.head} was acknowledged`)
    faults.push(...(await this.keys.check(client)))
    // Every send again, answered or not: the same message where there was an answer.
    for (const send of this.sends) {
      try {
        await this.#ask(client, send)
      } catch (error) {
        faults.push(error instanceof Error ? error.message : String(error))
      }
    }
    faults.push(...(await this.#missing(client)), ...(await this.#revoked(client)))
    return [...faults, ...this.#nonces()]
  }

  /** A certificate that was told is the same for ever, and the chain of the head goes through what it made final. */
  async #revoked(client: NodeClient): Promise<string[]> {
    const faults: string[] = []
    for (const [instance, told] of this.certificates) {
      try {
        const now: Certificate = await client.call('F3GetCertificate', instance)
        if (JSON.stringify(now) !== JSON.stringify(told)) faults.push(`certificate ${instance} is another one now`)
        const final = told.ECChain.at(-1) as Certificate['ECChain'][number]
        const { Cids: cids } = await client.call('ChainGetTipSetByHeight', final.Epoch, null)
        if (JSON.stringify(cids) !== JSON.stringify(final.Key)) {
          faults.push(`certificate ${instance} made another tipset of epoch ${final.Epoch} final`)
        }
      } catch (error) {
        faults.push(`certificate ${instance}: ${errorMessage(error)}`)
      }
    }
    return faults
  }

  /**
   * A message is in the pool, or its nonce is used; one that the head holds is neither, until the next tipset. (A search by CID ends
   * where old states were collected.)
   */
  async #missing(client: NodeClient): Promise<string[]> {
    let left = this.sends
    const end = Date.now() + SETTLE_MS
    for (;;) {
      const pending: { CID: { '/': string } }[] = await client.call('MpoolPending', [])
      const waiting = new Set(pending.map((signed) => signed.CID['/']))
      const used = new Map<string, number>()
      for (const from of new Set(left.map((send) => send.from))) {
        used.set(from, (await client.call('StateGetActor', from, [])).Nonce)
      }
      left = left.filter(({ cid = '', nonce = 0, from }) => !waiting.has(cid) && nonce >= (used.get(from) ?? 0))
      if (left.length === 0) return []
      if (Date.now() > end) return left.map(({ cid, nonce }) => `message ${cid} with nonce ${nonce} is lost`)
      await new Promise((resolve) => setTimeout(resolve, 200))
    }
  }

  /** Nonces of each sender from 0 on, each once. */
  #nonces(): string[] {
    const faults: string[] = []
    const bySender = Map.groupBy(this.sends, ({ from }) => from)
    for (const [from, sends] of bySender) {
      const nonces = sends.flatMap(({ nonce }) => nonce ?? []).sort((a, b) => a - b)
      for (const [i, nonce] of nonces.entries()) {
        if (nonce !== i) {
          faults.push(`nonces of ${from}: ${nonce} where ${i} comes`)
          break
        }
      }
    }
    return faults
  }

  /** When all sends are on chain: exactly so much has arrived. @returns what is wrong */
  async checkMoney(client: NodeClient): Promise<string[]> {
    const expected = VALUE * BigInt(this.sends.length)
    let end = Date.now() + 60_000
    let before = 0n
    for (;;) {
      const arrived = BigInt(await client.call('WalletBalance', this.to))
      if (arrived === expected) return []
      // What was sent while nobody listened is told again in parts.
      if (arrived > before) end = Date.now() + 60_000
      before = arrived
      if (arrived > expected || Date.now() > end) return [`${arrived} attoFIL arrived, ${expected} were sent`]
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}
