/**
 * One small module per rule of instrumentation, and what the reference made of it: every figure was read off the output
 * of fvm-wasm-instrument 0.4.0 (`fvm4`) and 0.2.0 with parity-wasm 0.42 (`fvm2`) with the prices of ref-fvm.
 */
import type { FunctionCharges } from './chargesOf.ts'

export interface Case {
  readonly name: string
  readonly wat: string
  /** hexadecimal */
  readonly wasm: string
  readonly fvm4: readonly FunctionCharges[] | 'refused'
  readonly fvm2: readonly FunctionCharges[] | 'refused'
}

export const CASES: readonly Case[] = [
  {
    name: 'straight line',
    wat: '(module (func (export "f") (result i32) i32.const 1 i32.const 2 i32.add))',
    wasm: '0061736d010000000105016000017f03020100070501016600000a09010700410141026a0b',
    fvm4: [
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [4] },
    ],
    fvm2: [
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [4] },
    ],
  },
  {
    name: 'free instructions',
    wat: '(module (func (export "f") nop block nop end loop nop end i32.const 1 drop return))',
    wasm: '0061736d0100000001040160000003020100070501016600000a11010f00010240010b0340010b41011a0f0b',
    fvm4: [
      { charges: ['4000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['4000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'blocks without branches merge',
    wat: '(module (func (export "f") i32.const 1 drop block i32.const 2 drop block i32.const 3 drop end i32.const 4 drop end i32.const 5 drop))',
    wasm: '0061736d0100000001040160000003020100070501016600000a1901170041011a024041021a024041031a0b41041a0b41051a0b',
    fvm4: [
      { charges: ['20000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['20000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'br_if out of a block',
    wat: '(module (func (export "f") (param i32) i32.const 1 drop block local.get 0 br_if 0 i32.const 2 drop i32.const 3 drop end i32.const 4 drop))',
    wasm: '0061736d0100000001050160017f0003020100070501016600000a1701150041011a024020000d0041021a41031a0b41041a0b',
    fvm4: [
      { charges: ['16000', '8000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['16000', '8000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'br_if two blocks out',
    wat: '(module (func (export "f") (param i32) block block local.get 0 br_if 1 i32.const 2 drop end i32.const 3 drop end i32.const 4 drop))',
    wasm: '0061736d0100000001050160017f0003020100070501016600000a170115000240024020000d0141021a0b41031a0b41041a0b',
    fvm4: [
      { charges: ['12000', '4000', '4000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['12000', '4000', '4000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'if else',
    wat: '(module (func (export "f") (param i32) (result i32) local.get 0 if (result i32) i32.const 2 i32.const 3 i32.add else i32.const 4 end i32.const 5 i32.mul))',
    wasm: '0061736d0100000001060160017f017f03020100070501016600000a140112002000047f410241036a0541040b41056c0b',
    fvm4: [
      { charges: ['16000', '12000', '4000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [4] },
    ],
    fvm2: [
      { charges: ['16000', '12000', '4000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [4] },
    ],
  },
  {
    name: 'if without else',
    wat: '(module (func (export "f") (param i32) local.get 0 if i32.const 2 drop end i32.const 5 drop i32.const 6 drop))',
    wasm: '0061736d0100000001050160017f0003020100070501016600000a120110002000044041021a0b41051a41061a0b',
    fvm4: [
      { charges: ['16000', '4000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['16000', '4000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'loop with a back branch',
    wat: '(module (func (export "f") (param i32) i32.const 9 drop loop local.get 0 i32.const 1 i32.sub local.tee 0 br_if 0 end i32.const 5 drop))',
    wasm: '0061736d0100000001050160017f0003020100070501016600000a1601140041091a0340200041016b22000d000b41051a0b',
    fvm4: [
      { charges: ['8000', '20000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [4] },
    ],
    fvm2: [
      { charges: ['8000', '20000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [4] },
    ],
  },
  {
    name: 'loop left by a forward branch',
    wat: '(module (func (export "f") (param i32) block loop local.get 0 br_if 1 i32.const 1 drop br 0 end end i32.const 5 drop))',
    wasm: '0061736d0100000001050160017f0003020100070501016600000a160114000240034020000d0141011a0c000b0b41051a0b',
    fvm4: [
      { charges: ['4000', '8000', '8000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['4000', '8000', '8000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'return in a block',
    wat: '(module (func (export "f") (param i32) (result i32) block local.get 0 i32.eqz br_if 0 i32.const 7 return end i32.const 1 i32.const 2 i32.add))',
    wasm: '0061736d0100000001060160017f017f03020100070501016600000a1401120002402000450d0041070f0b410141026a0b',
    fvm4: [
      { charges: ['12000', '4000', '12000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [4] },
    ],
    fvm2: [
      { charges: ['12000', '4000', '12000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [4] },
    ],
  },
  {
    name: 'code behind br',
    wat: '(module (func (export "f") block br 0 i32.const 1 drop i32.const 2 drop end i32.const 3 drop))',
    wasm: '0061736d0100000001040160000003020100070501016600000a1201100002400c0041011a41021a0b41031a0b',
    fvm4: [
      { charges: ['8000', '8000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['8000', '8000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'br_table with listed targets',
    wat: '(module (func (export "f") (param i32) block block block local.get 0 br_table 0 1 2 end i32.const 1 drop br 1 end i32.const 2 drop end i32.const 3 drop))',
    wasm: '0061736d0100000001050160017f0003020100070501016600000a1f011d0002400240024020000e020001020b41011a0c010b41021a0b41031a0b',
    fvm4: [
      { charges: ['12000', '8000', '4000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['12000', '8000', '4000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'br_table whose default alone leaves',
    wat: '(module (func (export "f") (param i32) block i32.const 1 drop block block local.get 0 br_table 0 0 2 end i32.const 2 drop end i32.const 3 drop end i32.const 4 drop))',
    wasm: '0061736d0100000001050160017f0003020100070501016600000a20011e00024041011a0240024020000e020000020b41021a0b41031a0b41041a0b',
    fvm4: [
      { charges: ['24000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['16000', '4000', '4000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'direct calls',
    wat: '(module (func $g (param i32 i32) (result i32) local.get 0 local.get 1 i32.add) (func (export "f") (result i32) i32.const 1 i32.const 2 call $g i32.const 3 call $g))',
    wasm: '0061736d01000000010b0260027f7f017f6000017f0303020001070501016600010a16020700200020016a0b0c00410141021000410310000b000b046e616d65010401000167',
    fvm4: [
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['116000'], units: [], stack: [4, 4] },
      { charges: ['52000'], units: [], stack: [4] },
    ],
    fvm2: [
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['116000'], units: [], stack: [4, 4] },
      { charges: ['52000'], units: [], stack: [4] },
    ],
  },
  {
    name: 'imported calls',
    wat: '(module (import "vm" "exit" (func $e (param i32 i32 i32 i32) (result i32))) (func (export "f") i32.const 1 i32.const 2 i32.const 3 i32.const 4 call $e drop))',
    wasm: '0061736d01000000010c0260047f7f7f7f017f600000020b0102766d0465786974000003020101070501016600010a0f010d00410141024103410410001a0b000b046e616d65010401000165',
    fvm4: [
      { charges: ['20000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [6] },
    ],
    fvm2: [
      { charges: ['20000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [6] },
    ],
  },
  {
    name: 'indirect calls and a start function',
    wat: '(module (type $t (func (param i32) (result i32))) (table 2 funcref) (elem (i32.const 0) $a $b) (func $a (param i32) (result i32) local.get 0) (func $b (param i32) (result i32) local.get 0 i32.const 1 i32.add) (func $s i32.const 3 i32.const 0 call_indirect (type $t) drop) (start $s) (func (export "f") (result i32) i32.const 3 i32.const 1 call_indirect (type $t)))',
    wasm: '0061736d01000000010d0360017f017f6000006000017f03050400000102040401700002070501016600030801020908010041000b0200010a2304040020000b0700200041016a0b0a00410341001100001a0b0900410341011100000b0017046e616d65010a03000161010162020173040401000174',
    fvm4: [
      { charges: ['4000'], units: [], stack: [] },
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
      { charges: ['56000'], units: [], stack: [4] },
      { charges: ['52000'], units: [], stack: [4] },
      { charges: ['52000'], units: [], stack: [4] },
    ],
    fvm2: [
      { charges: ['4000'], units: [], stack: [] },
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
      { charges: ['56000'], units: [], stack: [4] },
      { charges: ['52000'], units: [], stack: [4] },
      { charges: ['52000'], units: [], stack: [4] },
    ],
  },
  {
    name: 'locals in runs',
    wat: '(module (func $g (local i32 i32 i32 i64 i64 f32) i32.const 1 drop) (func (export "f") call $g))',
    wasm: '0061736d010000000104016000000303020000070501016600010a12020b03037f027e017d41011a0b040010000b000b046e616d65010401000167',
    fvm4: [
      { charges: ['4000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [6] },
      { charges: ['52000'], units: [], stack: [2] },
    ],
    fvm2: [
      { charges: ['4000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [9] },
      { charges: ['52000'], units: [], stack: [2] },
    ],
  },
  {
    name: 'stack height in unreachable code',
    wat: '(module (func $g (result i32) unreachable i32.const 1 i32.const 2 i32.const 3 drop drop) (func (export "f") (result i32) call $g))',
    wasm: '0061736d010000000105016000017f0303020000070501016600010a12020b00004101410241031a1a0b040010000b000b046e616d65010401000167',
    fvm4: [
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [2] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['12000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [2] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'memory.grow of a constant',
    wat: '(module (memory 1) (func (export "f") (result i32) i32.const 3 memory.grow))',
    wasm: '0061736d010000000105016000017f030201000503010001070501016600000a08010600410340000b',
    fvm4: [
      { charges: ['78651200'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['8000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'memory.grow of a variable',
    wat: '(module (memory 1) (func (export "f") (param i32) (result i32) local.get 0 memory.grow))',
    wasm: '0061736d0100000001060160017f017f030201000503010001070501016600000a08010600200040000b',
    fvm4: [
      { charges: ['8000'], units: [26214400], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['8000'], units: [], stack: [] },
      { charges: ['56000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'memory.grow behind another instruction',
    wat: '(module (memory 1) (func (export "f") (result i32) i32.const 1 i32.const 2 i32.add memory.grow))',
    wasm: '0061736d010000000105016000017f030201000503010001070501016600000a0b010900410141026a40000b',
    fvm4: [
      { charges: ['16000'], units: [26214400], stack: [] },
      { charges: ['52000'], units: [], stack: [4] },
    ],
    fvm2: [
      { charges: ['16000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [4] },
    ],
  },
  {
    name: 'memory.grow of the largest constant',
    wat: '(module (memory 1) (func (export "f") (result i32) i32.const 2147483647 memory.grow))',
    wasm: '0061736d010000000105016000017f030201000503010001070501016600000a0c010a0041ffffffff0740000b',
    fvm4: [
      { charges: ['56294995315924800'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
    fvm2: [
      { charges: ['8000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [3] },
    ],
  },
  {
    name: 'memory.fill, memory.copy of constants',
    wat: '(module (memory 1) (func (export "f") i32.const 0 i32.const 1 i32.const 100 memory.fill i32.const 0 i32.const 8 i32.const 50 memory.copy))',
    wasm: '0061736d01000000010401600000030201000503010001070501016600000a180116004100410141e400fc0b00410041084132fc0a00000b',
    fvm4: [
      { charges: ['92000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [5] },
    ],
    fvm2: [
      { charges: ['32000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [5] },
    ],
  },
  {
    name: 'memory.fill, memory.copy of variables',
    wat: '(module (memory 1) (func (export "f") (param i32 i64) (local f32) i32.const 0 i32.const 1 local.get 0 memory.fill i32.const 0 i32.const 8 local.get 0 memory.copy))',
    wasm: '0061736d0100000001060160027f7e00030201000503010001070501016600000a19011701017d410041012000fc0b00410041082000fc0a00000b',
    fvm4: [
      { charges: ['32000'], units: [400, 400], stack: [] },
      { charges: ['60000'], units: [], stack: [6] },
    ],
    fvm2: [
      { charges: ['32000'], units: [], stack: [] },
      { charges: ['60000'], units: [], stack: [6] },
    ],
  },
  {
    name: 'memory.init and data.drop',
    wat: '(module (memory 1) (data "abcd") (func (export "f") i32.const 0 i32.const 0 i32.const 4 memory.init 0 data.drop 0))',
    wasm: '0061736d01000000010401600000030201000503010001070501016600000c01010a11010f00410041004104fc080000fc09000b0b0701010461626364',
    fvm4: [
      { charges: ['21600'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [5] },
    ],
    fvm2: [
      { charges: ['20000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [5] },
    ],
  },
  {
    name: 'table operations',
    wat: '(module (table 4 9 funcref) (elem func $x) (func $x) (func (export "f") (param i32) i32.const 0 i32.const 0 i32.const 1 table.init 0 i32.const 0 i32.const 1 local.get 0 table.copy i32.const 0 table.get 0 local.get 0 table.grow drop table.size drop i32.const 1 i32.const 0 table.get 0 i32.const 2 table.fill elem.drop 0))',
    wasm: '0061736d0100000001080260000060017f0003030200010405017001040907050101660001090501010001000a370202000b3200410041004101fc0c0000410041012000fc0e0000410025002000fc0f001afc10001a4101410025004102fc1100fc0d000b000b046e616d65010401000178',
    fvm4: [
      { charges: [], units: [], stack: [] },
      { charges: ['85600'], units: [3200, 3200], stack: [] },
      { charges: ['52000'], units: [], stack: [2] },
      { charges: ['56000'], units: [], stack: [5] },
    ],
    fvm2: 'refused',
  },
  {
    name: 'stack cost behind memory.copy',
    wat: '(module (memory 1) (func $g (param i32 i32 i32 i32 i32 i32)) (func $h i32.const 0 i32.const 0 i32.const 9 memory.copy i32.const 1 i32.const 1 i32.const 1 i32.const 1 i32.const 1 i32.const 1 call $g) (func (export "f") call $h))',
    wasm: '0061736d01000000010d0260067f7f7f7f7f7f006000000304030001010503010001070501016600020a240302000b1a00410041004109fc0a000041014101410141014101410110000b040010010b000e046e616d65010702000167010168',
    fvm4: [
      { charges: [], units: [], stack: [] },
      { charges: ['95600'], units: [], stack: [2] },
      { charges: ['52000'], units: [], stack: [8] },
      { charges: ['52000'], units: [], stack: [2] },
    ],
    fvm2: [
      { charges: [], units: [], stack: [] },
      { charges: ['92000'], units: [], stack: [2] },
      { charges: ['52000'], units: [], stack: [5] },
      { charges: ['52000'], units: [], stack: [2] },
    ],
  },
  {
    name: 'globals move by one',
    wat: '(module (global $a (mut i32) (i32.const 5)) (global $b i64 (i64.const 7)) (export "b" (global $b)) (func (export "f") (result i64) global.get $a i32.const 1 i32.add global.set $a global.get $b))',
    wasm: '0061736d010000000105016000017e03020100060b027f0141050b7e0042070b07090201620301016600000a0d010b00230041016a240023010b000e046e616d65070702000161010162',
    fvm4: [
      { charges: ['20000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [4] },
    ],
    fvm2: [
      { charges: ['20000'], units: [], stack: [] },
      { charges: ['52000'], units: [], stack: [4] },
    ],
  },
]
