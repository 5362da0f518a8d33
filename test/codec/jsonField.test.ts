/** Fields of JSON objects by Go's rules. Expected values are those of Go 1.26's encoding/json for a struct with a field `Value`. */
import { describe, expect, it } from 'vitest'
import { jsonField, otherCases } from '../../src/codec/goJson.ts'
import { type Json, jsonSize, parseJson } from '../../src/codec/jsonText.ts'
import { message } from '../../src/types/message.ts'

type JsonObject = { [key: string]: Json }

describe('a field', () => {
  const byStruct = (object: JsonObject, name: string): Json | undefined => {
    const others = otherCases([name, 'Other'])(object)
    return others?.has(name) === true ? others.get(name) : object[name]
  }
  const padding = Object.fromEntries(Array.from({ length: 40 }, (_, i) => [`k${i}`, i]))

  it.each<[string, Json | undefined]>([
    ['{"Value":"5","value":"7"}', '7'],
    ['{"value":"7","Value":"5"}', '5'],
    ['{"VALUE":1,"value":2,"vALUE":3}', 3],
    ['{"value":null}', null],
    ['{"Valu":1,"Values":2}', undefined],
    ['{"Other":1,"OTHER":2}', undefined],
    ['{}', undefined],
  ])('of %s: the last key wins that is its name in any case', (text, value) => {
    const object = parseJson(text) as JsonObject
    for (const given of [object, { ...padding, ...object }, { ...object, ...padding }]) {
      expect(jsonField(given, 'Value')).toEqual(value)
      expect(byStruct(given, 'Value')).toEqual(value)
    }
  })

  it('may have the long s and the sign of Kelvin, and no other letter that is not ASCII', () => {
    expect(jsonField({ 'Param\u017f': 1 }, 'Params')).toBe(1)
    expect(jsonField({ '\u212aey': 1 }, 'Key')).toBe(1)
    expect(jsonField({ 'M\u0131n': 1, 'M\u0130n': 2 }, 'Min')).toBeUndefined()
  })

  it('of a message, too', () => {
    const fields = '{"To":"t01","From":"t02","Value":"5","GasFeeCap":"0","GasPremium":"0","value":"7","NONCE":3}'
    expect(message.fromJson(parseJson(fields), { addressPrefix: 't' })).toMatchObject({ value: 7n, nonce: 3n })
  })

  it('is looked for once in an object of many keys, not once for each field', () => {
    let looks = 0
    const many: JsonObject = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`k${i}`, 0]))
    const watched = new Proxy(many, {
      ownKeys: (target) => {
        looks++
        return Reflect.ownKeys(target)
      },
    })
    for (const name of ['To', 'From', 'K17', 'Value'])
      expect(jsonField(watched, name)).toBe(name === 'K17' ? 0 : undefined)
    // Twice when it is met first: to see that there are many, and to fold them.
    expect(looks).toBe(2)
    looks = 0
    message.fromJson(watched, { addressPrefix: 't' })
    expect(looks).toBe(1)
  })
})

describe('long numbers', () => {
  it('are read with all that stands beside them, as the parser reads it', () => {
    const text =
      '{"a":{"b":[12345678901234567890,{"c":"\\"\\\\","d":"\\u0041\\\\"},[],{}]},"":-0,"e":[1e400,-1.5E-3,true,false,null],"a\\"b":"{[,:12345678901234567"}'
    const expected = JSON.parse(text) as { a: { b: Json[] } }
    expected.a.b[0] = 12345678901234567890n
    expect(parseJson(text)).toEqual(expected)
    expect(parseJson(` [ 12345678901234567 , ${text} ] `)).toEqual([12345678901234567n, expected])
  })

  it('leave a key of the prototype a key, and of one key the last value', () => {
    const value = parseJson('{"__proto__":{"To":1},"n":12345678901234567,"n":2}') as JsonObject
    expect(Object.keys(value)).toEqual(['__proto__', 'n'])
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(value.n).toBe(2)
  })

  it('cost no look at each of the other values by a callback', () => {
    const parse = JSON.parse
    let revived = 0
    JSON.parse = ((text: string, reviver?: Parameters<typeof parse>[1]) => {
      if (reviver !== undefined) revived++
      return parse(text)
    }) as typeof parse
    try {
      expect((parseJson(`[1234567890123456789${',0'.repeat(100_000)}]`) as Json[]).length).toBe(100_001)
    } finally {
      JSON.parse = parse
    }
    expect(revived).toBe(0)
  })

  it('what is as deep as a text may be costs no stack', () => {
    const depth = 9_000
    let value = parseJson(`${'[1234567890123456789,'.repeat(depth)}0${']'.repeat(depth)}`)
    for (let i = 0; i < depth; i++) value = (value as Json[])[1] as Json
    expect(value).toBe(0)
  })
})

it('the size of a text: how deep, and how many values and keys', () => {
  expect(jsonSize('{"a":[1,"[{,:",{}],"b\\"[":2}')).toEqual({ depth: 3, values: 8 })
  expect(jsonSize('')).toEqual({ depth: 0, values: 0 })
})
