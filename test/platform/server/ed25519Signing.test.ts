import { expect, test } from 'vitest'
import { ed25519Signing } from '../../../platform/server/ed25519Signing.ts'
import { fromHex, toHex } from '../../../src/base/bytes.ts'

/** RFC 8032 section 7.1, tests 1 and 3: seed, message, signature. */
test.each([
  [
    '9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60',
    '',
    'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b',
  ],
  [
    'c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7',
    'af82',
    '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a',
  ],
])('signs as RFC 8032 has it: %s', (seed, message, signature) => {
  const sign = ed25519Signing(fromHex(seed))
  expect(toHex(sign(fromHex(message)))).toBe(signature)
  expect(toHex(sign(fromHex(message)))).toBe(signature)
})
