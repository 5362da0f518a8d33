/**
 * Random syscalls with random arguments: every message ends with a receipt, twice the same, and no amount appears or
 * vanishes. Each message has a seed of its own, counted from the one that is printed.
 */
import { describe, expect, it } from 'vitest'
import { type Cid, CODEC_CBOR, CODEC_DAG_CBOR, CODEC_RAW, HASH_BLAKE2B_256 } from '../../src/codec/cid.ts'
import type { ApplyResult } from '../../src/fvm/executor.ts'
import type { Kernel } from '../../src/fvm/kernel/kernel.ts'
import { ActorExit, SyscallError } from '../../src/fvm/kernel/outcomes.ts'
import { type Address, delegatedAddress, idAddress, secp256k1Address } from '../../src/types/address.ts'
import { seeded } from '../support/seeded.ts'
import { codeOf, SENDER, TEST_ACTOR, testMessage, tinyMachine } from './support/tinyMachine.ts'

const RUNS = 150
const CALLS = 40
const MAX_DEPTH = 6
const VERSIONS = [17, 18, 21, 28]
/** Everybody who can hold anything. */
const HOLDERS = [0n, 1n, 2n, 99n, SENDER, TEST_ACTOR, 201n, ...Array.from({ length: 40 }, (_, i) => 300n + BigInt(i))]

/** mulberry32 */
function random(seed: number): (below: number) => number {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) % below
  }
}

type Draw = ReturnType<typeof random>

function bytes(draw: Draw, most: number): Uint8Array {
  return Uint8Array.from({ length: draw(most) }, () => draw(256))
}

function someAddress(draw: Draw): Address {
  switch (draw(6)) {
    case 0:
      return secp256k1Address(new Uint8Array(65).fill(draw(4)))
    case 1:
      return delegatedAddress(BigInt(draw(12)), new Uint8Array(20).fill(draw(4)))
    case 2:
      return idAddress(BigInt(draw(400)))
    default:
      return idAddress(TEST_ACTOR + BigInt(draw(2)))
  }
}

/** One random syscall. */
function callSomething(kernel: Kernel, draw: Draw, cids: Cid[], depth: number): void {
  const cid = cids[draw(cids.length)] as Cid
  const handle = draw(6)
  const operations: (() => unknown)[] = [
    () => kernel.blockOpen(cid),
    () => kernel.blockCreate([CODEC_RAW, CODEC_CBOR, CODEC_DAG_CBOR, 0x70][draw(4)] as number, bytes(draw, 50)),
    () => cids.push(kernel.blockLink(handle, HASH_BLAKE2B_256, draw(40) === 0 ? 20 : 32)),
    () => kernel.blockRead(handle, draw(100), new Uint8Array(draw(60))),
    () => kernel.blockStat(handle),
    () => cids.push(kernel.root()),
    () => kernel.setRoot(cid),
    () => kernel.currentBalance(),
    () => (draw(20) === 0 ? kernel.selfDestruct(draw(2) === 0) : 0),
    () => (draw(20) === 0 ? kernel.selfDestructTo(someAddress(draw)) : 0),
    () => kernel.resolveAddress(someAddress(draw)),
    () => kernel.lookupDelegatedAddress(BigInt(draw(400))),
    () => kernel.getActorCodeCid(BigInt(draw(400))),
    () => kernel.nextActorAddress(),
    () => kernel.createActor(codeOf('test'), BigInt(draw(400)), draw(2) === 0 ? null : someAddress(draw)),
    () => kernel.getBuiltinActorType(cid),
    () => kernel.getCodeCidForType(draw(12)),
    () => kernel.balanceOf(BigInt(draw(400))),
    () => kernel.hash([0x12n, 0xb220n, 0xb240n, 0x1bn, 0x1053n, 7n][draw(6)] as bigint, bytes(draw, 100)),
    () =>
      kernel.recoverSecpPublicKey(bytes(draw, 1).length === 0 ? new Uint8Array(32) : bytes(draw, 33), bytes(draw, 66)),
    () => kernel.verifySignature(draw(4), bytes(draw, 97), someAddress(draw), bytes(draw, 40)),
    () =>
      kernel.verifyBlsAggregate(
        new Uint8Array(96),
        new Uint8Array(48 * draw(3)),
        bytes(draw, 9),
        new Uint32Array(draw(3)),
      ),
    () => kernel.computeUnsealedSectorCid(BigInt(draw(25)), bytes(draw, 20)),
    () => kernel.verifyPost(bytes(draw, 20)),
    () => kernel.verifyAggregateSeals(bytes(draw, 20)),
    () => kernel.batchVerifySeals(bytes(draw, 20)),
    () => kernel.verifyConsensusFault(bytes(draw, 9), bytes(draw, 9), bytes(draw, 9)),
    () => kernel.messageContext(),
    () => kernel.networkContext(),
    () => kernel.tipsetCid(BigInt(draw(1100)) - 50n),
    () => kernel.chainRandomness(BigInt(draw(1000))),
    () => kernel.beaconRandomnessTagged(5n, BigInt(draw(1000)), bytes(draw, 30)),
    () =>
      kernel.emitEvent(
        [
          {
            flags: BigInt(draw(5)),
            codec: [0x51n, 0x55n, 0x71n][draw(3)] as bigint,
            keyLength: draw(5),
            valueLength: draw(5),
          },
        ],
        bytes(draw, 5),
        bytes(draw, 5),
      ),
    () => kernel.emitEventCbor(bytes(draw, 20)),
    () => kernel.chargeGas('work', draw(1_000_000)),
    () => kernel.gasAvailable(),
    () => kernel.growMemory(draw(2 ** 30)),
  ]
  const send = (): unknown =>
    kernel.send(
      someAddress(draw),
      BigInt(draw(3)),
      draw(3),
      BigInt(draw(5)) * 10n ** BigInt(draw(22)),
      draw(3) === 0 ? BigInt(draw(50_000_000)) : undefined,
      BigInt(draw(8) === 0 ? draw(3) : 0),
    )
  const pick = draw(operations.length + 8)
  try {
    if (pick < operations.length) (operations[pick] as () => unknown)()
    else if (depth < MAX_DEPTH) send()
  } catch (error) {
    if (!(error instanceof SyscallError)) throw error
  }
}

