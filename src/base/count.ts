/** Something that is counted, perhaps by several who each add their part. */
export interface Count {
  add(by: number): void
  /** Of all parts. */
  total(): number
}

/** A count that nobody shares. */
export class OwnCount implements Count {
  #total = 0

  add(by: number): void {
    this.#total += by
  }

  total(): number {
    return this.#total
  }
}
