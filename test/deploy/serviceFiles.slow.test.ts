/** The files under deploy/, by the linters of those who read them, where they are installed. */
import { spawnSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { ROOT } from '../support/shared.ts'

const DEPLOY = join(ROOT, 'deploy')
const textOf = (name: string): string => readFileSync(join(DEPLOY, name), 'utf8')

/** What a linter finds; undefined: it is not installed. `HADOLINT`: where that one is, if not on the path. */
function findings(command: string, ...args: string[]): string | undefined {
  const { status, stdout, stderr, error } = spawnSync(command, args, { encoding: 'utf8' })
  if (error !== undefined) return undefined
  return status === 0 ? stdout + stderr : `exit code ${status}\n${stdout}${stderr}`
}

describe('service files', () => {
  it('the unit is one, by systemd-analyze', ({ skip }) => {
    const found = findings('systemd-analyze', 'verify', join(DEPLOY, 'petrel.service'))
    if (found === undefined) skip('no systemd-analyze here')
    expect(found).toBe('')
  })

  it('the unit is shut in, by systemd-analyze', ({ skip }) => {
    const found = findings('systemd-analyze', 'security', '--offline=true', join(DEPLOY, 'petrel.service'))
    if (found === undefined) skip('no systemd-analyze here')
    // What systemd calls OK: below 2.5 of 10.
    expect(Number(/exposure level for petrel\.service: ([\d.]+)/.exec(found ?? '')?.[1])).toBeLessThan(2.5)
  })

  it('the Dockerfile is one, by hadolint', ({ skip }) => {
    const found = findings(process.env.HADOLINT ?? 'hadolint', join(DEPLOY, 'Dockerfile'))
    if (found === undefined) skip('no hadolint here')
    expect(found).toBe('')
  })

  it('the image needs no root, has a health check, and starts the Node that the package needs', () => {
    const dockerfile = textOf('Dockerfile')
    expect(/^USER (\d+):\d+$/m.exec(dockerfile)?.[1]).toMatch(/^[1-9]/)
    expect(dockerfile).toMatch(/^HEALTHCHECK .*\n.*\/health\/livez/m)
    const { engines } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { engines: { node: string } }
    expect(`>=${/^FROM node:(\d+)-slim$/m.exec(dockerfile)?.[1]}`).toBe(engines.node)
  })

  it('compose names files that are there, and ports that the image has', () => {
    const compose = textOf('compose.yaml')
    const mounted = [...compose.matchAll(/^ +- (\.[^:\s]+):/gm)].map(([, path = '']) => path)
    expect(mounted.length).toBeGreaterThan(3)
    expect(mounted.filter((path) => !existsSync(join(DEPLOY, path)))).toEqual([])
    const exposed = /^EXPOSE (.*)$/m.exec(textOf('Dockerfile'))?.[1]?.split(' ')
    const service = compose.slice(compose.indexOf('  petrel:'), compose.indexOf('  prometheus:'))
    expect([...service.matchAll(/^ +- '(?:127\.0\.0\.1:)?\d+:([\d/a-z]+)'$/gm)].map(([, port]) => port)).toEqual(
      exposed,
    )
  })
})
