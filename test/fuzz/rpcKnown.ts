/** What there is to ask a node, and about: read from the node itself. */
import type { Json } from '../../src/codec/jsonText.ts'
import { type KnownMethod, type KnownValues, NO_HASH } from './rpcCalls.ts'

type Fields = { readonly [key: string]: Json }
/** @returns the result; rejects for an error */
export type AskNode = (method: string, ...params: Json[]) => Promise<Json>

/** Every method, by each of its names. */
export async function knownMethods(ask: AskNode): Promise<KnownMethod[]> {
  const document = (await ask('rpc.discover')) as Fields
  return (document.methods as Fields[]).flatMap((one) => {
    const types = (one.params as Fields[]).map(({ description }) => String(description))
    const aliases = (one['x-aliases'] ?? []) as string[]
    const name = String(one.name).replace('Node.', 'Filecoin.')
    return [name, ...aliases].map((each) => ({ name: each, types }))
  })
}

/** Values that fit parameters of Go's types. */
export async function knownValues(ask: AskNode): Promise<KnownValues> {
  const head = (await ask('Filecoin.ChainHead')) as Fields
  const cids = head.Cids as Fields[]
  const actors = ((await ask('Filecoin.StateListActors', [])) as string[]).slice(0, 30)
  const wallets = ((await ask('Filecoin.WalletList')) as string[]).slice(0, 8)
  const price = { GasLimit: 1_000_000, GasFeeCap: '200000', GasPremium: '200' }
  const ends = { From: wallets[0] as string, To: actors[0] as string }
  const message: Fields = { Version: 0, ...ends, Nonce: 0, Value: '1', ...price, Method: 0, Params: '' }
  const height = Number(head.Height)
  const eth = [`0x${'00'.repeat(20)}`, `0xff${'00'.repeat(18)}64`, `0x${'12'.repeat(20)}`]
  return new Map<string, Json[]>([
    ['types.TipSetKey', [cids, [], cids.slice(0, 1)]],
    ['cid.Cid', cids],
    ['[]cid.Cid', [cids, []]],
    ['address.Address', [...actors, ...wallets]],
    ['[]address.Address', [wallets, []]],
    ['abi.ChainEpoch', [0, 1, height - 1, height, height + 1]],
    ['types.Message', [message]],
    ['[]types.Message', [[message], []]],
    ['abi.MethodNum', [0, 1, 2, 3]],
    ['ethtypes.EthAddress', eth],
    ['ethtypes.EthHash', [NO_HASH]],
    ['ethtypes.EthCall', [{ to: eth[2] as string, data: '0x01' }, {}]],
    ['ethtypes.EthBlockNumberOrHash', ['latest', '0x1', { blockNumber: '0x1' }]],
    ['string', ['latest', '0x1', 'all', 'x']],
    ['bool', [true, false]],
    ['uint64', [0, 1, 5]],
    ['int', [0, 1, 5]],
  ])
}
