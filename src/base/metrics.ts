/**
 * Figures for an operator, printed as Prometheus reads them. Counting costs an addition and reading is done when somebody asks:
 * prom-client hashes its labels at each observation.
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/ (text format 0.0.4)
 */
import { PetrelError } from './errors.ts'

/** A value with its labels. */
export interface Sample {
  readonly labels?: Readonly<Record<string, string>>
  readonly value: number
}

interface Metric {
  readonly name: string
  readonly help: string
  readonly type: 'counter' | 'gauge' | 'histogram'
  lines(): Iterable<string>
}

function escaped(text: string): string {
  return text.replace(/\\/g, '\\\\').replace(/\n/g, '\\n').replace(/"/g, '\\"')
}

function labelText(labels: Readonly<Record<string, string>>): string {
  const parts = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return parts.length === 0 ? '' : `{${parts.join(',')}}`
}

function sampleLine(name: string, { labels = {}, value }: Sample): string {
  return `${name}${labelText(labels)} ${Number.isNaN(value) ? 'NaN' : value}`
}

/** Counts by the value of one label. */
export interface Counter {
  add(count: number, label: string): void
}

/** Counts and sums by the value of one label. */
export interface Histogram {
  observe(value: number, label: string): void
}

class Buckets {
  readonly counts: Float64Array
  sum = 0
  count = 0

  constructor(bounds: number) {
    this.counts = new Float64Array(bounds)
  }
}

/** All figures of a node. */
export class Metrics {
  readonly #metrics = new Map<string, Metric>()

  /** @param read - asked at each {@link Metrics.text}; what throws is left out */
  gauge(name: string, help: string, read: () => number | readonly Sample[]): void {
    this.#read(name, help, 'gauge', read)
  }

  /** A counter that is kept elsewhere. */
  total(name: string, help: string, read: () => number | readonly Sample[]): void {
    this.#read(name, help, 'counter', read)
  }

  counter(name: string, help: string, label: string): Counter {
    const counts = new Map<string, number>()
    this.total(name, help, () => [...counts].map(([of, value]) => ({ labels: { [label]: of }, value })))
    return { add: (count, of) => void counts.set(of, (counts.get(of) ?? 0) + count) }
  }

  /** @param bounds - upper bounds of the buckets, ascending, without infinity */
  histogram(name: string, help: string, label: string, bounds: readonly number[]): Histogram {
    const all = new Map<string, Buckets>()
    this.#metrics.set(name, {
      ...{ name, help, type: 'histogram' },
      *lines() {
        for (const [of, { counts, sum, count }] of all) {
          let below = 0
          for (const [i, bound] of bounds.entries()) {
            below += counts[i] as number
            yield sampleLine(`${name}_bucket`, { labels: { [label]: of, le: String(bound) }, value: below })
          }
          yield sampleLine(`${name}_bucket`, { labels: { [label]: of, le: '+Inf' }, value: count })
          yield sampleLine(`${name}_sum`, { labels: { [label]: of }, value: sum })
          yield sampleLine(`${name}_count`, { labels: { [label]: of }, value: count })
        }
      },
    })
    return {
      observe: (value, of) => {
        let buckets = all.get(of)
        if (buckets === undefined) {
          buckets = new Buckets(bounds.length)
          all.set(of, buckets)
        }
        buckets.sum += value
        buckets.count++
        for (let i = 0; i < bounds.length; i++) {
          if (value > (bounds[i] as number)) continue
          buckets.counts[i] = (buckets.counts[i] as number) + 1
          return
        }
      },
    }
  }

  #read(name: string, help: string, type: 'counter' | 'gauge', read: () => number | readonly Sample[]): void {
    const lines = (): string[] => {
      try {
        const now = read()
        return (typeof now === 'number' ? [{ value: now }] : now).map((sample) => sampleLine(name, sample))
      } catch (error) {
        if (!(error instanceof PetrelError)) throw error
        // A store that is closed, a state that is not here: the other figures are as good as ever.
        return []
      }
    }
    this.#metrics.set(name, { name, help, type, lines })
  }

  /** The page. */
  text(): string {
    const out: string[] = []
    for (const { name, help, type, lines } of this.#metrics.values()) {
      out.push(`# HELP ${name} ${help.replace(/\\/g, '\\\\').replace(/\n/g, '\\n')}`, `# TYPE ${name} ${type}`)
      out.push(...lines())
    }
    return `${out.join('\n')}\n`
  }
}
