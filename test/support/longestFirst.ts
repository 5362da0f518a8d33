/** The order in which vitest takes test files. */
import { BaseSequencer, type TestSpecification } from 'vitest/node'

/** Files that take longest, longest first: begun last, each would leave one core idle. */
const LONGEST = [
  'fvm/golden.slow',
  'golden/golden',
  'transfers/proof.slow',
  'light/lightNode',
  'conformance/fvm/vectors.slow',
  'sync/follow.slow',
  'proofs/vectorsNoble.slow',
  'proofs/vectorsAggregate.slow',
  'network/bigTipset.slow',
  'examples/exchange.slow',
  'fvm/wasm/bundles.slow',
  'clients/clients.slow',
]

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = LONGEST.findIndex((name) => moduleId.includes(`/test/${name}.`))
      if (at >= 0) return at
      return LONGEST.length + (moduleId.includes('.slow.') ? 0 : 1)
    }
    const sorted = await super.sort(files)
    return sorted.toSorted((a, b) => rank(a) - rank(b))
  }
}
