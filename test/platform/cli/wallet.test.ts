/** Output of `wallet` in Lotus' layout (cli/wallet.go). */
import { describe, expect, it } from 'vitest'
import { cid, commandLine, FIRST, SECOND, tipset } from './commandLine.ts'
import { Refusal } from './fakeNode.ts'

const { run, answer, lastOf } = commandLine()

describe('wallet', () => {
  it('list: a table without empty columns; an unknown actor has nothing', async () => {
    answer({
      WalletList: [FIRST, SECOND],
      WalletHas: (address) => address === SECOND,
      WalletDefaultAddress: SECOND,
      StateGetActor: (address) => {
        if (address === FIRST) throw new Refusal('resolution lookup failed (x): resolve address x: actor not found')
        return {
          Code: cid('bafycode'),
          Head: cid('bafyhead'),
          Nonce: 7,
          Balance: '1500000000000000000',
          DelegatedAddress: null,
        }
      },
      StateLookupID: (address) => {
        if (address === FIRST) throw new Refusal('actor not found', 11)
        return 't01005'
      },
    })
    expect((await run(['wallet', 'list'])).out).toBe(
      [
        `Address${' '.repeat(SECOND.length - 5)}Balance  Nonce  Default  Watch-only`,
        `${FIRST}${' '.repeat(SECOND.length - FIRST.length + 2)}0 FIL    0               X`,
        `${SECOND}  1.5 FIL  7      X`,
        '',
      ].join('\n'),
    )
    const withId = (await run(['wallet', 'list', '-i'])).out
    expect(withId.split('\n')[0]).toMatch(/^Address +ID +Balance +Nonce +Default +Watch-only$/)
    expect(withId).toContain('t01005')
    expect((await run(['wallet', 'list', '-a'])).out).toBe(`${FIRST}\n${SECOND}\n`)
  })

  it('list: a row that fails has its error on a line of its own', async () => {
    answer({
      WalletList: [FIRST],
      StateGetActor: () => {
        throw new Refusal('state is missing')
      },
    })
    expect((await run(['wallet', 'list'])).out).toBe(`Address\n${FIRST}\n  Error: state is missing\n`)
  })

  it('new, default, set-default, delete', async () => {
    answer({
      WalletNew: (type) => (type === 'bls' ? SECOND : FIRST),
      WalletDefaultAddress: FIRST,
      WalletSetDefault: null,
      WalletDelete: null,
    })
    expect((await run(['wallet', 'new'])).out).toBe(`${FIRST}\n`)
    expect(lastOf('WalletNew')?.params).toEqual(['secp256k1'])
    expect((await run(['wallet', 'new', 'bls'])).out).toBe(`${SECOND}\n`)
    expect((await run(['wallet', 'default'])).out).toBe(`${FIRST}\n`)
    expect((await run(['wallet', 'set-default', SECOND])).out).toBe(`Default address set to: ${SECOND}\n`)
    expect((await run(['--repo', '/home/p', 'wallet', 'delete', SECOND])).out).toBe(
      `Soft deleting address: ${SECOND}\n` +
        'Hard deletion of the address in `/home/p/keystore` is needed for permanent removal\n',
    )
    expect(lastOf('WalletDelete')?.params).toEqual([SECOND])
  })

  it('balance warns of zero while the head is old', async () => {
    answer({ WalletBalance: '0', WalletDefaultAddress: FIRST, ChainHead: tipset(50) })
    expect((await run(['wallet', 'balance'])).out).toBe('0 FIL (warning: may display 0 if chain sync in progress)\n')
    expect(lastOf('WalletBalance')?.params).toEqual([FIRST])
    answer({ WalletBalance: '0', ChainHead: tipset(100) })
    expect((await run(['wallet', 'balance', SECOND])).out).toBe('0 FIL\n')
    answer({ WalletBalance: '10000000000000000001', ChainHead: tipset(1) })
    expect((await run(['wallet', 'balance', SECOND])).out).toBe('10.000000000000000001 FIL\n')
  })

  it('export and import in each format', async () => {
    const key = { Type: 'secp256k1', PrivateKey: 'CX6161hdK+PnNpjwW59u+ZLnGfuWXrFkSKpjAZ0jJkg=' }
    answer({ WalletExport: key, WalletImport: FIRST, WalletSetDefault: null })
    const json = JSON.stringify(key)
    const raw = Buffer.from(key.PrivateKey, 'base64').toString('hex')
    const hex = Buffer.from(json).toString('hex')
    expect((await run(['wallet', 'export', FIRST])).out).toBe(`${hex}\n`)
    expect((await run(['wallet', 'export', FIRST, '--format', 'json-lotus'])).out).toBe(`${json}\n`)
    expect((await run(['wallet', 'export', FIRST, '--format', 'hex-eth'])).out).toBe(`0x${raw}\n`)
    const done = { code: 0, out: `imported key ${FIRST} successfully!\n`, err: '' }
    expect(await run(['wallet', 'import', '/key'], { files: { '/key': `${hex}\n` } })).toEqual(done)
    expect(lastOf('WalletImport')?.params).toEqual([key])
    expect(await run(['wallet', 'import', '--format', 'json-lotus'], { stdin: json })).toEqual(done)
    expect(lastOf('WalletImport')?.params).toEqual([key])
    const gfc = JSON.stringify({ KeyInfo: [{ PrivateKey: key.PrivateKey, SigType: 1 }] })
    expect(await run(['wallet', 'import', '-', '--format', 'gfc-json'], { stdin: gfc })).toEqual(done)
    expect(lastOf('WalletImport')?.params).toEqual([key])
    expect(await run(['wallet', 'import', '--format', 'hex-eth', '--as-default'], { stdin: `0x${raw}` })).toEqual(done)
    expect(lastOf('WalletImport')?.params).toEqual([{ ...key, Type: 'delegated' }])
    expect(lastOf('WalletSetDefault')?.params).toEqual([FIRST])
    const bad = await run(['wallet', 'import'], { stdin: 'zz' })
    expect(bad).toMatchObject({ code: 2, err: 'ERROR: the key is not hexadecimal\n' })
  })

  it('import tells nothing of a key that it cannot read', async () => {
    answer({ WalletImport: FIRST })
    const base64 = 'CX6161hdK+PnNpjwW59u+ZLnGfuWXrFkSKpjAZ0jJkg='
    const json = JSON.stringify({ Type: 'secp256k1', PrivateKey: base64 })
    const raw = Buffer.from(base64, 'base64').toString('hex')
    const hex = Buffer.from(json).toString('hex')
    for (const format of ['hex-lotus', 'json-lotus', 'gfc-json', 'hex-eth']) {
      for (const stdin of [json, `${json}}`, hex, `${hex}0`, `x${raw}`, raw]) {
        const { out, err } = await run(['wallet', 'import', '--format', format], { stdin })
        for (const secret of [base64, raw, hex]) {
          expect(out + err, `${format} of ${stdin}`).not.toContain(secret.slice(8, 16))
        }
      }
    }
    const { err } = await run(['wallet', 'import'], { stdin: json })
    expect(err).toBe('ERROR: the key is not hexadecimal but JSON: give --format json-lotus\n')
  })

  it('sign and verify wrap the bytes (FRC-0102) unless --raw', async () => {
    answer({ WalletSign: { Type: 1, Data: Buffer.alloc(65, 0xab).toString('base64') }, WalletVerify: true })
    const signature = `01${'ab'.repeat(65)}`
    expect((await run(['wallet', 'sign', FIRST, '68656c6c6f'])).out).toBe(`${signature}\n`)
    const wrapped = Buffer.from('\x19Filecoin Signed Message:\n5hello', 'latin1').toString('base64')
    expect(lastOf('WalletSign')?.params).toEqual([FIRST, wrapped])
    await run(['wallet', 'sign', '--raw', FIRST, '68656c6c6f'])
    expect(lastOf('WalletSign')?.params).toEqual([FIRST, 'aGVsbG8='])
    expect(await run(['wallet', 'verify', FIRST, '68656c6c6f', signature])).toEqual({
      code: 0,
      out: 'valid\n',
      err: '',
    })
    expect(lastOf('WalletVerify')?.params).toEqual([
      FIRST,
      wrapped,
      { Type: 1, Data: Buffer.alloc(65, 0xab).toString('base64') },
    ])
    answer({ WalletVerify: false })
    const invalid = await run(['wallet', 'verify', '--raw', FIRST, '68656c6c6f', signature])
    expect(invalid).toMatchObject({ code: 1, out: 'invalid\n' })
  })
})
