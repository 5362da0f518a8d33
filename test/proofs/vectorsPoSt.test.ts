import { vectorSuite } from './vectorSuite.ts'

vectorSuite({ 'winning-2k': 83, 'winning-8m': 74, 'window-2k': 261, 'window-8m': 246, 'post-challenges': 213 })
