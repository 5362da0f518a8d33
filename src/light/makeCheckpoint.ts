/** A checkpoint out of what several endpoints say, who must agree. */
import { errorMessage } from '../base/errors.ts'
import { powerTableCid } from '../consensus/f3/powerTable.ts'
import type { LightCheckpoint } from './checkpoint.ts'
import { LightError } from './errors.ts'
import type { RpcSource } from './rpcSource.ts'

/** What {@link makeCheckpoint} is told. */
export interface MakeCheckpoint {
  /** F3's own name of the network. */
  readonly f3Network: string
  /** Default: the newest that every endpoint has. */
  readonly instance?: number | undefined
  /** Today, `YYYY-MM-DD`. */
  readonly date: string
}

/**
 * Asks each endpoint for the table that signs an instance.
 * @throws LightError `SOURCES_DIFFER` with what each said; `NO_ANSWER` when one does not answer: an agreement of fewer than were
 * named is none
 */
export async function makeCheckpoint(
  endpoints: readonly RpcSource[],
  { f3Network, instance, date }: MakeCheckpoint,
  signal: AbortSignal,
): Promise<LightCheckpoint> {
  const ask = async <T>(source: RpcSource, question: () => Promise<T>): Promise<T> => {
    try {
      return await question()
    } catch (cause) {
      throw new LightError('NO_ANSWER', `Cannot ask ${source.name}: ${errorMessage(cause)}`, {}, { cause })
    }
  }
  const newest = await Promise.all(endpoints.map((endpoint) => ask(endpoint, () => endpoint.latestCertificate(signal))))
  const latest = newest.map((certificate, i) => {
    if (certificate !== undefined) return certificate.instance
    throw new LightError('NO_ANSWER', `Cannot ask ${endpoints[i]?.name}: it has no finality certificate`)
  })
  const at = instance ?? Math.min(...latest)
  const tables = await Promise.all(
    endpoints.map((endpoint) =>
      ask(endpoint, async () => {
        const table = (await endpoint.powerTable?.(at, signal)) ?? []
        // Lotus answers null for what it does not have: all would agree on nothing.
        if (table.length === 0) throw new LightError('NO_ANSWER', `it has no power table of instance ${at}`)
        return powerTableCid(table)
      }),
    ),
  )
  const powerTable = tables[0]
  if (powerTable === undefined) throw new LightError('NO_SOURCE', 'Cannot make a checkpoint: no endpoint was named')
  if (tables.some((cid) => !cid.equals(powerTable))) {
    const said = endpoints.map(({ name }, i) => `${name}: ${tables[i]?.toString()}`).join('; ')
    throw new LightError('SOURCES_DIFFER', `Cannot make a checkpoint of instance ${at}: ${said}`)
  }
  return { f3Network, instance: at, powerTable, date }
}
