/** What workers sign, by the recorded mainnet blocks (before Smoke: tickets without the base ticket). */
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import { decode, encode } from '../../src/codec/description.ts'
import {
  electionInput,
  runElection,
  ticketInput,
  verifyElection,
  winningPoStRandomness,
} from '../../src/consensus/election.ts'
import { drawRandomness, TAG_WINNING_POST } from '../../src/crypto/drawRandomness.ts'
import { address, parseAddress } from '../../src/types/address.ts'
import { blockHeader } from '../../src/types/blockHeader.ts'
import { consensusVectors } from '../support/consensusVectors.ts'

const vectors = consensusVectors()

describe.skipIf(vectors === undefined)('draws of recorded blocks', () => {
  for (const block of vectors?.blocks ?? []) {
    const header = decode(blockHeader, fromHex(block.headerCborHex))
    const miner = parseAddress(block.miner)
    const beacon = header.beaconEntries[header.beaconEntries.length - 1]!.data

    it(`height ${block.height}`, () => {
      expect(toHex(ticketInput(beacon, block.height, miner, undefined))).toBe(block.ticketDraw.digest)
      expect(toHex(electionInput(beacon, block.height, miner))).toBe(block.electionDraw.digest)
      const draw = drawRandomness(beacon, TAG_WINNING_POST, block.height, encode(address, miner))
      expect(toHex(draw)).toBe(block.winningPoStDraw.digest)
      expect(winningPoStRandomness(beacon, block.height, miner)[31]).toBe(draw[31]! & 0x3f)
    })

    it(`election of height ${block.height}`, () => {
      const power = { miner: BigInt(block.minerQaPower), network: BigInt(block.networkQaPower) }
      const proof = header.electionProof!
      const won = runElection(beacon, block.height, miner, power, (message) => {
        expect(toHex(message)).toBe(block.electionDraw.digest)
        return proof.vrfProof
      })
      expect(won).toEqual(proof)
      expect(() => verifyElection(proof, beacon, block.height, miner, power, () => true)).not.toThrow()
      const wrong = { ...proof, winCount: proof.winCount + 1 }
      expect(() => verifyElection(wrong, beacon, block.height, miner, power, () => true)).toThrow(
        expect.objectContaining({ code: 'ELECTION_INVALID' }),
      )
    })
  }
})
