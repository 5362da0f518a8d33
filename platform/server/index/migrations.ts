/**
 * The schema as steps, applied in order, each in a transaction of its own; one that has been released never changes. Comments are in the
 * database (`\d+`), docs/sql.md says how it is asked.
 */

/** One step. */
export interface Migration {
  readonly version: number
  readonly sql: string
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
create index messages_nonce on petrel.messages (from_address, nonce);
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

/** All steps, in order. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, sql: TABLES + VIEWS + comments },
  { version: 2, sql: LOOKUPS },
  { version: 3, sql: WHOLE_BLOCKS },
]
