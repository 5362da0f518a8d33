/** Small actors for tests of the engine: name, text, binary. */
export const ACTORS: Readonly<Record<string, { readonly wat: string; readonly wasm: string }>> = {
  noRoom: {
    wat: '(module (import "ipld" "block_stat" (func $s (param i32 i32) (result i32))) (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (call $s (i32.const 65530) (local.get 0))))',
    wasm: '0061736d01000000010c0260027f7f017f60017f017f0213010469706c640a626c6f636b5f737461740000030201010503010001071302066d656d6f7279020006696e766f6b6500010a0c010a0041faff03200010000b000b046e616d65010401000173',
  },
  stat: {
    wat: '(module (import "ipld" "block_stat" (func $s (param i32 i32) (result i32))) (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (drop (call $s (i32.const 65524) (local.get 0))) (i32.load8_u (i32.const 65532))))',
    wasm: '0061736d01000000010c0260027f7f017f60017f017f0213010469706c640a626c6f636b5f737461740000030201010503010001071302066d656d6f7279020006696e766f6b6500010a1401120041f4ff03200010001a41fcff032d00000b000b046e616d65010401000173',
  },
  trap: {
    wat: '(module (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) unreachable))',
    wasm: '0061736d0100000001060160017f017f030201000503010001071302066d656d6f7279020006696e766f6b6500000a05010300000b',
  },
  outOfBounds: {
    wat: '(module (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (i32.load (i32.const 65533))))',
    wasm: '0061736d0100000001060160017f017f030201000503010001071302066d656d6f7279020006696e766f6b6500000a0b01090041fdff032802000b',
  },
  divideByZero: {
    wat: '(module (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (i32.div_u (local.get 0) (i32.const 0))))',
    wasm: '0061736d0100000001060160017f017f030201000503010001071302066d656d6f7279020006696e766f6b6500000a09010700200041006e0b',
  },
  endless: {
    wat: '(module (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (loop $l (br $l)) (i32.const 0)))',
    wasm: '0061736d0100000001060160017f017f030201000503010001071302066d656d6f7279020006696e766f6b6500000a0b01090003400c000b41000b000d046e616d65030601000100016c',
  },
  recursion: {
    wat: '(module (memory (export "memory") 1) (func $f (param i32) (result i32) (call $f (local.get 0))) (func (export "invoke") (param i32) (result i32) (call $f (local.get 0))))',
    wasm: '0061736d0100000001060160017f017f03030200000503010001071302066d656d6f7279020006696e766f6b6500010a0f020600200010000b0600200010000b000b046e616d65010401000166',
  },
  grow: {
    wat: '(module (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (memory.grow (local.get 0))))',
    wasm: '0061736d0100000001060160017f017f030201000503010001071302066d656d6f7279020006696e766f6b6500000a08010600200040000b',
  },
  growTwice: {
    wat: '(module (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (drop (memory.grow (local.get 0))) (i32.add (memory.grow (local.get 0)) (i32.mul (memory.size) (i32.const 100000)))))',
    wasm: '0061736d0100000001060160017f017f030201000503010001071302066d656d6f7279020006696e766f6b6500000a15011300200040001a200040003f0041a08d066c6a0b',
  },
  exit: {
    wat: '(module (import "vm" "exit" (func $e (param i32 i32 i32 i32) (result i32))) (memory (export "memory") 1) (data (i32.const 8) "reason") (func (export "invoke") (param i32) (result i32) (call $e (local.get 0) (i32.const 4) (i32.const 8) (i32.const 6))))',
    wasm: '0061736d01000000010e0260047f7f7f7f017f60017f017f020b0102766d04657869740000030201010503010001071302066d656d6f7279020006696e766f6b6500010a0e010c00200041044108410610000b0b0c010041080b06726561736f6e000b046e616d65010401000165',
  },
  startTrap: {
    wat: '(module (memory (export "memory") 1) (func $s unreachable) (start $s) (func (export "invoke") (param i32) (result i32) (i32.const 0)))',
    wasm: '0061736d0100000001090260000060017f017f03030200010503010001071302066d656d6f7279020006696e766f6b6500010801000a0a020300000b040041000b000b046e616d65010401000173',
  },
  nan32: {
    wat: '(module (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (i32.reinterpret_f32 (f32.div (f32.const 0) (f32.neg (f32.const 0))))))',
    wasm: '0061736d0100000001060160017f017f030201000503010001071302066d656d6f7279020006696e766f6b6500000a11010f00430000000043000000008c95bc0b',
  },
  nan64: {
    wat: '(module (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (i32.wrap_i64 (i64.shr_u (i64.reinterpret_f64 (f64.sub (f64.const inf) (f64.const inf))) (i64.const 32)))))',
    wasm: '0061736d0100000001060160017f017f030201000503010001071302066d656d6f7279020006696e766f6b6500000a1c011a0044000000000000f07f44000000000000f07fa1bd422088a70b',
  },
  noMemory: {
    wat: '(module (func (export "invoke") (param i32) (result i32) (i32.const 0)))',
    wasm: '0061736d0100000001060160017f017f03020100070a0106696e766f6b6500000a0601040041000b',
  },
  noInvoke: {
    wat: '(module (memory (export "memory") 1) (func (export "other")))',
    wasm: '0061736d01000000010401600000030201000503010001071202066d656d6f72790200056f7468657200000a040102000b',
  },
  wrongInvoke: {
    wat: '(module (memory (export "memory") 1) (func (export "invoke") (param i64)))',
    wasm: '0061736d0100000001050160017e00030201000503010001071302066d656d6f7279020006696e766f6b6500000a040102000b',
  },
  unknownImport: {
    wat: '(module (import "vm" "nothing" (func $e (param i32) (result i32))) (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (call $e (i32.const 0))))',
    wasm: '0061736d0100000001060160017f017f020e0102766d076e6f7468696e670000030201000503010001071302066d656d6f7279020006696e766f6b6500010a08010600410010000b000b046e616d65010401000165',
  },
  wrongImport: {
    wat: '(module (import "vm" "exit" (func $e (param i64) (result i32))) (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (call $e (i64.const 0))))',
    wasm: '0061736d01000000010b0260017e017f60017f017f020b0102766d04657869740000030201010503010001071302066d656d6f7279020006696e766f6b6500010a08010600420010000b000b046e616d65010401000165',
  },
  balance: {
    wat: '(module (import "self" "current_balance" (func $b (param i32) (result i32))) (memory (export "memory") 1) (func (export "invoke") (param i32) (result i32) (drop (call $b (i32.const 1))) (i32.load (local.get 0))))',
    wasm: '0061736d0100000001060160017f017f0218010473656c660f63757272656e745f62616c616e63650000030201000503010001071302066d656d6f7279020006696e766f6b6500010a0e010c00410110001a20002802000b000b046e616d65010401000162',
  },
  table: {
    wat: '(module (memory (export "memory") 1) (table (export "table") 10 funcref) (func (export "invoke") (param i32) (result i32) (i32.const 0)))',
    wasm: '0061736d0100000001060160017f017f0302010004040170000a0503010001071b03066d656d6f72790200057461626c65010006696e766f6b6500000a0601040041000b',
  },
  /** Returns what it finds of what an earlier run of it leaves: a global, data, zeros, pages before and after growing. */
  witness: {
    wat: '(module (memory (export "memory") 1) (global $g (mut i64) (i64.const 5)) (data (i32.const 16) "\\07") (func (export "invoke") (param i32) (result i32) (local $r i32) (local.set $r (i32.add (i32.add (i32.add (i32.wrap_i64 (global.get $g)) (i32.mul (i32.load8_u (i32.const 16)) (i32.const 10))) (i32.mul (i32.load8_u (i32.const 64)) (i32.const 100))) (i32.mul (memory.size) (i32.const 1000)))) (drop (memory.grow (i32.const 1))) (local.set $r (i32.add (i32.add (local.get $r) (i32.mul (i32.load8_u (i32.const 65536)) (i32.const 10000))) (i32.mul (memory.size) (i32.const 100000)))) (i32.store8 (i32.const 16) (i32.const 9)) (i32.store8 (i32.const 64) (i32.const 9)) (i32.store8 (i32.const 65536) (i32.const 9)) (global.set $g (i64.const 6)) (if (local.get 0) (then unreachable)) (local.get $r)))',
    wasm: '0061736d0100000001060160017f017f0302010005030100010606017e0142050b071302066d656d6f7279020006696e766f6b6500000a68016601017f2300a741102d0000410a6c6a41c0002d000041e4006c6a3f0041e8076c6a2101410140001a2001418080042d00004190ce006c6a3f0041a08d066c6a2101411041093a000041c00041093a00004180800441093a00004206240020000440000b20010b0b07010041100b0107',
  },
  stack: {
    wat: '(module (memory (export "memory") 2) (global $sp (mut i32) (i32.const 65536)) (data (i32.const 65536) "\\07") (func (export "invoke") (param i32) (result i32) (local $r i32) (local.set $r (i32.add (i32.add (i32.add (i32.load (i32.const 64408)) (i32.load (i32.const 64536))) (i32.load (i32.const 65532))) (i32.load8_u (i32.const 65536)))) (global.set $sp (i32.const 64536)) (i32.store (i32.const 64408) (i32.const 1)) (i32.store (i32.const 64536) (i32.const 1)) (i32.store (i32.const 65532) (i32.const 1)) (i32.store8 (i32.const 65536) (i32.const 9)) (global.set $sp (i32.const 65536)) (local.get $r)))',
    wasm: '0061736d0100000001060160017f017f0302010005030100020608017f01418080040b071302066d656d6f7279020006696e766f6b6500000a59015701017f4198f7032802004198f8032802006a41fcff032802006a418080042d00006a21014198f80324004198f70341013602004198f803410136020041fcff0341013602004180800441093a000041808004240020010b0b090100418080040b0107',
  },
}
