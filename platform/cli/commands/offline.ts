/**
 * Signing where there is no node: `send --offline <file>` drafts, `sign <file>` signs with the keystore of a home, `mpool push <file>`
 * sends. The files are JSON, for people to read before they sign.
 */
import { writeFileSync } from 'node:fs'
import type { Command } from 'commander'
import { errorMessage } from '../../../src/base/errors.ts'
import { type Json, parseJson, stringifyJson } from '../../../src/codec/jsonText.ts'
import { formatFil } from '../../../src/types/fil.ts'
import { messageCid, message as messageCodec } from '../../../src/types/message.ts'
import { signedMessage } from '../../../src/types/signedMessage.ts'
import { line } from '../../server/programIo.ts'
import type { UnsentMessage } from '../answers.ts'
import type { CliContext } from '../context.ts'
import { CliError } from '../errors.ts'
import type { RpcClient } from '../rpcClient.ts'

const CONTEXT = { addressPrefix: 'f' } as const

interface Draft {
  readonly Message: Json
  /** Ethereum's number of the chain: what keys of f410 addresses sign holds it. */
  readonly ChainID: number
}

/** Writes what is to be signed: priced, with the next nonce. @param path - must not exist */
export async function writeDraft(
  context: CliContext,
  client: RpcClient,
  message: UnsentMessage,
  path: string,
  withNonce: boolean,
): Promise<void> {
  const priced = await client.call('GasEstimateMessageGas', [message, null, null], 'v1')
  const nonce = withNonce ? message.Nonce : await client.call('MpoolGetNonce', [message.From])
  const draft = messageCodec.fromJson({ ...priced, Nonce: nonce } as unknown as Json, CONTEXT)
  const chainId = Number(await client.call('EthChainId'))
  const json = { Message: messageCodec.toJson(draft, CONTEXT), ChainID: chainId }
  writeNew(path, json)
  context.result({ ...json, File: path })
  line(context.io, `unsigned message ${messageCid(draft)} with nonce ${draft.nonce} in ${path}: petrel sign ${path}`)
}

function writeNew(path: string, json: Json): void {
  try {
    writeFileSync(path, `${stringifyJson(json, 2)}\n`, { flag: 'wx' })
  } catch (error) {
    throw new CliError('FAILED', `cannot write ${path}: ${errorMessage(error)}`)
  }
}

async function readJson(context: CliContext, path: string): Promise<Record<string, Json>> {
  const json = parseJson(await context.io.readFile(path))
  if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json
  throw new CliError('FAILED', `${path} holds no message`)
}

/** Signs a message with the keys of a home, where no node runs. */
export type SignOffline = (message: Json, chainId: number, passphraseFile: string | undefined) => Promise<Json>

async function sign(
  context: CliContext,
  path: string,
  out: string | undefined,
  signOffline: (message: Json, chainId: number) => Promise<Json>,
): Promise<void> {
  const { Message: message, ChainID: chainId } = (await readJson(context, path)) as unknown as Draft
  if (message === undefined || !Number.isSafeInteger(chainId))
    throw new CliError('FAILED', `${path} is no draft of \`send --offline\``)
  const { from, to, value, nonce } = messageCodec.fromJson(message, CONTEXT)
  const signed = await signOffline(message, chainId)
  const target = out ?? `${path}.signed`
  writeNew(target, signed)
  context.result({ File: target, Signed: signed })
  line(context.io, `signed: ${formatFil(value)} from ${from} to ${to}, nonce ${nonce}`)
  line(context.io, `in ${target}: petrel mpool push ${target}`)
}

/** Adds `sign`. */
export function addSignCommand(program: Command, context: CliContext, signOffline: SignOffline): void {
  program
    .command('sign')
    .description('Sign a message that `send --offline` wrote, with the keys of the home; no node is needed')
    .argument('<file>')
    .option('--out <file>', 'where to write the signed message (default: <file>.signed)')
    .option('--passphrase-file <file>', 'opens the keystore with the text of this file (or of $PETREL_PASSPHRASE)')
    .action((path: string, options: { out?: string; passphraseFile?: string }) =>
      sign(context, path, options.out, (message, chainId) => signOffline(message, chainId, options.passphraseFile)),
    )
}

/** Sends a message that was signed elsewhere. */
export async function pushSigned(context: CliContext, path: string): Promise<void> {
  const json = await readJson(context, path)
  const signed = signedMessage.toJson(signedMessage.fromJson(json, CONTEXT), CONTEXT)
  const cid = await (await context.node()).call('MpoolPush', [signed as never])
  context.result({ Message: cid['/'] })
  line(context.io, cid['/'])
}
