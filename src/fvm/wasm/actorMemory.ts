import { EMPTY_BYTES } from '../../base/bytes.ts'
import type { Cid } from '../../codec/cid.ts'
import { CodecError } from '../../codec/errors.ts'
import { readMachineCid } from '../../codec/machineCid.ts'
import { type Address, machineAddress } from '../../types/address.ts'
import { Errno, SyscallError } from '../kernel/outcomes.ts'
import { PAGE_BYTES } from './interfaceNames.ts'
import type { WasmInt32Global, WasmMemory } from './webAssembly.ts'

const NO_BYTES = new DataView(new ArrayBuffer(0))

/**
 * An actor's linear memory, seen from the host. Every address comes from the actor: all are unsigned, bounds checked and
 * possibly unaligned. Until the instance is ready the memory is empty, as in the reference.
 * @see ref-fvm fvm/src/syscalls/context.rs `Memory`
 */
export class ActorMemory {
  /** All of it; stale after anything that may run the actor, see {@link refresh}. */
  bytes: Uint8Array = EMPTY_BYTES
  view: DataView = NO_BYTES
  #memory: WasmMemory | undefined
  /** pages of it that are the actor's; undefined: all */
  #pages: WasmInt32Global | undefined

  /**
   * Uses `memory` from now on.
   * @param pages - how much of it, where it is the host's
   */
  attach(memory: WasmMemory, pages?: WasmInt32Global): void {
    this.#memory = memory
    this.#pages = pages
    this.refresh()
  }

  /** Rebuilds the views if the memory grew: growing detaches the buffer below them. */
  refresh(): void {
    const buffer = this.#memory?.buffer
    if (buffer === undefined) return
    if (this.#pages !== undefined) {
      const length = this.#pages.value * PAGE_BYTES
      if (buffer === this.view.buffer && length === this.bytes.length) return
      this.bytes = new Uint8Array(buffer, 0, length)
      this.view = new DataView(buffer, 0, length)
      return
    }
    if (buffer === this.view.buffer) return
    this.bytes = new Uint8Array(buffer)
    this.view = new DataView(buffer)
  }

  /** @throws SyscallError IllegalArgument unless `[offset, offset + length)` is inside */
  checkBounds(offset: number, length: number): void {
    if (offset + length > this.bytes.length) {
      throw new SyscallError(Errno.IllegalArgument, `buffer ${offset} (length ${length}) out of bounds`)
    }
  }

  /** A view, for the duration of one syscall. @throws SyscallError IllegalArgument */
  slice(offset: number, length: number): Uint8Array {
    this.checkBounds(offset, length)
    return this.bytes.subarray(offset, offset + length)
  }

  /**
   * Reads a CID that may end anywhere in memory.
   * @throws SyscallError IllegalArgument
   */
  readCid(offset: number): Cid {
    if (offset > this.bytes.length) {
      throw new SyscallError(Errno.IllegalArgument, `cid at offset ${offset} is out of bounds`)
    }
    try {
      return readMachineCid(this.bytes, offset).cid
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      throw new SyscallError(Errno.IllegalArgument, 'failed to parse cid')
    }
  }

  /**
   * Writes a CID into `[offset, offset + length)`.
   * @returns its length
   * @throws SyscallError IllegalArgument, BufferTooSmall
   */
  writeCid(cid: Cid, offset: number, length: number): number {
    this.checkBounds(offset, length)
    if (cid.length > length) throw new SyscallError(Errno.BufferTooSmall, 'cid output buffer is too small')
    this.bytes.set(cid.bytes, offset)
    return cid.length
  }

  /** @throws SyscallError IllegalArgument */
  readAddress(offset: number, length: number): Address {
    const bytes = this.slice(offset, length)
    try {
      return machineAddress(bytes)
    } catch (error) {
      if (!(error instanceof CodecError)) throw error
      throw new SyscallError(Errno.IllegalArgument, error.message)
    }
  }

  /**
   * Reads text strictly.
   * @throws SyscallError IllegalArgument when it isn't UTF-8
   */
  readText(offset: number, length: number): string {
    const bytes = this.slice(offset, length)
    try {
      return STRICT_UTF8.decode(bytes)
    } catch (error) {
      // Nothing but the decoder's own complaint: a host without stack or memory must not look like bad text.
      if (!(error instanceof TypeError)) throw error
      throw new SyscallError(Errno.IllegalArgument, 'invalid utf-8 sequence')
    }
  }
}

interface Utf8Decoder {
  decode(bytes: Uint8Array): string
}

declare const TextDecoder: new (label: string, options: { fatal: boolean; ignoreBOM: boolean }) => Utf8Decoder

const STRICT_UTF8: Utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
const LOSSY_UTF8: Utf8Decoder = new TextDecoder('utf-8', { fatal: false, ignoreBOM: true })

/** Text with U+FFFD where the bytes aren't UTF-8. */
export function lossyText(bytes: Uint8Array): string {
  return LOSSY_UTF8.decode(bytes)
}
