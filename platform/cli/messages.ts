/** Messages that commands send, and what became of them. */
import type { Json } from '../../src/codec/jsonText.ts'
import { line } from '../server/programIo.ts'
import type { JsonMsgLookup, UnsentMessage } from './answers.ts'
import type { CliContext } from './context.ts'
import { CliError } from './errors.ts'
import type { ApiMessagePrototype, MethodsV1 } from './nodeMethods.ts'
import type { GivenParams, RpcClient } from './rpcClient.ts'

/** No bound on how far back the node searches. */
const NO_LIMIT = -1

/** A message that the node is to price, number and sign. */
export type Draft = Pick<UnsentMessage, 'To' | 'From' | 'Value' | 'Method' | 'Params'>

/** @returns CID of the signed message */
export async function push(client: RpcClient, draft: Draft): Promise<string> {
  const message: UnsentMessage = { Version: 0, Nonce: 0, GasLimit: 0, GasFeeCap: '0', GasPremium: '0', ...draft }
  return (await client.call('MpoolPushMessage', [message, null], 'v1')).CID['/']
}

/** A method of `/rpc/v1` that drafts a message. */
export type DraftingMethod = {
  [M in keyof MethodsV1]: MethodsV1[M]['result'] extends ApiMessagePrototype ? M : never
}[keyof MethodsV1]

/** A call of such a method. */
export type Drafting = {
  [M in DraftingMethod]: readonly [method: M, params: GivenParams<MethodsV1[M]['params']>]
}[DraftingMethod]

/** Sends what a method of `/rpc/v1` has drafted. @returns CID of the signed message */
export async function pushDrafted(client: RpcClient, [method, params]: Drafting): Promise<string> {
  // Each pair is a row's; the union of all rows' parameters is not told apart any more.
  const { Message: message } = await client.call(
    method,
    params as GivenParams<MethodsV1['MsigApprove']['params']>,
    'v1',
  )
  return push(client, message)
}

/** Until the message is executed and lies so many epochs deep. */
export function executed(client: RpcClient, cid: string, confidence: number): Promise<JsonMsgLookup> {
  return client.call('StateWaitMsg', [{ '/': cid }, confidence, NO_LIMIT, true], 'v1')
}

/**
 * As {@link executed}, of a message that must succeed.
 * @throws CliError `FAILED`
 */
export async function succeeded(
  client: RpcClient,
  cid: string,
  confidence: number,
  what: string,
): Promise<JsonMsgLookup> {
  const found = await executed(client, cid, confidence)
  if (found.Receipt.ExitCode !== 0) {
    throw new CliError('FAILED', `${what} returned exit ${found.Receipt.ExitCode} (message ${cid})`)
  }
  return found
}

/** The sender: what the option says, else the wallet's default. */
export async function senderOf(client: RpcClient, from: string | undefined): Promise<string> {
  return from ?? (await client.call('WalletDefaultAddress'))
}

/** Fields of a decoded return value. */
export function returned(found: JsonMsgLookup): { readonly [name: string]: Json } {
  const value = found.ReturnDec
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}
}

/** Names what was sent before its outcome is waited for: who hears no more of it must not send it again. */
export function named(context: CliContext, cid: string, what = 'it'): void {
  context.done({ Message: cid })
  line(context.io, `sent ${what} in message: ${cid}`)
}

/** The result of a command that sent one message. */
export function sent(context: CliContext, cid: string, found?: JsonMsgLookup): void {
  context.result({
    Message: cid,
    ...(found === undefined
      ? {}
      : { ExitCode: found.Receipt.ExitCode, Height: found.Height, Return: found.ReturnDec ?? null }),
  })
}
