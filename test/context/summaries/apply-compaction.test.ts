import { resolvePolicy } from '../../../src/core/context-policy.ts'
import { expect, test } from 'vitest'
import { createCompactionItem } from '../../../src/core/items/compaction-item.ts'
import type { Item } from '../../../src/core/item.ts'
import { applyCompaction } from '../../../src/context/summaries/apply-compaction.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import type { CompactionReader } from '../../../src/context/summaries/can-read-compaction.ts'
import { show, talk } from '../../support/talk.ts'

const CHAT: CompactionReader = { wire: 'chat', account: 'local', makesCompactions: false }
const OPENAI: CompactionReader = { wire: 'responses', account: 'openai', makesCompactions: true }
const GATEWAY_COMPACTION = createCompactionItem('cmp_1', 'Rome was chosen.')
const UPSTREAM_COMPACTION: Item = {
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

function apply(items: readonly Item[], reader = CHAT): string {
  return show(applyCompaction(reader).run(items).items).replace(/\[Summary.*?\]⏎⏎/, '[Summary] ')
}

test('a gateway compaction replaces the items of the model before it, and other messages stay', () => {
  expect(apply([...BEFORE, GATEWAY_COMPACTION, ...AFTER])).toBe(
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

test('applying a compaction writes a note for each dropped or changed item', () => {
  const { notes } = applyCompaction(CHAT).run([...BEFORE, GATEWAY_COMPACTION, ...AFTER])
  expect(notes.map(({ did, at, why }) => `${did} ${at} ${why}`)).toEqual([
    'dropped 2 compacted',
    'dropped 3 compacted',
    'dropped 4 compacted',
    'dropped 5 compacted',
    'changed 7 compaction-told',
  ])
})

test('only the latest of several compactions is applied', () => {
  const older = createCompactionItem('cmp_0', 'Oslo was dropped.')
  expect(apply([...BEFORE, older, ...AFTER, GATEWAY_COMPACTION])).toBe(
    show(talk`
      developer: be brief
      user: Rome or Oslo?
      user: book it
      user: thanks
      developer: [Summary] Rome was chosen.
    `),
  )
})

test('a compaction that the upstream cannot read is dropped, and the items before it are sent', () => {
  const step = applyCompaction(CHAT).run([...BEFORE, UPSTREAM_COMPACTION, ...AFTER])
  expect(step.items).toEqual([...BEFORE, ...AFTER])
  expect(step.notes).toEqual([{ did: 'dropped', at: 7, why: 'compaction-made-elsewhere' }])
})

test('a compaction is sent unchanged to the upstream that made it', () => {
  const made = { ...UPSTREAM_COMPACTION, origin: { ...OPENAI, model: 'gpt-5', prefixHash: null } }
  for (const item of [UPSTREAM_COMPACTION, made]) {
    const { items } = applyCompaction(OPENAI).run([...BEFORE, item, ...AFTER])
    expect(items[3]).toBe(item)
    expect(items).toHaveLength(6)
  }
  const elsewhere = { ...made, origin: { ...made.origin, account: 'azure' } }
  expect(applyCompaction(OPENAI).run([...BEFORE, elsewhere]).items).toEqual(BEFORE)
})

test('a gateway compaction that the client has changed replaces nothing', () => {
  const broken: Item = {
    type: 'opaque',
    raw: { ...GATEWAY_COMPACTION.raw, encrypted_content: 'backstory:??' },
  }
  const step = applyCompaction(OPENAI).run([...BEFORE, broken])
  expect(step.items).toEqual(BEFORE)
  expect(step.notes[0]?.why).toBe('compaction-unreadable')
})

test('a compaction trigger is sent only to an upstream that makes compactions, and only as the last item', () => {
  const trigger: Item = { type: 'opaque', raw: { type: 'compaction_trigger' } }
  expect(applyCompaction(OPENAI).run([...BEFORE, trigger]).notes).toEqual([])
  expect(applyCompaction(CHAT).run([...BEFORE, trigger]).items).toEqual(BEFORE)
  expect(applyCompaction(OPENAI).run([trigger, ...BEFORE]).items).toEqual(BEFORE)
})

test('applying compactions returns the same list if there is none', () => {
  expect(applyCompaction(CHAT).run(BEFORE).items).toBe(BEFORE)
})

test('no window drops the summary message of a compaction', () => {
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
  const { items } = runTransforms([...BEFORE, GATEWAY_COMPACTION, ...chatter], plan)
  expect(items.length).toBeLessThan(10)
  expect(show(items)).toContain('Rome was chosen.')
})
