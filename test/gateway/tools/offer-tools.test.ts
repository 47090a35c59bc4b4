import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { PRESETS, type ContextPolicy } from '../../../src/core/context-policy.ts'
import type { FunctionTool, PromptParameters } from '../../../src/core/prompt.ts'
import { offerTools } from '../../../src/gateway/tools/offer-tools.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'

const { capped, retain } = PRESETS
const SEEING: ContextPolicy = { ...retain, media: { ...retain.media, view: true } }
const QUESTION: Item = {
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: 'Go.' }],
}
const OUTPUT: Item = { type: 'function_call_output', call_id: 'a', output: 'short' }
const PICTURE: Item = {
  type: 'message',
  role: 'user',
  content: [{ type: 'input_image', image_url: 'https://example.com/a.png' }],
}
const LOOK: FunctionTool = {
  type: 'function',
  name: 'look',
  description: null,
  parameters: null,
  strict: false,
}

function offered(
  policy: ContextPolicy,
  items: readonly Item[],
  more: Partial<PromptParameters> = {},
  isTask = false,
) {
  const params: PromptParameters = { ...NO_PARAMS, ...more }
  const sees = new Set(['image' as const])
  const { tools, ...rest } = offerTools({ policy, items, params, sees, isTask })
  return { ...rest, given: params, names: tools.map(({ tool }) => tool.name) }
}

describe('expand_output is offered', () => {
  test('from the first request on to who has tools, before anything is cut', () => {
    const { names, params } = offered(capped, [QUESTION], { tools: [LOOK] })
    expect(names).toEqual(['expand_output'])
    expect(params.tools.map((tool) => 'name' in tool && tool.name)).toEqual([
      'look',
      'expand_output',
    ])
  })

  test('from the first output on to who has none', () => {
    expect(offered(capped, [QUESTION]).names).toEqual([])
    expect(offered(capped, [QUESTION, OUTPUT]).names).toEqual(['expand_output'])
  })

  test('under the same name and in the same words, whatever the conversation', () => {
    const first = offered(capped, [QUESTION], { tools: [LOOK] }).params.tools
    const later = offered(capped, [QUESTION, OUTPUT, PICTURE], { tools: [LOOK] }).params.tools
    expect(later).toEqual(first)
  })
})

test('view_media is offered from the first medium on', () => {
  expect(offered(SEEING, [QUESTION]).names).toEqual([])
  expect(offered(SEEING, [QUESTION, PICTURE]).names).toEqual(['view_media'])
})

test('C79 view_media is not offered to a model that is blind to all there is', () => {
  const asking = { policy: SEEING, items: [PICTURE], params: NO_PARAMS, isTask: false }
  const { tools, policy } = offerTools({ ...asking, sees: new Set(['file' as const]) })
  expect(tools).toEqual([])
  expect(policy.media.view).toBe(false)
})

interface Withheld {
  readonly why: string
  readonly more: Partial<PromptParameters>
  readonly isTask?: boolean
}

const WITHHELD: readonly Withheld[] = [
  { why: 'of several answers', more: { tools: [LOOK], extra: { n: 2 } } },
  { why: 'for JSON without tools', more: { format: { type: 'json_object' } } },
  { why: 'where a call is demanded of nothing', more: { toolChoice: { type: 'required' } } },
  { why: 'in housekeeping', more: { tools: [LOOK] }, isTask: true },
]

test.each(WITHHELD)('nothing is offered $why', ({ more, isTask }) => {
  const { names, params, given, policy, notes } = offered(capped, [OUTPUT], more, isTask)
  expect(names).toEqual([])
  expect(params).toBe(given)
  expect(policy.outputs.expand).toBe(false)
  expect(notes).toEqual([])
})

test('what the policy does not ask for costs nothing', () => {
  const { params, given, policy } = offered(retain, [OUTPUT, PICTURE], { tools: [LOOK] })
  expect(params).toBe(given)
  expect(policy).toBe(retain)
})

test('a tool of the client goes before one of the same name, and nobody is told to use ours', () => {
  const own = { ...LOOK, name: 'expand_output' }
  const { names, params, given, policy, notes } = offered(capped, [OUTPUT], { tools: [own] })
  expect(names).toEqual([])
  expect(params).toBe(given)
  expect(policy.outputs.expand).toBe(false)
  expect(notes).toMatchObject([{ did: 'changed', why: 'house-tool-withheld' }])
})

test.each<PromptParameters['toolChoice'] & object>([
  { type: 'none' },
  { type: 'auto' },
  { type: 'required' },
  { type: 'function', name: 'look' },
])('the list stays the same where the choice is $type', (toolChoice) => {
  const { names, params } = offered(capped, [QUESTION], { tools: [LOOK], toolChoice })
  expect(names).toEqual(['expand_output'])
  expect(params.toolChoice).toBe(toolChoice)
})

test('who allows some of the own tools does not mean ours', () => {
  const toolChoice = { type: 'allowed' as const, mode: 'auto' as const, names: ['look'] }
  const { params } = offered(capped, [QUESTION], { tools: [LOOK], toolChoice })
  expect(params.toolChoice).toEqual({ ...toolChoice, names: ['look', 'expand_output'] })
})
