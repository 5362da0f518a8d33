/**
 * Messages that the recorded node had in its pool but that no block of the archive holds (one that was replaced before a
 * producer took it). Their fields are recorded; their signature is not, and cannot be made again: Lotus signs with
 * secp256k1 nonces that are partly random. So they are put into the store under the recorded CID with a signature of
 * zeros: enough for looking them up and for finding what replaced them.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { zstdDecompressSync } from 'node:zlib'
import { fromHex } from '../../src/base/bytes.ts'
import { cid, encode } from '../../src/codec/description.ts'
import { type Json, parseJson } from '../../src/codec/jsonText.ts'
import type { Blockstore } from '../../src/ipld/blockstore.ts'
import { transactionToSignedMessage } from '../../src/types/ethTransaction.ts'
import { message } from '../../src/types/message.ts'
import { SIGNATURE_SECP256K1 } from '../../src/types/signature.ts'
import { type SignedMessage, signedMessage } from '../../src/types/signedMessage.ts'

const JSON_CONTEXT = { addressPrefix: 't' } as const
const SIGNATURE_BYTES = 65

interface Row {
  readonly request: { readonly params: Json[] }
  readonly response: { readonly result: Json }
}

/** Transactions that waited in the recorded pool, as they were signed: their answers name no block. */
export function pooledTransactions(folder: string): SignedMessage[] {
  const path = join(folder, 'chain.jsonl.zst')
  if (!existsSync(path)) return []
  const text = zstdDecompressSync(readFileSync(path)).toString('utf8')
  const out: SignedMessage[] = []
  for (const line of text.split('\n')) {
    if (!line.includes('"method":"eth_getTransactionByHash"') || !line.includes('"blockHash":null')) continue
    const { result } = (JSON.parse(line) as { response: { result: Record<string, string> } }).response
    const number = (name: string): bigint => BigInt(result[name] ?? '0x0')
    const v = number('v')
    const price = number('gasPrice')
    const isTyped = result.type === '0x2'
    out.push(
      transactionToSignedMessage({
        kind: isTyped ? 'eip1559' : v === 27n || v === 28n ? 'homestead' : 'eip155',
        chainId: number('chainId'),
        nonce: number('nonce'),
        to: result.to === null || result.to === undefined ? undefined : fromHex(result.to),
        value: number('value'),
        input: fromHex(result.input ?? '0x'),
        gasLimit: number('gas'),
        maxFeePerGas: isTyped ? number('maxFeePerGas') : price,
        maxPriorityFeePerGas: isTyped ? number('maxPriorityFeePerGas') : price,
        v,
        r: number('r'),
        s: number('s'),
      }),
    )
  }
  return out.sort((a, b) => Number(a.message.nonce - b.message.nonce))
}

/** Puts them where the node looks for messages. */
export function putPooledMessages(folder: string, blocks: Blockstore): void {
  const path = join(folder, 'chain.jsonl.zst')
  if (!existsSync(path)) return
  const text = zstdDecompressSync(readFileSync(path)).toString('utf8')
  for (const line of text.split('\n')) {
    if (!line.endsWith('"what":"replaced"}')) continue
    const { request, response } = parseJson(line) as unknown as Row
    const signature = { type: SIGNATURE_SECP256K1, data: new Uint8Array(SIGNATURE_BYTES) }
    const signed = { message: message.fromJson(response.result, JSON_CONTEXT), signature }
    blocks.put(cid.fromJson(request.params[0], JSON_CONTEXT), encode(signedMessage, signed))
  }
}
