import type { NetworkContext, NetworkOps, RandomnessOps } from '../../kernel/kernel.ts'
import { bytesResult, type ResultForm, type SyscallRow, syscallsOf, TOKEN, U32, u32, writeToken } from './row.ts'

const network = syscallsOf<NetworkOps>('network')
const rand = syscallsOf<RandomnessOps>('rand')

const RANDOMNESS_BYTES = 32

/** @see ref-fvm shared/src/sys/out.rs `NetworkContext` */
const NETWORK_CONTEXT: ResultForm<NetworkContext> = {
  size: 44,
  write: (view, at, { epoch, timestamp, baseFee, chainId, networkVersion }) => {
    view.setBigInt64(at, BigInt(epoch), true)
    view.setBigUint64(at + 8, timestamp, true)
    writeToken(view, at + 16, baseFee)
    view.setBigUint64(at + 32, chainId, true)
    view.setUint32(at + 40, networkVersion, true)
  },
}

const CIRCULATING_SUPPLY: SyscallRow = network('total_fil_circ_supply', '', TOKEN, ({ kernel }) =>
  kernel.totalFilCircSupply(),
)

/** @see ref-fvm release/v2 fvm/src/syscalls/network.rs */
export const NETWORK_SYSCALLS_2: readonly SyscallRow[] = [
  network('base_fee', '', TOKEN, ({ kernel }) => kernel.baseFee()),
  CIRCULATING_SUPPLY,
]

/** @see ref-fvm fvm/src/syscalls/network.rs */
export const NETWORK_SYSCALLS_3_4: readonly SyscallRow[] = [
  network('context', '', NETWORK_CONTEXT, ({ kernel }) => kernel.networkContext()),
  network('tipset_cid', 'lii', U32, ({ kernel, memory }, epoch, outAt, outLength) => {
    memory.checkBounds(u32(outAt), u32(outLength))
    return memory.writeCid(kernel.tipsetCid(epoch), u32(outAt), u32(outLength))
  }),
  CIRCULATING_SUPPLY,
]

const RANDOMNESS = bytesResult(RANDOMNESS_BYTES)

/** @see ref-fvm release/v3 fvm/src/syscalls/rand.rs */
export const RANDOMNESS_SYSCALLS_2_3: readonly SyscallRow[] = [
  rand('get_chain_randomness', 'llii', RANDOMNESS, ({ kernel, memory }, tag, epoch, at, length) =>
    kernel.chainRandomnessTagged(tag, epoch, memory.slice(u32(at), u32(length))),
  ),
  rand('get_beacon_randomness', 'llii', RANDOMNESS, ({ kernel, memory }, tag, epoch, at, length) =>
    kernel.beaconRandomnessTagged(tag, epoch, memory.slice(u32(at), u32(length))),
  ),
]

/** FIP-0075 */
export const RANDOMNESS_SYSCALLS_4: readonly SyscallRow[] = [
  rand('get_chain_randomness', 'l', RANDOMNESS, ({ kernel }, epoch) => kernel.chainRandomness(epoch)),
  rand('get_beacon_randomness', 'l', RANDOMNESS, ({ kernel }, epoch) => kernel.beaconRandomness(epoch)),
]
