/**
 * A clock that is wrong, for a process that is started with `--import` of this file: by so many milliseconds as the file says that
 * `SHIFTED_CLOCK` names; right while there is none. Timers and the monotonic clock are as ever, as when an operator sets the clock.
 */
import { existsSync, readFileSync } from 'node:fs'

const control = process.env.SHIFTED_CLOCK ?? ''
const Real = Date
const now = (): number => Real.now() + (existsSync(control) ? Number(readFileSync(control, 'utf8')) : 0)

globalThis.Date = new Proxy(Real, {
  construct: (target, args: [], newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
  get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)) as unknown,
})