function run(seed: number, networkVersion: number): { result: ApplyResult; held: bigint; before: bigint } {
  const draw = random(seed)
  const cids: Cid[] = [codeOf('test')]
  let depth = 0
  let calls = CALLS
  const act = (kernel: Kernel): number => {
    depth++
    for (let i = draw(10); i >= 0 && calls-- > 0; i--) callSomething(kernel, draw, cids, depth)
    depth--
    if (draw(6) === 0) throw new ActorExit(16 + draw(20), 'random', draw(4))
    return draw(4)
  }
  const executor = tinyMachine({
    networkVersion,
    actors: [[201n, { balance: 10n ** 18n }]],
    methods: { 1: act, 2: act },
    codes: { init: { invoke: act } },
  })
  const total = (): bigint =>
    HOLDERS.reduce((sum, id) => sum + (executor.machine.state.getActor(id)?.balance ?? 0n), 0n)
  const before = total()
  const limit = BigInt(2_000_000 + draw(400_000_000))
  const result = executor.applyMessage(testMessage(1, { gasLimit: limit, value: BigInt(draw(9)) }), 'explicit', 100)
  executor.machine.state.flush()
  return { result, held: total(), before }
}

describe('random syscalls', () => {
  const first = seeded('random syscalls').seed
  it.each(VERSIONS)(`network version %i, from seed ${first}`, (networkVersion) => {
    const receipts = new Set<string>()
    for (let seed = first; seed < first + RUNS; seed++) {
      const { result, held, before } = run(seed, networkVersion)
      const again = run(seed, networkVersion)
      const where = `seed ${seed}`
      expect(again.result.receipt, where).toEqual(result.receipt)
      expect(again.held, where).toBe(held)
      expect(result.receipt.gasUsed >= 0n, where).toBe(true)
      // FVM 2 and 3 let an actor that deletes itself be paid again in the same message: those amounts are lost.
      expect(held <= before, `${where}: ${before} became ${held}`).toBe(true)
      receipts.add(`${result.receipt.exitCode} ${result.receipt.gasUsed}`)
    }
    // Most messages go another way than the others: the calls are not refused at the door.
    expect(receipts.size).toBeGreaterThan(RUNS / 2)
  })
})
