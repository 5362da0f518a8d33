/** Messages to accounts of every kind. */
import { methodNumber } from '../../src/actors/frc42.ts'
import { concatBytes } from '../../src/base/bytes.ts'
import { encode } from '../../src/codec/description.ts'
import { accountKey } from '../../src/devnet/keys.ts'
import { proposeParams } from '../../src/state/params/multisig.ts'
import { authenticate, type Cast, FIL, hello, NOTHING, type Step } from './wasmSteps.ts'

/** Messages to accounts, those that are to come among them. */
export function accountSteps({ a, b, d, eth }: Cast): readonly Step[] {
  return [
    { name: 'pubkey address', from: a, to: b.address, method: 2n },
    {
      name: 'pubkey address with parameters',
      from: a,
      to: b.address,
      method: 2n,
      params: Uint8Array.of(0x80),
      exitCode: 16,
    },
    {
      name: 'authenticate secp',
      from: a,
      to: b.address,
      method: methodNumber('AuthenticateMessage'),
      params: authenticate(b, hello, hello),
    },
    {
      name: 'authenticate secp, wrong message',
      from: a,
      to: b.address,
      method: methodNumber('AuthenticateMessage'),
      params: authenticate(b, hello, concatBytes(hello, hello)),
      exitCode: 16,
    },
    {
      name: 'authenticate BLS',
      from: a,
      to: d.address,
      method: methodNumber('AuthenticateMessage'),
      params: authenticate(d, hello, hello),
    },
    {
      name: 'authenticate BLS, wrong length',
      from: a,
      to: d.address,
      method: methodNumber('AuthenticateMessage'),
      params: authenticate(b, hello, hello),
      exitCode: 16,
    },
    {
      name: 'authenticate BLS, wrong message',
      from: a,
      to: d.address,
      method: methodNumber('AuthenticateMessage'),
      params: authenticate(d, hello, concatBytes(hello, hello)),
      exitCode: 16,
    },
    {
      name: 'account constructor',
      from: a,
      to: b.address,
      method: 1n,
      params: encode(proposeParams, { to: a.address, value: 0n, method: 0n, params: NOTHING }),
      exitCode: 21,
    },
    { name: 'account unknown method', from: a, to: b.address, method: 9n, exitCode: 22 },
    {
      name: 'account exported method',
      from: a,
      to: b.address,
      method: methodNumber('InvokeEVM'),
      params: Uint8Array.of(0x41, 0x01),
    },
    { name: 'Ethereum account', from: a, to: eth.address, method: methodNumber('InvokeEVM') },
    { name: 'Ethereum account, internal method', from: a, to: eth.address, method: 9n, exitCode: 22 },
    { name: 'placeholder', from: a, to: accountKey('nobody', 'delegated', 0).address, value: FIL },
    {
      name: 'placeholder, method',
      from: a,
      to: accountKey('nobody', 'delegated', 0).address,
      method: methodNumber('InvokeEVM'),
    },
  ]
}
