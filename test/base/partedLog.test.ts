import { expect, it } from 'vitest'
import { logOf, partedLog } from '../../src/base/partedLog.ts'

it('prints what the level of a part lets through', () => {
  const lines: string[] = []
  const log = partedLog('info', (level, part, message) => lines.push(`${level} ${part} ${message}`))
  const sync = logOf(log, 'sync')
  log.debug('a')
  sync.debug('b')
  sync.info('c')
  log.parts.setLevel('sync', 'debug')
  sync.debug('d')
  log.debug('e')
  log.parts.setLevel('*', 'error')
  log.warn('f')
  sync.error('g')
  logOf(log, 'vm').warn('h')
  log.parts.setLevel('vm', 'silent')
  logOf(log, 'vm').error('i')
  expect(lines).toEqual(['info sync c', 'debug sync d', 'error sync g'])
  expect(log.parts.names()).toEqual(['node', 'sync', 'vm'])
})

it('leaves a log without parts as it is', () => {
  const nothing = (): void => undefined
  const plain = { debug: nothing, info: nothing, warn: nothing, error: nothing }
  expect(logOf(plain, 'sync')).toBe(plain)
})
