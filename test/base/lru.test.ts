import { describe, expect, it } from 'vitest'
import { Lru } from '../../src/base/lru.ts'

describe('Lru', () => {
  it('forgets what was used longest ago', () => {
    const cache = new Lru<string, number>(2)
    cache.set('a', 1)
    cache.set('b', 2)
    expect(cache.get('a')).toBe(1)
    cache.set('c', 3)
    expect([cache.get('a'), cache.get('b'), cache.get('c')]).toEqual([1, undefined, 3])
  })

  it('holds as much as its values may weigh together, whatever was replaced, deleted or cleared', () => {
    const cache = new Lru<string, string>(10, (text) => text.length)
    cache.set('a', '1234')
    cache.set('b', '1234')
    cache.set('a', '12')
    cache.set('c', '1234')
    expect([...cache.values()]).toEqual(['1234', '12', '1234'])
    cache.set('d', '1')
    expect([...cache.values()]).toEqual(['12', '1234', '1'])
    cache.delete('c')
    cache.delete('c')
    cache.set('e', '1234567')
    expect([...cache.values()]).toEqual(['12', '1', '1234567'])
    cache.clear()
    cache.set('f', '1234567890')
    expect(cache.size).toBe(1)
  })

  it('keeps the latest, however heavy', () => {
    const cache = new Lru<string, string>(3, (text) => text.length)
    cache.set('a', '1')
    cache.set('b', '1234')
    expect([...cache.values()]).toEqual(['1234'])
    cache.set('c', '12')
    expect([...cache.values()]).toEqual(['12'])
  })
})
