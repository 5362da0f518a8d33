/** The method of a light node about itself. */
import type { LightStatus } from '../light/lightFollower.ts'
import { RpcError } from '../rpc/errors.ts'
import { type MethodRow, method } from '../rpc/method.ts'
import { type LightInfo, lightStatus } from '../rpc/signatures/light.ts'
import { equalTipsetKeys, firstBlock } from '../types/tipset.ts'

const MS_PER_SEC = 1000

/** @param status - undefined: the node is none */
export function lightRows(status: (() => LightStatus) | undefined): MethodRow[] {
  return [
    method({
      ...lightStatus,
      handler: () => {
        if (status === undefined) throw new RpcError('FAILED', 'not supported: this node is no light node')
        return infoOf(status())
      },
    }),
  ]
}

function infoOf({
  checkpoint,
  final,
  head,
  confirmedMsAgo,
  pendingInstance,
  sources,
  trouble,
}: LightStatus): LightInfo {
  return {
    checkpointInstance: checkpoint.instance,
    checkpointDate: checkpoint.date,
    pendingInstance,
    final:
      final === undefined
        ? null
        : {
            instance: final.instance,
            epoch: final.tipset.height,
            key: final.tipset.key,
            timestamp: firstBlock(final.tipset).timestamp,
            signedShare: final.signedShare,
          },
    headEpoch: head?.height ?? null,
    isHeadFinal: head !== undefined && final !== undefined && equalTipsetKeys(head.key, final.tipset.key),
    confirmedSecondsAgo: confirmedMsAgo === undefined ? null : Math.round(confirmedMsAgo / MS_PER_SEC),
    bytesReceived: sources.reduce((sum, source) => sum + source.bytesReceived, 0),
    sources: [...sources],
    trouble,
  }
}
