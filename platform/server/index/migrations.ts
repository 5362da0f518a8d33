/**
 * The schema as steps, applied in order; what one that has been released makes never changes. Comments are in the database (`\d+`),
 * docs/sql.md says how it is asked. @see migrate
 */

/** One step. */
export interface Migration {
  readonly version: number
  /** In one transaction, with the version. What it changes is short, for nobody reads meanwhile what it alters. */
  readonly sql: string
  /**
   * Made before that, each in a transaction of its own, which takes as long as its table is large and keeps nobody from reading: so of
   * columns that the steps before have made. Statements that do nothing where the index is there.
   */
  readonly indexes?: readonly string[]
}

/** Rows of a tipset, in every table: which, and where it is. */
const PLACE = `
  height bigint not null,
  tipset bytea not null references petrel.tipsets,`

const TABLES = `
create schema petrel;
create schema canonical;
create table petrel.migrations (version int primary key, applied timestamptz not null default now());
create table petrel.tipsets (
  tipset bytea primary key,
  height bigint not null,
  key text[] not null,
  parent bytea,
  time timestamptz not null,
  base_fee numeric not null,
  state_root text not null,
  receipts_root text not null,
  canonical boolean not null default true
);
create unique index tipsets_canonical on petrel.tipsets (height) where canonical;
create table petrel.chain (
  one boolean primary key default true check (one),
  network text not null,
  genesis text not null,
  chain_id bigint not null,
  first_height bigint,
  height bigint,
  tipset bytea references petrel.tipsets,
  final_height bigint not null default 0,
  changed timestamptz not null default now()
);
create table petrel.blocks (${PLACE}
  position int not null,
  cid text not null,
  miner bigint not null,
  win_count int not null,
  parent_weight numeric not null,
  primary key (height, tipset, position)
);
create index blocks_cid on petrel.blocks (cid);
create index blocks_miner on petrel.blocks (miner, height);
create table petrel.messages (${PLACE}
  position int not null,
  cid text not null,
  from_actor bigint,
  from_address text not null,
  to_actor bigint,
  to_address text not null,
  nonce numeric not null,
  value numeric not null,
  gas_limit bigint not null,
  gas_fee_cap numeric not null,
  gas_premium numeric not null,
  method numeric not null,
  actor_kind text,
  method_name text,
  params bytea not null,
  params_json jsonb,
  exit_code bigint not null,
  gas_used bigint not null,
  returned bytea not null,
  returned_json jsonb,
  burned numeric not null,
  tip numeric not null,
  primary key (height, tipset, position)
);
create index messages_cid on petrel.messages (cid);
create index messages_from on petrel.messages (from_actor, height);
create index messages_to on petrel.messages (to_actor, height);
create table petrel.transfers (${PLACE}
  position int not null,
  kind text not null,
  message text,
  execution int not null,
  path int[] not null,
  from_actor bigint not null,
  from_address text not null,
  to_actor bigint not null,
  to_address text not null,
  value numeric not null,
  method numeric not null,
  primary key (height, tipset, position)
);
create index transfers_from on petrel.transfers (from_actor, height);
create index transfers_to on petrel.transfers (to_actor, height);
create index transfers_message on petrel.transfers (message);
create table petrel.balance_changes (${PLACE}
  actor bigint not null,
  change numeric not null,
  balance numeric not null,
  primary key (height, tipset, actor)
);
create index balance_changes_actor on petrel.balance_changes (actor, height);
create table petrel.addresses (${PLACE}
  address text not null,
  actor bigint not null,
  eth bytea not null,
  primary key (height, tipset, address)
);
create index addresses_address on petrel.addresses (address);
create index addresses_actor on petrel.addresses (actor);
create index addresses_eth on petrel.addresses (eth);
create table petrel.eth_transactions (${PLACE}
  position int not null,
  hash bytea not null,
  type smallint not null,
  is_native boolean not null,
  sender bytea not null,
  recipient bytea,
  nonce numeric not null,
  value numeric not null,
  input bytea not null,
  succeeded boolean not null,
  created bytea,
  primary key (height, tipset, position)
);
create index eth_transactions_hash on petrel.eth_transactions (hash);
create table petrel.logs (${PLACE}
  log_index int not null,
  transaction bytea not null,
  emitter bigint not null,
  address bytea not null,
  topic0 bytea,
  topic1 bytea,
  topic2 bytea,
  topic3 bytea,
  data bytea not null,
  primary key (height, tipset, log_index)
);
create index logs_address on petrel.logs (address, topic0, height);
create index logs_topic0 on petrel.logs (topic0, height);
create index logs_topic1 on petrel.logs (topic1, height) where topic1 is not null;
create index logs_topic2 on petrel.logs (topic2, height) where topic2 is not null;
`

