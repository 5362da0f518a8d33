import type { Command } from 'commander'
import { toHex } from '../../../src/base/bytes.ts'
import { CborWriter } from '../../../src/codec/cborWriter.ts'
import { PROTOCOL_DELEGATED, parseAddress } from '../../../src/types/address.ts'
import { addressToEthAddress } from '../../../src/types/ethAddress.ts'
import { EamMethod, EvmMethod } from '../../../src/types/methodNumbers.ts'
import { line } from '../../server/programIo.ts'
import { addressArgument, base64ToHex, type CliContext, filArgument, hexToBase64 } from '../context.ts'
import { CliError } from '../errors.ts'
import { named, push, returned, senderOf, sent, succeeded } from '../messages.ts'
import type { RpcClient } from '../rpcClient.ts'

const EAM = 'f010'
const CONFIDENCE = 0

/** A byte string of CBOR, as contracts take their input. */
function cborBytes(data: Uint8Array): string {
  const writer = new CborWriter()
  writer.bytes(data)
  return Buffer.from(writer.finish()).toString('base64')
}

/** The byte string in CBOR; other data as it is. */
function uncbored(base64: string | null): string {
  const data = Buffer.from(base64 ?? '', 'base64')
  const first = data[0]
  if (first === undefined) return ''
  const heads: Readonly<Record<number, number>> = { 88: 2, 89: 3, 90: 5 }
  const head = first >= 0x40 && first < 0x58 ? 1 : heads[first]
  return data.subarray(head ?? 0).toString('hex')
}

function ethereum(address: string): string {
  const bytes = addressToEthAddress(parseAddress(address))
  return bytes === undefined ? '' : `0x${toHex(bytes)}`
}

async function deploy(context: CliContext, path: string, options: { from?: string; hex?: boolean }): Promise<void> {
  const { io } = context
  const client = await context.node()
  const text = (await io.readFile(path)).trim()
  if (!/^(0x)?[0-9a-fA-F]*$/.test(text)) {
    throw new CliError('USAGE', `${path}: expected the contract's code as hexadecimal text`)
  }
  const code = Buffer.from(hexToBase64(text, 'contract'), 'base64')
  const from = await senderOf(client, options.from === undefined ? undefined : addressArgument(options.from, 'from'))
  const cid = await push(client, {
    To: EAM,
    From: from,
    Value: '0',
    Method: EamMethod.CreateExternal,
    Params: cborBytes(code),
  })
  named(context, cid)
  line(io, 'waiting for message to execute...')
  const found = await succeeded(client, cid, CONFIDENCE, 'deployment')
  sent(context, cid, found)
  const created = returned(found)
  const address = await contractAddress(client, String(created.ActorID))
  line(io, `Actor ID: ${String(created.ActorID)}`)
  line(io, `ID Address: ${address.id}`)
  line(io, `Robust Address: ${String(created.RobustAddress)}`)
  line(io, `Eth Address: ${address.delegated === null ? ethereum(address.id) : ethereum(address.delegated)}`)
  if (address.delegated !== null) line(io, `f4 Address: ${address.delegated}`)
}

async function contractAddress(client: RpcClient, actorId: string): Promise<{ id: string; delegated: string | null }> {
  const id = await client.call('StateLookupID', [`f0${actorId}`, null])
  const actor = await client.call('StateGetActor', [id, null])
  return { id, delegated: actor.DelegatedAddress }
}

async function invoke(
  context: CliContext,
  address: string,
  input: string,
  options: { from?: string; value: string },
): Promise<void> {
  const { io } = context
  const client = await context.node()
  const from = await senderOf(client, options.from === undefined ? undefined : addressArgument(options.from, 'from'))
  const data = Buffer.from(hexToBase64(input, 'calldata'), 'base64')
  const cid = await push(client, {
    To: addressArgument(address),
    From: from,
    Value: filArgument(options.value, 'value'),
    Method: EvmMethod.InvokeContract,
    Params: cborBytes(data),
  })
  named(context, cid)
  line(io, 'waiting for message to execute...')
  const found = await succeeded(client, cid, CONFIDENCE, 'actor execution')
  sent(context, cid, found)
  line(io, `Gas used: ${found.Receipt.GasUsed}`)
  const result = uncbored(found.Receipt.Return)
  line(io, result === '' ? 'OK' : result)
  if (found.Receipt.EventsRoot === null) return
  line(io, 'Events emitted:')
  const events = await client.call('ChainGetEvents', [found.Receipt.EventsRoot], 'v1')
  for (const { Emitter: emitter, Entries: entries } of events) {
    line(io, `\tEmitter ID: ${emitter}`)
    for (const { Key: key, Value: value, Flags: flags } of entries ?? [])
      line(io, `\t\tKey: ${key}, Value: 0x${base64ToHex(value)}, Flags: b${flags.toString(2)}`)
  }
}

