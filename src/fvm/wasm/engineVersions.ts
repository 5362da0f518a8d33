/**
 * How actors' Wasm runs in each major version of the machine.
 * @see ref-fvm fvm/src/engine/mod.rs; release/v2 fvm/src/machine/engine.rs
 */
import { FVM2_RULES, FVM4_HOST_MEMORY_RULES, FVM4_RULES, type InstrumentationRules } from './rules.ts'
import type { SyscallRow } from './syscalls/row.ts'
import { SYSCALLS } from './syscalls/table.ts'

/** How modules are instrumented and linked, and what a start that fails means. */
export interface EngineVersion {
  readonly instrumentation: InstrumentationRules
  /** For modules that run in memory of the host; undefined: none do. */
  readonly hostMemory: InstrumentationRules | undefined
  readonly syscalls: readonly SyscallRow[]
  /** Whether what runs while an instance starts is charged for; else it has no gas at all. */
  readonly chargesStart: boolean
  /** Whether a module that does not start ends its call; else it is the machine's failure. */
  readonly failedStartExits: boolean
  /** The same of a module without entry point. */
  readonly missingEntryExits: boolean
}

const FVM_4: EngineVersion = {
  instrumentation: FVM4_RULES,
  hostMemory: FVM4_HOST_MEMORY_RULES,
  syscalls: SYSCALLS[4],
  chargesStart: true,
  failedStartExits: true,
  missingEntryExits: true,
}

/** By the machine's major version. */
export const ENGINE_VERSIONS: Readonly<Record<2 | 3 | 4, EngineVersion>> = {
  2: {
    instrumentation: FVM2_RULES,
    hostMemory: undefined,
    syscalls: SYSCALLS[2],
    chargesStart: false,
    failedStartExits: false,
    missingEntryExits: false,
  },
  3: { ...FVM_4, syscalls: SYSCALLS[3], missingEntryExits: false },
  4: FVM_4,
}
