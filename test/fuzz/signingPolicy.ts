/** The signer's policy, as an operator may have written it, and a message under it. */
import { fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { encode } from '../../src/codec/description.ts'
import { parseAddress } from '../../src/types/address.ts'
import { messageCid, message as messageCodec } from '../../src/types/message.ts'
import { PolicyGuard, parsePolicy } from '../../src/wallet/signingPolicy.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { mutateJson } from './mutateJson.ts'
import { SIGNED } from './seeds.ts'

const { message } = SIGNED
const SIGNER = message.from.toString('f')
const [TO, OTHER] = [message.to.toString('f'), 'f1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za']
const DATA = messageCid(message).bytes
const EXTRA = encode(messageCodec, message)

let way = ''

function run(input: Uint8Array): void {
  let json: unknown
  try {
    json = JSON.parse(fromUtf8(input))
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
    throw new PetrelError('NO_JSON', 'no JSON', {}, { cause })
  }
  const policy = parsePolicy(json)
  const { keys } = json as { keys: Record<string, { recipients?: string[]; methods?: number[] }> }
  if (policy.keys.size !== Object.keys(keys).length) throw new Error('a rule is lost')
  const guard = new PolicyGuard(policy, [])
  way = `${policy.keys.size} refused`
  try {
    guard.allowed(message.from, DATA, { type: 'message', extra: EXTRA }, 0)
  } catch (error) {
    if (!(error instanceof PetrelError)) throw error
    return
  }
  // What the file itself says, read anew.
  const rule = Object.entries(keys).find(([name]) => parseAddress(name).equals(message.from))?.[1]
  const { recipients, methods = [0] } = rule ?? {}
  if (rule === undefined || !methods.includes(Number(message.method))) throw new Error('allowed without a rule')
  if (recipients?.some((one) => parseAddress(one).equals(message.to)) === false) throw new Error('another recipient')
  way = `${policy.keys.size} allowed`
}

/** Nothing is signed that the file does not say. */
export const signingPolicy: FuzzTarget = {
  seeds: () => [
    utf8(JSON.stringify({ keys: { [SIGNER]: { dailyLimit: '100 FIL', recipients: [TO, OTHER], methods: [0, 2] } } })),
    utf8(JSON.stringify({ keys: { [SIGNER]: {}, [OTHER]: { methods: [] } }, chainId: 314, manage: true })),
    utf8(JSON.stringify({ keys: { [SIGNER]: { dailyLimit: '1 FIL' }, [message.from.toString('t')]: {} } })),
  ],
  mutate: mutateJson,
  run,
  way: () => way,
}
