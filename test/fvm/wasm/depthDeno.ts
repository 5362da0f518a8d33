/** Run by Deno: prints how deep an actor can call itself. */
import { WasmEngine } from '../../../src/fvm/wasm/wasmEngine.ts'
import { recurse } from './recursion.ts'

console.log(recurse(new WasmEngine(4)))
