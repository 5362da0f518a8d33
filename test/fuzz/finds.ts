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
  {
    target: 'sealed',
    what: 'a sealed key whose cost is none of scrypt was a fault of the program, not a damaged entry',
    input:
      '7b2250657472656c223a227365616c65642d31222c224e223a312c2252223a312c2250223a312c2253616c74223a22415145424151454241514542415145424151454241514542415145424151454241514542415145424151453d222c224e6f6e6365223a224151454241514542415145424151454241514542415145424151454241514542222c2244617461223a2277775230444342763731484b304c796a763752436f3563463276476e586d7958227d',
  },
  {
    target: 'hamtDifference',
    what: 'two chains of nodes deeper than any hash leads overflowed the stack',
    input:
      '002f82410181d82a5827000171a0e40220cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd00002f82410181d82a5827000171a0e40220cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd01002f82410181d82a5827000171a0e40220cdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcdcd00',
  },
  {
    target: 'apiFiles',
    what: 'an address that was one until a path was put behind it',
    input: '68747470733a2f2f7b2e6508',
  },
]
