/** Messages that make miners. */
import { methodNumber } from '../../src/actors/frc42.ts'
import { CborWriter } from '../../src/codec/cborWriter.ts'
import { accountKey } from '../../src/devnet/keys.ts'
import { type Address, idAddress } from '../../src/types/address.ts'
import { type Cast, FIL, hello, NOTHING, type Step } from './wasmSteps.ts'

/** Parameters of `CreateMiner`. */
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

/** Messages to the power actor; `id` is a wallet. */
export function minerSteps({ a, b, d }: Cast, id: Address): readonly Step[] {
  const power = idAddress(4n)
  return [
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
  ]
}
