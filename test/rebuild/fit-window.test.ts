import { expect, test } from 'vitest'
import { estimateTokens } from '../../src/conversation/tokens.ts'
import { fitWindow } from '../../src/rebuild/fit-window.ts'
import { show, talk } from '../support/talk.ts'

const long = 'x'.repeat(400)
const ITEMS = talk`
  system: be brief
  user: one ${long}
  assistant: 1
  user: two ${long}
  call a look
  output a ${long}
  assistant: 2
  user: three
`
const weigh = (items: readonly unknown[]) =>
  items.reduce((sum: number, item) => sum + estimateTokens(item), 0)

test('what fits is the very same list', () => {
  const step = fitWindow({ maxTokens: weigh(ITEMS) }).run(ITEMS)
  expect(step.items).toBe(ITEMS)
  expect(step.notes).toEqual([])
})

test('the oldest rounds go, whole, until the rest fits', () => {
  const { items, notes } = fitWindow({ maxTokens: weigh(ITEMS) - 1 }).run(ITEMS)
  expect(show(items)).not.toContain('user: one')
  expect(show(items)).toContain('user: two')
  expect(notes.map(({ at, why }) => `${at} ${why}`)).toEqual(['1 over-window', '2 over-window'])
})

test('instructions and the newest question stay, whether they fit or not', () => {
  expect(show(fitWindow({ maxTokens: 1 }).run(ITEMS).items)).toBe('system: be brief\nuser: three')
})