const OF_TIPSETS = ['blocks', 'messages', 'transfers', 'balance_changes', 'addresses', 'eth_transactions', 'logs']

const VIEWS = `
create view canonical.tipsets as select * from petrel.tipsets where canonical;
create view canonical.head as select network, chain_id, first_height, height, tipset, final_height, changed from petrel.chain;
${OF_TIPSETS.map(
  (table) =>
    `create view canonical.${table} as select x.*, t.time from petrel.${table} x join petrel.tipsets t on t.tipset = x.tipset and t.canonical;`,
).join('\n')}
`

/** What a table, or a column of it, is. */
const COMMENTS: readonly (readonly [string, string])[] = [
  ['schema petrel', 'Rows as Petrel wrote them, those of abandoned tipsets included. Read canonical.* instead.'],
  [
    'schema canonical',
    'The chain of the head: the same rows without those of abandoned tipsets, with the time of their tipset.',
  ],
  ['table petrel.migrations', 'Steps of the schema that have been applied.'],
  ['table petrel.chain', 'One row: whose chain this is, and how far it is written.'],
  ['column petrel.chain.first_height', 'Epoch at which the index begins.'],
  [
    'column petrel.chain.height',
    'Epoch of the newest tipset here: one below the head of the node, whose messages the next tipset executes.',
  ],
  ['column petrel.chain.final_height', 'Epoch up to which no reorganisation goes back.'],
  ['table petrel.tipsets', 'Executed tipsets, abandoned ones included.'],
  ['column petrel.tipsets.tipset', 'Digest of the CID of the key: the block hash of the Ethereum interface.'],
  ['column petrel.tipsets.key', 'CIDs of the blocks, in order.'],
  ['column petrel.tipsets.parent', 'The tipset below; null at genesis.'],
  ['column petrel.tipsets.base_fee', 'attoFIL per gas that its messages paid.'],
  ['column petrel.tipsets.state_root', 'State after it.'],
  [
    'column petrel.tipsets.canonical',
    'Whether it lies on the chain of the head. A reorganisation changes this and nothing else.',
  ],
  ['table petrel.blocks', 'Blocks of tipsets.'],
  ['column petrel.blocks.miner', 'ID of the actor that made it.'],
  ['table petrel.messages', 'Executed messages in order, with receipt, decoded parameters and what they paid for gas.'],
  ['column petrel.messages.cid', 'As blocks hold it: of the signed message, of a BLS message of the bare one.'],
  ['column petrel.messages.to_actor', 'Null: there is no such actor after the tipset.'],
  ['column petrel.messages.actor_kind', 'Kind of the recipient: account, evm, multisig, storageminer, ...'],
  ['column petrel.messages.method_name', 'As Lotus names it; null: not known.'],
  [
    'column petrel.messages.params_json',
    "Parameters in Lotus' JSON; null: none, not known, not what the method takes, or with a character U+0000.",
  ],
  ['column petrel.messages.exit_code', '0: it succeeded.'],
  ['column petrel.messages.returned_json', 'Return in the same form; null where it failed.'],
  ['column petrel.messages.burned', 'attoFIL burnt: base fee and over-estimation.'],
  ['column petrel.messages.tip', 'attoFIL to the producer.'],
  [
    'table petrel.transfers',
    'Value that moved for good: each send with value that ended with exit code 0, and all calls above it.',
  ],
  [
    'column petrel.transfers.kind',
    'message: of a message itself; internal: by a contract, multisig or other actor while it ran; reward; cron.',
  ],
  ['column petrel.transfers.message', 'CID of the message that caused it; null for reward and cron.'],
  ['column petrel.transfers.execution', 'Place in the order of execution, implicit messages included.'],
  [
    'column petrel.transfers.path',
    'Place in the calls of the message: {} the message itself, {0,2} the third call of its first call.',
  ],
  ['column petrel.transfers.to_address', 'f1, f3 or f410 address of the recipient, else its ID address.'],
  ['column petrel.transfers.value', 'attoFIL.'],
  [
    'table petrel.balance_changes',
    'What a tipset changed in balances, fees and rewards included; the first tipset here has the balance of every actor.',
  ],
  ['column petrel.balance_changes.change', 'attoFIL, negative: less.'],
  ['column petrel.balance_changes.balance', 'attoFIL after the tipset.'],
  ['table petrel.addresses', 'The address map: what each tipset added; the first tipset here has all that there were.'],
  ['column petrel.addresses.address', 'f1, f2, f3 or f4; an actor may have several.'],
  ['column petrel.addresses.actor', 'Its ID, the number of its f0 address.'],
  ['column petrel.addresses.eth', '20 bytes: of an f410 address its own, else ff00... and the ID.'],
  [
    'table petrel.eth_transactions',
    'Messages as transactions of the Ethereum interface; position is the same as in messages.',
  ],
  ['column petrel.eth_transactions.is_native', 'A Filecoin message: its hash is the digest of its CID.'],
  ['column petrel.eth_transactions.recipient', 'Null: it creates a contract.'],
  ['column petrel.eth_transactions.created', 'Address of the contract that it created.'],
  ['table petrel.logs', 'Logs of contracts.'],
  ['column petrel.logs.log_index', 'Counts all events of the tipset, also those that are no logs.'],
  ['column petrel.logs.transaction', 'Hash of the transaction.'],
  ['column petrel.logs.emitter', 'ID of the contract.'],
]

