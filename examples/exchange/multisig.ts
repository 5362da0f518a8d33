/** A customer's multisig wallet, by plain messages: what any wallet program sends. */

import { bigIntBytes, CborWriter, type Cid, parseAddress, parseCid } from 'petrel'
import type { Answer, Rpc } from './rpc.ts'

const INIT_ACTOR = 'f01'
const EXEC = 2
const PROPOSE = 2
const APPROVE = 3
const NO_BYTES = new Uint8Array(0)

/** Parameters of the init actor's Exec: what to create, and the parameters of its constructor. */
function execParams(code: Cid, constructorParams: Uint8Array): Uint8Array {
  const out = new CborWriter()
  out.array(2)
  out.cid(code)
  out.bytes(constructorParams)
  return out.finish()
}

/** Signers, how many of them must approve, and no vesting. */
function multisigParams(signers: readonly string[]): Uint8Array {
  const out = new CborWriter()
  out.array(4)
  out.array(signers.length)
  for (const signer of signers) out.bytes(parseAddress(signer).bytes)
  out.uint(signers.length)
  out.int(0)
  out.int(0)
  return out.finish()
}

function proposeParams(to: string, value: bigint, method: number): Uint8Array {
  const out = new CborWriter()
  out.array(4)
  out.bytes(parseAddress(to).bytes)
  out.bytes(bigIntBytes(value))
  out.uint(method)
  out.bytes(NO_BYTES)
  return out.finish()
}

function approveParams(id: number): Uint8Array {
  const out = new CborWriter()
  out.array(2)
  out.int(id)
  out.bytes(NO_BYTES)
  return out.finish()
}

/** Mines and waits; here a test chain, elsewhere time. */
export type Settle = () => Promise<void>

/** A multisig that needs all of its signers. */
export class Multisig {
  readonly #rpc: Rpc
  readonly #settle: Settle
  /** Its f2 address. */
  readonly address: string

  private constructor(rpc: Rpc, settle: Settle, address: string) {
    this.#rpc = rpc
    this.#settle = settle
    this.address = address
  }

  static async create(rpc: Rpc, settle: Settle, signers: string[], value: bigint): Promise<Multisig> {
    const version = await rpc('StateNetworkVersion', [])
    const codes = await rpc('StateActorCodeCIDs', version)
    const exec = execParams(parseCid(codes.multisig['/']), multisigParams(signers))
    const receipt = await send(rpc, settle, signers[0] as string, INIT_ACTOR, value, EXEC, exec)
    return new Multisig(rpc, settle, receipt.ReturnDec.RobustAddress)
  }

  /** Proposes a send and lets the second signer approve it. @returns the exit code of the send itself */
  async pay(signers: string[], to: string, value: bigint, method = 0): Promise<number> {
    const [first, second] = signers as [string, string]
    const proposed = await send(
      this.#rpc,
      this.#settle,
      first,
      this.address,
      0n,
      PROPOSE,
      proposeParams(to, value, method),
    )
    const approval = approveParams(proposed.ReturnDec.TxnID)
    const approved = await send(this.#rpc, this.#settle, second, this.address, 0n, APPROVE, approval)
    return approved.ReturnDec.Code
  }
}

/** Sends a message and waits for its result. */
export async function send(
  rpc: Rpc,
  settle: Settle,
  from: string,
  to: string,
  value: bigint,
  method = 0,
  params?: Uint8Array,
): Promise<Answer> {
  const sent = await rpc(
    'MpoolPushMessage',
    {
      Version: 0,
      Nonce: 0,
      From: from,
      To: to,
      Value: value.toString(),
      GasLimit: 0,
      GasFeeCap: '0',
      GasPremium: '0',
      Method: method,
      Params: params === undefined ? null : Buffer.from(params).toString('base64'),
    },
    null,
  )
  await settle()
  return await rpc('StateWaitMsg', sent.CID, 0)
}
