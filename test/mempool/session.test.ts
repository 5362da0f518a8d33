/**
 * The recorded session of the nv28 chain, replayed on a pool over that chain: every message that Lotus took is taken,
 * every one that it refused is refused with the same text, pending messages and nonces are the same.
 *
 * The head at each step is found from the fee caps: Lotus computed them from the head's base fee.
 */
import { describe, expect, test } from 'vitest'
import { accountKey } from '../../src/chain/actorLookup.ts'
import { messageByCid } from '../../src/chain/messageByCid.ts'
import type { VmHost } from '../../src/chain/vm.ts'
import { cid as cidCodec } from '../../src/codec/description.ts'
import { parseJson } from '../../src/codec/jsonText.ts'
import { estimateFeeCap } from '../../src/mempool/gas/feeCap.ts'
import { estimateGasLimit, type GasLimitDeps } from '../../src/mempool/gas/gasLimit.ts'
import { parseAddress } from '../../src/types/address.ts'
import { type Message, message, messageCid } from '../../src/types/message.ts'
import { type SignedMessage, signedMessage, signedMessageCid } from '../../src/types/signedMessage.ts'
import { firstBlock, type Tipset } from '../../src/types/tipset.ts'
import { keyOf, signWith } from '../../src/wallet/key.ts'
import { keyInfo } from '../../src/wallet/keyInfo.ts'
import { FakeTime } from '../support/fakeTime.ts'
import { type Row, readSharedZstd } from '../support/recorded.ts'
import { openRecordedView } from '../support/recordedView.ts'
import { missingShared } from '../support/shared.ts'
import { openChainPool } from './chainPool.ts'

const JSON_CONTEXT = { addressPrefix: 't' } as const
const SESSION = 'data/golden/nv28/session.jsonl.zst'

interface Step {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
  readonly response: Row
}

function steps(): Step[] {
  return readSharedZstd(SESSION)
    .trim()
    .split('\n')
    .map((line) => {
      const { request, response } = parseJson(line) as { request: Row; response: Row }
      const method = (request.method as string).replace('Filecoin.', '')
      return { id: request.id as number, method, params: (request.params ?? []) as unknown[], response }
    })
}

/** The message of an answer whose fee cap Lotus computed. */
function priced({ method, params, response }: Step): Message | undefined {
  const asked = params[0] as Row
  if (method !== 'MpoolPushMessage' || asked.GasFeeCap !== '0' || params[1] !== null) return undefined
  if (response.result === undefined) return undefined
  return signedMessage.fromJson(response.result, JSON_CONTEXT).message
}

/** The message of nonce 10 that step 73 replaced, signed again: Lotus' own signature is not recorded. */
function replacedMessage(): SignedMessage {
  const line = readSharedZstd('data/golden/nv28/chain.jsonl.zst')
    .split('\n')
    .find((one) => one.includes('"what":"replaced"'))
  const { result } = (parseJson(line ?? 'null') as { response: Row }).response
  const one = message.fromJson(result as Row, JSON_CONTEXT)
  const keys = parseJson(readSharedZstd('data/golden/nv28/keys.json.zst')) as Row
  const key = keyOf(keyInfo.fromJson(keys[one.from.toString('t')] as Row, JSON_CONTEXT))
  return { message: one, signature: signWith(key, messageCid(one).bytes) }
}

