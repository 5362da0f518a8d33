/** Signatures: Ethereum's logs. */
import { type Json, json } from '../../codec/description.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type LogFilter, logFilterPointer } from '../types/logFilter.ts'

export const ethGetLogs: CallSignature<readonly [Param<LogFilter | null>], Json> = callSignature({
  name: 'EthGetLogs',
  cost: 'scan',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Logs of contracts in a range of blocks.',
  aliases: ['eth_getLogs'],
  params: [param('filter', logFilterPointer)],
  result: json,
})
