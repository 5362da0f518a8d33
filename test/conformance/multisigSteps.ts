/** Messages that make wallets of several signers, and messages to such a wallet. */
import { methodNumber } from '../../src/actors/frc42.ts'
import { encode } from '../../src/codec/description.ts'
import { accountKey } from '../../src/devnet/keys.ts'
import {
  addSignerParams,
  changeNumApprovalsThresholdParams,
  lockBalanceParams,
  constructorParams as multisigConstructorParams,
  removeSignerParams,
  swapSignerParams,
} from '../../src/state/params/multisig.ts'
import { type Address, idAddress } from '../../src/types/address.ts'
import { type Cast, FIL, INIT, NOTHING, propose, type Step, self, txn } from './wasmSteps.ts'

/** What makes a wallet, last of all one of `a`, `b` and a key that has no account yet. */
export function creationSteps({ a, b, exec }: Cast): readonly Step[] {
  const stranger = accountKey('stranger', 'secp256k1', 0)
  const strangerBls = accountKey('stranger', 'bls', 1)
  const wallet = (signers: Address[], threshold: bigint, unlockDuration = 0n): Uint8Array =>
    exec(
      'multisig',
      encode(multisigConstructorParams, { signers, numApprovalsThreshold: threshold, unlockDuration, startEpoch: 0n }),
    )
  return [
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
    { name: 'negative duration', from: a, to: INIT, method: 2n, params: wallet([a.address], 1n, -1n), exitCode: 16 },
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
}

/** Messages to the wallet `id` that was made last. */
export function walletSteps({ a, b, c, d }: Cast, id: Address): readonly Step[] {
  return [
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
      params: self(id, 9n, lockBalanceParams, { startEpoch: 10n, unlockDuration: 1000n, amount: 8n * FIL }),
    },
    {
      name: 'lock again',
      from: a,
      to: id,
      method: 2n,
      params: self(id, 9n, lockBalanceParams, { startEpoch: 10n, unlockDuration: 1000n, amount: FIL }),
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
        unlockDuration: 0n,
        startEpoch: 0n,
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
  ]
}
