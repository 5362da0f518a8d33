/** A node that says whatever a test wants: a chain of made-up headers, honest unless it is told to lie. */

import type { MonitorNode } from '../../../examples/monitor/model/methods.ts'
import type { HeadChange } from '../../../src/chain/headChange.ts'
import type { Cid } from '../../../src/codec/cid.ts'
import { blockCid } from '../../../src/crypto/blockCid.ts'
import type { MempoolUpdate } from '../../../src/mempool/pendingMessages.ts'
import { RpcClientError } from '../../../src/rpc/client/errors.ts'
import type { ChannelListener } from '../../../src/rpc/client/transport.ts'
import type { AddressedTransfers } from '../../../src/transfers/tipsetTransfers.ts'
import { idAddress } from '../../../src/types/address.ts'
import type { BlockHeader } from '../../../src/types/blockHeader.ts'
import type { SignedMessage } from '../../../src/types/signedMessage.ts'
import { createTipset, equalTipsetKeys, type Tipset, type TipsetKey, tipsetKeyText } from '../../../src/types/tipset.ts'

export const GENESIS_SEC = 1_700_000_000
export const BLOCK_DELAY = 30

const SOME = blockCid(new Uint8Array([1]))

/** A header that nobody signed. */
export function header(height: number, parents: TipsetKey, miner: number, salt = 0): BlockHeader {
  return {
    miner: idAddress(miner),
    ticket: { vrfProof: new Uint8Array([miner & 0xff, height & 0xff, height >> 8, salt]) },
    electionProof: null,
    beaconEntries: [],
    winPoStProof: [],
    parents: [...parents],
    parentWeight: BigInt(height),
    height,
    parentStateRoot: SOME,
    parentMessageReceipts: SOME,
    messages: SOME,
    blsAggregate: null,
    timestamp: GENESIS_SEC + height * BLOCK_DELAY,
    blockSig: null,
    forkSignaling: 0n,
    parentBaseFee: 100n,
  }
}

/** Tipsets of these heights on top of each other. */
export function chain(heights: readonly number[], from?: Tipset, salt = 0): Tipset[] {
  const out: Tipset[] = []
  let parent = from
  for (const height of heights) {
    const miners = height === 0 ? [1000] : [1000, 1001, 1002]
    const next = createTipset(miners.map((miner) => header(height, parent?.key ?? [], miner, salt)))
    out.push(next)
    parent = next
  }
  return out
}

function remote(text: string): RpcClientError {
  return new RpcClientError('REMOTE', text, { code: 1 })
}

/** The node and its chain; tests lengthen the chain and choose the lies. */
export class FakeNode {
  readonly tipsets = new Map<string, Tipset>()
  /** Answers to ChainGetTipSet that are lies, by the key that is asked for. */
  readonly lies = new Map<string, Tipset>()
  /** Tipsets whose messages are not given. */
  readonly withheld = new Set<string>()
  readonly messages = new Map<string, Cid[]>()
  pending: SignedMessage[] = []
  balance = 5n
  presumed = ''
  transfers: AddressedTransfers[] = []
  executed: { cid: Cid; height: number; tipset: TipsetKey; exitCode: number } | undefined
  #heads: ChannelListener<readonly HeadChange[]> | undefined
  #pool: ChannelListener<MempoolUpdate> | undefined
  #head: Tipset | undefined

  /** Whatever has no entry here is refused, as by a node without the method. */
  readonly node: MonitorNode

  constructor() {
    const methods: Partial<MonitorNode> = {
      Version: () => Promise.resolve({ version: '1', apiVersion: 1, blockDelay: BLOCK_DELAY, agent: 'fake' }),
      SyncPresumed: () => Promise.resolve(this.presumed),
      StateNetworkName: () => Promise.resolve('testnet'),
      ChainNotify: (listener) => {
        this.#heads = listener
        if (this.#head !== undefined) listener.value([{ kind: 'current', tipset: this.#head }])
        return Promise.resolve(() => undefined)
      },
      ChainGetTipSet: (key) => {
        const tipset = this.lies.get(tipsetKeyText(key)) ?? this.tipsets.get(tipsetKeyText(key))
        return tipset === undefined ? Promise.reject(remote('block not found')) : Promise.resolve(tipset)
      },
      ChainGetTipSetByHeight: (height, anchor) => {
        // What lies between comes by hash, as of a node: whoever lies about one of them is caught below the anchor.
        let at = this.lies.get(tipsetKeyText(anchor)) ?? this.tipsets.get(tipsetKeyText(anchor))
        while (at !== undefined && at.height > height) {
          const parents = tipsetKeyText(at.blocks[0]?.parents ?? [])
          at = this.lies.get(parents) ?? this.tipsets.get(parents)
        }
        return at === undefined ? Promise.reject(remote('block not found')) : Promise.resolve(at)
      },
      ChainGetMessagesInTipset: (key) =>
        this.withheld.has(tipsetKeyText(key))
          ? Promise.reject(remote('block not found'))
          : Promise.resolve(
              (this.messages.get(tipsetKeyText(key)) ?? []).map((cid) => ({ cid, message: undefined as never })),
            ),
      MpoolPending: () => Promise.resolve(this.pending),
      MpoolSub: (listener) => {
        this.#pool = listener
        return Promise.resolve(() => undefined)
      },
      StateGetActor: (_, key) =>
        this.tipsets.has(tipsetKeyText(key))
          ? Promise.resolve({ code: SOME, head: SOME, nonce: 0n, balance: this.balance, delegatedAddress: null })
          : Promise.reject(remote('block not found')),
      StateLookupID: () => Promise.resolve(idAddress(101)),
      StateSearchMsg: (_, cid) =>
        Promise.resolve(
          this.executed === undefined || !(this.executed.cid.equals(cid) || this.executed.exitCode === REPLACED)
            ? null
            : {
                message: this.executed.cid,
                receipt: { exitCode: this.executed.exitCode, return: new Uint8Array(0), gasUsed: 1n, eventsRoot: null },
                returnDec: null,
                tipset: this.executed.tipset,
                height: this.executed.height,
              },
        ),
      ChainGetTransfersSince: (position) =>
        Promise.resolve({
          reverted: [],
          applied: this.transfers.splice(0),
          position: this.#head === undefined ? position : this.#head.key,
        }),
    }
    this.node = new Proxy(methods, {
      get: (target, name) =>
        target[name as keyof MonitorNode] ?? (() => Promise.reject(remote(`method '${String(name)}' not found`))),
    }) as MonitorNode
  }

  know(tipsets: readonly Tipset[]): void {
    for (const one of tipsets) this.tipsets.set(tipsetKeyText(one.key), one)
  }

  /** Tells of a head, whether or not it gives its blocks. */
  announce(head: Tipset): void {
    const before = this.#head
    this.#head = head
    const isNext = before !== undefined && equalTipsetKeys(head.blocks[0]?.parents ?? [], before.key)
    this.#heads?.value([
      ...(before === undefined || isNext ? [] : [{ kind: 'revert' as const, tipset: before }]),
      { kind: 'apply', tipset: head },
    ])
  }

  /** Knows tipsets and makes the last one the head. */
  grow(tipsets: readonly Tipset[]): void {
    this.know(tipsets)
    this.announce(tipsets.at(-1) as Tipset)
  }

  pool(update: MempoolUpdate): void {
    this.#pool?.value(update)
  }

  cut(): void {
    this.#heads?.end?.()
  }
}

/** Exit code by which {@link FakeNode.executed} answers for another message. */
export const REPLACED = -1
