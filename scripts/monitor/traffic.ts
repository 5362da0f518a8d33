/** Life on a local chain: tipsets by the clock, null rounds, a small reorganisation now and then, messages, busy hours. */
import { firstBlock } from '../../src/types/tipset.ts'
import type { LocalChain } from './localChain.ts'

const MS = 1000
const FIL = 10n ** 18n
const NULL_SHARE = 0.07
const FORK_SHARE = 0.015
/** Epochs from one busy hour to the next. */
const TIDE = 40
/** A message that reserves this much fills most of a block: what drives the base fee. */
const HEAVY_GAS = 8_000_000_000
/** Fits a quiet chain alone: it waits while the chain is busy. AttoFIL per unit of gas. */
const PATIENT_CAP = '104'

/** One message to send. */
interface Sending {
  readonly from: string
  readonly to: string
  readonly value: bigint
  readonly gasLimit?: number
  readonly feeCap?: string
}

/** Small numbers that repeat from run to run. */
function createDice(seed: number): () => number {
  let state = seed
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32
    return state / 2 ** 32
  }
}

async function send(chain: LocalChain, { from, to, value, gasLimit, feeCap }: Sending): Promise<void> {
  const message = {
    Version: 0,
    To: to,
    From: from,
    Nonce: 0,
    Value: value.toString(),
    GasLimit: gasLimit ?? 0,
    GasFeeCap: feeCap ?? '0',
    GasPremium: feeCap === undefined ? '0' : '1',
    Method: 0,
    Params: null,
  }
  await chain.transport.request('Filecoin.MpoolPushMessage', [message, null])
}

/**
 * Runs until the signal comes: first the epochs since genesis, at once, then one by one.
 * @param caughtUp - called when the chain is where the clock is
 * @param say - told what went wrong; the chain goes on
 */
export async function runTraffic(
  chain: LocalChain,
  signal: AbortSignal,
  caughtUp: () => void,
  say: (text: string) => void,
): Promise<void> {
  const accounts = (await chain.node.DevnetAccounts()).map(({ address }) => address.toString('t'))
  const { blockDelay } = await chain.node.Version()
  const genesis = firstBlock(await chain.node.ChainHead())
  const dice = createDice(7)
  let skipped = 0
  let isBehind = true
  for (let epoch = genesis.height + 1; !signal.aborted; epoch++) {
    const wait = (genesis.timestamp + epoch * blockDelay) * MS - Date.now()
    if (wait > 0 && isBehind) {
      isBehind = false
      caughtUp()
    }
    await sleep(wait, signal)
    if (signal.aborted) return
    try {
      if (epoch > 3 && skipped < 2 && dice() < NULL_SHARE) skipped++
      else {
        // A fork makes epochs of its own: it would run ahead of the clock if it were deeper than what it replaces.
        const fork = epoch > 10 && skipped === 0 && dice() < FORK_SHARE ? 2 : 0
        await chain.node.DevnetMine(1, { nullRounds: skipped, fork })
        skipped = 0
      }
      for (const message of messages(epoch, dice, accounts)) await send(chain, message).catch(() => undefined)
    } catch (error) {
      if (signal.aborted) return
      say(error instanceof Error ? error.message : String(error))
    }
  }
}

function messages(epoch: number, dice: () => number, accounts: readonly string[]): Sending[] {
  // The last account is the patient one: what it sends may wait, and whatever follows with it.
  const others = accounts.slice(0, -1)
  const some = (): string => others[Math.floor(dice() * others.length)] as string
  const busy = Math.max(0, Math.sin((2 * Math.PI * epoch) / TIDE))
  const out: Sending[] = []
  const amount = (): bigint => (FIL * BigInt(Math.ceil(dice() * 5_000_000))) / 1_000_000n
  for (let i = 0; i < 1 + Math.floor(dice() * 3); i++) out.push({ from: some(), to: some(), value: amount() })
  if (dice() < 0.1) out.push({ from: accounts.at(-1) as string, to: some(), value: amount(), feeCap: PATIENT_CAP })
  for (let i = 0; i < Math.round(busy * 4); i++) {
    out.push({ from: some(), to: some(), value: amount() / 10n, gasLimit: HEAVY_GAS })
  }
  return out
}

function sleep(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      clearTimeout(timer)
      signal.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, Math.max(0, ms))
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}
