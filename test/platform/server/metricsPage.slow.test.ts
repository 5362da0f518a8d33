/** What a Grafana and a Prometheus ask of a node, against the page of a running one. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DevnetProcess, startDevnetProcess } from '../../clients/devnetProcess.ts'
import { parsePrometheus } from '../../support/prometheus.ts'
import { ROOT } from '../../support/shared.ts'

/** Names in an expression: what is followed by labels, a range, an operator or the end, and is no function or keyword. */
function namesOf(expression: string): string[] {
  const bare = expression
    .replace(/\{[^}]*\}/g, '')
    .replace(/\[[^\]]*\]/g, '')
    .replace(/\bby \([^)]*\)/g, '')
  return [...bare.matchAll(/\b[a-z][a-z0-9_]*_[a-z0-9_]+\b(?!\s*\()/g)].map(([name]) => name)
}

function dashboardExpressions(): string[] {
  const { panels } = JSON.parse(readFileSync(join(ROOT, 'deploy/grafana/petrel.json'), 'utf8')) as {
    panels: { targets: { expr: string }[] }[]
  }
  return panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
}

function alertExpressions(): string[] {
  const text = readFileSync(join(ROOT, 'deploy/prometheus/alerts.yml'), 'utf8')
  return [...text.matchAll(/^\s*expr: (.*)$/gm)].map(([, expression]) => expression as string)
}

describe('the page of figures', () => {
  let node: DevnetProcess
  beforeAll(async () => {
    node = await startDevnetProcess()
  })
  afterAll(() => node.close())

  it('has each name that the dashboard and the alerts use', async () => {
    const body = '{"jsonrpc":"2.0","id":1,"method":"Filecoin.ChainHead","params":[]}'
    await (await fetch(`${node.url}/rpc/v1`, { method: 'POST', body })).text()
    const answer = await fetch(`${node.url}/debug/metrics`)
    expect(answer.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
    const page = await answer.text()
    const families = new Set(parsePrometheus(page).map(({ name }) => name))
    const used = [...dashboardExpressions(), ...alertExpressions()].flatMap(namesOf)
    expect(used.length).toBeGreaterThan(20)
    expect(
      used.filter((name) => !families.has(name.replace(/_(bucket|count|sum)$/, '')) && !families.has(name)),
    ).toEqual([])
    expect(page).toContain('lotus_api_request_duration_ms_count{endpoint="ChainHead"} 1')
    expect(await (await fetch(`${node.url}/metrics`)).text()).toMatch(/^lotus_chain_node_height \d+$/m)
  })

  it('tells the memory of each thread', async () => {
    const memory = /^petrel_thread_memory_bytes\{thread="(main|vm-1)"\} (\d{7,})$/gm
    let threads: unknown[] = []
    // The machine's thread starts with the first block, and says now and then what it uses.
    while (threads.length < 2) {
      const page = await (await fetch(`${node.url}/metrics`)).text()
      threads = [...page.matchAll(memory)].map(([, thread]) => thread)
    }
    expect(threads).toEqual(['main', 'vm-1'])
  })

  it('tells what each thread counts for what it has decoded', async () => {
    const cache = /^petrel_cache_bytes\{thread="(main|vm-1)"\} [1-9]\d*$/gm
    let threads: unknown[] = []
    while (threads.length < 2) {
      const page = await (await fetch(`${node.url}/metrics`)).text()
      threads = [...page.matchAll(cache)].map(([, thread]) => thread)
    }
    expect(threads).toEqual(['main', 'vm-1'])
  })

  it('a local chain is ready, and says why', async () => {
    const answer = await fetch(`${node.url}/health/readyz`)
    expect(answer.status).toBe(200)
    expect(await answer.text()).toMatch(/^\[\+\] head at epoch \d+\n\[\+\] in sync: nobody told of a heavier chain\n$/)
  })
})
