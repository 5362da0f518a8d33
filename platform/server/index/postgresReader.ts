import type { Timers } from '../../../src/base/ports.ts'
import { IndexError } from '../../../src/index/errors.ts'
import type {
  IndexAnswer,
  IndexPlace,
  IndexReader,
  IndexStanding,
  LogQuestion,
  LogRow,
  MessageColumns,
  MessageQuestion,
  MessageRow,
  PageAnswer,
  PagePlace,
  PageQuestion,
  TipsetPlaceRow,
  TipsetRowsAnswer,
  TransactionRow,
  TransferRow,
} from '../../../src/index/indexReader.ts'
import type { IndexedChain, TipsetName } from '../../../src/index/indexStore.ts'
import { assertChain, assertVersion, type Holding, serverOf } from './checks.ts'
import { type Connection, databaseFailure } from './connection.ts'
import {
  BLOCK_MESSAGES,
  bytesList,
  LOG_ROWS,
  MESSAGE_ROWS,
  pageSql,
  STANDING,
  TIPSET_PLACE,
  TIPSET_ROWS,
  TRANSACTION_ROWS,
  TRANSFER_ROWS,
} from './questions.ts'
import { Servers } from './servers.ts'

/** Questions wait for each other on a connection. */
const CONNECTIONS = 4

type Value = string | number

/** What a statement of {@link PostgresReader} gives. */
interface Answer {
  readonly at: IndexPlace | null
  readonly hasAfter?: boolean | null
  readonly top?: { readonly height: number; readonly tipset: string } | null
  readonly rows: readonly unknown[]
  readonly finalKey?: readonly string[] | null
}

/**
 * Questions to the PostgreSQL of an index: each one statement, which sees one snapshot and changes nothing. Node and Deno.
 */
export class PostgresReader implements IndexReader {
  readonly name: string
  readonly #servers: Servers
  readonly #connections: (Promise<Connection> | undefined)[] = new Array<undefined>(CONNECTIONS).fill(undefined)
  #next = 0
  /** Something was written: a table that nobody may read until then does not keep a page waiting. @see bareTables */
  #hasBegun = false

  /** @param url - of a user who may read */
  constructor(url: string, timers: Timers) {
    this.#servers = new Servers(url, timers)
    this.name = this.#servers.name
  }

  async check(chain: IndexedChain): Promise<void> {
    try {
      const on = await this.#connection()
      const { made, name } = await serverOf(on)
      const unreadable = `user ${name} may not read the tables of the index, or there are none yet`
      if (!made) throw new IndexError('NOT_READABLE', unreadable)
      const [right] = await on.query<{ reads: boolean }>(
        `select has_schema_privilege('petrel', 'usage') and has_schema_privilege('canonical', 'usage')
         and has_table_privilege('petrel.tipsets', 'select') and has_table_privilege('canonical.transfers', 'select') as reads`,
      )
      if (right?.reads !== true) throw new IndexError('NOT_READABLE', unreadable)
      const [found] = await on.query<Holding>(
        `select (select max(version) from petrel.migrations) as version, network, genesis, chain_id::text as chain_id from petrel.chain`,
      )
      if (found === undefined) throw new IndexError('NOT_READABLE', unreadable)
      assertVersion(found.version, 'reader')
      assertChain(found, chain)
    } catch (error) {
      const failure = databaseFailure(this.name, error)
      if (!(failure instanceof IndexError) || failure.code !== 'READ_ONLY') throw failure
      throw new IndexError(
        'NOT_READABLE',
        `the user may not read the tables of the index: ${failure.message}`,
        {},
        { cause: error },
      )
    }
  }

  async standing(anchor: TipsetName): Promise<IndexStanding | undefined> {
    const { at, finalKey = null } = await this.#ask(STANDING, [anchor])
    return at === null ? undefined : { ...at, finalKey }
  }

  messages(question: MessageQuestion, anchor: TipsetName): Promise<IndexAnswer<MessageRow>> {
    return 'cid' in question
      ? this.#rows(MESSAGE_ROWS.byCid, [anchor, question.cid])
      : this.#rows(MESSAGE_ROWS.byNonce, [anchor, question.from, String(question.nonce)])
  }

  transactions(hash: string, anchor: TipsetName): Promise<IndexAnswer<TransactionRow>> {
    return this.#rows(TRANSACTION_ROWS, [anchor, hash])
  }

