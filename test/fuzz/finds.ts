/** Inputs that once made a target fail, hang or take memory without bound. */
export const FINDS: readonly { readonly target: string; readonly what: string; readonly input: string }[] = [
  {
    target: 'configToml',
    what: 'config set wrote a key twice: in quotes it was another to it',
    input:
      '2320776f7264730a5b6461656d6f6e5d0a2261706922203d202232333435222023206d6f72650a626f6f747374726170203d202727270a2f782727270a',
  },
  {
    target: 'configToml',
    what: 'config set wrote a table twice that was there in one line',
    input: '6461656d6f6e203d207b20617069203d20307831302c206e6574203d2074727565207d0a',
  },
]
