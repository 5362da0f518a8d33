/** The command line before a node that answers from a table, and what tests of several commands ask it about. */
import { afterAll, beforeAll, beforeEach } from 'vitest'
import type { Json } from '../../../src/codec/jsonText.ts'
import {
  type Answers,
  type FakeNode,
  leadingTo,
  petrel,
  type Ran,
  type RunOptions,
  type SeenCall,
  startFakeNode,
} from './fakeNode.ts'

export const FIRST = 't15hcarwznrb4xdi5e7s73ml37jj6sdojuhqdl4lq'
export const SECOND = 't3wcdz7wwbmh5eytaaizyygos7vxz3vhtb2qafzl5jvaiwhgpjliemadboipa5ilooc3cnvgbxw7pwsrxhvfnq'
export const ETHEREUM = 't410ftsdqpv77mfpbhtulfwlx5ca6yfnokxv2vphjtoy'

/** A CID as JSON has it. */
export const cid = (text: string): Json => ({ '/': text })

/** A header as JSON has it; `timestamp` in seconds. */
export function block(height: number, miner: string, timestamp: number): { [key: string]: Json } {
  return {
    Miner: miner,
    Height: height,
    Timestamp: timestamp,
    ParentBaseFee: '100',
    ParentWeight: '5120',
    Parents: height === 0 ? [] : [cid(`bafy${height - 1}`)],
  }
}

/** A tipset of one block; that of epoch 100 is of now. */
export function tipset(height: number): { [key: string]: Json } {
  return {
    Cids: [cid(`bafy${height}`)],
    Blocks: [block(height, 't01000', 1_700_000_000 - 30 * (100 - height))],
    Height: height,
  }
}

/** The command line and the node that it speaks to. */
export interface CommandLine {
  readonly run: (args: readonly string[], options?: RunOptions) => Promise<Ran>
  /** From now on the node answers from this table. */
  readonly answer: (answers: Answers) => void
  /** What this test has called so far, in order. */
  readonly calls: () => readonly SeenCall[]
  /** The same by name. */
  readonly methods: () => string[]
  /** Its last call of a method. */
  readonly lastOf: (method: string) => SeenCall | undefined
  /** Where the node listens. */
  readonly port: () => number
}

/** A command line for the tests of the calling file: starts the node before them, forgets its calls before each. */
export function commandLine(): CommandLine {
  let node: FakeNode
  beforeAll(async () => {
    node = await startFakeNode()
  })
  beforeEach(() => {
    node.calls.length = 0
  })
  afterAll(() => node.close())
  return {
    run: (args, options = {}) => petrel(args, { ...leadingTo(node), ...options }),
    answer: (answers) => {
      node.answers = answers
    },
    calls: () => node.calls,
    methods: () => node.calls.map((call) => call.method),
    lastOf: (method) => node.calls.filter((call) => call.method === method).at(-1),
    port: () => node.port,
  }
}
