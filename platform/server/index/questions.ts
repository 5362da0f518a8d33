/**
 * Statements of the reader. Each gives one JSON text with where the index stands and the rows. `$1` is always the tipset that the caller
 * takes for the newest executed one.
 */

/** Members of an answer that every one has. */
const AT = `'at', case when c.tipset is null then null else json_build_object(
  'first', c.first_height, 'height', c.height, 'finalHeight', c.final_height, 'tipset', encode(c.tipset, 'hex'), 'key', h.key,
  'hasAnchor', coalesce((select a.canonical from petrel.tipsets a where a.tipset = decode($1, 'hex')), false)) end`

const FROM = `from petrel.chain c left join petrel.tipsets h on h.tipset = c.tipset`

/** @param rows - a select, in order */
function answer(rows: string, more = ''): string {
  return `select json_build_object(${AT}${more}, 'rows', (select coalesce(json_agg(r), '[]') from (${rows}) r))::text as answer ${FROM}`
}

/** Where the index stands, and what is final. */
export const STANDING: string = `select json_build_object(${AT}, 'rows', '[]'::json, 'finalKey', (select f.key from petrel.tipsets f
  where f.canonical and f.height <= c.final_height order by f.height desc limit 1))::text as answer ${FROM}`

const PLACED = `x.height, encode(x.tipset, 'hex') as tipset`

const COLUMNS = `${PLACED}, x.position, x.cid, x.from_address, x.to_address, x.nonce::text, x.value::text, x.gas_limit::text, x.gas_fee_cap::text, x.gas_premium::text,
  x.method::text, encode(x.params, 'hex') as params, x.exit_code, x.gas_used::text, encode(x.returned, 'hex') as returned,
  x.events_root, encode(x.signature, 'hex') as signature`

const MESSAGE = `${COLUMNS}, t.key, t.canonical,
  (select n.key from petrel.tipsets n where n.canonical and n.height > x.height order by n.height limit 1) as child`

const TRANSFER = `${PLACED}, x.position, t.key, x.kind, x.message, x.execution, x.path, x.from_actor::text, x.from_address,
  x.to_actor::text, x.to_address, x.value::text, x.method::text`

const LOG = `${PLACED}, x.log_index as position, e.position as transaction_index, encode(x.transaction, 'hex') as transaction,
  x.emitter::text, encode(x.address, 'hex') as address, encode(x.data, 'hex') as data,
  array_remove(array[encode(x.topic0, 'hex'), encode(x.topic1, 'hex'), encode(x.topic2, 'hex'), encode(x.topic3, 'hex')], null) as topics`

const ITS_TIPSET = 'join petrel.tipsets t on t.tipset = x.tipset'
// One at a time, by its hash: a plain join is a walk over all transactions where logs of many tipsets are asked for.
const ITS_TRANSACTION = `cross join lateral (select o.position from petrel.eth_transactions o
  where o.hash = x.transaction and o.tipset = x.tipset and o.height = x.height limit 1) e`

/** `$2` address, `$3` its actor or nothing, `$4` and `$5` heights, `$7` and `$8` height and row behind which it begins, `$9` the most. */
function ofActor(table: string, columns: string, number: string, by: readonly string[], joins: string): string {
  const me = `coalesce(nullif($3, '')::bigint,
    (select a.actor from canonical.addresses a where a.address = $2 order by a.height desc limit 1))`
  const some = by.map(
    (column) => `(select x.* from petrel.${table} x ${ITS_TIPSET}
      where t.canonical and x.${column} = (select ${me}) and x.height between $4 and $5
      and (x.height, x.${number}) > ($7, $8) order by x.height, x.${number} limit $9)`,
  )
  // An actor that sends to itself is in both: union leaves one out, told by what names the row.
  const all =
    some.length === 1
      ? some[0]
      : `(select distinct on (u.height, u.${number}) u.* from (${some.join(' union all ')}) u)`
  return `select ${columns} from ${all} x ${ITS_TIPSET} ${joins} order by x.height, x.${number} limit $9`
}

/** Rows of pages of transfers. */
export const TRANSFER_ROWS: string = ofActor('transfers', TRANSFER, 'position', ['from_actor', 'to_actor'], '')

