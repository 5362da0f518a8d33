import { int, text } from '../../codec/description.ts'
import { address } from '../../types/address.ts'
import { METHOD_CONSTRUCTOR } from '../../types/methodNumbers.ts'
import { tokenAmount } from '../../types/scalars.ts'
import {
  burnFromParams,
  burnFromReturn,
  burnParams,
  burnReturn,
  decreaseAllowanceParams,
  destroyParams,
  getAllowanceParams,
  increaseAllowanceParams,
  mintParams,
  mintReturn,
  revokeAllowanceParams,
  transferFromParams,
  transferFromReturn,
  transferParams,
  transferReturn,
} from '../params/datacap.ts'
import { type ActorMethod, method } from './actorMethod.ts'

/** Methods of the data cap actor. @see go-state-types builtin/v9 … v18/datacap/methods.go */
export const datacapMethods: readonly ActorMethod[] = [
  method(METHOD_CONSTRUCTOR, 'Constructor', address, null),
  method(2n, 'Mint', mintParams, mintReturn, { until: 9 }),
  method(3n, 'Destroy', destroyParams, burnReturn, { until: 9 }),
  method(10n, 'Name', null, text, { until: 9 }),
  method(11n, 'Symbol', null, text, { until: 9 }),
  method(12n, 'TotalSupply', null, tokenAmount, { until: 9 }),
  method(13n, 'BalanceOf', address, tokenAmount, { until: 9 }),
  method(14n, 'Transfer', transferParams, transferReturn, { until: 9 }),
  method(15n, 'TransferFrom', transferFromParams, transferFromReturn, { until: 9 }),
  method(16n, 'IncreaseAllowance', increaseAllowanceParams, tokenAmount, { until: 9 }),
  method(17n, 'DecreaseAllowance', decreaseAllowanceParams, tokenAmount, { until: 9 }),
  method(18n, 'RevokeAllowance', revokeAllowanceParams, tokenAmount, { until: 9 }),
  method(19n, 'Burn', burnParams, burnReturn, { until: 9 }),
  method(20n, 'BurnFrom', burnFromParams, burnFromReturn, { until: 9 }),
  method(21n, 'Allowance', getAllowanceParams, tokenAmount, { until: 9 }),
  method(48890204n, 'NameExported', null, text, { from: 10 }),
  method(80475954n, 'TransferExported', transferParams, transferReturn, { from: 10 }),
  method(114981429n, 'TotalSupplyExported', null, tokenAmount, { from: 10 }),
  method(116935346n, 'MintExported', mintParams, mintReturn, { from: 10 }),
  method(1434719642n, 'BurnExported', burnParams, burnReturn, { from: 10 }),
  method(1529376545n, 'DecreaseAllowanceExported', decreaseAllowanceParams, tokenAmount, { from: 10 }),
  method(1777121560n, 'IncreaseAllowanceExported', increaseAllowanceParams, tokenAmount, { from: 10 }),
  method(2061153854n, 'SymbolExported', null, text, { from: 10 }),
  method(2624896501n, 'DestroyExported', destroyParams, burnReturn, { from: 10 }),
  method(2765635761n, 'RevokeAllowanceExported', revokeAllowanceParams, tokenAmount, { from: 10 }),
  method(2979674018n, 'BurnFromExported', burnFromParams, burnFromReturn, { from: 10 }),
  method(3261979605n, 'BalanceExported', address, tokenAmount, { from: 10 }),
  method(3621052141n, 'TransferFromExported', transferFromParams, transferFromReturn, { from: 10 }),
  method(3936767397n, 'GranularityExported', null, int, { from: 10 }),
  method(4205072950n, 'AllowanceExported', getAllowanceParams, tokenAmount, { from: 10 }),
]
