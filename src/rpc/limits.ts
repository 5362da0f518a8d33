/**
 * Bounds of Ethereum's interface, Lotus' own, so that a client meets the same ones; and of exports.
 * @see lotus node/config/def.go (MaxFilters, MaxFilterResults, FilterTTL, MaxFilterHeightRange, EthTraceFilterMaxResults);
 *   node/impl/eth EthFeeHistory, parseEthTopics
 */
import type { ChainEpoch } from '../types/scalars.ts'

/** Filters of all callers. */
export const MAX_FILTERS = 100
/** Results that a filter keeps, the newest; logs or events that one search gives, unless one tipset alone has more. */
export const MAX_FILTER_RESULTS = 10_000
/** A filter that nobody asks ends after so long, ms. */
export const FILTER_AGE_MS = 3_600_000
/** Epochs that a search of logs, events or traces may span where no index reaches further: a day. */
export const MAX_EVENT_RANGE: ChainEpoch = 2880
/** Topics of a filter: a log has no more. */
export const MAX_TOPICS = 4
/**
 * Addresses, topics, fields and their values that one filter wants together: twice the deposit addresses that an exchange watches at once.
 * Lotus takes as many as fit into a request; go-ethereum 1,000 addresses, and 1,000 topics of each position (`--rpc.logquerylimit`), Infura
 * 5,000 of both.
 */
export const MAX_WANTED = 20_000
/** Blocks of a fee history, and percentiles of each. */
export const MAX_HISTORY_BLOCKS = 1024n
export const MAX_PERCENTILES = 100
/** Traces that `trace_filter` gives. */
export const MAX_TRACES = 500
/** Exports of a chain at once: each walks the whole state. */
export const MAX_EXPORTS = 2
/** Bytes that an export's client has not read above which it waits, and how long it does, ms. A channel ends at 16 MiB. */
export const EXPORT_UNREAD_BYTES: number = 4 << 20
export const EXPORT_STALLED_MS = 300_000
/** Tipsets in one answer with transfers. */
export const MAX_TRANSFER_TIPSETS = 100
/** Epochs whose logs are kept for searches: a week. */
export const MAX_LOG_EPOCHS = 20_160
/** A search that begins further above or below what is kept starts anew, epochs. */
export const MAX_LOG_GAP = 2880
