/** Texts and bytes from filecoin-project/go-address address_test.go and constants of the network. */
import { describe, expect, it } from 'vitest'
import { fromHex, toHex } from '../../src/base/bytes.ts'
import {
  actorKey,
  address,
  addressFromBytes,
  addressToId,
  idAddress,
  idFromBytes,
  isBlsZeroAddress,
  machineAddress,
  parseAddress,
} from '../../src/types/address.ts'
import { addressToEthAddress, ethAddressToAddress, parseEthAddress } from '../../src/types/ethAddress.ts'

describe('Address', () => {
  const known: [text: string, bytes: string][] = [
    ['f00', '0000'],
    ['f01', '0001'],
    ['f010', '000a'],
    ['f0150', '009601'],
    ['f01024', '008008'],
    ['f01729', '00c10d'],
    ['f0999999', '00bf843d'],
    ['f15ihq5ibzwki2b4ep2f46avlkrqzhpqgtga7pdrq', '01ea0f0ea039b291a0f08fd179e0556a8c3277c0d3'],
    ['f12fiakbhe2gwd5cnmrenekasyn6v5tnaxaqizq6a', '01d1500504e4d1ac3e89ac891a4502586fabd9b417'],
    ['f24vg6ut43yw2h2jqydgbg2xq7x6f4kub3bg6as6i', '02e54dea4f9bc5b47d261819826d5e1fbf8bc5503b'],
    [
      'f3vvmn62lofvhjd2ugzca6sof2j2ubwok6cj4xxbfzz4yuxfkgobpihhd2thlanmsh3w2ptld2gqkn2jvlss4a',
      '03ad58df696e2d4e91ea86c881e938ba4ea81b395e12797b84b9cf314b9546705e839c7a99d606b247ddb4f9ac7a3414dd',
    ],
    ['f410fkkld55ioe7qg24wvt7fu6pbknb56ht7pt4zamxa', '040a52963ef50e27e06d72d59fcb4f3c2a687be3cfef'],
  ]
  for (const [text, hex] of known) {
    it(text, () => {
      const address = parseAddress(text)
      expect(toHex(address.bytes)).toBe(hex)
      expect(address.toString('f')).toBe(text)
      expect(address.toString('t')).toBe(`t${text.slice(1)}`)
      expect(parseAddress(`t${text.slice(1)}`).equals(address)).toBe(true)
      expect(addressFromBytes(fromHex(hex)).equals(address)).toBe(true)
    })
  }

  const refused: [text: string, message: string][] = [
    ['x01', 'unknown address network'],
    ['0x52963ef50e27e06d72d59fcb4f3c2a687be3cfef', 'unknown address network'],
    ['f91', 'unknown address protocol'],
    ['f0', 'invalid address length'],
    ['f0abc', 'invalid address payload'],
    ['f09999999999999999999', 'invalid address payload'],
    ['f15ihq5ibzwki2b4ep2f46avlkrqzhpqgtga7parq', 'invalid address checksum'],
    ['f15ihq5ibzwki2b4ep2f46avlkrqzhpqgtga7pdrr', 'invalid encoding'],
    ['f1!', 'invalid address length'],
    ['f1aaaaaaaaaaaa', 'invalid address length'],
    ['f2aaaaaaaaaaaa', 'invalid address length'],
    ['f3aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 'invalid address length'],
    ['f412345678901234567890fkkld55ioe7qg24wvt7fu6pbknb56ht7pt4zamxa', 'invalid address length'],
    ['f410kkld55ioe7qg24wvt7fu6pbknb56ht7pt4zamxa', 'invalid address length'],
  ]
  for (const [text, message] of refused) {
    it(`refuses ${text}`, () => {
      expect(() => parseAddress(text)).toThrow(text === 'f1!' ? /invalid/ : message)
    })
  }

  describe('as the machine reads them', () => {
    const wide = (tenth: string): string => `85${'80'.repeat(8)}${tenth}`
    // What fvm_shared 4.8.2 Address::from_bytes makes of them: to_bytes and text.
    const taken: [bytes: string, text: string, canonical?: string][] = [
      ['008080808080808010', 'f09007199254740992'],
      ['00ffffffffffffffff7f', 'f09223372036854775807'],
      ['0080808080808080808001', 'f09223372036854775808'],
      ['00ffffffffffffffffff01', 'f018446744073709551615'],
      ['04ffffffffffffffff7f0102', 'f49223372036854775807faebaljgmcu'],
      ['04808080808080808080010102', 'f49223372036854775808faebezgxsju'],
      ['04ffffffffffffffffff010102', 'f418446744073709551615faebb5jgtcu'],
      [`00${wide('01')}`, 'f09223372036854775813'],
      [`00${wide('02')}`, 'f05', '0005'],
      [`00${wide('03')}`, 'f09223372036854775813', `00${wide('01')}`],
      [`00${wide('7e')}`, 'f05', '0005'],
      [`04${wide('02')}01`, 'f45faf2lx4vo', '040501'],
      ['040a52963ef50e27e06d72d59fcb4f3c2a687be3cfef', 'f410fkkld55ioe7qg24wvt7fu6pbknb56ht7pt4zamxa'],
    ]
    for (const [hex, text, canonical = hex] of taken) {
      it(text, () => {
        const read = machineAddress(fromHex(hex))
        expect([toHex(read.bytes), read.toString('f')]).toEqual([canonical, text])
      })
    }

    it('refuses what no 64 bits hold, and what is longer than it may be', () => {
      const long = '09'.repeat(55)
      const refused = [
        `00${wide('00')}`,
        `00${wide('80')}01`,
        `00${wide('01')}01`,
        `00${wide('80')}`,
        `04${wide('02')}${long}`,
      ]
      for (const hex of [...refused, '00', '', '0101', `040a${long}`]) {
        expect(() => machineAddress(fromHex(hex)), hex).toThrow(expect.objectContaining({ code: 'INVALID_ADDRESS' }))
      }
    })

    it('keys of actors are those addresses', () => {
      for (const id of [0n, 127n, 128n, 2n ** 50n, 2n ** 63n - 1n]) expect(actorKey(id)).toEqual(idAddress(id).bytes)
      for (const id of [2n ** 63n, 2n ** 64n - 1n]) expect(machineAddress(actorKey(id)).toString()).toBe(`f0${id}`)
    })

    it('messages and headers keep those of Lotus', () => {
      expect(() => addressFromBytes(fromHex('0080808080808080808001'))).toThrow('invalid address payload')
      expect(() => parseAddress('f09223372036854775808')).toThrow('invalid address payload')
    })
  })

  it('says which address of Filecoin an Ethereum address is, where it is refused', () => {
    // The pair is in data/golden/nv28/chain.jsonl.zst, eth_getTransactionByHash.
    const refusal = (text: string): unknown => {
      try {
        return address.fromJson(text, { addressPrefix: 'f' })
      } catch (error) {
        return (error as Error).message
      }
    }
    const ethereum = '0x9c8707d7ff615e13ce8b2d977e881ec15ae55eba'
    expect(refusal(ethereum)).toBe(
      `unknown address network (the Ethereum address ${ethereum} is f410ftsdqpv77mfpbhtulfwlx5ca6yfnokxv2vphjtoy)`,
    )
    // Recorded of Lotus: every golden chain has this row.
    expect(refusal('0xff00000000000000000000000000000000000064')).toBe('unknown address network')
  })

  it('reads the undefined address as Lotus does', () => {
    for (const text of ['', '<empty>']) expect(parseAddress(text).toString('f')).toBe('<empty>')
  })

  it('knows the BLS zero address, which is not the one of zeros', () => {
    // lotus build/buildconstants/params_shared_vals.go ZeroAddress
    const zero = parseAddress(`f3y${'a'.repeat(75)}by2smx7a`)
    expect(toHex(zero.bytes)).toBe(`03c0${'00'.repeat(47)}`)
    expect(isBlsZeroAddress(zero)).toBe(true)
    expect(isBlsZeroAddress(addressFromBytes(fromHex(`03${'00'.repeat(48)}`)))).toBe(false)
    expect(isBlsZeroAddress(addressFromBytes(fromHex(`03c0${'00'.repeat(46)}01`)))).toBe(false)
    expect(isBlsZeroAddress(idAddress(0))).toBe(false)
  })

  it('takes the largest ID and no larger', () => {
    expect(parseAddress('f09223372036854775807').toString('f')).toBe('f09223372036854775807')
    expect(addressToId(idAddress(1000))).toBe(1000n)
    expect(() => addressFromBytes(fromHex('00ffffffffffffffffff01'))).toThrow()
    expect(() => addressFromBytes(fromHex('008000'))).toThrow()
  })

  // LEB128, by hand.
  it.each([
    ['0000', 0n],
    ['00e807', 1000n],
    ['00ffffffffffff7f', 2n ** 49n - 1n],
    ['008080808080808001', 2n ** 49n],
    ['00ffffffffffffffff7f', 2n ** 63n - 1n],
  ])('reads the ID of %s', (hex, id) => {
    expect(idFromBytes(fromHex(hex))).toBe(id)
    expect(addressToId(addressFromBytes(fromHex(hex)))).toBe(id)
  })

  it.each(['', '00', '0080', '008000', '00e80700', '00ffffffffffffffffff01', '00ffffffffffffffffff02'])(
    'refuses %s as an ID',
    (hex) => {
      expect(() => idFromBytes(fromHex(hex))).toThrow(/invalid address/)
      expect(() => addressFromBytes(fromHex(hex))).toThrow(/invalid address/)
    },
  )

  it('finds no ID in an address of another protocol', () => {
    expect(() => idFromBytes(fromHex(`01${'00'.repeat(20)}`))).toThrow('non id address')
  })

  it('refuses payloads of the wrong length', () => {
    expect(() => addressFromBytes(fromHex(`01${'00'.repeat(19)}`))).toThrow()
    expect(() => addressFromBytes(fromHex(`03${'00'.repeat(47)}`))).toThrow()
    expect(() => addressFromBytes(fromHex(`040a${'00'.repeat(55)}`))).toThrow()
    expect(() => addressFromBytes(fromHex('05aa'))).toThrow()
  })
})

describe('Ethereum addresses', () => {
  it('maps to f410 and back', () => {
    const address = parseEthAddress('0x52963EF50e27e06D72D59fcB4F3c2a687BE3cfEf')
    expect(address.toString('f')).toBe('f410fkkld55ioe7qg24wvt7fu6pbknb56ht7pt4zamxa')
    expect(toHex(addressToEthAddress(address) as Uint8Array)).toBe('52963ef50e27e06d72d59fcb4f3c2a687be3cfef')
  })

  it('masked IDs are f0 addresses', () => {
    expect(parseEthAddress('0xff00000000000000000000000000000000000001').toString('f')).toBe('f01')
    expect(toHex(addressToEthAddress(idAddress(1024)) as Uint8Array)).toBe('ff00000000000000000000000000000000000400')
    expect(() => ethAddressToAddress(new Uint8Array(19))).toThrow(expect.objectContaining({ code: 'INVALID_ADDRESS' }))
  })
})
