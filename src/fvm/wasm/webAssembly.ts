/**
 * The part of the WebAssembly JavaScript interface that the machine uses, in types of our own: src/ is compiled without
 * those of any runtime. Only browsers' main threads limit synchronous compilation (Chromium: 8 MiB); the machine runs
 * in a worker.
 */

/** A compiled module (`WebAssembly.Module`); threads may share it. */
export interface WasmModuleHandle {
  readonly __module?: never
}

/** Linear memory. `buffer` is another one after it grew: views of the old one are empty. */
export interface WasmMemory {
  readonly buffer: ArrayBuffer
  /** @returns the pages before */
  grow(pages: number): number
}

/** An i32 that host and module read and write. */
export interface WasmInt32Global {
  value: number
}

/** A mutable i64: the gas counter. */
export interface WasmGlobal {
  value: bigint
}

/** What a module exports: functions, globals, memories. */
export interface WasmInstance {
  readonly exports: Readonly<Record<string, unknown>>
}

/** By module, then by name. */
export type WasmImports = Readonly<Record<string, Readonly<Record<string, unknown>>>>

interface WebAssemblyInterface {
  readonly Module: {
    new (bytes: Uint8Array): WasmModuleHandle
    customSections(module: WasmModuleHandle, name: string): ArrayBuffer[]
  }
  readonly Instance: new (module: WasmModuleHandle, imports: WasmImports) => WasmInstance
  readonly Global: new (type: { value: 'i64'; mutable: true }, value: bigint) => WasmGlobal
  readonly Memory: new (type: { initial: number }) => WasmMemory
  readonly RuntimeError: new (message?: string) => Error
  readonly LinkError: new (message?: string) => Error
  readonly CompileError: new (message?: string) => Error
  validate(bytes: Uint8Array): boolean
  compile(bytes: Uint8Array): Promise<WasmModuleHandle>
}

declare const WebAssembly: WebAssemblyInterface

/** The runtime's engine. */
export const wasm: WebAssemblyInterface = WebAssembly
