import type { Command } from 'commander'
import type { Json } from '../../../src/codec/jsonText.ts'
import { formatFil } from '../../../src/types/fil.ts'
import { line } from '../../server/programIo.ts'
import { addressArgument, type CliContext } from '../context.ts'
import { CliError } from '../errors.ts'
import type { RpcClient } from '../rpcClient.ts'

interface Seen {
  readonly balance: bigint
  readonly nonce: number
  readonly pending: number
}

async function stateOf(client: RpcClient, address: string): Promise<Omit<Seen, 'pending'>> {
  try {
    const actor = await client.call('StateGetActor', [address, null])
    return { balance: BigInt(actor.Balance), nonce: Number(actor.Nonce) }
  } catch (error) {
    if (error instanceof CliError && error.message.includes('actor not found')) return { balance: 0n, nonce: 0 }
    throw error
  }
}

/** Told of each head: says what is not as it was. */
class WalletWatch {
  readonly #context: CliContext
  readonly #client: RpcClient
  readonly #addresses: readonly string[]
  readonly #put: (value: Json) => void
  readonly #seen = new Map<string, Seen>()

  constructor(context: CliContext, client: RpcClient, addresses: readonly string[]) {
    this.#context = context
    this.#client = client
    this.#addresses = addresses
    this.#put = context.stream()
  }

  async look(): Promise<void> {
    const { Height: height } = await this.#client.call('ChainHead')
    const waiting = new Map<string, number>()
    for (const { Message: message } of await this.#client.call('MpoolPending', [null])) {
      const from = message.From.slice(1)
      waiting.set(from, (waiting.get(from) ?? 0) + 1)
    }
    for (const address of this.#addresses) {
      const now = { ...(await stateOf(this.#client, address)), pending: waiting.get(address.slice(1)) ?? 0 }
      const before = this.#seen.get(address)
      this.#seen.set(address, now)
      if (
        before !== undefined &&
        before.balance === now.balance &&
        before.nonce === now.nonce &&
        before.pending === now.pending
      )
        continue
      this.#say(height, address, now, before === undefined ? 0n : now.balance - before.balance)
    }
  }

  #say(height: number, address: string, { balance, nonce, pending }: Seen, change: bigint): void {
    const { io } = this.#context
    const fields = { Balance: balance.toString(), Change: change.toString(), Nonce: nonce, Pending: pending }
    this.#put({ Height: height, Address: address, ...fields })
    const by = change === 0n ? '' : ` (${change > 0n ? '+' : '-'}${formatFil(change > 0n ? change : -change)})`
    line(io, `${height}\t${address}\t${formatFil(balance)}${by}\tnonce ${nonce}\tpending ${pending}`)
  }
}

async function watch(context: CliContext, given: readonly string[]): Promise<void> {
  const client = await context.node()
  const addresses =
    given.length === 0 ? await client.call('WalletList') : given.map((address) => addressArgument(address))
  if (addresses.length === 0) throw new CliError('FAILED', 'the wallet is empty: name the addresses to watch')
  const watched = new WalletWatch(context, client, addresses)
  const failed = Promise.withResolvers<never>()
  let looking: Promise<void> = Promise.resolve()
  let due = false
  // Heads that come while it looks are one more look, not one each.
  const onHead = (): void => {
    if (due) return
    due = true
    looking = looking.then(() => {
      due = false
      return watched.look()
    })
    looking.catch(failed.reject)
  }
  await Promise.race([client.listen('ChainNotify', onHead), failed.promise])
}

/** `wallet watch`: what changes at the wallet's addresses, as it happens. */
export function addWalletWatchCommand(wallet: Command, context: CliContext): void {
  wallet
    .command('watch')
    .description(
      "Follow balances, nonces and pending messages: one line whenever one changes (default: the wallet's addresses)",
    )
    .argument('[addresses...]')
    .action((addresses: string[]) => watch(context, addresses))
}
