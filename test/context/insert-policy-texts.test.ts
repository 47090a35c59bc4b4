import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Item } from '../../src/core/item.ts'
import type { PolicyText } from '../../src/core/context-policy.ts'
import { countItemsBeforeFirstRound } from '../../src/core/items/rounds-and-pinned-items.ts'
import { insertPolicyTexts } from '../../src/context/insert-policy-texts.ts'
import { grown, tidyConversation } from '../support/conversations.ts'
import {
  expectIdempotent,
  expectValidForProviders,
  expectPure,
  expectUnchangedPrefix,
} from '../support/laws.ts'
import { show, talk } from '../support/talk.ts'

const note = (depth: number, text = 'note', role: PolicyText['role'] = 'developer') => ({
  text,
  depth,
  role,
})
const insertTexts = (items: readonly Item[], ...entries: readonly PolicyText[]): string =>
  show(insertPolicyTexts(entries).run(items).items)

const CHAT = talk`
  system: be brief
  user: one
  assistant: 1
  user: two
`

describe('position of a policy text (C68)', () => {
  test.each([
    [0, 'system: be brief\nuser: one\nassistant: 1\nuser: two\ndeveloper: note'],
    [1, 'system: be brief\nuser: one\nassistant: 1\ndeveloper: note\nuser: two'],
    [2, 'system: be brief\nuser: one\ndeveloper: note\nassistant: 1\nuser: two'],
    [3, 'system: be brief\ndeveloper: note\nuser: one\nassistant: 1\nuser: two'],
    [99, 'system: be brief\ndeveloper: note\nuser: one\nassistant: 1\nuser: two'],
  ])(
    'a policy text with depth %i has that many messages after it, or all messages if the conversation has fewer',
    (depth, expected) => {
      expect(insertTexts(CHAT, note(depth))).toBe(expected)
    },
  )

  test('inserting a policy text writes an `added` note', () => {
    expect(insertPolicyTexts([note(0)]).run(CHAT).notes).toEqual([
      { did: 'added', why: 'context-note' },
    ])
  })

  test('a policy text never separates a call from its output, or reasoning from the item that it led to', () => {
    const items = talk`
      user: look
      sealed: a
      assistant: I am looking
      call a
      call b
      output b
      output a
      assistant: here
      user: thanks
    `
    expect(insertTexts(items, note(2), note(3))).toBe(
      show(talk`
        user: look
        developer: note
        sealed: a
        assistant: I am looking
        call a
        call b
        output b
        output a
        developer: note
        assistant: here
        user: thanks
      `),
    )
  })

  test('a policy text stays before calls that still wait for their outputs', () => {
    expect(insertTexts(talk`call a`, note(0))).toBe('developer: note\ncall a')
    expect(insertTexts(talk`user: look`.concat(talk`call a`), note(0))).toBe(
      'user: look\ndeveloper: note\ncall a',
    )
  })

  test('a text that the policy inserts keeps its position during tool rounds', () => {
    const asked = talk`
      user: one
      assistant: 1
      user: look
    `
    const working = [
      ...asked,
      ...talk`
        sealed: a
        assistant: I am looking
        call a
        output a
      `,
    ]
    for (const depth of [0, 1, 2, 5]) {
      const { run } = insertPolicyTexts([note(depth)])
      expectUnchangedPrefix(run(asked).items, run(working).items)
    }
  })

  test('a policy text is inserted even if the list is empty or has only instructions', () => {
    expect(insertTexts(talk`system: be brief`, note(3))).toBe('system: be brief\ndeveloper: note')
    expect(insertTexts([], note(0))).toBe('developer: note')
  })
})

test('several policy texts at one position keep their order in the policy (C69)', () => {
  const entries = [note(0, 'operator'), note(1, 'key'), note(0, 'request', 'user')]
  expect(insertTexts(CHAT, ...entries)).toBe(
    'system: be brief\nuser: one\nassistant: 1\ndeveloper: key\nuser: two\ndeveloper: operator\nuser: request',
  )
})

test('a policy text is a message of its own, not appended to another text (C82)', () => {
  const { items } = insertPolicyTexts([note(1)]).run(CHAT)
  expect(CHAT.every((item) => items.includes(item))).toBe(true)
})

const notes = fc.array(
  fc.record({
    text: fc.constantFrom('a', 'b'),
    depth: fc.constantFrom(0, 1, 2, 3, 5, 50),
    role: fc.constant('developer' as const),
  }),
  { minLength: 1, maxLength: 3 },
)

test('in any conversation each policy text comes once and separates no items that belong together', () => {
  fc.assert(
    fc.property(tidyConversation, notes, (items, entries) => {
      const { run } = insertPolicyTexts(entries)
      expectPure(run, items)
      expectIdempotent(run, items)
      const { items: sent } = run(items)
      expectValidForProviders(sent)
      expect(sent.filter((item) => items.includes(item))).toEqual(items)
      expect(sent).toHaveLength(items.length + entries.length)
      expectUnchangedPrefix(items.slice(0, countItemsBeforeFirstRound(items)), sent)
    }),
    { numRuns: 150 },
  )
})

test('when the conversation grows, the items before the first policy text are sent unchanged', () => {
  fc.assert(
    fc.property(grown, notes, ([before, after], entries) => {
      const { run } = insertPolicyTexts(entries)
      const { items: sent } = run(before)
      const first = sent.findIndex((item) => !before.includes(item))
      expectUnchangedPrefix(sent.slice(0, first), run(after).items)
    }),
    { numRuns: 150 },
  )
})
