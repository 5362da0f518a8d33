import type { SelfOps } from '../../kernel/kernel.ts'
import { NOTHING, type SyscallRow, syscallsOf, TOKEN, U32, u32 } from './row.ts'

const self = syscallsOf<SelfOps>('self')

/** The actor's own state and balance. @see ref-fvm fvm/src/syscalls/sself.rs */
const SHARED: readonly SyscallRow[] = [
  self('root', 'ii', U32, ({ kernel, memory }, outAt, outLength) => {
    memory.checkBounds(u32(outAt), u32(outLength))
    return memory.writeCid(kernel.root(), u32(outAt), u32(outLength))
  }),
  self('set_root', 'i', NOTHING, ({ kernel, memory }, cidAt) => kernel.setRoot(memory.readCid(u32(cidAt)))),
  self('current_balance', '', TOKEN, ({ kernel }) => kernel.currentBalance()),
]

/** FVM 2 and 3: who deletes itself names a beneficiary. */
export const SELF_SYSCALLS_2_3: readonly SyscallRow[] = [
  ...SHARED,
  self('self_destruct', 'ii', NOTHING, ({ kernel, memory }, addressAt, addressLength) =>
    kernel.selfDestructTo(memory.readAddress(u32(addressAt), u32(addressLength))),
  ),
]

/** FIP-0073 */
export const SELF_SYSCALLS_4: readonly SyscallRow[] = [
  ...SHARED,
  self('self_destruct', 'i', NOTHING, ({ kernel }, burnUnspent) => kernel.selfDestruct(burnUnspent !== 0)),
]
