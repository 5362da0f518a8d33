/** F3's manifest, as a network's description or another node has it. */
import { fromUtf8, utf8 } from '../../src/base/bytes.ts'
import { parseJson, stringifyJson } from '../../src/codec/jsonText.ts'
import { f3ManifestOf, proposalRules } from '../../src/consensus/f3/manifest.ts'
import { builtinNetwork } from '../../src/networks/builtinNetworks.ts'
import type { FuzzTarget } from './fuzzTarget.ts'
import { mutateJson } from './mutateJson.ts'

const network = builtinNetwork('calibnet')

/** Every number in it is a whole one, or it is refused. */
export const f3Manifest: FuzzTarget = {
  seeds: () => [utf8(stringifyJson(network.f3.manifest ?? null))],
  mutate: mutateJson,
  run: (input) => {
    const manifest = f3ManifestOf({ ...network, f3: { enabled: true, manifest: parseJson(fromUtf8(input)) } })
    if (manifest === undefined) throw new Error('a network with F3 has none')
    const { headLookback, proposedLength } = proposalRules(manifest)
    const { initialInstance, bootstrapEpoch, finality, committeeLookback } = manifest
    const numbers = [initialInstance, bootstrapEpoch, finality, committeeLookback, headLookback, proposedLength]
    if (!numbers.every(Number.isSafeInteger)) throw new Error(`a number is none: ${numbers.join(' ')}`)
  },
}
