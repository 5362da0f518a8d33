/**
 * Methods that take signed Ethereum transactions.
 * @see lotus node/impl/eth/send.go
 */
import { keccak256 } from '../../crypto/hashes.ts'
import type { MessagePool } from '../../mempool/messagePool.ts'
import { assertRecipient } from '../../mempool/sanityCheck.ts'
import { transactionToSignedMessage } from '../../types/ethTransaction.ts'
import { parseTransaction } from '../../types/parseEthTransaction.ts'
import { signedMessageCid } from '../../types/signedMessage.ts'
import type { EthReader } from '../ethReader.ts'
import { type CallContext, type MethodRow, method } from '../method.ts'
import { ethSendRawTransaction, ethSendRawTransactionUntrusted } from '../signatures/ethSend.ts'

/** Rows of `EthSendRawTransaction…`. */
export function ethSendMethods(reader: EthReader, pool: Pick<MessagePool, 'push'>): MethodRow[] {
  const { chainId } = reader
  const prefix = reader.view.network.addressPrefix

  async function send(raw: Uint8Array, untrusted: boolean, { permissions }: CallContext): Promise<Uint8Array> {
    const signed = transactionToSignedMessage(parseTransaction(raw, chainId))
    const { message } = signed
    const name = `message ${signedMessageCid(signed)} from ${message.from.toString(prefix)} with nonce ${message.nonce}`
    assertRecipient(message, prefix, name)
    await pool.push(signed, { untrusted, ofStranger: !permissions.has('write') })
    return keccak256(raw)
  }

  return [
    method({
      ...ethSendRawTransaction,
      handler: (raw, call) => send(raw, false, call),
    }),
    method({
      ...ethSendRawTransactionUntrusted,
      handler: (raw, call) => send(raw, true, call),
    }),
  ]
}
