/** Messages that commands send, and what became of them. */
import type { Json } from '../../src/codec/jsonText.ts'
import type { JsonMessage, JsonMsgLookup, JsonSignedMessage } from './answers.ts'
import type { CliContext } from './context.ts'
import { CliError } from './errors.ts'
import type { RpcClient } from './rpcClient.ts'

/** No bound on how far back the node searches. */
const NO_LIMIT = -1

/** A message that the node is to price, number and sign. */
export type Draft = Pick<JsonMessage, 'To' | 'From' | 'Value' | 'Method' | 'Params'>

/** @returns CID of the signed message */
export async function push(client: RpcClient, draft: Draft): Promise<string> {
  const message: JsonMessage = { Version: 0, Nonce: 0, GasLimit: 0, GasFeeCap: '0', GasPremium: '0', ...draft }
  return (await client.call<JsonSignedMessage>('MpoolPushMessage', [message, null], 'v1')).CID['/']
}

/** Sends what a method of `/rpc/v1` has drafted. @returns CID of the signed message */
export async function pushDrafted(client: RpcClient, method: string, params: readonly unknown[]): Promise<string> {
  const { Message: message } = await client.call<{ readonly Message: JsonMessage }>(method, params, 'v1')
  return push(client, message)
}

/** Until the message is executed and lies so many epochs deep. */
export function executed(client: RpcClient, cid: string, confidence: number): Promise<JsonMsgLookup> {
  return client.call<JsonMsgLookup>('StateWaitMsg', [{ '/': cid }, confidence, NO_LIMIT, true], 'v1')
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
  return from ?? (await client.call<string>('WalletDefaultAddress'))
}

/** Fields of a decoded return value. */
export function returned(found: JsonMsgLookup): { readonly [name: string]: Json } {
  const value = found.ReturnDec as Json
  return value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {}
}

/** The result of a command that sent one message. */
export function sent(context: CliContext, cid: string, found?: JsonMsgLookup): void {
  context.result({
    Message: cid,
    ...(found === undefined
      ? {}
      : { ExitCode: found.Receipt.ExitCode, Height: found.Height, Return: (found.ReturnDec ?? null) as Json }),
  })
}
