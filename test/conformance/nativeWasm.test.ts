/**
 * Native actors beside the Wasm actors of the bundle, on messages that no recorded chain has: same exit codes, returned
 * values, block operations and system calls, call by call, and nearly the same gas.
 */
import { beforeAll, describe, expect, it } from 'vitest'
import { methodNumber } from '../../src/actors/frc42.ts'
import { carBlocks } from '../../src/archive/car.ts'
import { concatBytes } from '../../src/base/bytes.ts'
import type { InvocResult } from '../../src/chain/vm.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { type Codec, encode } from '../../src/codec/description.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { accountKey } from '../../src/devnet/keys.ts'
import type { FundedAccount } from '../../src/devnet/plan.ts'
import { createCodeLoaders } from '../../src/execution/codeLoaders.ts'
import { LocalVmHost } from '../../src/execution/localVmHost.ts'
import { chargeTotal } from '../../src/fvm/gas/charge.ts'
import { acceptAllProofs } from '../../src/fvm/proofVerifier.ts'
import type { ExecutionTrace } from '../../src/fvm/trace.ts'
import { LayeredBlockstore, MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { execParams } from '../../src/state/params/init.ts'
import {
  addSignerParams,
  changeNumApprovalsThresholdParams,
  lockBalanceParams,
  constructorParams as multisigConstructorParams,
  proposeParams,
  removeSignerParams,
  swapSignerParams,
  txnIDParams,
} from '../../src/state/params/multisig.ts'
import { type Address, idAddress } from '../../src/types/address.ts'
import { keyOf, signWith } from '../../src/wallet/key.ts'
import { missingBundle, readBundle } from '../support/actors.ts'
import { type DevnetNode, devnetNode, signedBy } from '../support/devnetNode.ts'

const FIL = 10n ** 18n
const MANIFEST = 'bafy2bzaced35gjxagazf2fne5dakbok5abmivsh7cq7huwfuptebgwjmcpcf6'
const GAS_TOLERANCE = 0.15
const INIT = idAddress(1n)
const NOTHING: Uint8Array = new Uint8Array(0)
const APPROXIMATED = new Set(['wasm_exec', 'wasm_memory_grow'])

const missing = missingBundle(MANIFEST)
if (missing !== undefined) console.warn(`skipped: ${missing}`)

function comparable(trace: ExecutionTrace): unknown {
  return {
    exitCode: trace.msgRct.exitCode,
    return: trace.msgRct.return,
    returnCodec: trace.msgRct.returnCodec,
    method: trace.msg.method,
    params: trace.msg.params,
    ipldOps: trace.ipldOps.map((one) => `${one.op} ${one.cid.toString()}`),
    charges: trace.gasCharges.map((one) => (APPROXIMATED.has(one.name) ? one.name : `${one.name} ${chargeTotal(one)}`)),
    subcalls: trace.subcalls.map(comparable),
  }
}

interface Step {
  readonly name: string
  readonly from: FundedAccount
  readonly to: Address
  readonly method?: bigint
  readonly params?: Uint8Array
  readonly value?: bigint
  readonly exitCode?: number
  readonly gasLimit?: bigint
}

beforeAll(initCrypto)

describe.skipIf(missing !== undefined)('native actors beside Wasm actors', () => {
  it('agree', { timeout: 300_000 }, async () => {
    const bundle = new MemoryBlockstore()
    for (const [cid, data] of carBlocks(memorySource(readBundle(MANIFEST)))) bundle.put(cid, data)
    const node: DevnetNode = devnetNode()
    const wasm = new LocalVmHost({
      view: node.view,
      proofs: acceptAllProofs,
      codeLoaders: createCodeLoaders({ blocks: new LayeredBlockstore([node.store.blocks, bundle]) }),
    })
    const [a, b, c, d] = node.plan.accounts as [FundedAccount, FundedAccount, FundedAccount, FundedAccount]
    const eth = node.plan.accounts[6]!
    const stranger = accountKey('stranger', 'secp256k1', 0)
    const strangerBls = accountKey('stranger', 'bls', 1)
    const manifest = manifestFor(node.plan.network, 18)!.actors
    const exec = (code: string, params: Uint8Array): Uint8Array =>
      encode(execParams, { codeCid: manifest.get(code)!, constructorParams: params })
    const wallet = (signers: Address[], threshold: bigint, unlockDuration = 0): Uint8Array =>
      exec(
        'multisig',
        encode(multisigConstructorParams, { signers, numApprovalsThreshold: threshold, unlockDuration, startEpoch: 0 }),
      )
    const propose = (to: Address, value: bigint, method = 0n, params = NOTHING): Uint8Array =>
      encode(proposeParams, { to, value, method, params })
    const self = <T>(target: Address, method: bigint, codec: Codec<T>, value: T): Uint8Array =>
      propose(target, 0n, method, encode(codec, value))
    const txn = (id: number, proposalHash = NOTHING): Uint8Array => encode(txnIDParams, { id, proposalHash })
    const authenticate = (key: FundedAccount, signed: Uint8Array, message: Uint8Array): Uint8Array => {
      const writer = new CborWriter()
      writer.array(2)
      writer.bytes(signWith(keyOf({ type: key.kind, privateKey: key.secretKey }), signed).data)
      writer.bytes(message)
      return writer.finish()
    }
    const hello = Uint8Array.of(1, 2, 3)

    const steps: Step[] = [
      { name: 'new account', from: a, to: stranger.address, value: FIL },
      { name: 'exec without parameters', from: a, to: INIT, method: 2n, exitCode: 16 },
      { name: 'exec of an account', from: a, to: INIT, method: 2n, params: exec('account', NOTHING), exitCode: 18 },
      { name: 'exec of a miner', from: a, to: INIT, method: 2n, params: exec('storageminer', NOTHING), exitCode: 18 },
      { name: 'exec of garbage', from: a, to: INIT, method: 2n, params: Uint8Array.of(0x81, 0x01), exitCode: 21 },
      { name: 'no signers', from: a, to: INIT, method: 2n, params: wallet([], 1n), exitCode: 16, value: FIL },
      {
        name: 'twice a signer',
        from: a,
        to: INIT,
        method: 2n,
        params: wallet([a.address, a.address], 1n),
        exitCode: 16,
      },
      { name: 'threshold too high', from: a, to: INIT, method: 2n, params: wallet([a.address], 2n), exitCode: 16 },
      { name: 'threshold 0', from: a, to: INIT, method: 2n, params: wallet([a.address], 0n), exitCode: 16 },
      { name: 'negative duration', from: a, to: INIT, method: 2n, params: wallet([a.address], 1n, -1), exitCode: 16 },
      {
        name: 'signer that is no actor',
        from: a,
        to: INIT,
        method: 2n,
        params: wallet([idAddress(77777n)], 1n),
        exitCode: 17,
      },
      // A signer without an account gets one.
      {
        name: 'exec',
        from: a,
        to: INIT,
        method: 2n,
        params: wallet([a.address, b.address, strangerBls.address], 2n),
        value: 10n * FIL,
      },
    ]
    const run = async (list: readonly Step[]): Promise<InvocResult[]> => {
      const out: InvocResult[] = []
      for (const step of list) {
        const { stateRoot } = await node.vm.tipsetState(node.store.head())
        const tree = node.view.stateTree(stateRoot)
        const nonce = tree.getActor(tree.lookupId(step.from.address)!)!.nonce
        node.pending.splice(
          0,
          node.pending.length,
          signedBy(step.from, {
            to: step.to,
            value: step.value ?? 0n,
            nonce,
            method: step.method ?? 0n,
            params: step.params ?? NOTHING,
            gasLimit: step.gasLimit ?? 60_000_000n,
          }),
        )
        const tipset = await node.devnet.mine()
        const [native, reference] = [
          await node.vm.compute(tipset, tipset.height, []),
          await wasm.compute(tipset, tipset.height, []),
        ]
        expect(native.trace.length, step.name).toBe(reference.trace.length)
        for (const [i, one] of native.trace.entries()) {
          const other = reference.trace[i]!
          // Where gas runs out depends on the instructions, which are approximated.
          if (one.msgRct.exitCode !== 7) {
            expect(comparable(one.executionTrace), step.name).toEqual(comparable(other.executionTrace))
          }
          expect(one.msgRct.exitCode, step.name).toBe(other.msgRct.exitCode)
          const gas = Number(one.msgRct.gasUsed) / Number(other.msgRct.gasUsed)
          expect(Math.abs(gas - 1), `${step.name}: gas ${gas}`).toBeLessThan(GAS_TOLERANCE)
        }
        const explicit = native.trace.find((one) => one.gasCost.message !== null)!
        expect.soft(explicit.msgRct.exitCode, step.name).toBe(step.exitCode ?? 0)
        out.push(explicit)
      }
      return out
    }
    const results = await run(steps)
    const created = results.at(-1)!.msgRct.return
    expect(created.length).toBeGreaterThan(0)
    const id = readIdAddress(created)

    await run([
      { name: 'propose by a stranger', from: c, to: id, method: 2n, params: propose(c.address, 1n), exitCode: 18 },
      { name: 'propose', from: a, to: id, method: 2n, params: propose(c.address, FIL) },
      { name: 'approve twice', from: a, to: id, method: 3n, params: txn(0), exitCode: 18 },
      {
        name: 'approve with a wrong hash',
        from: b,
        to: id,
        method: 3n,
        params: txn(0, new Uint8Array(32)),
        exitCode: 16,
      },
      { name: 'approve', from: b, to: id, method: 3n, params: txn(0) },
      { name: 'approve what is done', from: b, to: id, method: 3n, params: txn(0), exitCode: 17 },
      { name: 'propose 1', from: a, to: id, method: 2n, params: propose(d.address, 2n * FIL) },
      { name: 'cancel by another', from: b, to: id, method: 4n, params: txn(1), exitCode: 18 },
      {
        name: 'cancel with a wrong hash',
        from: a,
        to: id,
        method: 4n,
        params: txn(1, new Uint8Array(32)),
        exitCode: 20,
      },
      { name: 'cancel', from: a, to: id, method: 4n, params: txn(1) },
      { name: 'cancel again', from: a, to: id, method: 4n, params: txn(1), exitCode: 17 },
      { name: 'propose 2: too much', from: a, to: id, method: 2n, params: propose(d.address, 1000n * FIL) },
      { name: 'approve too much', from: b, to: id, method: 3n, params: txn(2), exitCode: 19 },
      {
        name: 'propose 3: threshold 1',
        from: a,
        to: id,
        method: 2n,
        params: self(id, 8n, changeNumApprovalsThresholdParams, { newThreshold: 1n }),
      },
      { name: 'approve 3', from: b, to: id, method: 3n, params: txn(3) },
      {
        name: 'threshold 0',
        from: a,
        to: id,
        method: 2n,
        params: self(id, 8n, changeNumApprovalsThresholdParams, { newThreshold: 0n }),
      },
      {
        name: 'add signer',
        from: a,
        to: id,
        method: 2n,
        params: self(id, 5n, addSignerParams, { signer: c.address, increase: false }),
      },
      {
        name: 'add signer again',
        from: a,
        to: id,
        method: 2n,
        params: self(id, 5n, addSignerParams, { signer: c.address, increase: true }),
      },
      {
        name: 'add a new key',
        from: a,
        to: id,
        method: 2n,
        params: self(id, 5n, addSignerParams, { signer: accountKey('new', 'secp256k1', 3).address, increase: true }),
      },
      { name: 'back to 1', from: b, to: id, method: 3n, params: txn(2), exitCode: 19 },
      {
        name: 'propose 8 with two needed',
        from: c,
        to: id,
        method: 2n,
        params: self(id, 8n, changeNumApprovalsThresholdParams, { newThreshold: 1n }),
      },
      { name: 'approve it', from: a, to: id, method: 3n, params: txn(8) },
      {
        name: 'swap signer',
        from: a,
        to: id,
        method: 2n,
        params: self(id, 7n, swapSignerParams, { from: b.address, to: d.address }),
      },
      {
        name: 'swap unknown',
        from: a,
        to: id,
        method: 2n,
        params: self(id, 7n, swapSignerParams, { from: b.address, to: d.address }),
      },
      {
        name: 'swap for a signer',
        from: a,
        to: id,
        method: 2n,
        params: self(id, 7n, swapSignerParams, { from: d.address, to: c.address }),
      },
      {
        name: 'remove signer',
        from: c,
        to: id,
        method: 2n,
        params: self(id, 6n, removeSignerParams, { signer: d.address, decrease: false }),
      },
      {
        name: 'remove, decrease below 1',
        from: c,
        to: id,
        method: 2n,
        params: self(id, 6n, removeSignerParams, { signer: a.address, decrease: true }),
      },
      {
        name: 'lock',
        from: a,
        to: id,
        method: 2n,
        params: self(id, 9n, lockBalanceParams, { startEpoch: 10, unlockDuration: 1000, amount: 8n * FIL }),
      },
      {
        name: 'lock again',
        from: a,
        to: id,
        method: 2n,
        params: self(id, 9n, lockBalanceParams, { startEpoch: 10, unlockDuration: 1000, amount: FIL }),
      },
      { name: 'spend what is locked', from: a, to: id, method: 2n, params: propose(d.address, 8n * FIL), exitCode: 19 },
      { name: 'spend what is free', from: a, to: id, method: 2n, params: propose(d.address, FIL) },
      {
        name: 'change signers from outside',
        from: a,
        to: id,
        method: 5n,
        params: encode(addSignerParams, { signer: d.address, increase: true }),
        exitCode: 18,
      },
      { name: 'unknown internal method', from: a, to: id, method: 77n, exitCode: 22 },
      { name: 'unknown exported method', from: a, to: id, method: 1n << 25n },
      {
        name: 'receiver hook',
        from: a,
        to: id,
        method: methodNumber('Receive'),
        params: Uint8Array.of(0x82, 0x01, 0x40),
      },
      { name: 'garbage', from: a, to: id, method: 2n, params: Uint8Array.of(0x80), exitCode: 21 },
      { name: 'no parameters', from: a, to: id, method: 2n, exitCode: 16 },
      {
        name: 'constructor again',
        from: a,
        to: id,
        method: 1n,
        params: encode(multisigConstructorParams, {
          signers: [a.address],
          numApprovalsThreshold: 1n,
          unlockDuration: 0,
          startEpoch: 0,
        }),
        exitCode: 18,
      },
      {
        name: 'send from the wallet to an actor that is not there',
        from: a,
        to: id,
        method: 2n,
        params: propose(idAddress(99999n), 1n),
      },
      {
        name: 'out of gas',
        from: a,
        to: id,
        method: 2n,
        params: propose(d.address, 1n),
        gasLimit: 3_000_000n,
        exitCode: 7,
      },
      { name: 'plain send to the wallet', from: a, to: id, value: FIL },
    ])
    const miner = (
      owner: Address,
      worker: Address,
      proof = 10,
      peer = NOTHING,
      multiaddrs: Uint8Array[] = [],
    ): Uint8Array => {
      const writer = new CborWriter()
      writer.array(5)
      writer.bytes(owner.bytes)
      writer.bytes(worker.bytes)
      writer.int(proof)
      writer.bytes(peer)
      writer.array(multiaddrs.length)
      for (const one of multiaddrs) writer.bytes(one)
      return writer.finish()
    }
    const power = idAddress(4n)
    await run([
      { name: 'create miner', from: a, to: power, method: 2n, params: miner(a.address, d.address), value: FIL },
      {
        name: 'create miner, exported, worker by number',
        from: a,
        to: power,
        method: methodNumber('CreateMiner'),
        params: miner(a.address, idAddress(103n), 11, hello, [hello, hello]),
        value: FIL,
      },
      {
        name: 'create miner without a deposit',
        from: a,
        to: power,
        method: 2n,
        params: miner(a.address, d.address),
        exitCode: 19,
      },
      {
        name: 'worker with a secp key',
        from: a,
        to: power,
        method: 2n,
        params: miner(a.address, b.address),
        value: FIL,
        exitCode: 16,
      },
      {
        name: 'worker that is a wallet',
        from: a,
        to: power,
        method: 2n,
        params: miner(a.address, id),
        value: FIL,
        exitCode: 16,
      },
      {
        name: 'owner that is nobody',
        from: a,
        to: power,
        method: 2n,
        params: miner(accountKey('no one', 'bls', 0).address, d.address),
        value: FIL,
        exitCode: 16,
      },
      {
        name: 'proof of 32 GiB',
        from: a,
        to: power,
        method: 2n,
        params: miner(a.address, d.address, 13),
        value: FIL,
        exitCode: 16,
      },
      {
        name: 'empty multiaddr',
        from: a,
        to: power,
        method: 2n,
        params: miner(a.address, d.address, 10, hello, [NOTHING]),
        value: FIL,
        exitCode: 16,
      },
      {
        name: 'long peer id',
        from: a,
        to: power,
        method: 2n,
        params: miner(a.address, d.address, 10, new Uint8Array(129)),
        value: FIL,
        exitCode: 16,
      },
      { name: 'control addresses of it', from: a, to: idAddress(1000n), method: 2n },
    ])
    await run([
      { name: 'pubkey address', from: a, to: b.address, method: 2n },
      {
        name: 'pubkey address with parameters',
        from: a,
        to: b.address,
        method: 2n,
        params: Uint8Array.of(0x80),
        exitCode: 16,
      },
      {
        name: 'authenticate secp',
        from: a,
        to: b.address,
        method: methodNumber('AuthenticateMessage'),
        params: authenticate(b, hello, hello),
      },
      {
        name: 'authenticate secp, wrong message',
        from: a,
        to: b.address,
        method: methodNumber('AuthenticateMessage'),
        params: authenticate(b, hello, concatBytes(hello, hello)),
        exitCode: 16,
      },
      {
        name: 'authenticate BLS',
        from: a,
        to: d.address,
        method: methodNumber('AuthenticateMessage'),
        params: authenticate(d, hello, hello),
      },
      {
        name: 'authenticate BLS, wrong length',
        from: a,
        to: d.address,
        method: methodNumber('AuthenticateMessage'),
        params: authenticate(b, hello, hello),
        exitCode: 16,
      },
      {
        name: 'authenticate BLS, wrong message',
        from: a,
        to: d.address,
        method: methodNumber('AuthenticateMessage'),
        params: authenticate(d, hello, concatBytes(hello, hello)),
        exitCode: 16,
      },
      {
        name: 'account constructor',
        from: a,
        to: b.address,
        method: 1n,
        params: encode(proposeParams, { to: a.address, value: 0n, method: 0n, params: NOTHING }),
        exitCode: 21,
      },
      { name: 'account unknown method', from: a, to: b.address, method: 9n, exitCode: 22 },
      {
        name: 'account exported method',
        from: a,
        to: b.address,
        method: methodNumber('InvokeEVM'),
        params: Uint8Array.of(0x41, 0x01),
      },
      { name: 'Ethereum account', from: a, to: eth.address, method: methodNumber('InvokeEVM') },
      { name: 'Ethereum account, internal method', from: a, to: eth.address, method: 9n, exitCode: 22 },
      { name: 'placeholder', from: a, to: accountKey('nobody', 'delegated', 0).address, value: FIL },
      {
        name: 'placeholder, method',
        from: a,
        to: accountKey('nobody', 'delegated', 0).address,
        method: methodNumber('InvokeEVM'),
      },
      { name: 'system', from: a, to: idAddress(0n), method: 1n, exitCode: 18 },
      { name: 'system, unknown method', from: a, to: idAddress(0n), method: 2n, exitCode: 22 },
      { name: 'cron', from: a, to: idAddress(3n), method: 2n, exitCode: 18 },
      { name: 'reward', from: a, to: idAddress(2n), method: 3n },
      {
        name: 'reward, award',
        from: a,
        to: idAddress(2n),
        method: 2n,
        params: Uint8Array.of(0x84, 0x42, 0x00, 0x64, 0x40, 0x40, 0x01),
        exitCode: 18,
      },
      {
        name: 'reward, KPI',
        from: a,
        to: idAddress(2n),
        method: 4n,
        params: Uint8Array.of(0x42, 0x00, 0x01),
        exitCode: 18,
      },
      { name: 'power', from: a, to: idAddress(4n), method: 9n },
      { name: 'power, tick', from: a, to: idAddress(4n), method: 5n, exitCode: 18 },
      {
        name: 'power, pledge',
        from: a,
        to: idAddress(4n),
        method: 6n,
        params: Uint8Array.of(0x42, 0x00, 0x01),
        exitCode: 18,
      },
      {
        name: 'power, claim',
        from: a,
        to: idAddress(4n),
        method: 3n,
        params: Uint8Array.of(0x82, 0x40, 0x40),
        exitCode: 18,
      },
      {
        name: 'power, enroll',
        from: a,
        to: idAddress(4n),
        method: 4n,
        params: Uint8Array.of(0x82, 0x01, 0x40),
        exitCode: 18,
      },
      { name: 'network raw power', from: a, to: idAddress(4n), method: methodNumber('NetworkRawPower') },
      {
        name: 'miner raw power',
        from: a,
        to: idAddress(4n),
        method: methodNumber('MinerRawPower'),
        params: Uint8Array.of(0x19, 0x03, 0xe8),
      },
      {
        name: 'miner raw power, unknown',
        from: a,
        to: idAddress(4n),
        method: methodNumber('MinerRawPower'),
        params: Uint8Array.of(0x01),
        exitCode: 16,
      },
      { name: 'miner count', from: a, to: idAddress(4n), method: methodNumber('MinerCount') },
      { name: 'miner consensus count', from: a, to: idAddress(4n), method: methodNumber('MinerConsensusCount') },
      {
        name: 'miner power',
        from: a,
        to: idAddress(4n),
        method: methodNumber('MinerPower'),
        params: Uint8Array.of(0x19, 0x03, 0xe8),
      },
      {
        name: 'miner power, unknown',
        from: a,
        to: idAddress(4n),
        method: methodNumber('MinerPower'),
        params: Uint8Array.of(0x01),
        exitCode: 17,
      },
      { name: 'control addresses', from: a, to: idAddress(1000n), method: 2n },
      {
        name: 'apply rewards',
        from: a,
        to: idAddress(1000n),
        method: 14n,
        params: Uint8Array.of(0x82, 0x40, 0x40),
        exitCode: 18,
      },
      { name: 'send to a miner', from: a, to: idAddress(1000n), value: FIL },
      { name: 'market tick', from: a, to: idAddress(5n), method: 9n, exitCode: 18 },
      {
        name: 'init constructor',
        from: a,
        to: INIT,
        method: 1n,
        params: Uint8Array.of(0x81, 0x61, 0x61),
        exitCode: 18,
      },
      {
        name: 'exec4',
        from: a,
        to: INIT,
        method: 3n,
        params: concatBytes(Uint8Array.of(0x83), exec('multisig', NOTHING).subarray(1, -1), Uint8Array.of(0x40, 0x40)),
        exitCode: 18,
      },
    ])
  })
})

/** The f0 address in an ExecReturn. */
function readIdAddress(result: Uint8Array): Address {
  const length = result[1]! & 0x1f
  let id = 0n
  for (let i = length - 1; i >= 1; i--) id = (id << 7n) | BigInt(result[2 + i]! & 0x7f)
  return idAddress(id)
}
