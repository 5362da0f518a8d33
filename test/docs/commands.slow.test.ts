/**
 * Every command in README and docs: it exists with its options, and it is run here against a local chain, or tested elsewhere, or needs a
 * network. A new one in a text fails until it stands in one of the tables.
 */
import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Command, Option } from 'commander'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { addNodeCommands } from '../../platform/cli/commands/node.ts'
import { createProgram } from '../../platform/cli/program.ts'
import { type NodeProcess, startLocalChain } from '../runtimes/nodeProcess.ts'
import { type Answer, RpcClient } from '../support/rpcClient.ts'
import { ROOT } from '../support/shared.ts'

const run = promisify(execFile)
const TIMEOUT_MS = 120_000

/** Run here, in this order, as they stand, but for what is in pointed brackets or stands for something: `as`. `home`: an empty one. */
const RUN: readonly { command: string; as?: (chain: Chain) => string; home?: 'other'; says?: RegExp }[] = [
  { command: 'npx petrel wallet new', says: /^t1\w{39}$/m },
  { command: 'npx petrel send <that address> 1', as: ({ own }) => `petrel send ${own} 1`, says: /^bafy/m },
  {
    command: 'npx petrel wallet balance <that address>',
    as: ({ own }) => `petrel wallet balance ${own}`,
    says: / FIL$/m,
  },
  { command: 'npx petrel mpool pending' },
  { command: 'petrel sync wait', says: /Done!|in sync|epoch/i },
  {
    command: `curl -s http://127.0.0.1:1234/rpc/v1 -d '{"jsonrpc":"2.0","id":1,"method":"Filecoin.ChainHead","params":[]}'`,
    as: ({ url }) => `curl -s ${url}/rpc/v1 -d '{"jsonrpc":"2.0","id":1,"method":"Filecoin.ChainHead","params":[]}'`,
    says: /"Height":\d+/,
  },
  { command: 'petrel config show daemon', says: /^api = "1234" {2}\(default\)$/m },
  { command: 'petrel config set daemon.api 2345', says: /daemon\.api is set/ },
  { command: 'petrel config check', says: /is right/ },
  { command: 'petrel log set-level debug --system p2p' },
  { command: 'petrel actors list' },
  { command: 'petrel proofs list' },
  {
    command: 'petrel wallet watch-only f1…',
    as: () => 'petrel wallet watch-only t1abjxfbp274xpdqcpuaykwkfb43omjotacm2p3za',
  },
  // The keys of a local chain lie in the plain, on purpose.
  {
    command: 'petrel backup node.backup',
    as: () => 'petrel backup --insecure node.backup',
    says: /16 keys IN THE PLAIN/,
  },
  {
    command: 'petrel backup --passphrase-file pass node.backup',
    as: () => 'petrel backup --passphrase-file pass sealed.backup',
  },
  { command: 'petrel restore node.backup', home: 'other' },
  {
    command: 'petrel send --from f1… --offline payment.json f1… 12.5',
    as: ({ funded, own }) => `petrel send --from ${funded} --offline payment.json ${own} 12.5`,
    says: /petrel sign payment\.json/,
  },
  { command: 'petrel sign payment.json', home: 'other', says: /12\.5 FIL/ },
  { command: 'petrel mpool push payment.json.signed', says: /bafy/ },
  {
    command:
      'petrel snapshot export <out> [--minimal | --full | --recent-stateroots n [--skip-old-msgs]] [--tipset @head|@height|cids]',
    as: () => 'petrel snapshot export chain.car --full',
  },
  { command: 'petrel snapshot info <file>', as: () => 'petrel snapshot info chain.car' },
  { command: 'petrel doctor' },
]

