/** A parser of Prometheus' text format by another maker, which has no types. */
import { createRequire } from 'node:module'

/** What is read of a page for one name. It leaves out the labels of histograms. */
export interface MetricFamily {
  readonly name: string
  readonly type: string
  readonly metrics: readonly {
    readonly value?: string
    readonly labels?: Readonly<Record<string, string>>
    readonly buckets?: object
  }[]
}

/** Reads a page. */
export const parsePrometheus: (text: string) => MetricFamily[] = createRequire(import.meta.url)(
  'parse-prometheus-text-format',
) as (text: string) => MetricFamily[]
