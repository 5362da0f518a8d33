/** What an instrumented module and the engine call by name, and the units that both count in. */

/** Module name under which the gas counter is imported. */
export const GAS_MODULE = 'gas'
/** Export of a mutable i64: bytes by which the instance may still grow. Only in modules which can grow. */
export const BUDGET_EXPORT = '\0budget'
/** Import of the memory that a module with `hostMemory` rules runs in. */
export const HOST_MODULE = 'petrel'
export const HOST_MEMORY = 'memory'
/** Export of a mutable i32: pages that the module has, of memory of the host or of an instance that ran before. */
export const PAGES_EXPORT = '\0pages'
/** Export of a mutable i32: the lowest value, unsigned, that the module's first global was given. */
export const LOWEST_EXPORT = '\0lowest'
/** Exports of mutable integers, numbered from 0: what of an instance has to be put back before it runs again. */
export const KEPT_EXPORT = '\0kept'

/** Bytes of one page of memory. */
export const PAGE_BYTES = 65_536
/** Bytes that one element of a table counts for. @see ref-fvm fvm/src/machine/limiter.rs `grow_instance_table` */
export const TABLE_ELEMENT_BYTES = 8