/** Run by another test or by each run of the tests. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  'npm ci && npm start': 'test/pack/run.ts',
  'npm ci && npm test': 'scripts/test.ts',
  'npm run monitor': 'scripts/monitor.ts',
  'petrel daemon --api-name api.example.com --trusted-proxy 127.0.0.1': 'test/platform/server/trustedProxies.test.ts',
  'npx node scripts/buildBrowser.ts': 'test/chromium/run.ts',
  'npx node scripts/size.ts': 'scripts/test.ts',
  'petrel --repo ~/.petrel-signer signer --policy policy.json --passphrase-file pass':
    'test/rpc/methods/signer.test.ts',
  'petrel daemon --remote-wallet "$(cat ~/.petrel-signer/token):/ip4/10.0.0.2/tcp/1777/http"':
    'test/rpc/methods/signer.test.ts',
  'petrel transfers --follow --json --position-file position --confidence 900': 'test/rpc/transferEvents.test.ts',
  'petrel transfers --follow --position-file position --webhook https://books.internal/deposits --webhook-secret-file secret':
    'test/platform/cli/webhook.test.ts',
  'petrel --repo other daemon --network ~/.petrel/network.json --bootstrap /ip4/127.0.0.1/tcp/<port>/p2p/<peer ID>':
    'test/network/run.ts',
  'petrel devnet --f3 10': 'test/platform/localFinality.slow.test.ts',
  'petrel --repo other daemon --validate light --network ~/.petrel/network.json --bootstrap /ip4/127.0.0.1/tcp/<port>/p2p/<peer ID>':
    'test/platform/localFinality.slow.test.ts',
  'petrel devnet --actors wasm --actor-debugging --block-time 4 --listen /ip4/127.0.0.1/tcp/4001':
    'test/interop/run.ts',
  'petrel daemon --network devnet --genesis devgen.car --bootstrap /ip4/127.0.0.1/tcp/<port>/p2p/<peer ID of `lotus net id`>':
    'test/interop/run.ts',
  'petrel --repo ~/.petrel-new restore node.backup': 'test/sync/importOverChain.test.ts',
  'petrel --repo ~/.petrel-new snapshot import <file|url>': 'test/sync/importOverChain.test.ts',
  'kill -HUP <pid>': 'test/platform/signals.slow.test.ts',
  'petrel daemon --log info,p2p=debug': 'test/platform/logLevels.slow.test.ts',
  'petrel daemon --log-format json': 'test/platform/logLevels.slow.test.ts',
  'petrel daemon --log-file': 'test/platform/signals.slow.test.ts',
  'petrel actors import builtin-actors-devnet.car': 'test/platform/cli/everyCommand.slow.test.ts',
  'petrel proofs import *.vk': 'test/platform/proofFiles.test.ts',
  'petrel index backfill --from chain.car.zst --network mainnet --index postgres://petrel@db.internal/chain --workers 2':
    'test/index/backfill.slow.test.ts',
  'petrel replica --network mainnet --index postgres://reader@db.internal/chain --blocks http://writer.internal:1234 --writer "$(cat writer-api-info)"':
    'test/index/replica.slow.test.ts',
}

/** Needs another network than this machine, or programs that are not here. */
const NEEDS_NETWORK: readonly RegExp[] = [
  /^lotus /,
  /^LOTUS_/,
  /^petrel actors fetch /,
  /^petrel proofs fetch /,
  /^petrel snapshot (list|fetch|import) /,
  /^petrel checkpoint make https:/,
  /^petrel daemon --network <?(mainnet|calibnet|name)\b/,
  /^petrel daemon --monitor$/,
]

interface Chain {
  readonly url: string
  readonly own: string
  readonly funded: string
}

const DOCUMENTS = [
  'README.md',
  ...readdirSync(join(ROOT, 'docs')).flatMap((name) => (name.endsWith('.md') ? [`docs/${name}`] : [])),
]
const PROGRAMS = /^(petrel|npm|npx|node|curl|kill|lotus|LOTUS_\w+=\S*|deno|docker|systemctl)\b/

