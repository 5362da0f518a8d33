/** Signatures of methods about the node itself. */
import { type Codec, struct, text, uint } from '../../codec/description.ts'
import { nothing } from '../method.ts'
import { type CallSignature, callSignature } from '../signature.ts'

/** Result of `Version`. */
export interface ApiVersionInfo {
  /** Version of the build with the network's name, e.g. `0.1.0+mainnet`. */
  readonly version: string
  /** major << 16 | minor << 8 | patch of the API. */
  readonly apiVersion: number
  readonly blockDelay: number
  readonly agent: string
}

const apiVersionInfo: Codec<ApiVersionInfo> = struct<ApiVersionInfo>('api.APIVersion', [
  ['version', 'Version', text],
  ['apiVersion', 'APIVersion', uint],
  ['blockDelay', 'BlockDelay', uint],
  ['agent', 'Agent', text],
])

export const version: CallSignature<[], ApiVersionInfo> = callSignature({
  name: 'Version',
  perm: 'read',
  summary: 'Version of the node and of the API on this path.',
  params: [],
  result: apiVersionInfo,
})

export const session: CallSignature<readonly [], string> = callSignature({
  name: 'Session',
  perm: 'read',
  summary: 'A text that differs with every start of the node.',
  params: [],
  result: text,
})

export const startTime: CallSignature<readonly [], string> = callSignature({
  name: 'StartTime',
  perm: 'read',
  versions: ['v1'],
  summary: 'When the node started.',
  params: [],
  result: text,
})

export const shutdown: CallSignature<readonly [], void> = callSignature({
  name: 'Shutdown',
  perm: 'admin',
  summary: 'Ends the node.',
  params: [],
  result: nothing,
})
