/**
 * Where Petrel's answers are meant to differ from the recorded ones. Each entry names rows by the request body, and says
 * why. An entry that no row needs any more fails the test.
 */

/** One difference. */
export interface Difference {
  /** Matches the body of the recorded request; the path of one without a body. */
  readonly body: RegExp
  /** What is equal all the same. */
  readonly keeps: 'nothing' | 'status' | 'status and that it is a result'
  readonly reason: string
}

export const DIFFERENCES: readonly Difference[] = [
  {
    body: /"Filecoin\.Version"/,
    keeps: 'status',
    reason: 'the recorded process was not told its kind and answers "unknown node type 0"; Petrel answers its version',
  },
  {
    body: /"rpc\.discover"/,
    keeps: 'status and that it is a result',
    reason: "the document describes Petrel's own methods",
  },
  {
    body: /"Filecoin\.MpoolPending"/,
    keeps: 'status and that it is a result',
    reason: 'the pool was not recorded; it depends on the moment',
  },
  {
    body: /"Filecoin\.WalletNew"/,
    keeps: 'status and that it is a result',
    reason: 'a new key is random',
  },
  {
    body: /"Filecoin\.WalletList"/,
    keeps: 'status and that it is a result',
    reason: 'the list holds the random keys that were made during the recording',
  },
  {
    body: /"Filecoin\.AuthNew"/,
    keeps: 'status and that it is a result',
    reason: 'the token is signed with a secret of its node',
  },
  {
    body: /^\/health\/livez$/,
    keeps: 'status',
    reason: "Lotus' answer is empty; Petrel's gives the reasons",
  },
  {
    body: /^\/health\/readyz$/,
    keeps: 'nothing',
    reason:
      'the recorded node had no peers to follow and was not ready; a node on an opened archive follows nobody and is',
  },
]

/** A frame of the recorded WebSocket session that is meant to differ. */
export interface SessionDifference {
  /** Matches the recorded frame. */
  readonly frame: RegExp
  readonly reason: string
}

export const SESSION_DIFFERENCES: readonly SessionDifference[] = [
  {
    frame: /"unknown node type 0"/,
    reason: 'the recorded process was not told its kind; Petrel answers its version',
  },
  {
    frame: /^\{"id":[45],"jsonrpc":"2\.0","result":"0x[0-9a-f]{32}0{32}"\}$/,
    reason: 'subscription ids are random',
  },
]

/** A field of a recorded answer that the chain and its network file do not determine. */
export interface FieldDifference {
  readonly method: string
  /** As `firstDifference` of scripts/golden/compare.ts writes it. */
  readonly path: string
  /** The recorded answer must match; absent: any. */
  readonly recorded?: RegExp
  readonly reason: string
}

export const FIELD_DIFFERENCES: readonly FieldDifference[] = [
  {
    method: 'Filecoin.StateGetNetworkParams',
    path: '.ForkUpgradeParams.UpgradeAssemblyHeight',
    reason:
      "the recording test kit moved this height to -1 (lotus itests/kit/ensemble.go); the chain's network file, which Petrel was given, says -5, and both mean from genesis on",
  },
  {
    method: 'eth_getBlockByHash',
    path: '.logsBloom',
    recorded: /"logsBloom":"0xf{512}"/,
    reason:
      "one answer per chain: Lotus' index did not have the tipset at that moment and lets everything pass (all ones); asked by number, the same block has the filter of its logs, which Petrel gives in both cases",
  },
  {
    method: 'web3_clientVersion',
    path: '',
    reason: 'Petrel says its own name and version',
  },
  {
    method: 'eth_estimateGas',
    path: 'error.message',
    recorded: /Actor balance less than needed: [0-9.]+ < /,
    reason: 'the price of the gas that the sender cannot pay has noise in it (GasEstimateGasPremium)',
  },
  ...['eth_call', 'eth_estimateGas'].map((method) => ({
    method,
    path: 'error',
    recorded: /rand::get_beacon_randomness -- cgo extern 'get_beacon_randomness' failed with error code -3/,
    reason:
      "one contract's PREVRANDAO: the recording node looked for drand's rounds, the chain's beacon is the mock one",
  })),
]
