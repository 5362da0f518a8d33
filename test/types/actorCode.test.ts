/** Codes of actors are read once and kept: what is read must be what was written all the same. */
import { beforeAll, expect, it } from 'vitest'
import { concatBytes } from '../../src/base/bytes.ts'
import { type Cid, cidFromBytes } from '../../src/codec/cid.ts'
import { decode, encode } from '../../src/codec/description.ts'
import { blockCid } from '../../src/crypto/blockCid.ts'
import { initCrypto } from '../../src/crypto/init.ts'
import { actorV4, actorV5 } from '../../src/types/actor.ts'
import { seeded } from '../support/seeded.ts'

beforeAll(async () => {
  await initCrypto()
})

it('codes that end alike, and such as hold one another, are told apart', () => {
  const random = seeded('codes of actors')
  const head = blockCid(random.bytes(10))
  const codes: Cid[] = Array.from({ length: 600 }, () => blockCid(random.bytes(20)))
  // By its identity: the bytes of the other are all of its digest.
  const nested = (cid: Cid): Cid => cidFromBytes(concatBytes(Uint8Array.of(1, 0x55, 0, cid.bytes.length), cid.bytes))
  for (const code of random.shuffle([...codes, ...codes.map(nested), ...codes])) {
    const actor = { code, head, nonce: 1n, balance: 2n, delegatedAddress: null }
    for (const form of [actorV5, actorV4]) expect(decode(form, encode(form, actor))).toEqual(actor)
  }
})
