/** Output of `sync` in Lotus' layout (cli/sync.go). */
import { describe, expect, it } from 'vitest'
import type { Json } from '../../../src/codec/jsonText.ts'
import { cid, commandLine, tipset } from './commandLine.ts'

const BLOCK = 'bafy2bzacecmda75ovposbdateg7eyhwij65zklgyijgcjwynlklmqazpwlhba'
const OTHER_BLOCK = 'bafy2bzacedswlcz5ddgqnyo3sak3jmhmkxashisnlpq6ujgyhe4mlobzpnhs6'

const { run, answer, lastOf } = commandLine()

describe('sync', () => {
  const worker = (stage: number, extra: { [key: string]: Json } = {}): Json => ({
    WorkerID: 3,
    Base: tipset(90),
    Target: tipset(100),
    Stage: stage,
    Height: 95,
    Start: '2023-11-14T22:12:16.5Z',
    End: '0001-01-01T00:00:00Z',
    Message: '',
    ...extra,
  })

  it('status', async () => {
    answer({ SyncState: { ActiveSyncs: [worker(3)], VMApplied: 0 } })
    expect((await run(['sync', 'status'])).out).toBe(
      'sync status:\nworker 3:\n\tBase:\t[bafy90]\n\tTarget:\t[bafy100] (100)\n\tHeight diff:\t10\n' +
        '\tStage: message sync\n\tHeight: 95\n\tElapsed: 1m3.5s\n',
    )
    answer({
      SyncState: {
        ActiveSyncs: [worker(5, { Base: null, Target: null, Start: '0001-01-01T00:00:00Z', Message: 'no peers' })],
        VMApplied: 0,
      },
    })
    expect((await run(['sync', 'status'])).out).toBe(
      'sync status:\nworker 3:\n\tBase:\t[]\n\tTarget:\t[] (0)\n\tHeight diff:\t0\n\tStage: error\n\tHeight: 95\n\tError: no peers\n',
    )
    answer({
      SyncState: {
        ActiveSyncs: [worker(0, { Start: '0001-01-01T00:00:00Z', Message: 'waits for heads of 4 peers, has 1' })],
        VMApplied: 0,
      },
    })
    expect((await run(['sync', 'status'])).out).toContain(
      '\tStage: idle\n\tHeight: 95\n\tWaits for heads of 4 peers, has 1 (daemon --sync-peers)\n',
    )
    answer({ SyncState: { ActiveSyncs: null, VMApplied: 0 } })
    expect((await run(['sync', 'status'])).out).toBe('sync status:\n')
  })

  it('bad blocks: marked, asked for, unmarked', async () => {
    answer({
      SyncMarkBad: null,
      SyncUnmarkBad: null,
      SyncUnmarkAllBad: null,
      SyncCheckBad: (given) => ((given as { '/': string })['/'] === BLOCK ? 'manually marked bad' : ''),
    })
    expect(await run(['sync', 'mark-bad', BLOCK])).toMatchObject({ code: 0, out: '' })
    expect(lastOf('SyncMarkBad')?.params).toEqual([cid(BLOCK)])
    expect((await run(['sync', 'check-bad', BLOCK])).out).toBe('manually marked bad\n')
    expect((await run(['sync', 'check-bad', OTHER_BLOCK])).out).toBe('block was not marked as bad\n')
    expect(await run(['sync', 'unmark-bad', BLOCK])).toMatchObject({ code: 0, out: '' })
    expect(lastOf('SyncUnmarkBad')?.params).toEqual([cid(BLOCK)])
    expect(await run(['sync', 'unmark-bad', '--all'])).toMatchObject({ code: 0, out: '' })
    expect(lastOf('SyncUnmarkAllBad')?.params).toEqual([])
    expect(await run(['sync', 'check-bad'])).toMatchObject({
      code: 2,
      err: 'ERROR: must specify block cid to check\n',
    })
    expect((await run(['sync', 'mark-bad', 'nothing'])).err).toContain('ERROR: failed to decode input as a cid: ')
  })

  it('checkpoint: by CIDs or by epoch', async () => {
    answer({ SyncCheckpoint: null, ChainGetTipSetByHeight: (height) => tipset(Number(height)) })
    expect(await run(['sync', 'checkpoint', BLOCK, OTHER_BLOCK])).toMatchObject({ code: 0, out: '' })
    expect(lastOf('SyncCheckpoint')?.params).toEqual([[cid(BLOCK), cid(OTHER_BLOCK)]])
    expect(await run(['sync', 'checkpoint', '--epoch', '77'])).toMatchObject({ code: 0, out: '' })
    expect(lastOf('SyncCheckpoint')?.params).toEqual([[cid('bafy77')]])
    expect((await run(['sync', 'checkpoint'])).err).toBe(
      'ERROR: must pass cids for tipset to set as head, or specify epoch flag\n',
    )
  })

  it('wait redraws until the head is recent', async () => {
    let asked = 0
    answer({
      SyncState: () => ({ ActiveSyncs: [worker(asked < 2 ? 3 : 4)], VMApplied: 10 * asked }),
      ChainHead: () => tipset(asked++ < 2 ? 50 : 100),
    })
    const ran = await run(['sync', 'wait'], { isTty: true })
    expect(ran.code).toBe(0)
    expect(ran.out).toContain('Worker: 3; Base: 90; Target: 100 (diff: 10)\n')
    expect(ran.out).toContain('State: message sync; Current Epoch: 95; Todo: 5, ETA: \n')
    expect(ran.out).toContain('Validated 10 messages (40 per second)\n')
    expect(ran.out).toContain('\r\u001b[2K\u001b[A')
    expect(ran.out.endsWith('\nDone!\n')).toBe(true)
  })

  it('wait writes plain lines where nobody looks', async () => {
    let asked = 0
    answer({
      SyncState: () => ({ ActiveSyncs: [worker(asked < 2 ? 3 : 4)], VMApplied: 10 * asked }),
      ChainHead: () => tipset(asked++ < 2 ? 50 : 100),
    })
    const { out } = await run(['sync', 'wait'])
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what must not be there
    expect(out).not.toMatch(/[\u0000-\u0009\u000b-\u001f]/)
    expect(out).toContain('State: message sync; Current Epoch: 95; Todo: 5, ETA: \n')
    expect(out.endsWith('\nDone!\n')).toBe(true)
  })

  it('wait ends with Ctrl-C', async () => {
    answer({ SyncState: { ActiveSyncs: [worker(3)], VMApplied: 0 }, ChainHead: tipset(1) })
    const controller = new AbortController()
    const onSleep = (): void => controller.abort()
    const ran = await run(['sync', 'wait', '--watch'], { signal: controller.signal, onSleep })
    expect(ran).toMatchObject({ code: 0, err: '' })
    expect(ran.out.endsWith('\nExit by user\n')).toBe(true)
  })
})