const comments = commented(COMMENTS)

function commented(list: readonly (readonly [string, string])[]): string {
  return list.map(([what, text]) => `comment on ${what} is '${text.replace(/'/g, "''")}';`).join('\n')
}

/**
 * What answers by message and by transaction need besides. Rows from before have an empty text and no bytes: not known. The view gets
 * the new columns behind its own.
 */
const LOOKUPS = `
alter table petrel.messages add column events_root text default '', add column signature bytea default '';
alter table petrel.messages alter column events_root drop default, alter column signature drop default;
create or replace view canonical.messages as
  select x.height, x.tipset, x.position, x.cid, x.from_actor, x.from_address, x.to_actor, x.to_address, x.nonce, x.value, x.gas_limit,
    x.gas_fee_cap, x.gas_premium, x.method, x.actor_kind, x.method_name, x.params, x.params_json, x.exit_code, x.gas_used, x.returned,
    x.returned_json, x.burned, x.tip, t.time, x.events_root, x.signature
  from petrel.messages x join petrel.tipsets t on t.tipset = x.tipset and t.canonical;
${commented([
  [
    'column petrel.messages.events_root',
    "Root of its events; null: it has none; empty: not known, of a row of the schema's version 1.",
  ],
  [
    'column petrel.messages.signature',
    'Type byte and signature; null: a BLS message, signed in aggregate; empty: not known, as above.',
  ],
])}
`

/**
 * What whole blocks need besides: of the Ethereum interface their filter, which knows logs that have no row, and of each block its
 * messages in its own order. Rows from before have neither: not known.
 */
const WHOLE_BLOCKS = `
alter table petrel.tipsets add column logs_bloom bytea;
alter table petrel.blocks add column messages int[];
create or replace view canonical.tipsets as select * from petrel.tipsets where canonical;
create or replace view canonical.blocks as
  select x.height, x.tipset, x.position, x.cid, x.miner, x.win_count, x.parent_weight, t.time, x.messages
  from petrel.blocks x join petrel.tipsets t on t.tipset = x.tipset and t.canonical;
${commented([
  [
    'column petrel.tipsets.logs_bloom',
    "The filter of its logs, as blocks of the Ethereum interface have it; null: not known, of a row of the schema's version 2.",
  ],
  [
    'column petrel.blocks.messages',
    'Positions of its messages in petrel.messages, in its order; null: not known, of a row as above; null in it: the tipset did not execute that message, so there is no row of it.',
  ],
])}
`

