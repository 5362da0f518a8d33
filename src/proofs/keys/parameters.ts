/**
 * Verifying keys of Filecoin's ceremony: names, CIDs, and digests.
 * @see rust-fil-proofs fil-proofs-param parameters.json, srs-inner-product.json; storage-proofs-core parameter_cache.rs
 */
import type { SectorSize } from '../sectorSize.ts'
import type { Circuit } from './keyName.ts'

/** A file of the ceremony. */
export interface ParameterFile {
  /** Without its ending. It depends on the circuit, not on the key. */
  readonly name: string
  /** Of the file, in IPFS (CIDv0). */
  readonly cid: string
  /** First 16 bytes of the BLAKE2b-512 hash of the file, hexadecimal. */
  readonly digest: string
}

/** A verifying key. */
export interface KeyFile extends ParameterFile {
  readonly circuit: Circuit
  readonly size: SectorSize['name']
  /** Public inputs. */
  readonly inputs: number
}

/** Verifying keys by circuit and sector size. */
export const KEY_FILES: readonly KeyFile[] = [
  {
    circuit: 'winning',
    size: '2KiB',
    name: 'v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-3ea05428c9d11689f23529cde32fd30aabd50f7d2c93657c1d3650bca3e8ea9e',
    cid: 'QmSTCXF2ipGA3f6muVo6kHc2URSx6PzZxGUqu7uykaH5KU',
    digest: 'ffd79788d614d27919ae5bd2d94eacb6',
    inputs: 132,
  },
  {
    circuit: 'window',
    size: '2KiB',
    name: 'v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-0170db1f394b35d995252228ee359194b13199d259380541dc529fb0099096b0',
    cid: 'QmcS5JZs8X3TdtkEBpHAdUYjdNDqcL7fWQFtQz69mpnu2X',
    digest: '0e0958009936b9d5e515ec97b8cb792d',
    inputs: 22,
  },
  {
    circuit: 'seal',
    size: '2KiB',
    name: 'v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-032d3138d22506ec0082ed72b2dcba18df18477904e35bafee82b3793b06832f',
    cid: 'QmamahpFCstMUqHi2qGtVoDnRrsXhid86qsfvoyCTKJqHr',
    digest: 'dc1ade9929ade1708238f155343044ac',
    inputs: 39,
  },
  {
    circuit: 'update',
    size: '2KiB',
    name: 'v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-fb9e095bebdd77511c0269b967b4d87ba8b8a525edaa0e165de23ba454510194',
    cid: 'QmaQsTLL3nc5dw6wAvaioJSBfd1jhQrA2o6ucFf7XeV74P',
    digest: 'eadad9784969890d30f2749708c79771',
    inputs: 4,
  },
  {
    circuit: 'winning',
    size: '8MiB',
    name: 'v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-50c7368dea9593ed0989e70974d28024efa9d156d585b7eea1be22b2e753f331',
    cid: 'QmbmUMa3TbbW3X5kFhExs6WgC4KeWT18YivaVmXDkB6ANG',
    digest: '79ebb55f56fda427743e35053edad8fc',
    inputs: 132,
  },
  {
    circuit: 'window',
    size: '8MiB',
    name: 'v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-5294475db5237a2e83c3e52fd6c2b03859a1831d45ed08c4f35dbf9a803165a9',
    cid: 'QmUiVYCQUgr6Y13pZFr8acWpSM4xvTXUdcvGmxyuHbKhsc',
    digest: '34d4feeacd9abf788d69ef1bb4d8fd00',
    inputs: 22,
  },
  {
    circuit: 'seal',
    size: '8MiB',
    name: 'v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-ecd683648512ab1765faa2a5f14bab48f676e633467f0aa8aad4b55dcb0652bb',
    cid: 'QmYCuipFyvVW1GojdMrjK1JnMobXtT4zRCZs1CGxjizs99',
    digest: 'b687beb9adbd9dabe265a7e3620813e4',
    inputs: 39,
  },
  {
    circuit: 'update',
    size: '8MiB',
    name: 'v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-92180959e1918d26350b8e6cfe217bbdd0a2d8de51ebec269078b364b715ad63',
    cid: 'QmdcpKUQvHM8RFRVKbk1yHfEqMcBzhtFWKRp9SNEmWq37i',
    digest: 'abd80269054d391a734febdac0d2e687',
    inputs: 4,
  },
  {
    circuit: 'winning',
    size: '512MiB',
    name: 'v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-7d739b8cf60f1b0709eeebee7730e297683552e4b69cab6984ec0285663c5781',
    cid: 'QmfA31fbCWojSmhSGvvfxmxaYCpMoXP95zEQ9sLvBGHNaN',
    digest: 'bd2cd62f65c1ab84f19ca27e97b7c731',
    inputs: 132,
  },
  {
    circuit: 'window',
    size: '512MiB',
    name: 'v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-0-0-0cfb4f178bbb71cf2ecfcd42accce558b27199ab4fb59cb78f2483fe21ef36d9',
    cid: 'QmfCeddjFpWtavzfEzZpJfzSajGNwfL4RjFXWAvA9TSnTV',
    digest: '4dae975de4f011f101f5a2f86d1daaba',
    inputs: 22,
  },
  {
    circuit: 'seal',
    size: '512MiB',
    name: 'v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-0-0-sha256_hasher-6babf46ce344ae495d558e7770a585b2382d54f225af8ed0397b8be7c3fcd472',
    cid: 'QmWionkqH2B6TXivzBSQeSyBxojaiAFbzhjtwYRrfwd8nH',
    digest: '065179da19fbe515507267677f02823e',
    inputs: 39,
  },
  {
    circuit: 'update',
    size: '512MiB',
    name: 'v28-empty-sector-update-merkletree-poseidon_hasher-8-0-0-61fa69f38b9cc771ba27b670124714b4ea77fbeae05e377fb859c4a43b73a30c',
    cid: 'QmUa7f9JtJMsqJJ3s3ZXk6WyF4xJLE8FiqYskZGgk8GCDv',
    digest: '994c5b7d450ca9da348c910689f2dc7f',
    inputs: 4,
  },
  {
    circuit: 'winning',
    size: '32GiB',
    name: 'v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-559e581f022bb4e4ec6e719e563bf0e026ad6de42e56c18714a2c692b1b88d7e',
    cid: 'QmZCvxKcKP97vDAk8Nxs9R1fWtqpjQrAhhfXPoCi1nkDoF',
    digest: 'fc02943678dd119e69e7fab8420e8819',
    inputs: 132,
  },
  {
    circuit: 'window',
    size: '32GiB',
    name: 'v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-0-0377ded656c6f524f1618760bffe4e0a1c51d5a70c4509eedae8a27555733edc',
    cid: 'QmR9i9KL3vhhAqTBGj1bPPC7LvkptxrH9RvxJxLN1vvsBE',
    digest: '0f8ec542485568fa3468c066e9fed82b',
    inputs: 25839,
  },
  {
    circuit: 'seal',
    size: '32GiB',
    name: 'v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-0-sha256_hasher-82a357d2f2ca81dc61bb45f4a762807aedee1b0a53fd6c4e77b46a01bfef7820',
    cid: 'Qmf93EMrADXAK6CyiSfE8xx45fkMfR3uzKEPCvZC1n2kzb',
    digest: '0c7b4aac1c40fdb7eb82bc355b41addf',
    inputs: 327,
  },
  {
    circuit: 'update',
    size: '32GiB',
    name: 'v28-empty-sector-update-merkletree-poseidon_hasher-8-8-0-3b7f44a9362e3985369454947bc94022e118211e49fd672d52bec1cbfd599d18',
    cid: 'QmdFFUe1gcz9MMHc6YW8aoV48w4ckvcERjt7PkydQAMfCN',
    digest: '3a6941983754737fde880d29c7094905',
    inputs: 4,
  },
  {
    circuit: 'winning',
    size: '64GiB',
    name: 'v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-b62098629d07946e9028127e70295ed996fe3ed25b0f9f88eb610a0ab4385a3c',
    cid: 'QmbfQjPD7EpzjhWGmvWAsyN2mAZ4PcYhsf3ujuhU9CSuBm',
    digest: '6d3789148fb6466d07ee1e24d6292fd6',
    inputs: 132,
  },
  {
    circuit: 'window',
    size: '64GiB',
    name: 'v28-proof-of-spacetime-fallback-merkletree-poseidon_hasher-8-8-2-2627e4006b67f99cef990c0a47d5426cb7ab0a0ad58fc1061547bf2d28b09def',
    cid: 'QmWV8rqZLxs1oQN9jxNWmnT1YdgLwCcscv94VARrhHf1T7',
    digest: '59d2bf1857adc59a4f08fcf2afaa916b',
    inputs: 25300,
  },
  {
    circuit: 'seal',
    size: '64GiB',
    name: 'v28-stacked-proof-of-replication-merkletree-poseidon_hasher-8-8-2-sha256_hasher-96f1b4a04c5c51e4759bbf224bbc2ef5a42c7100f16ec0637123f16a845ddfb2',
    cid: 'QmehSmC6BhrgRZakPDta2ewoH9nosNzdjCqQRXsNFNUkLN',
    digest: 'a89884252c04c298d0b3c81bfd884164',
    inputs: 327,
  },
  {
    circuit: 'update',
    size: '64GiB',
    name: 'v28-empty-sector-update-merkletree-poseidon_hasher-8-8-2-102e1444a7e9a97ebf1e3d6855dcc77e66c011ea66f936d9b2c508f87f2f83a7',
    cid: 'Qmd794Jty7k26XJ8Eg4NDEks65Qk8G4GVfGkwqvymv8HAg',
    digest: '80e366df2f1011953c2d01c7b7c9ee8e',
    inputs: 4,
  },
]

/** The reference string of aggregation. */
export const SRS_FILE: ParameterFile = {
  name: 'v28-fil-inner-product-v1',
  cid: 'Qmdq44DjcQnFfU3PJcdX7J49GCqcUYszr1TxMbHtAkvQ3g',
  digest: 'ae20310138f5ba81451d723f858e3797',
}

/** Gateways that serve the files by CID, in the order in which they are asked: the reference's own first. */
export const PARAMETER_GATEWAYS: readonly string[] = [
  'https://proofs.filecoin.io/ipfs/',
  'https://ipfs.io/ipfs/',
  'https://dweb.link/ipfs/',
]

/** Full name of a file. */
export function fileName(file: ParameterFile): string {
  return file === SRS_FILE ? `${file.name}.srs` : `${file.name}.vk`
}

/** Every file. */
export const PARAMETER_FILES: readonly ParameterFile[] = [...KEY_FILES, SRS_FILE]
