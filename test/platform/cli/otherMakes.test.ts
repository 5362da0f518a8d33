/** The command line beside a node of another make, which lacks methods and says things otherwise: Forest 0.36. */
import { afterEach, expect, it } from 'vitest'
import type { Json } from '../../../src/codec/jsonText.ts'
import { type Answers, type FakeNode, leadingTo, petrel, type Ran, Refusal, startFakeNode } from './fakeNode.ts'

const FIRST = 't1k7nqdbuqfsqrridmns7fddowwoq7ecjgjcrozly'
const SECOND = 't1kgxupixwdmq5isunbxs24wnia73qbd6sh73sh4q'

let node: FakeNode
afterEach(() => node.close())

async function run(answers: Answers, args: readonly string[]): Promise<Ran> {
  node = await startFakeNode(answers)
  return petrel(args, leadingTo(node))
}

/** In Forest's words. */
const missing = (): never => {
  throw new Refusal('Method not found', -32601)
}

it('a method that it lacks is named', async () => {
  const ran = await run({ WalletList: missing }, ['wallet', 'list'])
  expect(ran).toEqual({ code: 1, out: '', err: 'ERROR: Method not found: Filecoin.WalletList\n' })
})

it('null for an actor that is not there: a wallet without funds', async () => {
  const answers = { StateGetActor: null, WalletList: [FIRST], WalletDefaultAddress: FIRST, WalletHas: true }
  expect((await run(answers, ['wallet', 'list'])).out).toMatch(new RegExp(`${FIRST} +0 FIL +0`))
})

it('null for an actor that is not there: refused in the words of Lotus', async () => {
  const ran = await run({ StateGetActor: null }, ['state', 'get-actor', FIRST])
  expect(ran).toMatchObject({ code: 1, err: 'ERROR: actor not found\n' })
})

const sending: Answers = {
  WalletDefaultAddress: FIRST,
  GasEstimateMessageGas: (message) => ({
    ...(message as object),
    GasLimit: 1000,
    GasFeeCap: '200',
    GasPremium: '100',
  }),
  MpoolPushMessage: (message) => ({
    Message: message as Json,
    Signature: { Type: 1, Data: '' },
    CID: { '/': 'bafysigned' },
  }),
}

it('checks of a message that it has not are left to it', async () => {
  const answers = { ...sending, MpoolCheckMessages: missing, MpoolCheckPendingMessages: missing }
  expect((await run(answers, ['send', SECOND, '1'])).out).toContain('bafysigned\n')
})

it('checks that fail otherwise are not', async () => {
  const failing = (): never => {
    throw new Refusal('out of order')
  }
  expect((await run({ ...sending, MpoolCheckMessages: failing }, ['send', SECOND, '1'])).code).toBe(1)
  expect(node.calls.map(({ method }) => method)).not.toContain('MpoolPushMessage')
})
