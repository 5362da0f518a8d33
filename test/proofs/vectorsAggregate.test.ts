import { vectorSuite } from './vectorSuite.ts'

vectorSuite({ aggregate: 196 })
