/** Started as a thread with a stack of its own size: says how deep an actor can call itself. */
import { parentPort } from 'node:worker_threads'
import { WasmEngine } from '../../../src/fvm/wasm/wasmEngine.ts'
import { recurse } from './recursion.ts'

parentPort?.postMessage(recurse(new WasmEngine(4)))
