import { resolvePolicy } from '../../../src/core/context-policy.ts'
import { expect, test } from 'vitest'
import { createCompactionItem } from '../../../src/core/items/compaction-item.ts'
import type { Item } from '../../../src/core/item.ts'
import { applyCompaction } from '../../../src/context/summaries/apply-compaction.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import type { CompactionSupport } from '../../../src/context/summaries/can-read-compaction.ts'
import { show, talk } from '../../support/talk.ts'

const CHAT: CompactionSupport = { wire: 'chat', account: 'local', compacts: false }
const OPENAI: CompactionSupport = { wire: 'responses', account: 'openai', compacts: true }
const OURS = createCompactionItem('cmp_1', 'Rome was chosen.')
const THEIRS: Item = {
  type: 'opaque',
  raw: { type: 'compaction', id: 'cmp_2', encrypted_content: 'gAAAAABp' },
}
const BEFORE = talk`
  developer: be brief
  user: Rome or Oslo?
  thinks: hm
  call a look
  output a sunny
  assistant: Rome.
  user: book it
`
const AFTER = talk`
  assistant: booked
  user: thanks
`

function shown(items: readonly Item[], reader = CHAT): string {
  return show(applyCompaction(reader).run(items).items).replace(/\[Summary.*?\]⏎⏎/, '[Summary] ')
}

test('ours stands for what the model did before it; what others said stays', () => {
  expect(shown([...BEFORE, OURS, ...AFTER])).toBe(
    show(talk`
      developer: be brief
      user: Rome or Oslo?
      user: book it
      developer: [Summary] Rome was chosen.
      assistant: booked
      user: thanks
    `),
  )
})

test('whatever is left out or changed has a note', () => {
  const { notes } = applyCompaction(CHAT).run([...BEFORE, OURS, ...AFTER])
  expect(notes.map(({ did, at, why }) => `${did} ${at} ${why}`)).toEqual([
    'dropped 2 compacted',
    'dropped 3 compacted',
    'dropped 4 compacted',
    'dropped 5 compacted',
    'changed 7 compaction-told',
  ])
})

test('of several the newest counts', () => {
  const older = createCompactionItem('cmp_0', 'Oslo was dropped.')
  expect(shown([...BEFORE, older, ...AFTER, OURS])).toBe(
    show(talk`
      developer: be brief
      user: Rome or Oslo?
      user: book it
      user: thanks
      developer: [Summary] Rome was chosen.
    `),
  )
})

test('one that is for others to read is left out, and all that was before it is sent', () => {
  const step = applyCompaction(CHAT).run([...BEFORE, THEIRS, ...AFTER])
  expect(step.items).toEqual([...BEFORE, ...AFTER])
  expect(step.notes).toEqual([{ did: 'dropped', at: 7, why: 'compaction-made-elsewhere' }])
})

test('who made it gets it back as it was', () => {
  const made = { ...THEIRS, origin: { ...OPENAI, model: 'gpt-5', prefixHash: null } }
  for (const item of [THEIRS, made]) {
    const { items } = applyCompaction(OPENAI).run([...BEFORE, item, ...AFTER])
    expect(items[3]).toBe(item)
    expect(items).toHaveLength(6)
  }
  const elsewhere = { ...made, origin: { ...made.origin, account: 'azure' } }
  expect(applyCompaction(OPENAI).run([...BEFORE, elsewhere]).items).toEqual(BEFORE)
})

test('one of ours that was tampered with stands for nothing', () => {
  const broken: Item = { type: 'opaque', raw: { ...OURS.raw, encrypted_content: 'backstory:??' } }
  const step = applyCompaction(OPENAI).run([...BEFORE, broken])
  expect(step.items).toEqual(BEFORE)
  expect(step.notes[0]?.why).toBe('compaction-unreadable')
})

test('a trigger reaches only who compacts by itself, and only as the last word', () => {
  const trigger: Item = { type: 'opaque', raw: { type: 'compaction_trigger' } }
  expect(applyCompaction(OPENAI).run([...BEFORE, trigger]).notes).toEqual([])
  expect(applyCompaction(CHAT).run([...BEFORE, trigger]).items).toEqual(BEFORE)
  expect(applyCompaction(OPENAI).run([trigger, ...BEFORE]).items).toEqual(BEFORE)
})

test('a conversation without one is the very same list', () => {
  expect(applyCompaction(CHAT).run(BEFORE).items).toBe(BEFORE)
})

test('no window cuts the summary away', () => {
  const chatter = Array.from({ length: 20 }).flatMap((_, at) => [
    ...talk`
      user: ${String(at)}
      assistant: ok
    `,
  ])
  const plan = listTransforms({
    policy: resolvePolicy([{ policy: 'replay', window: { items: 4 } }]),
    reader: CHAT,
  })
  const { items } = runTransforms([...BEFORE, OURS, ...chatter], plan)
  expect(items.length).toBeLessThan(10)
  expect(show(items)).toContain('Rome was chosen.')
})
