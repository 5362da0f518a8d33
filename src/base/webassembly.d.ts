/**
 * WebAssembly's JavaScript interface, for the compilations without the DOM library (which has its own): src, Node, Deno.
 * @see https://webassembly.github.io/spec/js-api/
 */
declare namespace WebAssembly {
  type BufferSource = ArrayBufferView<ArrayBuffer> | ArrayBuffer
  type ImportExportKind = 'function' | 'global' | 'memory' | 'table' | 'tag'
  type ExportValue = ((...args: never[]) => unknown) | Global | Memory | Table
  type Exports = Record<string, ExportValue>
  type ImportValue = ((...args: never[]) => unknown) | Global | Memory | Table | number | bigint | object
  type ModuleImports = Record<string, ImportValue>
  type Imports = Record<string, ModuleImports>
  interface ValueTypeMap {
    i32: number
    i64: bigint
    f32: number
    f64: number
  }
  type ValueType = keyof ValueTypeMap

  interface ModuleImportDescriptor {
    module: string
    name: string
    kind: ImportExportKind
  }
  interface ModuleExportDescriptor {
    name: string
    kind: ImportExportKind
  }

  class Module {
    constructor(bytes: BufferSource)
    static customSections(module: Module, name: string): ArrayBuffer[]
    static exports(module: Module): ModuleExportDescriptor[]
    static imports(module: Module): ModuleImportDescriptor[]
  }
  class Instance {
    constructor(module: Module, imports?: Imports)
    readonly exports: Exports
  }
  class Memory {
    constructor(descriptor: { initial: number; maximum?: number; shared?: boolean })
    readonly buffer: ArrayBuffer
    /** @returns the size before, in pages of 64 KiB */
    grow(pages: number): number
  }
  class Table {
    constructor(descriptor: { element: 'anyfunc' | 'externref'; initial: number; maximum?: number })
    readonly length: number
    get(index: number): unknown
    set(index: number, value: unknown): void
    grow(count: number): number
  }
  class Global<T extends ValueType = ValueType> {
    constructor(descriptor: { value: T; mutable?: boolean }, value?: ValueTypeMap[T])
    value: ValueTypeMap[T]
    valueOf(): ValueTypeMap[T]
  }
  class CompileError extends Error {}
  class LinkError extends Error {}
  class RuntimeError extends Error {}

  function validate(bytes: BufferSource): boolean
  function compile(bytes: BufferSource): Promise<Module>
  function instantiate(module: Module, imports?: Imports): Promise<Instance>
  function instantiate(bytes: BufferSource, imports?: Imports): Promise<{ module: Module; instance: Instance }>
}