/** Of columns that the steps before say nothing of. */
const MORE_COMMENTS: readonly (readonly [string, string])[] = [
  ['column petrel.migrations.version', 'Number of the step.'],
  ['column petrel.migrations.applied', 'When.'],
  ['column petrel.chain.one', 'There is one row.'],
  ['column petrel.chain.network', 'Name of the network, as its topics have it.'],
  ['column petrel.chain.genesis', 'CID of the genesis block.'],
  ['column petrel.chain.chain_id', "The network's number in the Ethereum interface: 314 is mainnet."],
  ['column petrel.chain.tipset', 'The newest tipset here; null: there is none yet.'],
  ['column petrel.chain.changed', 'When this row was written last.'],
  ['column petrel.tipsets.height', 'Its epoch.'],
  ['column petrel.tipsets.time', 'Timestamp of its blocks.'],
  ['column petrel.tipsets.receipts_root', 'Root of the receipts of its messages.'],
  ...OF_TIPSETS.flatMap((table): readonly (readonly [string, string])[] => [
    [`column petrel.${table}.height`, 'Epoch of the tipset.'],
    [`column petrel.${table}.tipset`, 'The tipset: petrel.tipsets says whether it is on the chain of the head.'],
  ]),
  ['column petrel.blocks.position', 'Place in the tipset, from 0.'],
  ['column petrel.blocks.cid', 'CID of the block.'],
  ['column petrel.blocks.win_count', 'Elections that it won: it is rewarded for each.'],
  ['column petrel.blocks.parent_weight', 'Weight of the chain below it.'],
  ['column petrel.messages.position', 'Place in the order of execution, from 0, implicit messages left out.'],
  ['column petrel.messages.from_actor', 'ID of the sender; null: there is no such actor after the tipset.'],
  ['column petrel.messages.from_address', 'Address of the sender as the message has it.'],
  ['column petrel.messages.to_address', 'Address of the recipient as the message has it.'],
  ['column petrel.messages.nonce', 'Number of the message among those of its sender.'],
  ['column petrel.messages.value', 'attoFIL that were to be sent; petrel.transfers has what was.'],
  ['column petrel.messages.gas_limit', 'The most gas that it might use.'],
  ['column petrel.messages.gas_fee_cap', 'The most that it paid for a unit of gas, attoFIL.'],
  ['column petrel.messages.gas_premium', 'Of that the most that went to the producer, attoFIL.'],
  ['column petrel.messages.method', 'Number of the method; 0: a plain transfer.'],
  ['column petrel.messages.params', 'Parameters as they are in the message.'],
  ['column petrel.messages.gas_used', 'Gas that it used.'],
  ['column petrel.messages.returned', 'What it returned, as in its receipt.'],
  ['column petrel.transfers.position', 'Place among the transfers of the tipset, from 0.'],
  ['column petrel.transfers.from_actor', 'ID of the actor that sent it.'],
  ['column petrel.transfers.from_address', 'f1, f3 or f410 address of the sender, else its ID address.'],
  ['column petrel.transfers.to_actor', 'ID of the actor that received it.'],
  ['column petrel.transfers.method', 'Number of the method that was called with it; 0: a plain transfer.'],
  ['column petrel.balance_changes.actor', 'ID of the actor.'],
  ['column petrel.eth_transactions.position', 'That of the message in petrel.messages.'],
  ['column petrel.eth_transactions.hash', 'Hash by which the Ethereum interface knows it.'],
  ['column petrel.eth_transactions.type', 'Of the transaction: 0 legacy, 2 EIP-1559.'],
  ['column petrel.eth_transactions.sender', '20 bytes of the sender.'],
  ['column petrel.eth_transactions.nonce', 'Number of the transaction among those of its sender.'],
  ['column petrel.eth_transactions.value', 'attoFIL.'],
  ['column petrel.eth_transactions.input', 'Data of the call.'],
  ['column petrel.eth_transactions.succeeded', 'Whether it ended with exit code 0.'],
  ['column petrel.logs.address', '20 bytes of the contract.'],
  ...[0, 1, 2, 3].map((n) => [`column petrel.logs.topic${n}`, `Topic ${n}, 32 bytes; null: it has none.`] as const),
  ['column petrel.logs.data', 'What is not indexed.'],
]

/** What people read are the views: they say what the tables say. Of `time`, which the tables have not, here. */
const VIEW_COMMENTS = `
do $$
declare found record;
begin
  for found in
    select v.relname as name, coalesce(obj_description(t.oid, 'pg_class'), '') as text
    from pg_class v
    join pg_class t on t.relnamespace = 'petrel'::regnamespace
      and t.relname = case v.relname when 'head' then 'chain' else v.relname end
    where v.relnamespace = 'canonical'::regnamespace and v.relkind = 'v'
  loop
    execute format('comment on view canonical.%I is %L', found.name, found.text);
  end loop;
  for found in
    select v.relname as name, c.attname as col, coalesce(col_description(t.oid, d.attnum), 'Timestamp of the tipset.') as text
    from pg_class v
    join pg_attribute c on c.attrelid = v.oid and c.attnum > 0 and not c.attisdropped
    join pg_class t on t.relnamespace = 'petrel'::regnamespace
      and t.relname = case v.relname when 'head' then 'chain' else v.relname end
    left join pg_attribute d on d.attrelid = t.oid and d.attname = c.attname and not d.attisdropped
    where v.relnamespace = 'canonical'::regnamespace and v.relkind = 'v'
  loop
    execute format('comment on column canonical.%I.%I is %L', found.name, found.col, found.text);
  end loop;
end
$$;
`

/** For pages of a contract's logs, and for logs by their last topic alone. */
const LOG_INDEXES: readonly string[] = [
  'create index if not exists logs_emitter on petrel.logs (emitter, height, log_index)',
  'create index if not exists logs_topic3 on petrel.logs (topic3, height) where topic3 is not null',
]

/** All steps, in order. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: TABLES + VIEWS + comments },
  {
    ...{ version: 2, sql: LOOKUPS },
    indexes: ['create index if not exists messages_nonce on petrel.messages (from_address, nonce)'],
  },
  { version: 3, sql: WHOLE_BLOCKS },
  { version: 4, sql: commented(MORE_COMMENTS) + VIEW_COMMENTS },
  { version: 5, sql: '', indexes: LOG_INDEXES },
]
