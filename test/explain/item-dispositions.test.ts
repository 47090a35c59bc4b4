import { expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import {
  deriveItemDispositions,
  type DispositionInput,
} from '../../src/explain/item-dispositions.ts'
import { listTransforms, runTransforms } from '../../src/context/list-and-run-transforms.ts'
import { PRESETS } from '../../src/core/context-policy.ts'
import { talk } from '../support/talk.ts'
import { LEAN, LONG } from './long-output.ts'

function fates(
  items: readonly Item[],
  policy = PRESETS.replay,
  more: Partial<DispositionInput> = {},
) {
  const rebuilt = runTransforms(items, listTransforms({ policy, reader: null }))
  const { items: sent, originalPositions, notes } = rebuilt
  return deriveItemDispositions({
    items,
    historyCount: 0,
    sentItems: sent,
    originalPositions: originalPositions,
    notes,
    wire: 'responses',
    ...more,
  })
}

test('every item has a disposition, in the order of the items (C36)', () => {
  expect(
    fates(talk`
    output x lost
    user: hello
    assistant: hi
  `).map(({ place, fate, notes = [] }) => [place, fate, ...notes.map(({ why }) => why)]),
  ).toEqual([
    [0, 'dropped', 'output-without-call'],
    [1, 'sent'],
    [2, 'sent'],
  ])
})

test('the disposition of a shortened item is `changed`, with the transform and the size as sent', () => {
  const [whole, short] = [fates(LONG)[2], fates(LONG, LEAN)[2]]
  expect(short).toMatchObject({ fate: 'changed', preview: whole?.preview })
  expect(short?.notes).toMatchObject([{ why: 'output-too-old', by: 'shorten-tool-outputs' }])
  expect(short?.bytes).toBeLessThan(whole?.bytes ?? 0)
})

test('the disposition of an item says whether it came from the history, recall or the request', () => {
  const recalled = { did: 'added', why: 'recalled', at: 1 } as const
  const told = fates(LONG, PRESETS.replay, { historyCount: 1, notes: [recalled] })
  expect(told.map(({ from }) => from)).toEqual([
    'memory',
    'memory',
    'request',
    'request',
    'request',
  ])
  expect(told[1]?.fate).toBe('added')
})

test('the preview of an item in an explanation is one line of at most 80 characters', () => {
  for (const { preview } of fates(LONG)) {
    expect(Array.from(preview).length).toBeLessThanOrEqual(80)
    expect(preview).not.toContain('\n')
  }
})
