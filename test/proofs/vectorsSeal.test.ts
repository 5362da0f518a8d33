import { vectorSuite } from './vectorSuite.ts'

vectorSuite({ 'seal-2k': 124, 'seal-sim': 126, 'graph-parents': 20, update: 112 })