/** Rows of messages. */
export const MESSAGE_ROWS: { readonly byCid: string; readonly byNonce: string; readonly ofActor: string } = {
  byCid: answer(`select ${MESSAGE} from petrel.messages x ${ITS_TIPSET} where x.cid = $2 order by x.height desc`),
  byNonce: answer(
    `select ${MESSAGE} from petrel.messages x ${ITS_TIPSET} where x.from_address = $2 and x.nonce = $3::numeric order by x.height desc`,
  ),
  ofActor: ofActor('messages', MESSAGE, 'position', ['from_actor', 'to_actor'], ''),
}

const SIDES = `encode(y.sender, 'hex') as sender, encode(y.recipient, 'hex') as recipient`
const ITS_MESSAGE = 'join petrel.messages x on x.height = y.height and x.tipset = y.tipset and x.position = y.position'

/** `$2` the hash. */
export const TRANSACTION_ROWS: string = answer(
  `select ${MESSAGE}, ${SIDES} from petrel.eth_transactions y ${ITS_MESSAGE}
   ${ITS_TIPSET} where y.hash = decode($2, 'hex') order by x.height desc`,
)

const LOG_LISTS = ['x.emitter', 'x.address', 'x.topic0', 'x.topic1', 'x.topic2', 'x.topic3']

/** A list of bytes, each as hexadecimal, as PostgreSQL writes one. */
export function bytesList(list: readonly string[]): string {
  return `{${list.map((hex) => `"\\\\x${hex}"`).join()}}`
}

/** Rows of logs. */
export const LOG_ROWS: { readonly matching: (given: readonly boolean[]) => string; readonly ofActor: string } = {
  /** `$2` and `$3` heights, `$4` the most, then for each column that is asked for a list: {@link bytesList}, or `{1,2}` of emitters. */
  matching: (given) => {
    let next = 5
    // A cast of the parameter: the planner sees the values, so it knows a rare one from one that half of the rows have.
    const conditions = LOG_LISTS.filter((_, i) => given[i]).map(
      (column) => `and ${column} = any ($${next++}::text::${column === 'x.emitter' ? 'bigint[]' : 'bytea[]'})`,
    )
    return answer(`select ${LOG} from (select x.* from petrel.logs x ${ITS_TIPSET}
        where t.canonical and x.height between $2 and $3 ${conditions.join(' ')} order by x.height, x.log_index limit $4) x
      ${ITS_TRANSACTION} order by x.height, x.log_index`)
  },
  ofActor: ofActor('logs', LOG, 'log_index', ['emitter'], ITS_TRANSACTION),
}

/** `$2` the hash of a tipset. */
export const TIPSET_PLACE: string = answer(
  `select t.height, t.key, t.canonical from petrel.tipsets t where t.tipset = decode($2, 'hex')`,
)

/** Members of `rows`, a select in order, as a list. */
function listOf(rows: string): string {
  return `(select coalesce(json_agg(r), '[]') from (${rows}) r)`
}

/** A tipset's own rows: `$1` its hash, `$2` its height. */
export const TIPSET_ROWS: string = `select json_build_object('bloom', encode(t.logs_bloom, 'hex'),
  'transactions', ${listOf(`select ${COLUMNS}, ${SIDES} from petrel.eth_transactions y ${ITS_MESSAGE}
    where y.height = t.height and y.tipset = t.tipset order by y.position`)},
  'logs', ${listOf(`select ${LOG} from petrel.logs x ${ITS_TRANSACTION}
    where x.height = t.height and x.tipset = t.tipset order by x.log_index`)})::text as answer
  from petrel.tipsets t where t.tipset = decode($1, 'hex') and t.height = $2`

/** The messages of a block, by those of a tipset that has it and executed all of them: `$1` its CID. */
export const BLOCK_MESSAGES: string = `select ${listOf(`select ${COLUMNS} from unnest(b.messages) with ordinality o (position, place)
    join petrel.messages x on x.height = b.height and x.tipset = b.tipset and x.position = o.position order by o.place`)}::text as answer
  from petrel.blocks b where b.cid = $1 and array_position(b.messages, null) is null and b.messages is not null limit 1`

/** A page: with what is known of its beginning (`$6`: a tipset) and of its end. */
export function pageSql(rows: string): string {
  return answer(
    rows,
    `, 'hasAfter', (select a.canonical from petrel.tipsets a where a.tipset = decode($6, 'hex')),
     'top', (select json_build_object('height', a.height, 'tipset', encode(a.tipset, 'hex')) from petrel.tipsets a
       where a.canonical and a.height <= $5 order by a.height desc limit 1)`,
  )
}
