/** The JSON-RPC decoder takes anything without failing in another way than its own. */
import { describe, expect, it } from 'vitest'
import { stringifyJson } from '../../src/codec/jsonText.ts'
import { RpcError } from '../../src/rpc/errors.ts'
import { parseBody, parseFrame } from '../../src/rpc/request.ts'
import { httpRequest, stubHandler } from './stubTable.ts'

const ROUNDS = 3000
const PIECES = [
  '{',
  '}',
  '[',
  ']',
  '"',
  ',',
  ':',
  'null',
  'true',
  '1',
  '-1',
  '1e400',
  '9007199254740993',
  '"id"',
  '"method"',
  '"Filecoin.WalletBalance"',
  '"Filecoin.ChainNotify"',
  '"params"',
  '"jsonrpc"',
  '"meta"',
  '"ID"',
  ' ',
  '\n',
  '\\',
  '\u0000',
  '\ud800',
  '"f01"',
  '{"id":1,"method":"Filecoin.StateNetworkName","params":[]}',
  '"xrpc.cancel"',
  '__proto__',
  '"__proto__"',
]

describe('requests made of anything', () => {
  const seed = Date.now() >>> 0
  let state = seed
  const random = (below: number): number => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  const anything = (): string => {
    let text = ''
    for (let i = random(14); i >= 0; i--) text += PIECES[random(PIECES.length)]
    return text
  }

  it(`are refused by RpcError alone, and always answered in JSON (seed ${seed})`, async () => {
    console.log(`seed ${seed}`)
    const handler = stubHandler()
    for (let i = 0; i < ROUNDS; i++) {
      const text = anything()
      try {
        parseBody(text)
      } catch (error) {
        expect(error, stringifyJson(text)).toBeInstanceOf(RpcError)
      }
      expect(() => parseFrame(text), stringifyJson(text)).not.toThrow()
      const answer = await handler.handle(httpRequest('POST', '/rpc/v1', text))
      expect([200, 400, 500], stringifyJson(text)).toContain(answer.status)
      if (answer.body !== '') expect(() => JSON.parse(answer.body), stringifyJson(text)).not.toThrow()
    }
  })
})
