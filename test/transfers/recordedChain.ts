/** A recorded chain as the transfers need it: its StateCompute answers and the balances in its states. */
import { zstdDecompressSync } from 'node:zlib'
import { openArchive } from '../../src/archive/openArchive.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { type Cid, parseCid } from '../../src/codec/cid.ts'
import { cid as cidCodec, tuple, uint } from '../../src/codec/description.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { type Blockstore, getCbor } from '../../src/ipld/blockstore.ts'
import { Hamt } from '../../src/ipld/hamt.ts'
import { initState } from '../../src/state/init.ts'
import type { CallTrace, ExecutedMessage } from '../../src/transfers/callTrace.ts'
import { type ActorState, actorV4, actorV5 } from '../../src/types/actor.ts'
import { type Address, addressFromBytes, addressToId, parseAddress } from '../../src/types/address.ts'
import { actorId } from '../../src/types/scalars.ts'
import { type Row, recordedCalls } from '../support/recorded.ts'
import { readShared } from '../support/shared.ts'

/** One executed tipset. */
export interface RecordedTipset {
  readonly height: number
  readonly key: readonly string[]
  readonly root: Cid
  readonly executed: readonly ExecutedMessage[]
}

/** Opens a chain's blocks. */
export function openRecorded(chain: string): Blockstore {
  return openArchive(memorySource(zstdDecompressSync(readShared(`data/golden/${chain}/chain.car.zst`))))
}

/** Every recorded StateCompute of a tipset alone, in order of height. */
export function recordedTipsets(chain: string): RecordedTipset[] {
  const out: RecordedTipset[] = []
  for (const call of recordedCalls(chain, 'chain.jsonl.zst', ['Filecoin.StateCompute'])) {
    const [height, messages, key] = call.params as [number, Json[] | null, Row[] | null]
    if (key === null || key.length === 0 || (messages !== null && messages.length > 0)) continue
    const result = call.response.result as Row
    out.push({
      height,
      key: key.map((one) => one['/'] as string),
      root: parseCid((result.Root as Row)['/'] as string),
      executed: ((result.Trace ?? []) as Row[]).map(executedMessage),
    })
  }
  return out
}

function executedMessage(invocation: Row): ExecutedMessage {
  const gas = invocation.GasCost as Row
  const explicit = gas.Message !== null
  return {
    message: explicit ? parseCid((invocation.MsgCid as Row)['/'] as string) : null,
    exitCode: (invocation.MsgRct as Row).ExitCode as number,
    gas: {
      baseFeeBurn: BigInt(gas.BaseFeeBurn as string),
      overEstimationBurn: BigInt(gas.OverEstimationBurn as string),
      minerTip: BigInt(gas.MinerTip as string),
    },
    trace: callTrace(invocation.ExecutionTrace as Row),
  }
}

function callTrace(trace: Row): CallTrace {
  const msg = trace.Msg as Row
  const invoked = trace.InvokedActor as Row | undefined | null
  return {
    msg: {
      from: parseAddress(msg.From as string),
      to: parseAddress(msg.To as string),
      value: BigInt(msg.Value as string),
      method: BigInt(msg.Method as number),
    },
    msgRct: { exitCode: (trace.MsgRct as Row).ExitCode as number },
    invokedActor: invoked === undefined || invoked === null ? null : { id: BigInt(invoked.Id as number) },
    subcalls: ((trace.Subcalls ?? []) as Row[]).map(callTrace),
  }
}

interface StateRoot {
  version: number
  actors: Cid
  info: Cid
}

const stateRoot = tuple<StateRoot>('StateRoot', [
  ['version', 'Version', uint],
  ['actors', 'Actors', cidCodec],
  ['info', 'Info', cidCodec],
])

function actors(store: Blockstore, root: Cid): Hamt<ActorState> {
  const { version, actors: map } = getCbor(store, stateRoot, root)
  return Hamt.load(store, map, version >= 5 ? actorV5 : actorV4)
}

/** Balance of every actor whose balance differs between two states. */
export function balanceDifferences(store: Blockstore, before: Cid, after: Cid): Map<bigint, bigint> {
  const out = new Map<bigint, bigint>()
  for (const one of actors(store, before).diff(actors(store, after))) {
    if (one === undefined) continue
    const [key, here, there] = one
    const change = (there?.balance ?? 0n) - (here?.balance ?? 0n)
    if (change !== 0n) out.set(addressToId(addressFromBytes(key)), change)
  }
  return out
}

/** Looks addresses up in the init actor of a state. */
export function lookupIn(store: Blockstore, root: Cid): (address: Address) => bigint | undefined {
  const init = actors(store, root).get(parseAddress('f01').bytes)
  if (init === undefined) return () => undefined
  const map = Hamt.load(store, getCbor(store, initState, init.head).addressMap, actorId)
  return (address) => map.get(address.bytes)
}
