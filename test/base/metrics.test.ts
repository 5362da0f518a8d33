/** The page of figures, read by a parser of another make. */

import { describe, expect, it } from 'vitest'
import { BaseError } from '../../src/base/errors.ts'
import { Metrics } from '../../src/base/metrics.ts'
import { parsePrometheus } from '../support/prometheus.ts'

describe('Metrics', () => {
  it('is read as it was told', () => {
    const metrics = new Metrics()
    metrics.gauge('height', 'Epoch "now",\nor \\ so.', () => 12.5)
    const failures = metrics.counter('failures', 'Failures.', 'what')
    failures.add(2, 'a "b"\\c\nd')
    failures.add(1, 'a "b"\\c\nd')
    const time = metrics.histogram('took', 'Time.', 'call', [1, 10])
    for (const ms of [0.5, 1, 2, 100]) time.observe(ms, 'x')
    const families = parsePrometheus(metrics.text())
    expect(families.map(({ name, type }) => [name, type])).toEqual([
      ['height', 'GAUGE'],
      ['failures', 'COUNTER'],
      ['took', 'HISTOGRAM'],
    ])
    expect(families[0]?.metrics).toEqual([{ value: '12.5' }])
    expect(families[1]?.metrics).toEqual([{ value: '3', labels: { what: 'a "b"\\c\nd' } }])
    // The parser leaves out the labels of histograms.
    expect(families[2]?.metrics).toEqual([{ buckets: { '1': '2', '10': '3', '+Inf': '4' } }])
    expect(metrics.text()).toContain('took_sum{call="x"} 103.5\ntook_count{call="x"} 4\n')
  })

  it('leaves out what cannot be read, and nothing else', () => {
    const metrics = new Metrics()
    metrics.gauge('broken', 'Fails.', () => {
      throw new BaseError('CLOSED', 'closed')
    })
    metrics.gauge('whole', 'Works.', () => 1)
    expect(parsePrometheus(metrics.text()).map(({ name, metrics: all }) => [name, all.length])).toEqual([
      ['broken', 0],
      ['whole', 1],
    ])
  })
})
