/** Followers that were cut off for more than a finality; the other ways of being away: `node test/network/farBehind.ts`. */
import { it } from 'vitest'
import { farBehind } from './farBehind.ts'

/** One more than elections look back. */
const EPOCHS = 901

it('followers that were cut off for more than a finality reach the head by themselves', async () => {
  await farBehind(EPOCHS, 'cut off')
}, 1_200_000)
