import type { DebugOps, GasOps, SendOps, SendResult } from '../../kernel/kernel.ts'
import {
  I32_RESULT,
  NOTHING,
  nestingSyscallsOf,
  type ResultForm,
  type SyscallRow,
  syscallsOf,
  U64,
  u32,
  u64,
} from './row.ts'

const gas = syscallsOf<GasOps>('gas')
const debug = syscallsOf<DebugOps>('debug')

const MAX_U64 = (1n << 64n) - 1n
const MILLIGAS = 1000

/** @see ref-fvm shared/src/sys/out.rs `Send` */
const SENT: ResultForm<SendResult> = {
  size: 20,
  write: (view, at, { exitCode, returnHandle, returnCodec, returnSize }) => {
    view.setUint32(at, exitCode, true)
    view.setUint32(at + 4, returnHandle, true)
    view.setBigUint64(at + 8, BigInt(returnCodec), true)
    view.setUint32(at + 16, returnSize, true)
  },
}

/** @see ref-fvm release/v2 fvm/src/syscalls/send.rs */
export const SEND_SYSCALLS_2: readonly SyscallRow[] = [
  nestingSyscallsOf<SendOps>('send')(
    'send',
    'iilill',
    SENT,
    ({ kernel, memory }, at, length, method, params, valueHigh, valueLow) =>
      kernel.sendSteps(
        memory.readAddress(u32(at), u32(length)),
        u64(method),
        u32(params),
        (u64(valueHigh) << 64n) | u64(valueLow),
      ),
  ),
]

/** @see ref-fvm fvm/src/syscalls/send.rs */
export const SEND_SYSCALLS_3_4: readonly SyscallRow[] = [
  nestingSyscallsOf<SendOps>('send')(
    'send',
    'iilillll',
    SENT,
    ({ kernel, memory }, at, length, method, params, valueHigh, valueLow, gasLimit, flags) => {
      const limit = u64(gasLimit)
      return kernel.sendSteps(
        memory.readAddress(u32(at), u32(length)),
        u64(method),
        u32(params),
        (u64(valueHigh) << 64n) | u64(valueLow),
        limit === MAX_U64 ? undefined : limit,
        u64(flags),
      )
    },
  ),
]

/** A refund is possible there: the amount is signed. @see ref-fvm release/v2 fvm/src/syscalls/gas.rs */
export const GAS_SYSCALLS_2: readonly SyscallRow[] = [
  gas('charge', 'iil', NOTHING, ({ kernel, memory }, nameAt, nameLength, gas) =>
    kernel.chargeGas(memory.readText(u32(nameAt), u32(nameLength)), Number(gas) * MILLIGAS),
  ),
]

/** @see ref-fvm fvm/src/syscalls/gas.rs */
export const GAS_SYSCALLS_3_4: readonly SyscallRow[] = [
  gas('charge', 'iil', NOTHING, ({ kernel, memory }, nameAt, nameLength, gas) =>
    kernel.chargeGas(memory.readText(u32(nameAt), u32(nameLength)), Number(u64(gas)) * MILLIGAS),
  ),
  gas('available', '', U64, ({ kernel }) => kernel.gasAvailable()),
]

/** @see ref-fvm fvm/src/syscalls/debug.rs */
export const DEBUG_SYSCALLS: readonly SyscallRow[] = [
  debug('log', 'ii', NOTHING, ({ kernel, memory }, at, length) => {
    if (kernel.debugEnabled()) kernel.log(memory.readText(u32(at), u32(length)))
  }),
  debug('enabled', '', I32_RESULT, ({ kernel }) => (kernel.debugEnabled() ? 0 : -1)),
  debug('store_artifact', 'iiii', NOTHING, ({ kernel, memory }, nameAt, nameLength, dataAt, dataLength) => {
    if (!kernel.debugEnabled()) return
    const data = memory.slice(u32(dataAt), u32(dataLength))
    kernel.storeArtifact(memory.readText(u32(nameAt), u32(nameLength)), data)
  }),
]
