/** Messages and receipts from rows, as blocks and receipts had them. */
import { fromHex } from '../base/bytes.ts'
import { parseCid } from '../codec/cid.ts'
import { parseAddress } from '../types/address.ts'
import { blsChainMessage, type ChainMessage, signedChainMessage } from '../types/chainMessage.ts'
import type { Message } from '../types/message.ts'
import type { Receipt } from '../types/receipt.ts'
import { IndexError } from './errors.ts'
import type { MessageColumns } from './indexReader.ts'

function unknown(what: string, { cid, height }: MessageColumns): IndexError {
  const text = `the index has message ${cid} of epoch ${height} from an earlier Petrel, without ${what}: it is completed by a writer that has the state, or from an archive`
  return new IndexError('NOT_KNOWN', text)
}

/** @throws IndexError `NOT_KNOWN` */
export function messageOfRow(row: MessageColumns): ChainMessage {
  const message: Message = {
    version: 0,
    to: parseAddress(row.to_address),
    from: parseAddress(row.from_address),
    nonce: BigInt(row.nonce),
    value: BigInt(row.value),
    gasLimit: BigInt(row.gas_limit),
    gasFeeCap: BigInt(row.gas_fee_cap),
    gasPremium: BigInt(row.gas_premium),
    method: BigInt(row.method),
    params: fromHex(row.params),
  }
  if (row.signature === null) return blsChainMessage(message)
  if (row.signature === '') throw unknown('its signature', row)
  const [type = 0, ...data] = fromHex(row.signature)
  return signedChainMessage({ message, signature: { type, data: Uint8Array.from(data) } })
}

/** @throws IndexError `NOT_KNOWN` */
export function receiptOfRow(row: MessageColumns): Receipt {
  if (row.events_root === '') throw unknown('the root of its events', row)
  return {
    exitCode: row.exit_code,
    return: fromHex(row.returned),
    gasUsed: BigInt(row.gas_used),
    eventsRoot: row.events_root === null ? null : parseCid(row.events_root),
  }
}
