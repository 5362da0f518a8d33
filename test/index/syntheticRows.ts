/** Rows of no chain, by the thousand: what a planner sees of a large index. */
import type { Sql } from 'postgres'

/** Of what is rare there are five logs, messages and so on, in five tipsets. */
export const RARE = {
  actor: 9999,
  address: 'f410rare',
  eth: '99'.repeat(20),
  topics: ['a0', 'a1', 'a2', 'a3'].map((byte) => byte.repeat(32)),
} as const

/** A number as `length` digits in hexadecimal, as an expression of SQL that gives bytes. */
const bytes = (number: string, length: number): string => `decode(lpad(to_hex(${number}), ${length}, '0'), 'hex')`

/**
 * Fills empty tables and has them analysed. In the second and the fourth fifth of the epochs messages fail; the first three are final.
 * @param tipsets - a multiple of five, each with `each` messages, transactions and logs, at epochs from 0 on, one a minute from 2026-01-01 on
 */
export async function fillTables(sql: Sql, tipsets: number, each: number): Promise<void> {
  const rows = `generate_series(0, ${tipsets - 1}) h, generate_series(0, ${each - 1}) p`
  const tipset = bytes('h', 64)
  /** Five rows of one thing among all. */
  const rare = (some: string, other: string): string =>
    `case when p = 3 and h % ${tipsets / 5} = 1 then ${some} else ${other} end`
  const topic = (index: number, other: string): string => rare(`'\\x${RARE.topics[index]}'::bytea`, bytes(other, 64))
  const statements = [
    // No row is looked for in another table: half of the time.
    'set session_replication_role = replica',
    `insert into petrel.tipsets select ${tipset}, h, array['key' || h], null, timestamptz '2026-01-01Z' + h * interval '1 min',
      1, 'state', 'receipts', true, null from generate_series(0, ${tipsets - 1}) h`,
    `update petrel.chain set first_height = 0, height = ${tipsets - 1}, tipset = ${bytes(String(tipsets - 1), 64)},
      final_height = ${(tipsets / 5) * 3}`,
    `insert into petrel.addresses select 0, ${bytes('0', 64)}, 'f410' || i, i, ${bytes('i', 40)} from generate_series(1000, 9000) i`,
    `insert into petrel.addresses values (0, ${bytes('0', 64)}, '${RARE.address}', ${RARE.actor}, '\\x${RARE.eth}')`,
    `insert into petrel.messages select h, ${tipset}, p, 'cid' || h || '_' || p, from_actor, 'f410' || from_actor, to_actor,
      'f410' || to_actor, h, 1, 1, 1, 1, 2, 'multisig', 'Propose', '\\x00', null, h / ${tipsets / 5} % 2 * 6, 1,
      '\\x00', null, 1000000, 1000, null, null
      from (select h, p, ${rare(String(RARE.actor), '1000 + (h * 7 + p) % 8000')} as from_actor,
        ${rare(String(RARE.actor), '1000 + (h * 11 + p) % 8000')} as to_actor from ${rows}) x`,
    `insert into petrel.eth_transactions select h, ${tipset}, p, ${bytes(`h * ${each} + p`, 64)}, 2, false, '\\x00', '\\x00', 0, 0,
      '\\x00', true, null from ${rows}`,
    // Half of the logs have the same first topic.
    `insert into petrel.logs select h, ${tipset}, p, ${bytes(`h * ${each} + p`, 64)},
      ${rare(String(RARE.actor), '5000 + (h + p) % 100')}, ${rare(`'\\x${RARE.eth}'::bytea`, bytes('(h + p) % 100', 40))},
      ${topic(0, 'p % 2')}, ${topic(1, '(h * 13 + p) % 9000')}, ${topic(2, '(h * 17 + p) % 9000')},
      case when p % 4 = 3 then ${topic(3, '(h * 19 + p) % 9000')} end, '\\x00' from ${rows}`,
    'reset session_replication_role',
    'analyze',
  ]
  for (const statement of statements) await sql.unsafe(statement)
}
