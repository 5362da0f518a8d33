/**
 * Bodies of JSON-RPC requests at the methods themselves: a local chain in memory with messages and a wallet, asked by somebody who may do
 * everything. A method answers or refuses; a bug in one is told to the log, and is a find.
 */
import { systemTimers } from '../../platform/server/clock.ts'
import { fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { PetrelError } from '../../src/base/errors.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import type { Logger } from '../../src/base/ports.ts'
import { type Json, parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { startNode } from '../../src/node/node.ts'
import type { HttpResponse } from '../../src/rpc/httpMessage.ts'
import { firstBlock } from '../../src/types/tipset.ts'
import { KeyStore } from '../../src/wallet/keyStore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { exchangeChain } from '../index/indexedChain.ts'
import { steadyRandom } from '../p2p/exchangeNodes.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { mutateJson } from './mutateJson.ts'
import { generateCalls, valuesFor } from './rpcCalls.ts'
import { type AskNode, knownMethods, knownValues } from './rpcKnown.ts'

const SEED = 20_261_129
/** Some of each method. */
const SEEDS = 1200
const TIPSETS = 4
/** A call that waits for what does not come is given up. */
const GIVE_UP_MS = 100
/** For the first execution, on a busy machine. */
const START_MS = 60_000
/** Numbers of JSON-RPC itself are below; those of methods are above. */
const NO_METHODS = -32_500
/** They change what the next inputs are asked of, or what all of them share. */
const LEFT_OUT: readonly string[] = [
  ...[
    'Shutdown',
    'CreateBackup',
    'ChainExportRangeInternal',
    'LogSetLevel',
    'ChainSetHead',
    'ChainPrune',
    'ChainHotGC',
  ],
  ...['ChainDeleteObj', 'SyncCheckpoint', 'SyncSubmitBlock', 'MinerCreateBlock', 'WalletNew', 'WalletImport'],
  ...['WalletDelete', 'AuthNew'],
]

interface Asked {
  /** @returns the whole answer, as text */
  readonly post: (body: string, giveUpMs: number) => Promise<string>
  /** What the log was told of bugs since the last time. */
  readonly bugs: () => string[]
  readonly seeds: readonly Uint8Array[]
}

async function wholeText({ body, pieces = [], rest }: HttpResponse): Promise<string> {
  let text = body + pieces.map(fromUtf8).join('')
  for await (const part of rest ?? []) text += part
  return text
}

async function open(): Promise<Asked> {
  const { node: chain, mine } = await exchangeChain()
  for (let i = 0; i < TIPSETS; i++) await mine()
  const { view, vm, store, plan } = chain
  const told: string[] = []
  const log: Logger = {
    ...{ debug: () => undefined, info: () => undefined, warn: () => undefined },
    error: (message, info) => void told.push(`${message} ${String(info?.stack)}`),
  }
  const nowMs = firstBlock(store.head()).timestamp * 1000
  const node = await startNode(
    {
      network: plan.network,
      store,
      view,
      vm,
      meta: new MemoryStore(),
      keystore: new KeyStore(new MemorySecretStore()),
    },
    { version: 'fuzz', shutdown: () => undefined },
    {
      clock: { nowMs: () => nowMs, monotonicMs: () => performance.now() },
      timers: systemTimers,
      random: steadyRandom,
      log,
    },
  )
  for (const { kind, secretKey } of plan.accounts) await node.wallet.import({ type: kind, privateKey: secretKey })
  const post = async (body: string, giveUpMs: number): Promise<string> => {
    const gone = new AbortController()
    const timer = setTimeout(() => gone.abort(new PetrelError('GONE', 'gone')), giveUpMs)
    // The node's own timers keep no thread alive, and a refusal may wait for one.
    const alive = setInterval(() => undefined, START_MS)
    try {
      return await wholeText(
        await node.handler.handle({
          ...{ verb: 'POST', url: '/rpc/v1', body, address: '127.0.0.1', signal: gone.signal },
          header: (name) => (name === 'authorization' ? `Bearer ${node.adminToken}` : undefined),
        }),
      )
    } finally {
      clearTimeout(timer)
      clearInterval(alive)
    }
  }
  const ask: AskNode = async (method, ...params) => {
    const answer = parseJson(await post(bodyOf(method, params), START_MS)) as { result?: Json }
    if (answer.result === undefined) throw new TypeError(`${method}: ${stringifyJson(answer)}`)
    return answer.result
  }
  const methods = (await knownMethods(ask)).filter(({ name }) => !LEFT_OUT.some((one) => name.includes(one)))
  const values = await knownValues(ask)
  const right = methods.map(({ name, types }) =>
    bodyOf(
      name,
      types.map((type) => valuesFor(values, type)?.[0] ?? null),
    ),
  )
  const calls = generateCalls(methods, values, SEED)
  const others = Array.from({ length: SEEDS }, () => {
    const { method, params } = calls.next().value
    return bodyOf(method, params)
  })
  return { post, bugs: () => told.splice(0), seeds: [...right, ...others].map(utf8) }
}

function bodyOf(method: string, params: Json): string {
  return stringifyJson({ jsonrpc: '2.0', id: 1, method, params })
}

/** What an answer is, without its numbers and names; throws for what is none. */
function judged(answer: Json): string {
  if (typeof answer !== 'object' || answer === null || Array.isArray(answer)) throw new Error('an answer that is none')
  const { result, error } = answer as { result?: Json; error?: { code: Json; message: string } }
  if (error === undefined) {
    if (result === undefined) throw new Error('neither a result nor an error')
    return 'result'
  }
  const { code, message } = error
  // Lotus' own, where null reaches a pointer.
  if (code === 0 && !message.includes('nil pointer')) throw new Error(message)
  if (typeof code === 'number' && code < NO_METHODS) throw new PetrelError(String(code), 'refused')
  return `${stringifyJson(code)} ${message.replace(/[a-z2-7]{20,}|[0-9a-f]{3,}|\d+|"[^"]*"/g, '#').slice(0, 60)}`
}

let opened: Promise<Asked> | undefined
function asked(): Promise<Asked> {
  opened ??= open()
  return opened
}

let way = ''

/** Every body has an answer of JSON-RPC, and nothing but refusals is behind it. */
export const rpcHandlers: FuzzTarget = {
  seeds: async () => (await asked()).seeds,
  mutate: mutateJson,
  run: async (input) => {
    const body = fromUtf8(input)
    if (LEFT_OUT.some((name) => body.includes(name))) throw new PetrelError('LEFT_OUT', 'not asked')
    const { post, bugs } = await asked()
    const text = await post(body, GIVE_UP_MS)
    const told = bugs()
    if (told.length > 0) throw new Error(told.join('\n'))
    const answer = text.trim() === '' ? [] : parseJson(text)
    const answers = Array.isArray(answer) ? answer.map(judged) : [judged(answer)]
    const [, method = ''] = /"method":"([^"]*)"/.exec(body) ?? []
    way = `${method} ${[...new Set(answers)].join(' ')}`
  },
  way: () => way,
}
