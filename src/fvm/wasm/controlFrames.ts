import { widen } from './edits.ts'
import { WasmError } from './errors.ts'
import { refused } from './wasmReader.ts'

/** Control frames that a function may nest: the engines' own bound on a function's size allows no more. */
const MAX_FRAMES = 8_000_000

/** Control frames and operand stack of the function being read; grown as needed, reused from function to function. */
export class ControlFrames {
  /** slot of the block of code that grows at present */
  slot: Int32Array = new Int32Array(256)
  /** lowest frame that a forward branch from inside may leave to */
  lowest: Int32Array = new Int32Array(256)
  isLoop: Uint8Array = new Uint8Array(256)
  endArity: Uint32Array = new Uint32Array(256)
  startHeight: Uint32Array = new Uint32Array(256)
  polymorphic: Uint8Array = new Uint8Array(256)
  /** of the operand stack */
  height = 0
  /** the top frame; -1: the function is at its end */
  depth = 0

  #grow(): void {
    const size = this.slot.length * 2
    if (size > MAX_FRAMES) throw refused(0, 'too many nested blocks')
    const { slot, lowest, isLoop, endArity, startHeight, polymorphic } = this
    this.slot = new Int32Array(size)
    this.slot.set(slot)
    this.lowest = new Int32Array(size)
    this.lowest.set(lowest)
    this.isLoop = widen(isLoop, new Uint8Array(size))
    this.endArity = widen(endArity, new Uint32Array(size))
    this.startHeight = widen(startHeight, new Uint32Array(size))
    this.polymorphic = widen(polymorphic, new Uint8Array(size))
  }

  pop(count: number): void {
    const frame = this.depth
    if (this.height === this.startHeight[frame]) {
      if (this.polymorphic[frame] === 1) return
      throw new WasmError('WASM_REFUSED', 'Cannot use module: trying to pop more values than pushed')
    }
    this.height -= count
    if (this.height < 0) throw new WasmError('WASM_REFUSED', 'Cannot use module: stack underflow')
  }

  open(slot: number, isLoop: number, endArity: number): void {
    const depth = ++this.depth
    if (depth === this.slot.length) this.#grow()
    this.slot[depth] = slot
    this.lowest[depth] = depth
    this.isLoop[depth] = isLoop
    this.endArity[depth] = endArity
    this.startHeight[depth] = this.height
    this.polymorphic[depth] = 0
  }

  /** Notes a branch to `label`. */
  branch(label: number): void {
    const target = this.depth - label
    if (target < 0) throw refused(0, 'label of no block')
    if (this.isLoop[target] === 1) return
    if (target < (this.lowest[this.depth] as number)) this.lowest[this.depth] = target
  }

  /** Values that a branch to `label` takes along. */
  branchArity(label: number): number {
    const target = this.depth - label
    if (target < 0) throw refused(0, 'label of no block')
    return this.isLoop[target] === 1 ? 0 : (this.endArity[target] as number)
  }
}
