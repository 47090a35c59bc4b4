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
])('a recorded item of type %s is never sent to a model again (C11)', (type) => {
  expect(isNonReplayableItem(hosted(type))).toBe(true)
})

test.each(['web_search_call', 'file_search_call'])(
  'a recorded %s is sent again, because OpenAI requires it with its reasoning (C11)',
  (type) => {
    expect(isNonReplayableItem(hosted(type))).toBe(false)
  },
)

test("recorded messages, reasoning and calls of the client's tools are sent to a model again", () => {
  const items = talk`
    user: Look.
    call a image_generation_call
    output a fog
    shell c ls
    assistant: Fog.
  `
  expect(items.filter(isNonReplayableItem)).toEqual([])
})
