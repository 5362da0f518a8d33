import type { BlockStat, IpldOps, OpenedBlock } from '../../kernel/kernel.ts'
import { I32_RESULT, type ResultForm, type SyscallRow, syscallsOf, U32, u32, u64 } from './row.ts'

const ipld = syscallsOf<IpldOps>('ipld')

/** @see ref-fvm shared/src/sys/out.rs `IpldOpen` */
const OPENED: ResultForm<OpenedBlock> = {
  size: 16,
  write: (view, at, { codec, handle, size }) => {
    view.setBigUint64(at, BigInt(codec), true)
    view.setUint32(at + 8, handle, true)
    view.setUint32(at + 12, size, true)
  },
}

/** @see ref-fvm shared/src/sys/out.rs `IpldStat` */
const STAT: ResultForm<BlockStat> = {
  size: 12,
  write: (view, at, { codec, size }) => {
    view.setBigUint64(at, BigInt(codec), true)
    view.setUint32(at + 8, size, true)
  },
}

/** Blocks; the same in every major version. @see ref-fvm fvm/src/syscalls/ipld.rs */
export const IPLD_SYSCALLS: readonly SyscallRow[] = [
  ipld('block_open', 'i', OPENED, ({ kernel, memory }, cidAt) => kernel.blockOpen(memory.readCid(u32(cidAt)))),
  ipld('block_create', 'lii', U32, ({ kernel, memory }, codec, dataAt, dataLength) =>
    kernel.blockCreate(Number(u64(codec)), memory.slice(u32(dataAt), u32(dataLength))),
  ),
  ipld('block_read', 'iiii', I32_RESULT, ({ kernel, memory }, handle, offset, outAt, outLength) =>
    kernel.blockRead(u32(handle), u32(offset), memory.slice(u32(outAt), u32(outLength))),
  ),
  ipld('block_stat', 'i', STAT, ({ kernel }, handle) => kernel.blockStat(u32(handle))),
  ipld('block_link', 'iliii', U32, ({ kernel, memory }, handle, hashCode, hashLength, cidAt, cidLength) => {
    memory.checkBounds(u32(cidAt), u32(cidLength))
    const cid = kernel.blockLink(u32(handle), Number(u64(hashCode)), u32(hashLength))
    return memory.writeCid(cid, u32(cidAt), u32(cidLength))
  }),
]
