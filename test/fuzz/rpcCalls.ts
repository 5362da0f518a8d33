/** Generated calls of a node's methods: right, nearly right and wrong parameters, from what the node says of itself. */
import type { Json } from '../../src/codec/jsonText.ts'

/** One call. */
export interface GeneratedCall {
  readonly method: string
  readonly params: Json
}

/** A method as `rpc.discover` tells it. */
export interface KnownMethod {
  readonly name: string
  /** Go's types of the parameters. */
  readonly types: readonly string[]
}

/** Things that the node has, by Go's type. */
export type KnownValues = ReadonlyMap<string, readonly Json[]>

/** They end the node, or write what grows without bound. */
const LEFT_OUT: ReadonlySet<string> = new Set(['Shutdown', 'CreateBackup', 'ChainExportRangeInternal', 'LogSetLevel'])

/** Mulberry32. */
function randomBelow(seed: number): (below: number) => number {
  let state = seed >>> 0
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** A hash that nothing has. */
export const NO_HASH: string = `0x${'5a'.repeat(32)}`
const NO_CID = { '/': 'bafy2bzacedswlcz5ddgqnyo3sak3jmhmkxashisnlpq6ujgyhe4mlobzpnhs6' }
/** What no method expects, and the edges of what many do. */
export const ODD_VALUES: readonly Json[] = [
  ...[null, true, false, 0, 1, -1, 0.5, 1e300, -9223372036854775808n, 9223372036854775807n],
  ...[18446744073709551615n, 18446744073709551616n, '', '0', '-1', '0x', '0x0', '0x1', '0xzz', '0xffffffffffffffff'],
  ...['0x10000000000000000', NO_HASH, 'latest', 'pending', 'earliest', 'safe', 'finalized', 't01000', 'f01000'],
  ...['t099999999', 't4', 't410f', 'AAAA', '====', '\u0000\ud800', 'x'.repeat(10_000), '9'.repeat(400)],
  ...[
    [],
    {},
    [null],
    [[]],
    [1, 2, 255],
    [1, 256, -1],
    [{}],
    { '/': '' },
    { '/': 'bafy' },
    { '/': 5 },
    [NO_CID],
    NO_CID,
  ],
  ...[{ From: 't01000', To: 't01000' }, { From: 5 }, { fromBlock: '0x0', toBlock: 'latest' }],
  ...[{ fromBlock: 'x', topics: 5, address: {} }, { to: `0x${'11'.repeat(20)}`, data: '0x60' }, { blockNumber: '0x1' }],
  { to: `0x${'11'.repeat(20)}`, value: '0x12', gas: '0x12', gasPrice: '0x12' },
  ...[{ blockHash: NO_HASH, requireCanonical: true }, Array.from({ length: 2000 }, (_, i) => i)],
]

/** What fits a parameter; undefined: nothing is known that does. @param type - Go's */
export function valuesFor(known: KnownValues, type: string): readonly Json[] | undefined {
  return known.get(type.replaceAll('*', ''))
}

/** Calls without end. */
export function* generateCalls(
  methods: readonly KnownMethod[],
  known: KnownValues,
  seed: number,
): Generator<GeneratedCall, never> {
  const random = randomBelow(seed)
  const pick = <T>(from: readonly T[]): T => from[random(from.length)] as T
  const used = methods.filter(({ name }) => !LEFT_OUT.has(name.slice(name.indexOf('.') + 1)))
  /** A field less, or another value in it, now and then. */
  const changed = (value: Json): Json => {
    if (typeof value !== 'object' || value === null || Array.isArray(value) || random(3) > 0) return value
    const keys = Object.keys(value)
    if (keys.length === 0) return value
    const out: { [key: string]: Json } = { ...value }
    const key = pick(keys)
    if (random(2) === 0) delete out[key]
    else out[key] = pick(ODD_VALUES)
    return out
  }
  const oneFor = (type: string): Json => {
    const fitting = valuesFor(known, type)
    return fitting !== undefined && random(10) < 6 ? changed(pick(fitting)) : pick(ODD_VALUES)
  }
  while (true) {
    const { name, types } = pick(used)
    const params: Json[] = types.map(oneFor)
    const wrongCount = random(12)
    if (wrongCount === 0) params.pop()
    else if (wrongCount === 1) params.push(pick(ODD_VALUES))
    yield { method: name, params: random(50) === 0 ? pick(ODD_VALUES) : params }
  }
}
