/** Codes of actors before there were manifests. */
import { expect, it } from 'vitest'
import { legacyActors } from '../../src/state/manifest.ts'

it('names the codes that Lotus names for versions without a manifest', () => {
  // Filecoin.StateActorCodeCIDs of Lotus v1.36 for network versions 4 and 1.
  expect(Object.fromEntries([...legacyActors(2)].map(([name, code]) => [name, String(code)]))).toEqual({
    account: 'bafkqadlgnfwc6mrpmfrwg33vnz2a',
    cron: 'bafkqactgnfwc6mrpmnzg63q',
    init: 'bafkqactgnfwc6mrpnfxgs5a',
    multisig: 'bafkqadtgnfwc6mrpnv2wy5djonuwo',
    paymentchannel: 'bafkqafdgnfwc6mrpobqxs3lfnz2gg2dbnzxgk3a',
    reward: 'bafkqaddgnfwc6mrpojsxoylsmq',
    storagemarket: 'bafkqae3gnfwc6mrpon2g64tbm5sw2ylsnnsxi',
    storageminer: 'bafkqaetgnfwc6mrpon2g64tbm5sw22lomvza',
    storagepower: 'bafkqaetgnfwc6mrpon2g64tbm5sxa33xmvza',
    system: 'bafkqaddgnfwc6mrpon4xg5dfnu',
    verifiedregistry: 'bafkqaftgnfwc6mrpozsxe2lgnfswi4tfm5uxg5dspe',
  })
  expect(String(legacyActors(0).get('account'))).toBe('bafkqadlgnfwc6mjpmfrwg33vnz2a')
})
