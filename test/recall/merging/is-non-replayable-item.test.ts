import { expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { isNonReplayableItem } from '../../../src/recall/merging/is-non-replayable-item.ts'
import { talk } from '../../support/talk.ts'

const hosted = (type: string): Item => ({ type: 'opaque', raw: { type } })

test.each([
  'image_generation_call',
  'local_shell_call',
  'openrouter:image_generation',
  'openrouter:web_search',
  'openrouter:web_fetch',
  'openrouter:datetime',
])('what is over with its answer is not told again: %s (C11)', (type) => {
  expect(isNonReplayableItem(hosted(type))).toBe(true)
})

test.each(['web_search_call', 'file_search_call'])(
  'a search of OpenAI, which it refuses to be parted from its reasoning, is: %s (C11)',
  (type) => {
    expect(isNonReplayableItem(hosted(type))).toBe(false)
  },
)

test('what is no tool of a provider is, too', () => {
  const items = talk`
    user: Look.
    call a image_generation_call
    output a fog
    shell c ls
    assistant: Fog.
  `
  expect(items.filter(isNonReplayableItem)).toEqual([])
})
