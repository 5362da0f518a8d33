/** The randomness beacons that Filecoin's networks took entries of. @see Lotus v1.36.2-dev build/drand.go */
import type { Json } from '../../codec/jsonText.ts'

const CHAINED: { readonly [key: string]: Json } = {
  chained: true,
  schemeId: 'pedersen-bls-chained',
  periodSeconds: 30,
  httpEndpoints: [],
}

const INCENTINET: { readonly [key: string]: Json } = {
  ...CHAINED,
  name: 'incentinet',
  chainHash: '80c8b872c714f4c00fdd3daa465d5514049f457f01f85a4caf68cdcd394ba039',
  publicKey: '8cad0c72c606ab27d36ee06de1d5b2db1faf92e447025ca37575ab3a8aac2eaae83192f846fc9e158bc738423753d000',
  genesisTime: 1595873820,
}

const MAINNET: { readonly [key: string]: Json } = {
  ...CHAINED,
  name: 'mainnet',
  chainHash: '8990e7a9aaed2ffed73dbd7092123d6f289930540d7651336225dc172e51b2ce',
  publicKey: '868f005eb8e6e4ca0a47c8a77ceaa5309a47978a7c71bc5cce96366b5d7a569937c529eeda66c7293784a9402801af31',
  genesisTime: 1595431050,
}

const QUICKNET: { readonly [key: string]: Json } = {
  name: 'quicknet',
  chained: false,
  schemeId: 'bls-unchained-g1-rfc9380',
  chainHash: '52db9ba70e0cc0f6eaf7803dd07447a1f5477735fd3f661792ba94600c84e971',
  publicKey:
    '83cf0f2896adee7eb8b5f01fcad3912212c437e0073e911fb90022d3e760183c8c4b450b6a0a6c3ac6a5776a2d1064510d1fec758c921cc22b0e17e63aaf4bcb5ed66304de9cf809bd274ca73bab4af5a6e9c76a4bc09e76eae8991ef5ece45a',
  periodSeconds: 3,
  genesisTime: 1692803367,
  httpEndpoints: [
    'https://api.drand.sh',
    'https://api2.drand.sh',
    'https://api3.drand.sh',
    'https://drand.cloudflare.com',
    'https://api.drand.secureweb3.com:6875',
  ],
}

type Beacon = 'incentinet' | 'mainnet' | 'quicknet'

const BEACONS: Readonly<Record<Beacon, { readonly [key: string]: Json }>> = {
  incentinet: INCENTINET,
  mainnet: MAINNET,
  quicknet: QUICKNET,
}

/** The beacons of a network, each from an epoch on. */
export function drandSchedule(...entries: readonly (readonly [number, Beacon])[]): Json {
  return entries.map(([startEpoch, name]) => ({ startEpoch, ...BEACONS[name] }))
}
