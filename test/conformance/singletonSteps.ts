/** Messages to the actors of which there is one, and to a miner. */
import { methodNumber } from '../../src/actors/frc42.ts'
import { concatBytes } from '../../src/base/bytes.ts'
import { idAddress } from '../../src/types/address.ts'
import { type Cast, FIL, INIT, NOTHING, type Step } from './wasmSteps.ts'

/** Messages to singletons. */
export function singletonSteps({ a, exec }: Cast): readonly Step[] {
  return [
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
  ]
}
