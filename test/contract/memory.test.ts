/** The doubles in memory keep the contracts of the ports. */

import { portableZstd } from '../../src/archive/zstd.ts'
import { MemoryStore } from '../../src/base/memoryStore.ts'
import { memorySource } from '../../src/codec/byteSource.ts'
import { MemoryBlockstore } from '../../src/ipld/blockstore.ts'
import { MemorySecretStore } from '../../src/wallet/secretStore.ts'
import { blockstoreContract } from './blockstore.ts'
import { byteSourceContract } from './byteSource.ts'
import { keyValueStoreContract } from './keyValueStore.ts'
import { zstdContract } from './ports.ts'
import { secretStoreContract } from './secretStore.ts'

keyValueStoreContract('memory', { open: () => Promise.resolve(new MemoryStore()) })
blockstoreContract('memory', () => Promise.resolve({ blocks: new MemoryBlockstore(), close: () => Promise.resolve() }))
secretStoreContract('memory', () => new MemorySecretStore())
byteSourceContract('memory', memorySource)
zstdContract('portable', portableZstd)
