/**
 * What Go's encoding/json says of wrong JSON. The expected texts were printed by Go 1.26.8 for structs with these fields
 * (Message{To Address; GasLimit int64; Method MethodNum; Params []byte; Nonce uint64}, SignedMessage{Message, Signature}).
 */
import { describe, expect, it } from 'vitest'
import { byte, bytes, list } from '../../src/codec/description.ts'
import { type Json, parseJson } from '../../src/codec/jsonText.ts'
import { message } from '../../src/types/message.ts'
import { chainEpoch, networkVersion } from '../../src/types/scalars.ts'
import { signedMessage } from '../../src/types/signedMessage.ts'

const context = { addressPrefix: 't' } as const
const TO = { To: 't01', From: 't02', Value: '0', GasFeeCap: '0', GasPremium: '0' }

describe('errors inside messages', () => {
  it.each<[Json, string]>([
    [{ ...TO, GasLimit: '5' }, 'json: cannot unmarshal string into Go struct field Message.GasLimit of type int64'],
    [{ ...TO, To: 5 }, 'json: cannot unmarshal number into Go struct field Message.To of type string'],
    [{ ...TO, Params: 5 }, 'json: cannot unmarshal number into Go struct field Message.Params of type []uint8'],
    [
      { ...TO, Params: [1, 2, 256] },
      'json: cannot unmarshal number 256 into Go struct field Message.Params of type uint8',
    ],
    [{ ...TO, Params: ['x'] }, 'json: cannot unmarshal string into Go struct field Message.Params of type uint8'],
    [{ ...TO, Params: {} }, 'json: cannot unmarshal object into Go struct field Message.Params of type []uint8'],
    [{ ...TO, Params: '!' }, 'illegal base64 data at input byte'],
    [
      { ...TO, Method: 1.5 },
      'json: cannot unmarshal number 1.5 into Go struct field Message.Method of type abi.MethodNum',
    ],
    [{ ...TO, Nonce: -1 }, 'json: cannot unmarshal number -1 into Go struct field Message.Nonce of type uint64'],
    [[], 'json: cannot unmarshal array into Go value of type types.Message'],
  ])('%j', (json, text) => {
    expect(() => message.fromJson(json, context)).toThrow(text)
  })

  it.each<[Json, string]>([
    [{ Message: { ...TO, GasLimit: true } }, 'bool into Go struct field Message.Message.GasLimit of type int64'],
    [{ Message: { ...TO, To: true } }, 'bool into Go struct field Message.Message.To of type string'],
    [{ Message: 5 }, 'number into Go struct field SignedMessage.Message of type types.Message'],
    [
      { Message: TO, Signature: { Type: 300 } },
      'number 300 into Go struct field Signature.Signature.Type of type crypto.SigType',
    ],
  ])('%j', (json, text) => {
    expect(() => signedMessage.fromJson(json, context)).toThrow(`json: cannot unmarshal ${text}`)
    expect(() => list(signedMessage).fromJson([json], context)).toThrow(`json: cannot unmarshal ${text}`)
  })
})

// Printed by Go 1.26.8 for the same texts and `type ChainEpoch int64`, `type Version uint64`.
describe('integers', () => {
  it.each<[string, number]>([
    ['9007199254740993', 2 ** 53],
    ['9223372036854775807', 2 ** 63],
    ['-9223372036854775808', -(2 ** 63)],
  ])('of 64 bits are epochs: %s', (text, epoch) => {
    expect(chainEpoch.fromJson(parseJson(text), context)).toBe(epoch)
  })

  it.each([
    [chainEpoch, '9223372036854775808', 'abi.ChainEpoch'],
    [chainEpoch, '-9223372036854775809', 'abi.ChainEpoch'],
    [chainEpoch, '1.5', 'abi.ChainEpoch'],
    [networkVersion, '-9007199254740993', 'network.Version'],
    [networkVersion, '18446744073709551616', 'network.Version'],
    [byte, '18446744073709551615', 'uint8'],
  ] as const)('%# that do not fit are refused: %s', (codec, text, type) => {
    const words = `json: cannot unmarshal number ${text} into Go value of type ${type}`
    expect(() => codec.fromJson(parseJson(text), context)).toThrow(words)
  })
})

describe('bytes', () => {
  it('are taken from numbers, null for zero', () => {
    expect(bytes.fromJson([1, null, 255], context)).toEqual(Uint8Array.of(1, 0, 255))
  })

  it.each<[Json, string]>([
    [[1, 2, 256], 'number 256 into Go value of type uint8'],
    [[-1], 'number -1 into Go value of type uint8'],
    [[1.5], 'number 1.5 into Go value of type uint8'],
    [true, 'bool into Go value of type []uint8'],
  ])('are not taken from %j', (json, text) => {
    expect(() => bytes.fromJson(json, context)).toThrow(`json: cannot unmarshal ${text}`)
  })

  it('that are present and empty are printed as they came', () => {
    const through = (json: Json | undefined): Json => bytes.toJson(bytes.fromJson(json, context), context)
    expect([through(''), through([]), through(null), through(undefined)]).toEqual(['', '', null, null])
  })
})
