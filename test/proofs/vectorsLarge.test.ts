import { vectorSuite } from './vectorSuite.ts'

vectorSuite({ 'post-sim': 72, keys: 20 })