/** Commands in code of their own lines, without what stands behind them. */
function commandLines(): string[] {
  const found: string[] = []
  for (const document of DOCUMENTS) {
    for (const line of readFileSync(join(ROOT, document), 'utf8').split('\n')) {
      const text =
        /^ {4,}(\S.*)$/
          .exec(line)?.[1]
          ?.replace(/ +#.*$/, '')
          .trim() ?? ''
      if (PROGRAMS.test(text)) found.push(text)
    }
  }
  return found
}

/** All that README and docs call a command of petrel's, also within a text. */
function namedCommands(): string[] {
  const texts = DOCUMENTS.map((document) => readFileSync(join(ROOT, document), 'utf8')).join('\n')
  const inText = [...texts.matchAll(/`(?:npx )?(petrel [a-z][^`]*)`/g)].map(([, command = '']) => command)
  const lines = commandLines().map((line) => line.replace('npx petrel', 'petrel'))
  return [...lines, ...inText].flatMap((line) => /^petrel (?:--repo \S+ )?([a-z].*)$/.exec(line)?.[1] ?? [])
}

/** What is wrong with a command's words; undefined: such a command exists, with all options that are named. */
function faultOf(program: Command, words: readonly string[]): string | undefined {
  let command = program
  let i = 0
  for (; i < words.length; i++) {
    const next = command.commands.find((one) => one.name() === words[i])
    if (next === undefined) break
    command = next
  }
  if (i === 0 || (command.commands.length > 0 && i < words.length && /^[a-z]/.test(words[i] ?? '')))
    return `no command ${words.join(' ')}`
  const known = ['--help', ...[...command.options, ...program.options].flatMap(({ long }) => long ?? [])]
  const wrong = words
    .map((word) => /^\[?(--[a-z0-9-]+)/.exec(word)?.[1])
    .filter((option) => option !== undefined && !known.includes(option))
  return wrong.length === 0 ? undefined : `${command.name()} has no ${wrong.join(', ')}`
}

/** Options of a command and of all below it. */
function optionsOf(command: Command): readonly Option[] {
  return [...command.options, ...command.commands.flatMap(optionsOf)]
}

describe('commands of the documents', { timeout: TIMEOUT_MS }, () => {
  const folder = mkdtempSync(join(tmpdir(), 'petrel-commands-'))
  const home = join(folder, 'home')
  let node: NodeProcess
  let chain: Chain
  beforeAll(async () => {
    mkdirSync(home, { mode: 0o700 })
    writeFileSync(join(folder, 'pass'), 'correct horse battery staple\n', { mode: 0o600 })
    node = await startLocalChain(home)
    const client = new RpcClient(node.url, node.token)
    const [first]: Answer[] = await client.call('DevnetAccounts')
    chain = { url: node.url, own: (await client.call('WalletNew', 'secp256k1')) as string, funded: first.Address }
  }, TIMEOUT_MS)
  afterAll(async () => {
    await node?.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  it('each is run here, tested elsewhere, or needs a network', () => {
    const here = RUN.map(({ command }) => command)
    const lines = commandLines()
    const unknown = lines.filter(
      (line) => !here.includes(line) && ELSEWHERE[line] === undefined && !NEEDS_NETWORK.some((one) => one.test(line)),
    )
    expect(unknown).toEqual([])
    expect(Object.keys(ELSEWHERE).filter((line) => !lines.includes(line))).toEqual([])
    expect([...new Set(Object.values(ELSEWHERE))].filter((path) => !existsSync(join(ROOT, path)))).toEqual([])
  })

  it('each of petrel exists, with its options', () => {
    const io = { out: () => undefined, err: () => undefined } as unknown as Parameters<typeof createProgram>[0]['io']
    const nothing = {
      daemon: async () => undefined,
      devnet: async () => undefined,
      replica: async () => undefined,
      signer: async () => undefined,
      sign: async () => null,
    }
    const { program } = createProgram({
      io,
      version: 'test',
      addNodeCommands: (to, context) => addNodeCommands(to, context, nothing),
    })
    // Such an option takes the word behind it, whatever that is: an address, an amount.
    expect(optionsOf(program).filter(({ optional }) => optional)).toEqual([])
    const all = namedCommands()
    expect(all.length).toBeGreaterThan(40)
    expect(all.flatMap((command) => faultOf(program, command.split(/[\s|]+/)) ?? [])).toEqual([])
  })

  it('each script of npm exists', () => {
    const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
      scripts: Record<string, string>
    }
    const texts = [...DOCUMENTS, 'CONTRIBUTING.md']
      .map((document) => readFileSync(join(ROOT, document), 'utf8'))
      .join('\n')
    const named = [...texts.matchAll(/npm run ([a-z][a-z:]*)/g)].map(([, name = '']) => name)
    expect(named.filter((name) => scripts[name] === undefined)).toEqual([])
  })

  it.each(RUN)('$command', async ({ command, as, home: where, says }) => {
    const line = (as?.(chain) ?? command).replace('npx petrel', 'petrel')
    const shell = `petrel() { "${process.execPath}" "${join(ROOT, 'bin/petrel.js')}" "$@"; }\n${line}`
    const env = { ...process.env, PETREL_HOME: where === undefined ? home : join(folder, 'other') }
    const { stdout } = await run('bash', ['-ec', shell], { cwd: folder, env })
    if (says !== undefined) expect(stdout).toMatch(says)
  })
})
