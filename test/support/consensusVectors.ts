/** Reference values of elections and randomness. */
import { missingShared, readSharedJson } from './shared.ts'

export interface ConsensusVectors {
  blocks: {
    headerCborHex: string
    height: number
    miner: string
    beaconRound: number
    winCount: number
    minerQaPower: string
    networkQaPower: string
    ticketDraw: { digest: string }
    electionDraw: { digest: string }
    winningPoStDraw: { digest: string }
  }[]
  poisson: { expnegSamples: { x: string; y: string }[]; lambda5Icdf: string[] }
}

const FILE = 'data/vectors/consensus.json'

/** The vectors, undefined where the shared data is not at hand. */
export function consensusVectors(): ConsensusVectors | undefined {
  const missing = missingShared(FILE)
  if (missing === undefined) return readSharedJson<ConsensusVectors>(FILE)
  console.warn(`skipped: ${missing}`)
  return undefined
}
