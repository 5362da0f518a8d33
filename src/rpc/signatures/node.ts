/** Signatures: the node itself: status, log, shutdown. */
import { bool, jsonOnly, listOrEmpty, nullable, text } from '../../codec/description.ts'
import { chainEpoch } from '../../types/scalars.ts'
import { nothing, type Param, param } from '../method.ts'
import { type CallSignature, type ChannelSignature, callSignature, channelSignature } from '../signature.ts'
import {
  type Alert,
  alert,
  type IndexValidation,
  indexValidation,
  type NodeStatus,
  nodeStatus as nodeStatusJson,
} from '../types/node.ts'

const nothingValue = jsonOnly<void>(
  'struct {}',
  () => ({}),
  () => undefined,
)

export const nodeStatus: CallSignature<readonly [Param<boolean>], NodeStatus> = callSignature({
  name: 'NodeStatus',
  perm: 'read',
  versions: ['v1'],
  summary: 'How far the node is behind, whom it could tell, and how full tipsets are.',
  params: [param('inclChainStatus', bool)],
  result: nodeStatusJson,
})

export const closing: ChannelSignature<readonly [], void> = channelSignature({
  name: 'Closing',
  perm: 'read',
  summary: 'A channel that ends when the node does.',
  params: [],
  result: nothingValue,
})

export const logList: CallSignature<readonly [], string[]> = callSignature({
  name: 'LogList',
  perm: 'write',
  summary: 'Parts of the log, each with a level of its own.',
  params: [],
  result: listOrEmpty(text),
})

export const logSetLevel: CallSignature<readonly [Param<string>, Param<string>], void> = callSignature({
  name: 'LogSetLevel',
  perm: 'write',
  summary: 'From now on a part of the log (`*`: all) prints this level and above: debug, info, warn, error, fatal.',
  params: [param('subsystem', text), param('level', text)],
  result: nothing,
})

export const logAlerts: CallSignature<readonly [], Alert[]> = callSignature({
  name: 'LogAlerts',
  perm: 'admin',
  summary: 'What an operator should look at; a node without trouble has none.',
  params: [],
  result: listOrEmpty(alert),
})

export const createBackup: CallSignature<readonly [Param<string>], void> = callSignature({
  name: 'CreateBackup',
  perm: 'admin',
  noDeadline: 'writes all that is kept',
  summary: 'Writes what the node keeps besides the chain to a file below $PETREL_BACKUP_BASE_PATH, as Lotus does.',
  params: [param('path', text)],
  result: nothing,
})

export const chainValidateIndex: CallSignature<readonly [Param<number>, Param<boolean>], IndexValidation | null> =
  callSignature({
    name: 'ChainValidateIndex',
    cost: 'scan',
    perm: 'write',
    runsOnce: false,
    versions: ['v1'],
    summary: "Counts an epoch's messages and events. The chain itself is the index, so nothing is ever filled in.",
    params: [param('epoch', chainEpoch), param('backfill', bool)],
    result: nullable(indexValidation),
  })
