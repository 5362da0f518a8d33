import type { Command } from 'commander'
import { errorMessage } from '../../../src/base/errors.ts'
import { stringifyJson } from '../../../src/codec/jsonText.ts'
import { formatFil } from '../../../src/types/fil.ts'
import { systemCode } from '../../server/errors.ts'
import { readTextFile, writeFile } from '../../server/home.ts'
import { line, type ProgramIo } from '../../server/programIo.ts'
import { type CliContext, wholeNumber } from '../context.ts'
import { CliError } from '../errors.ts'
import type { MethodsV1 } from '../nodeMethods.ts'
import { deliver, type Webhook } from '../webhook.ts'

interface TransfersOptions {
  readonly follow?: boolean
  readonly since?: string
  readonly positionFile?: string
  readonly confidence: string
  readonly webhook?: string
  readonly webhookSecretFile?: string
  readonly deadLetters: string
}

type Steps = MethodsV1['ChainGetTransfersSince']['result']
type Position = Steps['Position']

/** Tipsets of one step: what is delivered, and counted, as one. */
const STEP_TIPSETS = 10
/** Between two looks at a chain that has nothing new, and before the first one after a failure, ms. */
const LOOK_MS = 1000
/** Longest pause before a node that keeps failing is asked again, ms. */
const MAX_PAUSE_MS = 30_000
/** Numbers of a call that is wrong itself: JSON-RPC's own. */
const PROTOCOL_NUMBERS = { from: -32_700, to: -32_600 }
/** What the node says of the token, the confidence, the position: by their number they could be failures of the moment. */
const REFUSALS = /^(missing permission|Cannot follow transfers|cannot create tipset)/

const positionText = (position: Position): string => position.map((cid) => cid['/']).join(',')

function parsePosition(text: string | undefined): Position {
  const trimmed = text?.trim() ?? ''
  return trimmed === '' ? [] : trimmed.split(',').map((cid) => ({ '/': cid.trim() }))
}

async function webhookOf({ io }: CliContext, options: TransfersOptions): Promise<Webhook | undefined> {
  if (options.webhook === undefined) return undefined
  if (options.webhookSecretFile === undefined) throw new CliError('USAGE', 'webhook: --webhook-secret-file is missing')
  const secret = (await io.readFile(options.webhookSecretFile)).trim()
  if (secret === '') throw new CliError('USAGE', `webhook: ${options.webhookSecretFile} is empty`)
  return { url: options.webhook, secret, deadLetters: options.deadLetters, sleep: io.sleep, now: io.now }
}

function show(io: ProgramIo, steps: Steps): void {
  for (const { Height: height, Transfers: transfers } of steps.Reverted) {
    for (const transfer of transfers)
      line(
        io,
        `${height}\ttaken back\t${formatFil(BigInt(transfer.Value))}\t${transfer.FromAddress}\t${transfer.ToAddress}`,
      )
  }
  for (const { Height: height, Transfers: transfers } of steps.Applied) {
    for (const transfer of transfers)
      line(
        io,
        `${height}\t${transfer.Kind}\t${formatFil(BigInt(transfer.Value))}\t${transfer.FromAddress}\t${transfer.ToAddress}`,
      )
  }
}

/** Whoever is told by standard output has it: the position must not lead past a step that a full disk or a broken pipe lost. */
async function taken({ written }: ProgramIo): Promise<void> {
  try {
    await written?.()
  } catch (cause) {
    const reason = systemCode(cause) || errorMessage(cause)
    throw new CliError(
      'FAILED',
      `standard output takes no more (${reason}): the position stays before this step`,
      {},
      { cause },
    )
  }
}

/** Whether asking again is in vain: the token, a parameter or the position is refused. */
function isRefused(error: CliError, position: Position): boolean {
  if (error.code !== 'RPC') return error.code !== 'CONNECTION'
  const { code } = error.info
  // A token that is not accepted has no number.
  if (typeof code !== 'number') return true
  if (code >= PROTOCOL_NUMBERS.from && code <= PROTOCOL_NUMBERS.to) return true
  // Who does not know the position names it.
  return REFUSALS.test(error.message) || position.some((cid) => error.message.includes(cid['/']))
}

/** The next steps. With `--follow` a failure of the moment is told, and outlived. @returns undefined: interrupted */
async function nextSteps(
  context: CliContext,
  { follow: goesOn }: TransfersOptions,
  position: Position,
  confidence: number,
): Promise<Steps | undefined> {
  const { io } = context
  for (let pauseMs = LOOK_MS; !io.signal.aborted; pauseMs = Math.min(2 * pauseMs, MAX_PAUSE_MS)) {
    try {
      // Looked for anew: a node that was started again may have another port and another token.
      const client = await context.node()
      return await client.call('ChainGetTransfersSince', [position, confidence, STEP_TIPSETS], 'v1')
    } catch (error) {
      if (io.signal.aborted) break
      if (goesOn !== true || !(error instanceof CliError) || isRefused(error, position)) throw error
      io.err(`no answer (${error.message}): asked again in ${pauseMs / 1000} s\n`)
      await io.sleep(pauseMs)
    }
  }
  return undefined
}

async function follow(context: CliContext, options: TransfersOptions): Promise<void> {
  const { io } = context
  const confidence = wholeNumber(options.confidence, 'confidence')
  const webhook = await webhookOf(context, options)
  const put = context.stream()
  const { positionFile } = options
  const kept = positionFile === undefined ? '' : (readTextFile(positionFile) ?? '').trim()
  // A command that is started again as it was must not begin again.
  let position = parsePosition(kept === '' ? options.since : kept)
  while (!io.signal.aborted) {
    const steps = await nextSteps(context, options, position, confidence)
    if (steps === undefined) break
    const moved = positionText(steps.Position) !== positionText(position)
    if (moved) {
      put(steps)
      show(io, steps)
      await taken(io)
      const problem = webhook === undefined ? undefined : await deliver(webhook, stringifyJson(steps))
      if (problem !== undefined) io.err(`not delivered (${problem}): kept in ${options.deadLetters}\n`)
      // After what it leads past is told, or kept: a crash in between tells it again.
      position = steps.Position
      if (positionFile !== undefined) writeFile(positionFile, `${positionText(position)}\n`)
      continue
    }
    if (options.follow !== true) break
    await io.sleep(LOOK_MS)
  }
  line(io, `position: ${positionText(position)}`)
}

/** `transfers`: every deposit once, from a position on, also into a webhook; a reorganisation takes them back. */
export function addTransfersCommand(program: Command, context: CliContext): void {
  program
    .command('transfers')
    .description('Value that moved, tipset by tipset, from a position on; each step once, reorganisations taken back')
    .option('--follow', 'go on with the chain until it is interrupted; a node that fails is asked again')
    .option(
      '--since <position>',
      'CIDs of a tipset, with commas, where an earlier run ended, or where the first one begins (default: now)',
    )
    .option(
      '--position-file <file>',
      'keeps the position: a run goes on where the last one ended, whatever --since says',
    )
    .option('--confidence <epochs>', 'epochs on top of a tipset before it counts', '900')
    .option('--webhook <url>', 'POST each step there, signed; at least once')
    .option('--webhook-secret-file <file>', 'secret of the signature (HMAC-SHA256)')
    .option('--dead-letters <file>', 'gets steps that nobody took after five more attempts', 'dead-letters.jsonl')
    .action((options: TransfersOptions) => follow(context, options))
}
