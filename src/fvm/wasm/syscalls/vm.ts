import { Exit, FIRST_USER_EXIT_CODE } from '../../../types/exitCodes.ts'
import type { MessageContext, MessageOps, NetworkContext, NetworkOps } from '../../kernel/kernel.ts'
import { ActorExit, SyscallError } from '../../kernel/outcomes.ts'
import { lossyText } from '../actorMemory.ts'
import { NOTHING, type ResultForm, type SyscallContext, type SyscallRow, syscallsOf, u32, writeToken } from './row.ts'

const vm = syscallsOf<MessageOps & NetworkOps>('vm')

/** Bytes of an exit message that go into a backtrace. */
const MAX_MESSAGE_BYTES = 1024
const READ_ONLY_FLAG = 1n

/** @see ref-fvm shared/src/sys/out.rs `vm::MessageContext` */
const MESSAGE_CONTEXT: ResultForm<MessageContext> = {
  size: 80,
  write: (view, at, context) => {
    view.setBigUint64(at, context.origin, true)
    view.setBigUint64(at + 8, context.nonce, true)
    view.setBigUint64(at + 16, context.caller, true)
    view.setBigUint64(at + 24, context.receiver, true)
    view.setBigUint64(at + 32, context.method, true)
    writeToken(view, at + 40, context.valueReceived)
    writeToken(view, at + 56, context.gasPremium)
    view.setBigUint64(at + 72, context.readOnly ? READ_ONLY_FLAG : 0n, true)
  },
}

interface InvocationContext {
  readonly message: MessageContext
  readonly network: NetworkContext
}

/** @see ref-fvm release/v2 shared/src/sys/out.rs `vm::InvocationContext` */
const INVOCATION_CONTEXT: ResultForm<InvocationContext> = {
  size: 52,
  write: (view, at, { message, network }) => {
    writeToken(view, at, message.valueReceived)
    view.setBigUint64(at + 16, message.caller, true)
    view.setBigUint64(at + 24, message.receiver, true)
    view.setBigUint64(at + 32, message.method, true)
    view.setBigInt64(at + 40, BigInt(network.epoch), true)
    view.setUint32(at + 48, network.networkVersion, true)
  },
}

function exitMessage({ memory }: SyscallContext<unknown>, at: number, length: number): string {
  if (length === 0) return 'actor aborted'
  let bytes: Uint8Array
  try {
    bytes = memory.slice(at, length)
  } catch (error) {
    if (error instanceof SyscallError) return `failed to extract error message: ${error.message}`
    throw error
  }
  if (length <= MAX_MESSAGE_BYTES) return lossyText(bytes)
  const half = MAX_MESSAGE_BYTES / 2
  const head = lossyText(bytes.subarray(0, half))
  const tail = lossyText(bytes.subarray(length - half))
  return `${head} ... (skipped ${length - MAX_MESSAGE_BYTES} bytes) ... ${tail}`
}

/** @see ref-fvm release/v2 fvm/src/syscalls/vm.rs */
export const VM_SYSCALLS_2: readonly SyscallRow[] = [
  vm('abort', 'iii', NOTHING, ({ memory }, codeWord, messageAt, messageLength) => {
    const code = u32(codeWord)
    // Unlike `exit`, 0 is a system's code here.
    if (code < FIRST_USER_EXIT_CODE) {
      throw new ActorExit(Exit.SYS_ILLEGAL_EXIT_CODE, `actor aborted with code ${code}`)
    }
    let message = 'actor aborted'
    if (messageLength !== 0) {
      try {
        message = memory.readText(u32(messageAt), u32(messageLength))
      } catch (error) {
        if (!(error instanceof SyscallError)) throw error
        message = `actor aborted with an invalid message: ${error.message} (code=IllegalArgument)`
      }
    }
    throw new ActorExit(code, message)
  }),
  vm('context', '', INVOCATION_CONTEXT, ({ kernel }) => ({
    message: kernel.messageContext(),
    network: kernel.networkContext(),
  })),
]

/** @see ref-fvm fvm/src/syscalls/vm.rs */
export const VM_SYSCALLS_3_4: readonly SyscallRow[] = [
  vm('exit', 'iiii', NOTHING, (context, codeWord, handle, messageAt, messageLength) => {
    const code = u32(codeWord)
    if (code !== 0 && code < FIRST_USER_EXIT_CODE) {
      throw new ActorExit(Exit.SYS_ILLEGAL_EXIT_CODE, `actor aborted with code ${code}`, u32(handle))
    }
    throw new ActorExit(code, exitMessage(context, u32(messageAt), u32(messageLength)), u32(handle))
  }),
  vm('message_context', '', MESSAGE_CONTEXT, ({ kernel }) => kernel.messageContext()),
]
