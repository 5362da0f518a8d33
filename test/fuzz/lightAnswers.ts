/** Answers of an RPC endpoint that a light node asks and does not believe. The first byte chooses the question; the rest is each answer. */
import { concatBytes, fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { parseCid } from '../../src/codec/cid.ts'
import { type Json, stringifyJson } from '../../src/codec/jsonText.ts'
import { finalityCertificate } from '../../src/consensus/f3/certificate.ts'
import { rpcSource } from '../../src/light/rpcSource.ts'
import { RpcClientError } from '../../src/rpc/client/errors.ts'
import { createTipset, tipset } from '../../src/types/tipset.ts'
import { header } from '../chain/buildChain.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { CERTIFICATE } from './seeds.ts'

const CONTEXT = { addressPrefix: 'f' } as const
const FIRST = 3
const LIMIT = 5
const cid = parseCid('bafy2bzacecmda75ovposbdateg7eyhwij65zklgyijgcjwynlklmqazpwlhba')

let way = ''

/** @throws PetrelError by which an answer is refused; Error for what must not be */
async function run(input: Uint8Array): Promise<void> {
  const [choice = 0] = input
  const answer = fromUtf8(input.subarray(1))
  const { signal } = new AbortController()
  let asked = 0
  const post = (_: string, __: unknown, most = 0): Promise<{ status: number; text: string }> => {
    if (asked++ > LIMIT + 1) throw new Error('asked again and again')
    if (answer.length > most) throw new RpcClientError('BAD_ANSWER', 'too long')
    return Promise.resolve({ status: choice < 128 ? 200 : 500, text: answer })
  }
  const { certificates, powerTable, blocks, head, latestCertificate } = rpcSource('fuzz', post, false)
  const questions = [
    async (): Promise<unknown> => (await latestCertificate(signal))?.instance,
    async (): Promise<unknown> => {
      const found = (await certificates?.(FIRST, LIMIT, signal)) ?? []
      if (found.some(({ instance }, i) => instance !== FIRST + i)) throw new Error('out of order')
      return found.length
    },
    async (): Promise<unknown> => (await powerTable?.(FIRST, signal))?.length,
    async (): Promise<unknown> => {
      const found = (await blocks?.([cid, cid], signal)) ?? []
      if (found.some(([of, data]) => !of.equals(cid) || !(data instanceof Uint8Array))) throw new Error('no block')
      return found.length
    },
    async (): Promise<unknown> => (await head?.(signal))?.key.length,
  ]
  const at = choice % questions.length
  way = `${at} ${String(await (questions[at] as () => Promise<unknown>)())}`
}

function seed(choice: number, ...results: readonly Json[]): Uint8Array {
  const answers = results.map((result, id) => ({ jsonrpc: '2.0', id, result }))
  return concatBytes(Uint8Array.of(choice), utf8(stringifyJson(answers.length === 1 ? (answers[0] as Json) : answers)))
}

/** No answer does more than be refused: what it says is checked where it is used. */
export const lightAnswers: FuzzTarget = {
  seeds: () => {
    const certificate = finalityCertificate.toJson(CERTIFICATE, CONTEXT)
    return [
      seed(0, certificate),
      seed(1, certificate),
      seed(2, [{ ID: 1000, Power: '10', PubKey: 'AQID' }]),
      seed(3, 'AQID', 'BAU='),
      seed(4, tipset.toJson(createTipset([header(undefined, 0, 0)]), CONTEXT)),
      seed(128, null),
    ]
  },
  run,
  way: () => way,
}
