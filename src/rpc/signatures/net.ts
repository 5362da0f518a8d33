/** Signatures of `Net…`. */
import { listOrEmpty } from '../../codec/description.ts'
import { type CallSignature, callSignature } from '../signature.ts'
import { type AddrInfo, addrInfo } from '../types/peerId.ts'

export const netPeers: CallSignature<[], AddrInfo[]> = callSignature({
  name: 'NetPeers',
  perm: 'read',
  summary: 'Connected peers, one entry for each connection.',
  params: [],
  result: listOrEmpty(addrInfo),
})
