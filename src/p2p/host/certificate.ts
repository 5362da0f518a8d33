/**
 * The certificate of WebRTC-direct. Its hash is part of the node's addresses, so it must be the same after every start.
 * It is a function of the identity: key, signature (RFC 6979) and dates are all determined, nothing has to be stored.
 * Nobody checks its dates: the other side pins the hash, and the Noise handshake inside proves who is there.
 * @see libp2p/specs webrtc/webrtc-direct.md; RFC 5280 (certificate), RFC 5958 (private key)
 */
import { p256 } from '@noble/curves/nist.js'
import { concatBytes, fromHex, toBase64, toBase64Url, utf8 } from '../../base/bytes.ts'
import { sha256 } from '../../crypto/hashes.ts'

/** As the WebRTC transport takes it. */
export interface WebRtcCertificate {
  /** PEM. */
  readonly privateKey: string
  /** PEM. */
  readonly pem: string
  /** Multibase (base64url) of the multihash (SHA-256) of the certificate, as in `/certhash/…`. */
  readonly certhash: string
}

const SEQUENCE = 0x30
const SET = 0x31
const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
/** Explicit tags 0 and 1. */
const CONTEXT_0 = 0xa0
const CONTEXT_1 = 0xa1

/** Object identifiers in DER: id-ecPublicKey, prime256v1, ecdsa-with-SHA256, commonName. */
const EC_PUBLIC_KEY = fromHex('06072a8648ce3d0201')
const PRIME256V1 = fromHex('06082a8648ce3d030107')
const ECDSA_WITH_SHA256 = fromHex('06082a8648ce3d040302')
const COMMON_NAME = fromHex('0603550403')

const NAME = 'petrel'
/** The widest span of two-digit years that every parser reads the same. */
const NOT_BEFORE = '240101000000Z'
const NOT_AFTER = '491231235959Z'
const SHA256_MULTIHASH = fromHex('1220')

function der(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const content = concatBytes(...parts)
  const { length } = content
  const head =
    length < 0x80 ? [tag, length] : length < 0x100 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 255]
  return concatBytes(new Uint8Array(head), content)
}

function integer(value: number): Uint8Array {
  return der(INTEGER, new Uint8Array([value]))
}

function bitString(bytes: Uint8Array): Uint8Array {
  return der(BIT_STRING, new Uint8Array([0]), bytes)
}

function pem(label: string, bytes: Uint8Array): string {
  const lines = toBase64(bytes).match(/.{1,64}/g) ?? []
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n')
}

/** The certificate of a node. @param identitySeed - 32 bytes: the seed of its Ed25519 key */
export function deriveCertificate(identitySeed: Uint8Array): WebRtcCertificate {
  // 48 bytes instead of 32: reduced modulo the order without bias (FIPS 186-5, A.2.1).
  const wide = concatBytes(
    sha256(concatBytes(utf8('petrel webrtc-direct certificate 1'), identitySeed)),
    sha256(concatBytes(utf8('petrel webrtc-direct certificate 2'), identitySeed)).subarray(0, 16),
  )
  const { secretKey } = p256.keygen(wide)
  const publicKey = p256.getPublicKey(secretKey, false)
  const name = der(SEQUENCE, der(SET, der(SEQUENCE, COMMON_NAME, der(UTF8_STRING, utf8(NAME)))))
  const algorithm = der(SEQUENCE, ECDSA_WITH_SHA256)
  const body = der(
    SEQUENCE,
    der(CONTEXT_0, integer(2)),
    integer(1),
    algorithm,
    name,
    der(SEQUENCE, der(UTC_TIME, utf8(NOT_BEFORE)), der(UTC_TIME, utf8(NOT_AFTER))),
    name,
    der(SEQUENCE, der(SEQUENCE, EC_PUBLIC_KEY, PRIME256V1), bitString(publicKey)),
  )
  const signature = p256.sign(body, secretKey, { format: 'der' })
  const certificate = der(SEQUENCE, body, algorithm, bitString(signature))
  const key = der(
    SEQUENCE,
    integer(0),
    der(SEQUENCE, EC_PUBLIC_KEY, PRIME256V1),
    der(OCTET_STRING, der(SEQUENCE, integer(1), der(OCTET_STRING, secretKey), der(CONTEXT_1, bitString(publicKey)))),
  )
  return {
    privateKey: pem('PRIVATE KEY', key),
    pem: pem('CERTIFICATE', certificate),
    certhash: `u${toBase64Url(concatBytes(SHA256_MULTIHASH, sha256(certificate)))}`,
  }
}
