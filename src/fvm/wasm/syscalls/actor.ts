import type { ActorOps } from '../../kernel/kernel.ts'
import { Errno, FatalError, SyscallError } from '../../kernel/outcomes.ts'
import {
  I32_RESULT,
  NOTHING,
  type SyscallContext,
  type SyscallRow,
  syscallsOf,
  TOKEN,
  U32,
  U64,
  u32,
  u64,
} from './row.ts'

const actor = syscallsOf<ActorOps>('actor')

/** Bytes of an f2 address. */
const ACTOR_ADDRESS_BYTES = 21

const RESOLVE_ADDRESS: SyscallRow = actor('resolve_address', 'ii', U64, ({ kernel, memory }, at, length) =>
  kernel.resolveAddress(memory.readAddress(u32(at), u32(length))),
)

const GET_ACTOR_CODE_CID: SyscallRow = actor(
  'get_actor_code_cid',
  'lii',
  U32,
  ({ kernel, memory }, id, outAt, outLength) => {
    memory.checkBounds(u32(outAt), u32(outLength))
    return memory.writeCid(kernel.getActorCodeCid(u64(id)), u32(outAt), u32(outLength))
  },
)

const BUILTIN_TYPES: readonly SyscallRow[] = [
  actor('get_builtin_actor_type', 'i', I32_RESULT, ({ kernel, memory }, codeAt) =>
    kernel.getBuiltinActorType(memory.readCid(u32(codeAt))),
  ),
  actor('get_code_cid_for_type', 'iii', U32, ({ kernel, memory }, type, outAt, outLength) => {
    memory.checkBounds(u32(outAt), u32(outLength))
    return memory.writeCid(kernel.getCodeCidForType(u32(type)), u32(outAt), u32(outLength))
  }),
]

function nextActorAddress({ kernel, memory }: SyscallContext<ActorOps>, outAt: number, outLength: number): number {
  memory.checkBounds(u32(outAt), u32(outLength))
  if (u32(outLength) < ACTOR_ADDRESS_BYTES) {
    throw new SyscallError(Errno.BufferTooSmall, 'output buffer must have a minimum capacity of 21 bytes')
  }
  const { bytes } = kernel.nextActorAddress()
  if (bytes.length > u32(outLength)) throw new FatalError(`created ${bytes.length} byte actor address`)
  memory.bytes.set(bytes, u32(outAt))
  return bytes.length
}

/** Other actors. @see ref-fvm release/v2 fvm/src/syscalls/actor.rs */
export const ACTOR_SYSCALLS_2: readonly SyscallRow[] = [
  RESOLVE_ADDRESS,
  GET_ACTOR_CODE_CID,
  actor('new_actor_address', 'ii', U32, nextActorAddress),
  actor('create_actor', 'li', NOTHING, ({ kernel, memory }, id, codeAt) =>
    kernel.createActor(memory.readCid(u32(codeAt)), u64(id), null),
  ),
  ...BUILTIN_TYPES,
]

/** `upgrade_actor` and `install_actor` exist behind build flags that no network sets. @see fvm/src/syscalls/actor.rs */
export const ACTOR_SYSCALLS_3_4: readonly SyscallRow[] = [
  RESOLVE_ADDRESS,
  actor('lookup_delegated_address', 'lii', U32, ({ kernel, memory }, id, outAt, outLength) => {
    memory.checkBounds(u32(outAt), u32(outLength))
    const address = kernel.lookupDelegatedAddress(u64(id))
    if (address === null) return 0
    if (address.bytes.length > u32(outLength)) {
      throw new SyscallError(Errno.BufferTooSmall, 'address output buffer is too small')
    }
    memory.bytes.set(address.bytes, u32(outAt))
    return address.bytes.length
  }),
  GET_ACTOR_CODE_CID,
  actor('next_actor_address', 'ii', U32, nextActorAddress),
  actor('create_actor', 'liii', NOTHING, ({ kernel, memory }, id, codeAt, delegatedAt, delegatedLength) => {
    const code = memory.readCid(u32(codeAt))
    const length = u32(delegatedLength)
    kernel.createActor(code, u64(id), length > 0 ? memory.readAddress(u32(delegatedAt), length) : null)
  }),
  ...BUILTIN_TYPES,
  actor('balance_of', 'l', TOKEN, ({ kernel }, id) => kernel.balanceOf(u64(id))),
]