async function call(context: CliContext, from: string, to: string, input: string): Promise<void> {
  const client = await context.node()
  const result = await client.call(
    'EthCall',
    [{ from: asEthereum(from), to: asEthereum(to), data: `0x${input.replace(/^0x/, '')}` }, 'latest'],
    'v1',
  )
  context.result({ Result: result })
  line(context.io, result)
}

function asEthereum(text: string): string {
  const address = ethereum(addressArgument(text))
  if (address !== '') return address
  throw new CliError('USAGE', `${text} has no Ethereum address: give 0x…, f410… or f0…`)
}

async function stat(context: CliContext, text: string): Promise<void> {
  const { io } = context
  const client = await context.node()
  const address = addressArgument(text)
  const id = await client.call('StateLookupID', [address, null]).catch(() => undefined)
  const actor = id === undefined ? undefined : await client.call('StateGetActor', [id, null])
  const delegated =
    actor?.DelegatedAddress ?? (parseAddress(address).protocol === PROTOCOL_DELEGATED ? address : undefined)
  const ethAddress = delegated === undefined ? ethereum(id ?? address) : ethereum(delegated)
  context.result({
    Filecoin: address,
    ID: id ?? null,
    Eth: ethAddress === '' ? null : ethAddress,
    Delegated: delegated ?? null,
    Code: actor?.Code ?? null,
  })
  line(io, `Filecoin address: ${address}`)
  line(io, `Eth address: ${ethAddress === '' ? 'none' : ethAddress}`)
  line(io, id === undefined ? 'Actor does not exist on the network' : `ID address: ${id}`)
  if (delegated !== undefined) line(io, `f4 address: ${delegated}`)
  if (actor !== undefined) line(io, `Code cid: ${(actor.Code as { '/': string })['/']}`)
}

/** `evm deploy|invoke|call|stat|bytecode`. @see lotus cli/evm.go */
export function addEvmCommands(program: Command, context: CliContext): void {
  const evm = program.command('evm').description('Commands related to the Filecoin EVM runtime')
  evm
    .command('deploy')
    .description('Deploy an EVM smart contract and return its address')
    .argument('<contract>', "file with the contract's code in hexadecimal")
    .option('--from <address>', 'account to send the message from')
    .option('--hex', 'the code is hexadecimal (always; Lotus has other forms)')
    .action((path: string, options: { from?: string; hex?: boolean }) => deploy(context, path, options))
  evm
    .command('invoke')
    .description('Invoke an EVM smart contract using the specified CALLDATA')
    .argument('<address>')
    .argument('<calldata>', 'hexadecimal')
    .option('--from <address>', 'account to send the message from')
    .option('--value <FIL>', 'value to send with the invocation', '0')
    .action((address: string, input: string, options: { from?: string; value: string }) =>
      invoke(context, address, input, options),
    )
  evm
    .command('call')
    .description('Simulate an eth contract call')
    .argument('<from>')
    .argument('<to>')
    .argument('<params>', 'hexadecimal')
    .action((from: string, to: string, input: string) => call(context, from, to, input))
  evm
    .command('stat')
    .description('Print eth/filecoin addrs and code cid')
    .argument('<address>')
    .action((address: string) => stat(context, address))
  evm
    .command('bytecode')
    .description('Write the bytecode of a smart contract, hexadecimal')
    .argument('<address>')
    .action(async (address: string) => {
      const code = await (await context.node()).call('EthGetCode', [asEthereum(address), 'latest'], 'v1')
      context.result({ Code: code })
      line(context.io, code)
    })
}
