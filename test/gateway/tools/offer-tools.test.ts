import { describe, expect, test } from 'vitest'
import type { Item } from '../../../src/core/item.ts'
import { PRESETS, type ContextPolicy } from '../../../src/core/context-policy.ts'
import type { FunctionTool, PromptParameters } from '../../../src/core/prompt.ts'
import { offerTools } from '../../../src/gateway/tools/offer-tools.ts'
import { NO_PARAMS } from '../../support/empty-parameters.ts'

const { capped, retain } = PRESETS
const VIEW_MEDIA_POLICY: ContextPolicy = { ...retain, media: { ...retain.media, view: true } }
const QUESTION: Item = {
  type: 'message',
  role: 'user',
  content: [{ type: 'input_text', text: 'Go.' }],
}
const OUTPUT: Item = { type: 'function_call_output', call_id: 'a', output: 'short' }
const IMAGE: Item = {
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

function offer(
  policy: ContextPolicy,
  items: readonly Item[],
  more: Partial<PromptParameters> = {},
  isTask = false,
) {
  const params: PromptParameters = { ...NO_PARAMS, ...more }
  const visibleKinds = new Set(['image' as const])
  const { tools, ...rest } = offerTools({
    policy,
    items,
    clientParams: params,
    visibleMediaKinds: visibleKinds,
    isTask,
  })
  return { ...rest, original: params, names: tools.map(({ tool }) => tool.name) }
}

describe('requests in which expand_output is offered', () => {
  test('expand_output is offered from the first request on if the client has tools', () => {
    const { names, params } = offer(capped, [QUESTION], { tools: [LOOK] })
    expect(names).toEqual(['expand_output'])
    expect(params.tools.map((tool) => 'name' in tool && tool.name)).toEqual([
      'look',
      'expand_output',
    ])
  })

  test('expand_output is offered from the first tool output on if the client has no tools', () => {
    expect(offer(capped, [QUESTION]).names).toEqual([])
    expect(offer(capped, [QUESTION, OUTPUT]).names).toEqual(['expand_output'])
  })

  test('expand_output has the same definition in every request of a conversation', () => {
    const first = offer(capped, [QUESTION], { tools: [LOOK] }).params.tools
    const later = offer(capped, [QUESTION, OUTPUT, IMAGE], { tools: [LOOK] }).params.tools
    expect(later).toEqual(first)
  })
})

test('view_media is offered from the first media item on', () => {
  expect(offer(VIEW_MEDIA_POLICY, [QUESTION]).names).toEqual([])
  expect(offer(VIEW_MEDIA_POLICY, [QUESTION, IMAGE]).names).toEqual(['view_media'])
})

test('C79: view_media is not offered to a model that accepts none of the media', () => {
  const request = {
    policy: VIEW_MEDIA_POLICY,
    items: [IMAGE],
    clientParams: NO_PARAMS,
    isTask: false,
  }
  const { tools, policy } = offerTools({
    ...request,
    visibleMediaKinds: new Set(['file' as const]),
  })
  expect(tools).toEqual([])
  expect(policy.media.view).toBe(false)
})

interface RequestWithoutOffer {
  readonly why: string
  readonly more: Partial<PromptParameters>
  readonly isTask?: boolean
}

const REQUESTS_WITHOUT_OFFER: readonly RequestWithoutOffer[] = [
  { why: 'if several answers are requested', more: { tools: [LOOK], extra: { n: 2 } } },
  { why: 'for JSON output without client tools', more: { format: { type: 'json_object' } } },
  {
    why: 'if a tool call is required but the client has no tools',
    more: { toolChoice: { type: 'required' } },
  },
  { why: 'in a task request', more: { tools: [LOOK] }, isTask: true },
]

test.each(REQUESTS_WITHOUT_OFFER)('offerTools offers no gateway tool $why', ({ more, isTask }) => {
  const { names, params, original, policy, notes } = offer(capped, [OUTPUT], more, isTask)
  expect(names).toEqual([])
  expect(params).toBe(original)
  expect(policy.outputs.expand).toBe(false)
  expect(notes).toEqual([])
})

test('a request is returned unchanged if the policy offers no tool', () => {
  const { params, original, policy } = offer(retain, [OUTPUT, IMAGE], { tools: [LOOK] })
  expect(params).toBe(original)
  expect(policy).toBe(retain)
})

test('a gateway tool is not offered if a client tool has its name, and no notice in the prompt then mentions it', () => {
  const clientTool = { ...LOOK, name: 'expand_output' }
  const { names, params, original, policy, notes } = offer(capped, [OUTPUT], {
    tools: [clientTool],
  })
  expect(names).toEqual([])
  expect(params).toBe(original)
  expect(policy.outputs.expand).toBe(false)
  expect(notes).toMatchObject([{ did: 'changed', why: 'house-tool-withheld' }])
})

test.each<PromptParameters['toolChoice'] & object>([
  { type: 'none' },
  { type: 'auto' },
  { type: 'required' },
  { type: 'function', name: 'look' },
])(
  'the tool choice $type of a client with tools does not change which gateway tools are offered',
  (toolChoice) => {
    const { names, params } = offer(capped, [QUESTION], { tools: [LOOK], toolChoice })
    expect(names).toEqual(['expand_output'])
    expect(params.toolChoice).toBe(toolChoice)
  },
)

test('if the client lists allowed tools, the gateway tools are added to its list', () => {
  const toolChoice = { type: 'allowed' as const, mode: 'auto' as const, names: ['look'] }
  const { params } = offer(capped, [QUESTION], { tools: [LOOK], toolChoice })
  expect(params.toolChoice).toEqual({ ...toolChoice, names: ['look', 'expand_output'] })
})
