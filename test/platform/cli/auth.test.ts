/** Output of `auth` in Lotus' layout (cli/auth.go). */
import { describe, expect, it } from 'vitest'
import { commandLine } from './commandLine.ts'

const { port, run, answer, lastOf } = commandLine()

describe('auth', () => {
  it('asks for a token of its own, with an expiry', async () => {
    answer({ AuthNewToken: 'h.p.s', AuthRevoke: null })
    expect((await run(['auth', 'create-token', '--perm', 'sign'])).out).toBe('h.p.s\n')
    expect(lastOf('AuthNewToken')?.params).toEqual([['read', 'write', 'sign'], { ExpiresIn: 0 }])
    await run(['auth', 'create-token', '--perm', 'read', '--expires', '24h'])
    expect(lastOf('AuthNewToken')?.params).toEqual([['read'], { ExpiresIn: 86400 }])
    expect((await run(['auth', 'api-info', '--perm', 'admin'])).out).toBe(
      `FULLNODE_API_INFO=h.p.s:/ip4/127.0.0.1/tcp/${port()}/http\n`,
    )
    expect((await run(['auth', 'revoke', 'h.p.s'])).out).toBe('token revoked\n')
    expect(lastOf('AuthRevoke')?.params).toEqual(['h.p.s'])
  })

  it('takes a common one from a node that knows no other', async () => {
    answer({ AuthNew: Buffer.from('h.p.s').toString('base64') })
    expect((await run(['auth', 'create-token', '--perm', 'write'])).out).toBe('h.p.s\n')
    expect(lastOf('AuthNew')?.params).toEqual([['read', 'write']])
    expect((await run(['auth', 'create-token', '--perm', 'write', '--expires', '1h'])).code).toBe(1)
  })
})
