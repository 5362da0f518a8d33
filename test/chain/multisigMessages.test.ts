import { describe, expect, it } from 'vitest'
import { fromBase64, toHex } from '../../src/base/bytes.ts'
import { addSignerCall, answerProposal, createMultisig, proposeCall } from '../../src/chain/multisigMessages.ts'
import { type Cid, parseCid } from '../../src/codec/cid.ts'
import { decode, encode } from '../../src/codec/description.ts'
import type { Json } from '../../src/codec/jsonText.ts'
import { manifestFor } from '../../src/networks/network.ts'
import { actorMethod } from '../../src/state/actorMethods.ts'
import { codeLookup } from '../../src/state/manifest.ts'
import { StateTree } from '../../src/state/stateTree.ts'
import { type Address, idAddress, parseAddress, UNDEF_ADDRESS } from '../../src/types/address.ts'
import { type Message, message } from '../../src/types/message.ts'
import { MultisigMethod } from '../../src/types/methodNumbers.ts'
import { headHeader, openGolden } from '../support/archives.ts'
import { type RecordedCall, recordedCalls } from '../support/recorded.ts'
import { missingShared } from '../support/shared.ts'

type Object = { [key: string]: Json }
const json = { addressPrefix: 't' } as const
const missing = missingShared('data/golden/nv28/session.jsonl.zst') !== undefined

describe.skipIf(missing)('messages that Lotus built for a recorded chain', () => {
  const built = (call: RecordedCall, tree: StateTree, code: Cid): Message | undefined => {
    const p = call.params as string[]
    const [at, big, number] = [
      (i: number): Address => parseAddress(p[i] as string),
      (i: number): bigint => BigInt(p[i] as string),
      (i: number): number => call.params[i] as number,
    ]
    const resolved = (who: Address): Address => idAddress(tree.lookupId(who) as bigint)
    switch (call.method) {
      case 'Filecoin.MsigCreate': {
        const signers = (call.params[1] as string[]).map(parseAddress)
        return createMultisig(at(4), code, {
          signers,
          threshold: number(0),
          unlockDuration: BigInt(number(2)),
          initialBalance: big(3),
        })
      }
      case 'Filecoin.MsigPropose':
        return proposeCall(at(3), at(0), {
          to: at(1),
          value: big(2),
          method: BigInt(number(4)),
          params: fromBase64(p[5] as string),
        })
      case 'Filecoin.MsigApprove':
        return answerProposal(MultisigMethod.Approve, at(2), at(0), number(1), undefined)
      case 'Filecoin.MsigAddPropose':
        return proposeCall(at(1), at(0), addSignerCall(at(0), at(2), call.params[3] as boolean))
      case 'Filecoin.MsigAddApprove': {
        const expected = { ...addSignerCall(at(0), at(4), call.params[5] as boolean), requester: resolved(at(3)) }
        return answerProposal(MultisigMethod.Approve, at(1), at(0), number(2), expected)
      }
      default:
        return undefined
    }
  }

  it('are the same here', () => {
    const { store, network } = openGolden('nv28')
    const tree = StateTree.load(store, headHeader(store).parentStateRoot)
    const code = manifestFor(network, 18)?.actors.get('multisig') as Cid
    const sent = new Map<string, Object>()
    for (const { params, response } of recordedCalls('nv28', 'chain.jsonl.zst', ['Filecoin.ChainGetMessage'])) {
      sent.set((params[0] as { '/': string })['/'], response.result as Object)
    }
    const names = ['Create', 'Propose', 'Approve', 'AddPropose', 'AddApprove'].map((name) => `Filecoin.Msig${name}`)
    let checked = 0
    for (const call of recordedCalls('nv28', 'session.jsonl.zst', names)) {
      const recorded = sent.get((call.response.result as { '/': string })['/'])
      const here = built(call, tree, code)
      if (recorded === undefined || here === undefined) continue
      const expected = message.fromJson(recorded, json)
      expect(toHex(here.params), call.method).toBe(toHex(expected.params))
      expect(String(here.to)).toBe(String(expected.to))
      expect(String(here.from)).toBe(String(expected.from))
      expect([here.value, here.method]).toEqual([expected.value, expected.method])
      checked++
    }
    expect(checked).toBeGreaterThan(8)
  })

  it('that only came back as a prototype too', () => {
    const [call] = recordedCalls('nv28', 'session.jsonl.zst', ['Filecoin.MsigCancel']) as [RecordedCall]
    const [wallet, id, from] = call.params as [string, number, string]
    const here = answerProposal(MultisigMethod.Cancel, parseAddress(from), parseAddress(wallet), id, undefined)
    expect(message.toJson(here, json)).toEqual((call.response.result as Object).Message)
  })

  it('have parameters that the method tables read and write', () => {
    const { store, network } = openGolden('nv28')
    const tree = StateTree.load(store, headHeader(store).parentStateRoot)
    const codes = codeLookup(network)
    let checked = 0
    for (const { response } of recordedCalls('nv28', 'chain.jsonl.zst', ['Filecoin.ChainGetMessage'])) {
      const one = message.fromJson(response.result as Json, json)
      const id = tree.lookupId(one.to)
      const actor = id === undefined ? undefined : tree.getActor(id)
      const info = actor === undefined ? undefined : codes(actor.code)
      const codec = info === undefined ? undefined : actorMethod(info.kind, info.actorsVersion, one.method)?.params
      if (codec === undefined || codec === null || one.params.length === 0) continue
      let value: unknown
      try {
        value = decode(codec, one.params)
      } catch {
        // Some messages are malformed on purpose.
        continue
      }
      expect(toHex(encode(codec, value))).toBe(toHex(one.params))
      expect(toHex(encode(codec, codec.fromJson(codec.toJson(value, json), json)))).toBe(toHex(one.params))
      checked++
    }
    expect(checked).toBeGreaterThan(60)
  })
})

describe('a message', () => {
  const [wallet, from] = [idAddress(1000n), idAddress(1001n)]

  it('is refused where Lotus refuses it', () => {
    expect(() =>
      proposeCall(from, wallet, { to: UNDEF_ADDRESS, value: 0n, method: 0n, params: new Uint8Array(0) }),
    ).toThrow('must provide a target address for proposal')
    expect(() => proposeCall(from, wallet, { to: from, value: -1n, method: 0n, params: new Uint8Array(0) })).toThrow(
      'non-negative',
    )
    expect(() =>
      proposeCall(UNDEF_ADDRESS, wallet, { to: from, value: 0n, method: 0n, params: new Uint8Array(0) }),
    ).toThrow('failed to create proposal: must provide source address')
    expect(() => answerProposal(MultisigMethod.Approve, UNDEF_ADDRESS, wallet, 0, undefined)).toThrow(
      'must provide source address',
    )
    const create = { signers: [from], threshold: 2, unlockDuration: 0n, initialBalance: 0n }
    expect(() => createMultisig(from, parseCid('bafkqactgnfwc6mjpnfxgs5a'), create)).toThrow(
      'cannot require signing of more addresses',
    )
  })
})