describe.skipIf(missingShared(SESSION) !== undefined)('recorded session', () => {
  test('is answered alike', async () => {
    const { view, vm: machine, executes } = openRecordedView('nv28')
    const { store } = view
    const last = store.head()
    const tipsets: Tipset[] = []
    for (let at = last; at.height > 0; at = store.parent(at)) tipsets.unshift(at)
    // the chain knows what every tipset but the last left: nothing is executed
    const vm: Pick<VmHost, 'tipsetState'> = {
      tipsetState: async (tipset) => {
        const next = tipsets.find((one) => one.height > tipset.height) ?? last
        const { parentStateRoot, parentMessageReceipts } = firstBlock(next)
        return { stateRoot: parentStateRoot, receiptsRoot: parentMessageReceipts }
      },
    }
    store.setHead(tipsets[0] as Tipset)
    const time = new FakeTime()
    const pool = await openChainPool(view, vm, time)

    let heads = 0
    const moveTo = ({ gasFeeCap, gasPremium }: Message): void => {
      const fits = (tipset: Tipset): boolean =>
        estimateFeeCap(firstBlock(tipset).parentBaseFee, gasPremium, 20n) === gasFeeCap
      const found = tipsets.find((one) => one.height >= store.head().height && fits(one))
      if (found === undefined || found.height === store.head().height) return
      store.setHead(found)
      heads++
    }
    const refusal = async (signed: SignedMessage): Promise<string | undefined> =>
      await pool.push(signed).then(
        () => undefined,
        (error: Error) => error.message,
      )
    const all = steps()
    const counts = { taken: 0, refused: 0, pending: 0, nonces: 0 }
    const gas: GasLimitDeps = {
      pool,
      vm: machine,
      chain: { parent: (tipset) => store.parent(tipset) },
      resolveKeyAddress: (address, tipset) => accountKey(view, view.stateBefore(tipset), address),
      addressPrefix: 't',
      hyggeHeight: 0,
      actorKindAt: () => undefined,
    }
    /** Runs the message as Lotus did before it answered, with what was pending then. */
    const estimated = async (id: number, asked: Row, answer: Row): Promise<void> => {
      if (!executes || asked.GasLimit !== 0) return
      const run = (): Promise<Row> =>
        estimateGasLimit(message.fromJson(asked, JSON_CONTEXT), store.head(), gas).then(
          (used) => ({ GasLimit: Math.trunc(Number(used) * 1.25) }),
          (error: Error) => ({ message: error.message }),
        )
      let found = await run()
      if (answer.GasLimit !== undefined) expect(found, `step ${id}`).toEqual({ GasLimit: answer.GasLimit })
      else {
        const text = (answer.message as string).replace('GasEstimateMessageGas error: ', '')
        // what fails after the estimate is another matter
        if (!/message execution failed|gas estimation failed/.test(text)) return
        // a refusal does not say at which head; the next answer may
        const next = all.find((one) => one.id > id && priced(one) !== undefined)
        if (found.message !== text && next !== undefined) moveTo(priced(next) as Message)
        found = await run()
        expect(found, `step ${id}`).toEqual({ message: text })
      }
      estimates++
    }
    let estimates = 0

    for (const { id, method, params, response } of all) {
      // the push that step 71 tries to replace is not in the recording; its message is, and its sender's key
      if (id === 71) expect(await refusal(replacedMessage())).toBeUndefined()
      // from here on the base fee is at its minimum and says nothing about the head any more
      if (id >= 160) break
      if (method === 'MpoolPushMessage' && response.result !== undefined) {
        const signed = signedMessage.fromJson(response.result as Row, JSON_CONTEXT)
        const asked = params[0] as Row
        if (asked.GasFeeCap === '0' && params[1] === null) moveTo(signed.message)
        // the second send with the same id was not estimated
        if (id !== 61) await estimated(id, asked, (response.result as Row).Message as Row)
        const refused = await refusal(signed)
        // the second send with the same id gave the first one's message
        if (id === 61) expect(refused).toContain('message with nonce already exists')
        else expect(refused, `step ${id}`).toBeUndefined()
        counts.taken++
      } else if (method === 'MpoolPushMessage') {
        await estimated(id, params[0] as Row, response.error as Row)
      } else if (method === 'MpoolPush') {
        const signed = signedMessage.fromJson(params[0] as Row, JSON_CONTEXT)
        const error = response.error as Row | undefined
        expect(await refusal(signed), `step ${id}`).toBe(error?.message)
        counts[error === undefined ? 'taken' : 'refused']++
        if (error === undefined)
          expect(signedMessageCid(signed)).toEqual(cidCodec.fromJson(response.result ?? null, JSON_CONTEXT))
      } else if (method.startsWith('Msig') && (response.result as Row | undefined)?.['/'] !== undefined) {
        const found = messageByCid(store.blocks, cidCodec.fromJson(response.result ?? null, JSON_CONTEXT))
        // a BLS message is on chain without its signature
        if (found.kind !== 'signed') continue
        moveTo(found.message)
        expect(await refusal(found.signed), `step ${id}`).toBeUndefined()
        counts.taken++
      } else if (method === 'MpoolPending') {
        const answered = (response.result as Row[]).map((one) => JSON.stringify((one.CID as Row)['/'])).sort()
        const ours = pool
          .pending()
          .messages.map((one) => JSON.stringify(signedMessageCid(one).toString()))
          .sort()
        expect(ours, `step ${id}`).toEqual(answered)
        counts.pending++
      } else if (method === 'MpoolGetNonce') {
        const nonce = await pool.nonce(parseAddress(params[0] as string))
        expect(Number(nonce), `step ${id}`).toBe(response.result)
        counts.nonces++
      } else if (method === 'GasEstimateMessageGas' && params[1] === null && response.result !== undefined) {
        moveTo(message.fromJson(response.result as Row, JSON_CONTEXT))
      } else if (method === 'GasEstimateFeeCap') {
        const asked = message.fromJson(params[0] as Row, JSON_CONTEXT)
        const baseFee = firstBlock(store.head()).parentBaseFee
        expect(estimateFeeCap(baseFee, asked.gasPremium, BigInt(params[1] as number)).toString()).toBe(response.result)
      }
    }
    expect(heads).toBeGreaterThan(20)
    expect(counts).toEqual({ taken: counts.taken, refused: 4, pending: 2, nonces: 2 })
    expect(counts.taken).toBeGreaterThan(60)
    if (executes) expect(estimates).toBeGreaterThan(30)
    pool.close()
  })
})
