/** What the steps of the suite share: a node, its accounts, and what they ask of it. */
import assert from 'node:assert/strict'
import { type Answer, RpcFailure } from '../support/rpcClient.ts'
import type { NodeClient, NodeHost, RunningNode } from './nodeHost.ts'

/** attoFIL */
export const FIL = 10n ** 18n
/** A message whose price and nonce the node is to find. */
export const PLAIN = { Version: 0, Nonce: 0, GasLimit: 0, GasFeeCap: '0', GasPremium: '0', Method: 0, Params: null }
/** Method of Ethereum accounts. */
export const INVOKE_EVM = 3844450837

/** What the steps share. */
export interface World {
  readonly host: NodeHost
  node: RunningNode
  rpc: NodeClient
  /** Funded secp256k1 account. */
  funded: string
  /** Address made by the wallet. */
  fresh: string
  /** The send of step "a transfer". */
  sent: Answer
}

/** One behaviour. */
export interface Step {
  readonly name: string
  /** What no tab has: files, HTTP. */
  readonly only?: 'http'
  run(world: World): Promise<void>
}

/** Makes tipsets; the head after them. */
export async function mine(world: World, count = 1, options: unknown = null): Promise<Answer> {
  return await world.rpc.call('DevnetMine', count, options)
}

/** Starts the node again, after its end. */
export async function restart(world: World): Promise<void> {
  world.node = await world.host.start()
  world.rpc = world.node.client(world.node.token)
}

/** Sends attoFIL from the funded account. */
export const send = (world: World, to: string, value: bigint | number, extra: object = {}, spec: unknown = null) =>
  world.rpc.call('MpoolPushMessage', { ...PLAIN, From: world.funded, To: to, Value: String(value), ...extra }, spec)

/** The error that the node answers with. */
export async function failure(promise: Promise<unknown>): Promise<RpcFailure> {
  const error = await promise.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  assert.ok(error instanceof RpcFailure, 'expected the node to refuse')
  return error
}
