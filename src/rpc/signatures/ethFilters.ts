/** Signatures: Ethereum's filters. */
import { bool, type Json, json } from '../../codec/description.ts'
import { type Param, param } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { ethFilterId, ethHash } from '../types/ethScalars.ts'
import { type LogFilter, logFilterPointer } from '../types/logFilter.ts'

const idParam = param('id', ethFilterId)

export const ethNewFilter: CallSignature<readonly [Param<LogFilter | null>], Uint8Array> = callSignature({
  name: 'EthNewFilter',
  perm: 'read',
  cost: 'scan',
  versions: ['v1', 'v2'],
  summary: 'Collects logs, from those that there are already.',
  aliases: ['eth_newFilter'],
  params: [param('filter', logFilterPointer)],
  result: ethHash,
})

export const ethNewBlockFilter: CallSignature<readonly [], Uint8Array> = callSignature({
  name: 'EthNewBlockFilter',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Collects hashes of new blocks.',
  aliases: ['eth_newBlockFilter'],
  params: [],
  result: ethHash,
})

export const ethNewPendingTransactionFilter: CallSignature<readonly [], Uint8Array> = callSignature({
  name: 'EthNewPendingTransactionFilter',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Collects hashes of transactions that enter the pool.',
  aliases: ['eth_newPendingTransactionFilter'],
  params: [],
  result: ethHash,
})

export const ethGetFilterChanges: CallSignature<readonly [Param<Uint8Array>], Json> = callSignature({
  name: 'EthGetFilterChanges',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'What a filter collected since the last question.',
  aliases: ['eth_getFilterChanges'],
  params: [idParam],
  result: json,
})

export const ethGetFilterLogs: CallSignature<readonly [Param<Uint8Array>], Json> = callSignature({
  name: 'EthGetFilterLogs',
  cost: 'scan',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'What a filter of logs collected since the last question.',
  aliases: ['eth_getFilterLogs'],
  params: [idParam],
  result: json,
})

export const ethUninstallFilter: CallSignature<readonly [Param<Uint8Array>], boolean> = callSignature({
  name: 'EthUninstallFilter',
  perm: 'read',
  versions: ['v1', 'v2'],
  summary: 'Ends a filter; false when there is none.',
  aliases: ['eth_uninstallFilter'],
  params: [idParam],
  result: bool,
})
