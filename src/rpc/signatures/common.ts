/** Signatures of methods about the node itself. */
import { type Codec, struct, text, uint } from '../../codec/description.ts'
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
