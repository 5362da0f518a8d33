/**
 * Methods that take signed Ethereum transactions.
 * @see lotus node/impl/eth/send.go
 */
import { keccak256 } from '../../crypto/hashes.ts'
import type { MessagePool } from '../../mempool/messagePool.ts'
import { assertRecipient } from '../../mempool/sanityCheck.ts'
import { parseTransaction, transactionToSignedMessage } from '../../types/ethTransaction.ts'
import { signedMessageCid } from '../../types/signedMessage.ts'
import type { EthReader } from '../ethReader.ts'
import { type MethodRow, method, param } from '../method.ts'
import { ethBytes, ethHash } from '../types/ethScalars.ts'

/** Rows of `EthSendRawTransaction…`. */
export function ethSendMethods(reader: EthReader, pool: Pick<MessagePool, 'push'>): MethodRow[] {
  const { chainId } = reader
  const prefix = reader.view.network.addressPrefix
  const rawParam = param('rawTx', ethBytes)

  async function send(raw: Uint8Array, untrusted: boolean): Promise<Uint8Array> {
    const signed = transactionToSignedMessage(parseTransaction(raw, chainId))
    const { message } = signed
    const name = `message ${signedMessageCid(signed)} from ${message.from.toString(prefix)} with nonce ${message.nonce}`
    assertRecipient(message, prefix, name)
    await pool.push(signed, { untrusted })
    return keccak256(raw)
  }

  return [
    method({
      name: 'EthSendRawTransaction',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Takes a signed transaction (EIP-1559, EIP-155 or older) into the pool; its hash.',
      aliases: ['eth_sendRawTransaction'],
      params: [rawParam],
      result: ethHash,
      handler: (raw) => send(raw, false),
    }),
    method({
      name: 'EthSendRawTransactionUntrusted',
      perm: 'read',
      versions: ['v1', 'v2'],
      summary: 'Takes a signed transaction of a stranger; its hash.',
      params: [rawParam],
      result: ethHash,
      handler: (raw) => send(raw, true),
    }),
  ]
}
