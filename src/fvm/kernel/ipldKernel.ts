import { type Cid, HASH_BLAKE2B_256 } from '../../codec/cid.ts'
import { blockCid } from '../../crypto/blockCid.ts'
import { tryGetBlock } from '../../ipld/blockstore.ts'
import { BlockMissing } from '../../ipld/errors.ts'
import { gasCharge } from '../gas/charge.ts'
import { type Block, NO_LINKS } from './blockRegistry.ts'
import type { BlockHandle, BlockStat, IpldOps, OpenedBlock } from './kernel.ts'
import { KernelFrame } from './kernelFrame.ts'
import { scanReachableLinks } from './linkScan.ts'
import { Errno, SyscallError } from './outcomes.ts'

const MAX_I32 = 2 ** 31 - 1
const ON_BLOCK_STAT = gasCharge('OnBlockStat', 0)

/** Blocks: opened, created, linked, read by handle. @see ref-fvm fvm/src/kernel/default.rs `impl IpldBlockOps` */
export class IpldKernel extends KernelFrame implements IpldOps {
  blockOpen(cid: Cid): OpenedBlock {
    const calls = this.calls
    const { prices } = calls
    calls.gas.apply(prices.onBlockOpenBase())
    const tracks = calls.rules.tracksReachability
    if (tracks && !this.blocks.isReachable(cid)) {
      throw new SyscallError(Errno.NotFound, `block not reachable: ${cid}`)
    }
    const data = tryGetBlock(calls.machine.store, cid)
    // In the reference this is fatal. Here it is the host that has to find the block and begin again.
    if (data === undefined) throw new BlockMissing([cid])
    calls.traceIpld('Get', cid, data.length)
    const links = tracks ? scanReachableLinks(cid.codec, data, prices, calls.gas) : NO_LINKS
    calls.gas.apply(prices.onBlockOpen(data.length, links.length))
    const handle = this.#put({ codec: cid.codec, data, links }, false)
    return { handle, codec: cid.codec, size: data.length }
  }

  blockCreate(codec: number, data: Uint8Array): BlockHandle {
    const { rules, prices, gas } = this.calls
    if (rules.maxBlockSize !== undefined && data.length > rules.maxBlockSize) {
      throw new SyscallError(Errno.LimitExceeded, 'blocks may not be larger than 1MiB')
    }
    if (rules.tracksReachability && !rules.blockCodecs.includes(codec)) {
      throw new SyscallError(Errno.IllegalCodec, `codec ${codec} not allowed`)
    }
    const links = rules.tracksReachability ? scanReachableLinks(codec, data, prices, gas) : NO_LINKS
    gas.apply(prices.onBlockCreate(data.length, links.length))
    return this.#put({ codec, data: data.slice(), links }, true)
  }

  #put(block: Block, isNew: boolean): BlockHandle {
    const { rules } = this.calls
    if (!rules.tracksReachability && !rules.blockCodecs.includes(block.codec)) {
      throw new SyscallError(Errno.IllegalCodec, 'invalid or forbidden ipld codec')
    }
    return isNew ? this.blocks.putChecked(block) : this.blocks.putReachable(block)
  }

  blockLink(handle: BlockHandle, hashCode: number, hashLength: number): Cid {
    if (hashCode !== HASH_BLAKE2B_256 || hashLength !== 32) {
      throw new SyscallError(Errno.IllegalCid, 'cids must be 32-byte blake2b')
    }
    const calls = this.calls
    const { codec, data } = this.blocks.get(handle)
    calls.gas.apply(calls.prices.onBlockLink(data.length))
    const cid = blockCid(data, codec)
    calls.machine.store.put(cid, data)
    this.blocks.markReachable(cid)
    calls.traceIpld('Put', cid, data.length)
    return cid
  }

  blockRead(handle: BlockHandle, offset: number, out: Uint8Array): number {
    const end = offset + out.length
    if (end > MAX_I32) {
      throw new SyscallError(Errno.IllegalArgument, 'offset plus buffer length did not fit into an i32')
    }
    const { data } = this.blocks.get(handle)
    const count = Math.min(Math.max(0, data.length - offset), out.length)
    this.calls.gas.apply(this.calls.prices.onBlockRead(count))
    if (count > 0) out.set(offset === 0 && count === data.length ? data : data.subarray(offset, offset + count))
    return data.length - end
  }

  blockStat(handle: BlockHandle): BlockStat {
    this.apply(ON_BLOCK_STAT)
    const { codec, data } = this.blocks.get(handle)
    return { codec, size: data.length }
  }
}
