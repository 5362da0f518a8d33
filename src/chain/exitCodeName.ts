/** Exit codes as go-state-types prints them. */
const NAMES: Readonly<Record<number, string>> = {
  0: 'Ok',
  1: 'SysErrSenderInvalid',
  2: 'SysErrSenderStateInvalid',
  3: 'SysErrReserved1',
  4: 'SysErrIllegalInstruction',
  5: 'SysErrInvalidReceiver',
  6: 'SysErrInsufficientFunds',
  7: 'SysErrOutOfGas',
  8: 'SysErrReserved2',
  9: 'SysErrIllegalExitCode',
  10: 'SysFatal',
  11: 'SysErrMissingReturn',
  12: 'SysErrReserved3',
  13: 'SysErrReserved4',
  14: 'SysErrReserved5',
  15: 'SysErrReserved6',
  16: 'ErrIllegalArgument',
  17: 'ErrNotFound',
  18: 'ErrForbidden',
  19: 'ErrInsufficientFunds',
  20: 'ErrIllegalState',
  21: 'ErrSerialization',
  22: 'ErrUnhandledMessage',
  23: 'ErrUnspecified',
  24: 'ErrAssertionFailed',
  25: 'ErrReadOnly',
  26: 'ErrNotPayable',
}

/**
 * Name with number, the number alone where there is no name.
 * @see go-state-types exitcode/names.go
 */
export function exitCodeName(code: number): string {
  const name = NAMES[code]
  return name === undefined ? String(code) : `${name}(${code})`
}
