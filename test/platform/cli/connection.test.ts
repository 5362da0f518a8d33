/** How the command line finds the node (lotus cli/util/api.go), and what it says when something is wrong. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { endpointUrl, findEndpoint, parseApiInfo } from '../../../platform/cli/rpcClient.ts'
import { type FakeNode, leadingTo, petrel, startFakeNode } from './fakeNode.ts'

const TOKEN =
  'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJBbGxvdyI6WyJyZWFkIl19.P1iSlyLK-Kek_b_xOYRWf8p-Djeo4WIdrqCc27gC-lzY'

let node: FakeNode
beforeAll(async () => {
  node = await startFakeNode({ ChainHead: { Cids: [{ '/': 'bafyone' }, { '/': 'bafytwo' }], Blocks: [], Height: 42 } })
})
afterAll(() => node.close())

describe('addresses', () => {
  it.each([
    ['/ip4/127.0.0.1/tcp/1234/http', 'http://127.0.0.1:1234'],
    ['/ip6/::1/tcp/1234/http', 'http://[::1]:1234'],
    ['/dns/node.example/tcp/443/https', 'https://node.example:443'],
    ['/dns4/node.example/tcp/443/wss', 'https://node.example:443'],
    ['http://127.0.0.1:1234', 'http://127.0.0.1:1234'],
    ['https://node.example/rpc/v1', 'https://node.example'],
    ['ws://127.0.0.1:1234/', 'http://127.0.0.1:1234'],
  ])('%s', (text, url) => expect(endpointUrl(text)).toBe(url))

  it.each(['', 'localhost', '/ip4/127.0.0.1', '/unix/tmp/x', '/ip4/127.0.0.1/udp/1/quic'])('%s is refused', (text) => {
    expect(() => endpointUrl(text)).toThrow(expect.objectContaining({ code: 'USAGE' }))
  })

  // A part of it would be read as another part of a URL, and the token would go to whoever is named there.
  it.each([
    ...[
      '/dns/a@b/tcp/1',
      '/dns/a b/tcp/1',
      '/dns/a#/tcp/1',
      '/dns//tcp/1',
      '/ip4/127.0.0.1:1/tcp/2',
      '/ip6/::1]@[::2/tcp/1',
    ],
    ...['/ip4/127.0.0.1/tcp/', '/ip4/127.0.0.1/tcp/x', '/ip4/127.0.0.1/tcp/99999', '/ip4/1.2.3.4.5/tcp/1'],
    ...['http://', 'https:///rpc/v1', 'http://[::1', 'http://127.0.0.1:99999', 'http://a?b', 'http://a#b'],
  ])('%s is refused', (text) => {
    expect(() => endpointUrl(text)).toThrow(expect.objectContaining({ code: 'USAGE' }))
  })

  it.each(['', 'two lines\nof it', 'ein Schlüssel', 'a b'])(
    '"%s" in the file "token" is told, not sent',
    async (token) => {
      const readFile = (path: string): Promise<string> =>
        Promise.resolve(path.endsWith('token') ? token : '/ip4/127.0.0.1/tcp/1/http')
      const io = { env: {}, userHome: '/home', readFile } as never
      await expect(findEndpoint(io, undefined)).rejects.toThrow('the file "token" holds no token')
    },
  )

  it('with and without token', () => {
    expect(parseApiInfo(`${TOKEN}:/ip4/127.0.0.1/tcp/1/http`)).toEqual({ token: TOKEN, url: 'http://127.0.0.1:1' })
    expect(parseApiInfo('http://127.0.0.1:1')).toEqual({ token: undefined, url: 'http://127.0.0.1:1' })
    expect(parseApiInfo(`${TOKEN}:http://127.0.0.1:1,x.y.z:http://127.0.0.1:2`).url).toBe('http://127.0.0.1:1')
  })
})

describe('the node', () => {
  it('is the one of FULLNODE_API_INFO, also against --repo', async () => {
    const ran = await petrel(['--repo', '/elsewhere', 'chain', 'head'], leadingTo(node, TOKEN))
    expect(ran).toEqual({ code: 0, out: 'bafyone\nbafytwo\n', err: '' })
    expect(node.calls.at(-1)).toMatchObject({ path: '/rpc/v0', method: 'ChainHead', authorization: `Bearer ${TOKEN}` })
  })

  it.each([
    ['--repo', ['--repo', '/repo'], {}, '/repo'],
    ['PETREL_HOME', [], { PETREL_HOME: '/home/petrel' }, '/home/petrel'],
    ['the default', [], {}, '/home/someone/.petrel'],
  ])('is the one in the repo of %s', async (_name, args, env, folder) => {
    const files = { [`${folder}/api`]: `/ip4/127.0.0.1/tcp/${node.port}/http\n`, [`${folder}/token`]: 'x.y.z\n' }
    const ran = await petrel([...args, 'chain', 'head', '--height'], { env, files })
    expect(ran).toEqual({ code: 0, out: '42\n', err: '' })
    expect(node.calls.at(-1)?.authorization).toBe('Bearer x.y.z')
  })

  it('is missing: one line and exit code 1', async () => {
    expect(await petrel(['chain', 'head'])).toEqual({
      code: 1,
      out: '',
      err: 'ERROR: could not get API endpoint: no node is running in /home/someone/.petrel (no file "api" there)\n',
    })
    const gone = await petrel(['chain', 'head'], { env: { FULLNODE_API_INFO: 'http://127.0.0.1:1' } })
    expect(gone).toEqual({ code: 1, out: '', err: 'ERROR: could not connect to the node at http://127.0.0.1:1\n' })
    const wrong = await petrel(['chain', 'head'], { env: { FULLNODE_API_INFO: 'nonsense' } })
    expect(wrong.err).toMatch(/^ERROR: could not parse API address "nonsense": .*\n$/)
  })

  it('refuses: its own text on one line', async () => {
    const ran = await petrel(['wallet', 'list'], leadingTo(node))
    expect(ran).toEqual({ code: 1, out: '', err: "ERROR: method 'Filecoin.WalletList' not found\n" })
  })
})

describe('unknown input is one clear line and exit code 2', () => {
  it.each([
    ['a command', ['nonsense'], /unknown command 'nonsense'/],
    ['a subcommand', ['wallet', 'nonsense'], /unknown command 'nonsense'/],
    ['an option', ['chain', 'head', '--nonsense'], /unknown option '--nonsense'/],
    ['a global option', ['--nonsense', 'chain', 'head'], /unknown option '--nonsense'/],
    ['a missing argument', ['wallet', 'export'], /missing required argument 'address'/],
    ['too many arguments', ['chain', 'head', 'x'], /too many arguments/],
    ['no subcommand', ['wallet'], /which command/],
    ['no argument for send', ['send'], /incorrect number of arguments, got 0/],
    ['one argument for send', ['send', 'f01'], /incorrect number of arguments, got 1/],
    ['no number', ['chain', 'list', '--count', 'x'], /count: "x" is no whole number/],
    ['a bad amount', ['send', 'f01000', '1.2.3'], /failed to parse amount/],
    ['a bad recipient', ['send', 'f1bad', '1'], /failed to parse target address/],
    ['a bad 0x recipient', ['send', '0x12', '1'], /failed to parse target address/],
    ['a bad permission', ['auth', 'create-token', '--perm', 'root'], /--perm flag has to be one of/],
    ['no permission', ['auth', 'create-token'], /--perm flag not set/],
    [
      'a bad expiry',
      ['auth', 'create-token', '--perm', 'read', '--expires', 'soon'],
      /--expires: "soon" is no duration/,
    ],
    ['an odd hex message', ['wallet', 'sign', 'f01000', 'abc'], /message: "abc" is not hexadecimal/],
    ['a bad key format', ['wallet', 'import', '--format', 'x'], /unrecognized format: x/],
    ['help of no command', ['market', '--help'], /unknown command 'market'/],
  ])('%s', async (_name, args, text) => {
    const ran = await petrel(args, leadingTo(node))
    expect(ran.code).toBe(2)
    expect(ran.out).toBe('')
    expect(ran.err).toMatch(/^ERROR: [^\n]+\n$/)
    expect(ran.err).toMatch(text)
  })
})

describe('help and version', () => {
  it('help lists every command', async () => {
    for (const args of [[], ['--help'], ['help']]) {
      const ran = await petrel(args)
      expect({ args, code: ran.code, err: ran.err }).toEqual({ args, code: 0, err: '' })
      for (const name of ['sync', 'chain', 'wallet', 'send', 'mpool', 'state', 'auth', 'version']) {
        expect(ran.out).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'))
      }
    }
    const wallet = await petrel(['wallet', '--help'])
    expect(wallet.code).toBe(0)
    for (const name of [
      'new',
      'list',
      'balance',
      'default',
      'set-default',
      'export',
      'import',
      'sign',
      'verify',
      'delete',
    ]) {
      expect(wallet.out).toMatch(new RegExp(`^ {2}${name}\\b`, 'm'))
    }
    expect((await petrel(['help', 'send'])).out).toContain('--gas-feecap')
  })

  it('version asks the node, and does without one', async () => {
    expect((await petrel(['--version'])).out).toBe('0.1.0-test\n')
    expect((await petrel(['version'])).out).toBe('Local: petrel version 0.1.0-test\n')
    node.answers.Version = { Version: '0.1.0+devnet', APIVersion: 66816, BlockDelay: 4, Agent: 'petrel' }
    expect((await petrel(['version'], leadingTo(node))).out).toBe(
      'Daemon:  0.1.0+devnet+api1.5.0\nLocal: petrel version 0.1.0-test\n',
    )
  })
})
