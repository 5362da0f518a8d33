import type { EventEntryHeader, EventOps } from '../../kernel/kernel.ts'
import { Errno, SyscallError } from '../../kernel/outcomes.ts'
import { NOTHING, type SyscallRow, syscallsOf, u32 } from './row.ts'

const event = syscallsOf<EventOps>('event')

/** flags u64, codec u64, key length u32, value length u32. @see ref-fvm shared/src/sys/mod.rs `EventEntry` */
const ENTRY_BYTES = 24
const MAX_U32 = 0xffff_ffff
/**
 * The kernel charges for all entries and refuses more than 255 of them. What lies behind that is only counted, not read,
 * so that a hostile count costs the host nothing.
 */
const ENTRIES_READ = 256

/** @see ref-fvm release/v3 fvm/src/syscalls/event.rs */
export const EVENT_SYSCALLS_3: readonly SyscallRow[] = [
  event('emit_event', 'ii', NOTHING, ({ kernel, memory }, at, length) =>
    kernel.emitEventCbor(memory.slice(u32(at), u32(length))),
  ),
]

/** FIP-0072. @see ref-fvm fvm/src/syscalls/event.rs */
export const EVENT_SYSCALLS_4: readonly SyscallRow[] = [
  event(
    'emit_event',
    'iiiiii',
    NOTHING,
    ({ kernel, memory }, entriesAt, entryCount, keysAt, keysLength, valuesAt, valuesLength) => {
      const count = u32(entryCount)
      if (count * ENTRY_BYTES > MAX_U32) throw new SyscallError(Errno.IllegalArgument, 'events index out of bounds')
      memory.checkBounds(u32(entriesAt), count * ENTRY_BYTES)
      const keys = memory.slice(u32(keysAt), u32(keysLength))
      const values = memory.slice(u32(valuesAt), u32(valuesLength))
      const { view } = memory
      const entries: EventEntryHeader[] = []
      for (let index = 0; index < Math.min(count, ENTRIES_READ); index++) {
        const at = u32(entriesAt) + index * ENTRY_BYTES
        entries.push({
          flags: view.getBigUint64(at, true),
          codec: view.getBigUint64(at + 8, true),
          keyLength: view.getUint32(at + 16, true),
          valueLength: view.getUint32(at + 20, true),
        })
      }
      entries.length = count
      kernel.emitEvent(entries, keys, values)
    },
  ),
]