  logs(question: LogQuestion, anchor: TipsetName): Promise<IndexAnswer<LogRow>> {
    const { from, to, limit } = question
    const lists = logLists(question)
    return this.#rows(LOG_ROWS.matching(lists.map((list) => list !== undefined)), [
      ...[anchor, from, to, limit],
      ...lists.filter((list) => list !== undefined),
    ])
  }

  tipsets(name: TipsetName, anchor: TipsetName): Promise<IndexAnswer<TipsetPlaceRow>> {
    return this.#rows(TIPSET_PLACE, [anchor, name])
  }

  async tipset({ tipset, height }: Pick<PagePlace, 'height' | 'tipset'>): Promise<TipsetRowsAnswer | undefined> {
    return this.#text<TipsetRowsAnswer>(TIPSET_ROWS, [tipset, height])
  }

  async blockMessages(blockCid: string): Promise<readonly MessageColumns[] | undefined> {
    return this.#text<readonly MessageColumns[]>(BLOCK_MESSAGES, [blockCid])
  }

  pageOfTransfers(question: PageQuestion, anchor: TipsetName): Promise<PageAnswer<TransferRow>> {
    return this.#page(TRANSFER_ROWS, question, anchor)
  }

  pageOfMessages(question: PageQuestion, anchor: TipsetName): Promise<PageAnswer<MessageRow>> {
    return this.#page(MESSAGE_ROWS.ofActor, question, anchor)
  }

  pageOfLogs(question: PageQuestion, anchor: TipsetName): Promise<PageAnswer<LogRow>> {
    return this.#page(LOG_ROWS.ofActor, question, anchor)
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map(async (connection) => (await known(connection))?.close()))
  }

  async #rows<Row>(rows: string, values: readonly Value[]): Promise<IndexAnswer<Row>> {
    const answer = await this.#ask(rows, values)
    return { at: answer.at ?? undefined, rows: answer.rows as readonly Row[] }
  }

  async #page<Row>(rows: string, question: PageQuestion, anchor: TipsetName): Promise<PageAnswer<Row>> {
    this.#hasBegun ||= (await this.standing(anchor)) !== undefined
    if (!this.#hasBegun) return { at: undefined, rows: [], hasAfter: undefined, top: undefined }
    const { actor, address, from, to, after, limit } = question
    const answer = await this.#ask(pageSql(rows), [
      ...[anchor, address, actor === undefined ? '' : String(actor), from, to],
      ...[after?.tipset ?? '', after?.height ?? -1, after?.row ?? -1, limit],
    ])
    return {
      ...{ at: answer.at ?? undefined, rows: answer.rows as readonly Row[] },
      ...{ hasAfter: answer.hasAfter ?? undefined, top: answer.top ?? undefined },
    }
  }

  async #ask(sql: string, values: readonly Value[]): Promise<Answer> {
    return (await this.#text<Answer>(sql, values)) ?? { at: null, rows: [] }
  }

  /** The JSON that a statement gives; undefined: it has no row. */
  async #text<T>(sql: string, values: readonly Value[]): Promise<T | undefined> {
    try {
      const [row] = await (await this.#connection()).query<{ answer: string }>(sql, values)
      return row === undefined ? undefined : (JSON.parse(row.answer) as T)
    } catch (error) {
      throw databaseFailure(this.name, error)
    }
  }

  /** In turn; one that has ended is made anew. */
  async #connection(): Promise<Connection> {
    const turn = this.#next++ % CONNECTIONS
    const before = this.#connections[turn]
    const on = await known(before)
    if (on !== undefined && !on.lost.aborted) return on
    // Another one may have made it meanwhile.
    if (this.#connections[turn] === before) {
      on?.close().catch(() => undefined)
      this.#connections[turn] = this.#servers.reading()
    }
    return this.#connections[turn] as Promise<Connection>
  }
}

/** The lists of {@link LOG_ROWS}`.matching`; undefined: that column may be anything. */
export function logLists({ emitters, addresses, topics }: LogQuestion): readonly (string | undefined)[] {
  const bytes = [addresses, ...[0, 1, 2, 3].map((i) => topics[i] ?? [])]
  return [
    emitters.length === 0 ? undefined : `{${emitters.join()}}`,
    ...bytes.map((list) => (list.length === 0 ? undefined : bytesList(list))),
  ]
}

/** A connection that was made; undefined: none was, or it failed. */
async function known(connection: Promise<Connection> | undefined): Promise<Connection | undefined> {
  return connection?.catch(() => undefined)
}
