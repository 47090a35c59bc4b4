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
])('does not replay an item that describes a past state: %s (C11)', (type) => {
  expect(isNonReplayableItem(hosted(type))).toBe(true)
})

test.each(['web_search_call', 'file_search_call'])(
  'replays an OpenAI search, which OpenAI requires together with its reasoning: %s (C11)',
  (type) => {
    expect(isNonReplayableItem(hosted(type))).toBe(false)
  },
)

test('replays items that are not hosted tools', () => {
  const items = talk`
    user: Look.
    call a image_generation_call
    output a fog
    shell c ls
    assistant: Fog.
  `
  expect(items.filter(isNonReplayableItem)).toEqual([])
})
