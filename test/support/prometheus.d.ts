/** What the tests use of the package, which has no types. */
declare module 'parse-prometheus-text-format' {
  export interface MetricFamily {
    readonly name: string
    readonly type: 'COUNTER' | 'GAUGE' | 'HISTOGRAM' | 'UNTYPED'
    readonly metrics: readonly {
      readonly value?: string
      readonly labels?: Record<string, string>
      readonly buckets?: object
    }[]
  }
  export default function parse(text: string): MetricFamily[]
}
