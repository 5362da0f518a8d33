/** Every import that an actor may have, by major version, in the reference's order. */
import { ACTOR_SYSCALLS_2, ACTOR_SYSCALLS_3_4 } from './actor.ts'
import { DEBUG_SYSCALLS, GAS_SYSCALLS_2, GAS_SYSCALLS_3_4, SEND_SYSCALLS_2, SEND_SYSCALLS_3_4 } from './call.ts'
import { NETWORK_SYSCALLS_2, NETWORK_SYSCALLS_3_4, RANDOMNESS_SYSCALLS_2_3, RANDOMNESS_SYSCALLS_4 } from './chain.ts'
import { CRYPTO_SYSCALLS_2, CRYPTO_SYSCALLS_3, CRYPTO_SYSCALLS_4 } from './crypto.ts'
import { EVENT_SYSCALLS_3, EVENT_SYSCALLS_4 } from './event.ts'
import { IPLD_SYSCALLS } from './ipld.ts'
import type { SyscallRow } from './row.ts'
import { SELF_SYSCALLS_2_3, SELF_SYSCALLS_4 } from './self.ts'
import { VM_SYSCALLS_2, VM_SYSCALLS_3_4 } from './vm.ts'

/** @see ref-fvm release/v2 fvm/src/syscalls/mod.rs `bind_syscalls` */
const FVM_2: readonly SyscallRow[] = [
  ...VM_SYSCALLS_2,
  ...NETWORK_SYSCALLS_2,
  ...IPLD_SYSCALLS,
  ...SELF_SYSCALLS_2_3,
  ...ACTOR_SYSCALLS_2,
  ...CRYPTO_SYSCALLS_2,
  ...RANDOMNESS_SYSCALLS_2_3,
  ...GAS_SYSCALLS_2,
  ...SEND_SYSCALLS_2,
  ...DEBUG_SYSCALLS,
]

/** @see ref-fvm release/v3 fvm/src/syscalls/mod.rs `bind_syscalls` */
const FVM_3: readonly SyscallRow[] = [
  ...VM_SYSCALLS_3_4,
  ...NETWORK_SYSCALLS_3_4,
  ...IPLD_SYSCALLS,
  ...SELF_SYSCALLS_2_3,
  ...ACTOR_SYSCALLS_3_4,
  ...CRYPTO_SYSCALLS_3,
  ...EVENT_SYSCALLS_3,
  ...RANDOMNESS_SYSCALLS_2_3,
  ...GAS_SYSCALLS_3_4,
  ...SEND_SYSCALLS_3_4,
  ...DEBUG_SYSCALLS,
]

/** @see ref-fvm master fvm/src/syscalls/mod.rs `link_syscalls` of DefaultKernel, then of DefaultFilecoinKernel */
const FVM_4: readonly SyscallRow[] = [
  ...VM_SYSCALLS_3_4,
  ...NETWORK_SYSCALLS_3_4,
  ...IPLD_SYSCALLS,
  ...SELF_SYSCALLS_4,
  ...ACTOR_SYSCALLS_3_4,
  ...CRYPTO_SYSCALLS_4,
  ...EVENT_SYSCALLS_4,
  ...RANDOMNESS_SYSCALLS_4,
  ...GAS_SYSCALLS_3_4,
  ...SEND_SYSCALLS_3_4,
  ...DEBUG_SYSCALLS,
]

/** The imports of each major version of the machine. */
export const SYSCALLS: Readonly<Record<2 | 3 | 4, readonly SyscallRow[]>> = { 2: FVM_2, 3: FVM_3, 4: FVM_4 }
