/**
 * Certificates and power tables, kept: every certificate, or the newest ones, and a table now and then to compute the others from.
 * @see go-f3 certstore/certstore.go Store
 */
import { concatBytes, equalBytes, fromUtf8, utf8 } from '../../base/bytes.ts'
import type { KeyValueOp, KeyValueStore } from '../../base/ports.ts'
import { finish, type Steps } from '../../base/steps.ts'
import { decode, encode } from '../../codec/description.ts'
import { type FinalityCertificate, finalityCertificate } from './certificate.ts'
import { F3Error } from './errors.ts'
import { changeEntries, entriesById, type PowerTable, powerTable, sortedPowerTable } from './powerTable.ts'

/** Instances between two tables that are kept. */
export const TABLE_EVERY = 1440

function instanceBytes(instance: number): Uint8Array {
  const out = new Uint8Array(8)
  new DataView(out.buffer).setBigUint64(0, BigInt(instance))
  return out
}

const PREFIX = 'f3/'
const FIRST = 'first'

/** F3's own names of the networks that a store holds certificates of. */
export function keptF3Networks(store: KeyValueStore): string[] {
  const found: string[] = []
  for (const key of store.keys(utf8(PREFIX))) {
    const [, name, what] = fromUtf8(key).split('/')
    if (name !== undefined && what === FIRST) found.push(name)
  }
  return found
}

/** The certificates of one F3 network, within a store that others share. */
export class CertificateStore {
  readonly #store: KeyValueStore
  readonly #prefix: string
  readonly #kept: number
  /** The last one that was computed: the same and those after it are asked for next. */
  #computed: { readonly instance: number; readonly table: PowerTable } | undefined

  /**
   * @param network - F3's own name of the network
   * @param kept - newest certificates that are kept at least; those before the next table below them go. Default: all are
   */
  constructor(store: KeyValueStore, network: string, kept: number = Number.POSITIVE_INFINITY) {
    this.#store = store
    this.#kept = kept
    this.#prefix = `${PREFIX}${network}/`
  }

  /** The first instance; undefined before {@link initialize}. */
  first(): number | undefined {
    return this.#number(FIRST)
  }

  /** The newest certificate's instance; undefined without any. */
  latest(): number | undefined {
    return this.#number('latest')
  }

  /** @throws F3Error `POWER_TABLE_WRONG` when it was begun with another instance or table */
  initialize(instance: number, table: PowerTable): void {
    const bytes = encode(powerTable, [...table])
    const known = this.first()
    if (known === undefined) {
      this.#store.batch([this.#put(FIRST, instanceBytes(instance)), this.#put('table/', bytes, instance)])
      return
    }
    const kept = this.#store.get(this.#key('table/', instance))
    if (known !== instance || kept === undefined || !equalBytes(kept, bytes)) {
      throw new F3Error('POWER_TABLE_WRONG', 'certificate store re-initialized with another instance or power table')
    }
  }

  /** Forgets where it began and begins again, later: what was kept before stays unread. */
  restart(instance: number, table: PowerTable): void {
    const bytes = encode(powerTable, [...table])
    this.#computed = undefined
    this.#store.batch([
      this.#put(FIRST, instanceBytes(instance)),
      this.#put('table/', bytes, instance),
      { op: 'delete', key: this.#key('latest') },
    ])
  }

  /** Bytes of a certificate; undefined where there is none. */
  cbor(instance: number): Uint8Array | undefined {
    return this.#store.get(this.#key('cert/', instance))
  }

  certificate(instance: number): FinalityCertificate | undefined {
    const bytes = this.cbor(instance)
    return bytes === undefined ? undefined : decode(finalityCertificate, bytes)
  }

  /** Adds the certificates after the newest one, each with the table that it leads to, in one go. */
  add(all: readonly { readonly certificate: FinalityCertificate; readonly next: PowerTable }[]): void {
    const last = all.at(-1)
    if (last === undefined) return
    const ops = all.flatMap(({ certificate, next }) => {
      const { instance } = certificate
      const own = [this.#put('cert/', encode(finalityCertificate, certificate), instance)]
      if ((instance + 1) % TABLE_EVERY === 0) own.push(this.#put('table/', encode(powerTable, [...next]), instance + 1))
      return own
    })
    const { instance: latest } = last.certificate
    this.#store.batch([...ops, this.#put('latest', instanceBytes(latest)), ...this.#forgotten(latest)])
  }

  /** Takes away what lies before the next table that is kept, as if the store had begun there. */
  #forgotten(latest: number): KeyValueOp[] {
    const first = this.first() ?? 0
    const next = first - (first % TABLE_EVERY) + TABLE_EVERY
    if (latest - next < this.#kept) return []
    const ops = [this.#put(FIRST, instanceBytes(next)), this.#delete('table/', first)]
    for (let instance = first; instance < next; instance++) ops.push(this.#delete('cert/', instance))
    return ops
  }

  /** The table that signs an instance: from the first up to the one after the newest. @throws F3Error `NOT_FOUND`, `FUTURE_INSTANCE` */
  table(instance: number): PowerTable {
    return finish(this.findTable(instance))
  }

  /** {@link CertificateStore.table} in steps: up to {@link TABLE_EVERY} certificates are read for it. */
  *findTable(instance: number): Steps<PowerTable> {
    const first = this.first()
    if (first === undefined) throw new F3Error('NOT_RUNNING', 'f3 is not running')
    if (instance < first) {
      throw new F3Error('NOT_FOUND', `cannot return a power table before the first instance: ${first}`)
    }
    const latest = this.latest()
    const next = latest === undefined ? first : latest + 1
    if (instance > next) {
      const text = `cannot return future power table for instance ${instance} > ${next}`
      throw new F3Error('FUTURE_INSTANCE', text)
    }
    const from = this.#nearestTable(Math.max(instance - (instance % TABLE_EVERY), first), instance)
    if (from.instance === instance) return from.table
    const entries = entriesById(from.table)
    for (let at = from.instance; at < instance; at++) {
      const certificate = this.certificate(at)
      if (certificate === undefined) throw this.#corrupt(`the certificate of instance ${at}`)
      changeEntries(entries, certificate.powerTableDelta)
      yield
    }
    const table = sortedPowerTable(entries.values())
    this.#computed = { instance, table }
    return table
  }

  /** The last one that is at hand from `start` on, of which one is kept. */
  #nearestTable(start: number, instance: number): { readonly instance: number; readonly table: PowerTable } {
    const computed = this.#computed
    if (computed !== undefined && computed.instance >= start && computed.instance <= instance) return computed
    const bytes = this.#store.get(this.#key('table/', start))
    if (bytes === undefined) throw this.#corrupt(`the power table of instance ${start}`)
    return { instance: start, table: decode(powerTable, bytes) }
  }

  #corrupt(what: string): F3Error {
    return new F3Error('STORE_CORRUPT', `Cannot read the store of certificates: ${what} is missing`)
  }

  #key(name: string, instance?: number): Uint8Array {
    const text = utf8(this.#prefix + name)
    return instance === undefined ? text : concatBytes(text, instanceBytes(instance))
  }

  #delete(name: string, instance: number): KeyValueOp {
    return { op: 'delete', key: this.#key(name, instance) }
  }

  #put(name: string, value: Uint8Array, instance?: number): KeyValueOp {
    return { op: 'put', key: this.#key(name, instance), value }
  }

  #number(name: string): number | undefined {
    const bytes = this.#store.get(this.#key(name))
    if (bytes?.length !== 8) return undefined
    return Number(new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0))
  }
}
