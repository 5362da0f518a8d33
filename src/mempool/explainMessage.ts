/**
 * Why a message is not in a block yet, and what repairs that.
 *
 *   unknown: neither pending nor on the chain
 *   pending -> reasons, the one to repair first at the front; none: the next block may take it
 *
 * The reasons are the conditions of {@link createChains} and of the pool's selection, looked at one by one.
 */
import type { Cid } from '../codec/cid.ts'
import type { Address } from '../types/address.ts'
import { formatFil } from '../types/fil.ts'
import type { Message } from '../types/message.ts'
import type { TokenAmount } from '../types/scalars.ts'
import type { SignedMessage } from '../types/signedMessage.ts'
import type { MessagePool } from './messagePool.ts'
import type { PooledMessage } from './pooledMessage.ts'

/**
 * `NONCE_GAP`: no message has the sender's next nonce; `BEHIND`: an earlier one of the sender is held up; `SENDER_UNKNOWN`: the
 * sender is not on the chain; `FEE_CAP`: below the base fee; `GAS_LIMIT`: below what its bytes cost; `FUNDS`: the sender cannot pay
 * its gas; `PREMIUM`: others pay more and fill the block.
 */
export type HeldUpCode = 'NONCE_GAP' | 'BEHIND' | 'SENDER_UNKNOWN' | 'FEE_CAP' | 'GAS_LIMIT' | 'FUNDS' | 'PREMIUM'

/** One reason. */
export interface HeldUp {
  readonly code: HeldUpCode
  readonly text: string
  /** A command line that repairs it. */
  readonly command: string
}

/** What the explanation of a pending message looks at. */
export interface ExplainDeps {
  readonly pool: Pick<MessagePool, 'pendingOf' | 'checkContext' | 'select' | 'tipset'>
  readonly baseFeeAfterHead: () => TokenAmount
  readonly addressPrefix: 'f' | 't'
}

/** A quality of ticket at which a block takes what pays best: what a middling producer would include. */
const TICKET_QUALITY = 1

/** @param asked - is pending */
export async function heldUpBy(asked: Message, deps: ExplainDeps): Promise<HeldUp[]> {
  const found = await firstHeldUp(asked, deps)
  if (found !== undefined) return [found]
  const premium = await outbid(asked, deps)
  return premium === undefined ? [] : [premium]
}

/** Walks the sender's messages as a producer does, up to the one that is asked for. */
async function firstHeldUp(asked: Message, deps: ExplainDeps): Promise<HeldUp | undefined> {
  const { pool } = deps
  const { after, tipset, minimumGas } = await pool.checkContext()
  const from = asked.from.toString(deps.addressPrefix)
  const actor = after.actor(asked.from)
  if (actor === undefined) {
    const text = `the sender ${from} is not on the chain: nobody has sent anything to it`
    return { code: 'SENDER_UNKNOWN', text, command: sendTo(from, asked.value + asked.gasFeeCap * asked.gasLimit) }
  }
  const baseFee = deps.baseFeeAfterHead()
  let { nonce, balance } = actor
  for (const pooled of pool.pendingOf(asked.from)) {
    const { message } = pooled
    if (message.nonce < nonce) continue
    if (message.nonce !== nonce) return gap(nonce, message.nonce - 1n, from)
    const problem = ownProblem(pooled, {
      balance,
      baseFee,
      from,
      minimumGas: minimumGas.total(tipset.height, pooled.chainLengthBytes),
    })
    if (message.nonce === asked.nonce) return problem
    if (problem !== undefined) return behind(pooled, problem)
    nonce++
    balance -= pooled.requiredFunds + message.value
  }
  return undefined
}

function gap(first: bigint, last: bigint, from: string): HeldUp {
  const which = first === last ? `nonce ${first} is` : `nonces ${first} to ${last} are`
  return {
    code: 'NONCE_GAP',
    text: `${which} missing: no message of ${from} can be included before there is one`,
    command: `petrel --force-send send --from ${from} --nonce ${first} ${from} 0`,
  }
}

function behind({ message, cid }: PooledMessage, problem: HeldUp): HeldUp {
  return {
    code: 'BEHIND',
    text: `the message of the same sender with nonce ${message.nonce} (${cid}) goes first, and is held up: ${problem.text}`,
    command: problem.command,
  }
}

interface Conditions {
  readonly balance: TokenAmount
  readonly baseFee: TokenAmount
  readonly minimumGas: bigint
  readonly from: string
}

function ownProblem(pooled: PooledMessage, { balance, baseFee, minimumGas, from }: Conditions): HeldUp | undefined {
  const { message, cid, requiredFunds } = pooled
  if (message.gasFeeCap < baseFee) {
    return {
      code: 'FEE_CAP',
      text: `its fee cap is ${message.gasFeeCap} attoFIL, the base fee ${baseFee}`,
      command: replaceAuto(cid),
    }
  }
  if (message.gasLimit < minimumGas) {
    const text = `its gas limit is ${message.gasLimit}, its bytes alone cost ${minimumGas}`
    const gas = `--gas-limit ${minimumGas * 2n} --gas-feecap ${message.gasFeeCap} --gas-premium ${(message.gasPremium * 5n) / 4n + 1n}`
    return { code: 'GAS_LIMIT', text, command: `petrel mpool replace ${gas} ${cid}` }
  }
  const needed = requiredFunds + message.value
  if (balance < needed) {
    const has = balance < 0n ? 0n : balance
    return {
      code: 'FUNDS',
      text: `${from} has ${formatFil(has)} left for it, it needs ${formatFil(needed)}`,
      command: sendTo(from, needed - has),
    }
  }
  return undefined
}

/** Whether a full block of others pays better. */
async function outbid(asked: Message, deps: ExplainDeps): Promise<HeldUp | undefined> {
  const { pool } = deps
  const selected = (await pool.select(pool.tipset, TICKET_QUALITY)) ?? []
  const sameAs = ({ message }: SignedMessage): boolean =>
    message.nonce === asked.nonce && isFrom(message.from, asked.from)
  if (selected.some(sameAs)) return undefined
  const pooled = pool.pendingOf(asked.from).find(({ message }) => message.nonce === asked.nonce)
  if (pooled === undefined) return undefined
  const least = selected.reduce<TokenAmount | undefined>(
    (min, { message }) => (min === undefined || message.gasPremium < min ? message.gasPremium : min),
    undefined,
  )
  const others =
    least === undefined ? '' : `; the ${selected.length} messages that a block would take pay ${least} or more`
  return {
    code: 'PREMIUM',
    text: `its premium is too low: ${asked.gasPremium} attoFIL${others}`,
    command: replaceAuto(pooled.cid),
  }
}

const isFrom = (a: Address, b: Address): boolean => a.equals(b)

const replaceAuto = (cid: Cid): string => `petrel mpool replace --auto ${cid}`

const sendTo = (to: string, amount: TokenAmount): string => `petrel --force-send send ${to} ${amount}attoFIL`
