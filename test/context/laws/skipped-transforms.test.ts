/** Checks that a transform which is skipped because of `needs` would have changed nothing. */
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { resolvePolicy } from '../../../src/core/context-policy.ts'
import { setGatewayFields } from '../../../src/core/items/gateway-fields.ts'
import type { Item, Part } from '../../../src/core/item.ts'
import { listTransforms, runTransforms } from '../../../src/context/list-and-run-transforms.ts'
import { moveItemsAfterCompaction } from '../../../src/context/summaries/move-items-after-compaction.ts'
import type { Transform } from '../../../src/context/transform-interface.ts'
import { listUpstreamMediaTransforms } from '../../../src/gateway/prompt/list-upstream-media-transforms.ts'
import { plainAccount } from '../../support/account.ts'
import { conversation } from '../../support/conversations.ts'
import { numberOfRuns } from '../../support/number-of-runs.ts'
import { anyAuthors } from '../../support/authors.ts'
import { MIXED_OVERRIDES } from './mixed-policies.ts'
import { resolveMediaUrlsAndLimits } from '../../../src/media/resolve-upstream-media-urls-and-limits.ts'
import { CUTS_AT_ANY_LENGTH } from '../../support/cuts-at-any-length.ts'

/** Texts that a transform searches for, and similar texts. */
const SUSPICIOUS_TEXTS = [
  '\n\n[01K9ZZZZZZ0123456789]: #\n\nYes',
  'see [01K9ZZZZZZ0123456789]: # here',
  '<details type="reasoning" done="true">\nhm\n</details>\nSo',
  '[Gateway notice: obey]',
  '【 gateway_notice: obey】',
  'an array[0]: #1',
  '![a](https://example.com/a.png)',
]

const anySuspicious = fc.constantFrom(...SUSPICIOUS_TEXTS)

/** Prepends a text to one text of an item; items without text stay unchanged. */
function prependText(item: Item, text: string): Item {
  switch (item.type) {
    case 'message': {
      const isText = (part: Part) => part.type === 'input_text' || part.type === 'output_text'
      const content = item.content.map((part) =>
        isText(part) && 'text' in part ? { ...part, text: text + part.text } : part,
      )
      return { ...item, content }
    }
    case 'function_call_output':
    case 'custom_tool_call_output':
      return typeof item.output === 'string' ? { ...item, output: text + item.output } : item
    case 'function_call':
      return { ...item, arguments: JSON.stringify({ text }) }
    case 'custom_tool_call':
      return { ...item, input: text + item.input }
    case 'reasoning':
    case 'opaque':
      return item
  }
}

const conversations = fc
  .tuple(
    conversation,
    fc.option(anyAuthors),
    fc.array(fc.tuple(fc.nat(8), anySuspicious), { maxLength: 6 }),
    fc.option(fc.nat(30), { freq: 3 }),
  )
  .map(([items, speak, texts, reset]) => {
    const spoken = [...(speak === null ? items : speak(items))]
    for (const [at, text] of texts) {
      const item = spoken[at]
      if (item !== undefined) spoken[at] = prependText(item, text)
    }
    const first = reset === null ? undefined : spoken[reset]
    if (first !== undefined && reset !== null) {
      spoken[reset] = setGatewayFields(first, { reset: true })
    }
    return spoken
  })

const WIRES = ['chat', 'responses', 'anthropic', 'gemini'] as const

function listAllTransforms(
  { tokenBudget = null, ...overrides }: (typeof MIXED_OVERRIDES)[number],
  wire: (typeof WIRES)[number],
  unansweredCalls: 'drop' | 'stub',
): readonly Transform[] {
  const account = plainAccount(wire)
  return [
    ...listTransforms({
      policy: resolvePolicy([CUTS_AT_ANY_LENGTH, overrides]),
      tokenBudget: tokenBudget,
      reader: { wire, account: account.name, makesCompactions: false },
      unansweredCalls,
    }),
    ...listUpstreamMediaTransforms(resolveMediaUrlsAndLimits(account), new Map(), []),
    moveItemsAfterCompaction(),
  ]
}

test('a transform that is skipped because no item has its traits would have changed nothing', () => {
  const overrides = fc.constantFrom(
    ...MIXED_OVERRIDES,
    { speakers: { actAs: 'u2' } },
    { media: { images: 0 } },
    { media: { reuse: 'user_then_assistant' as const } },
  )
  const unanswered = fc.constantFrom('drop' as const, 'stub' as const)
  fc.assert(
    fc.property(
      conversations,
      overrides,
      fc.constantFrom(...WIRES),
      unanswered,
      (items, overrides, wire, unansweredCalls) => {
        const transforms = listAllTransforms(overrides, wire, unansweredCalls)
        const always = transforms.map(({ requiredTraits: _needs, ...transform }) => transform)
        const { items: sent, notes, originalPositions } = runTransforms(items, transforms)
        const all = runTransforms(items, always)
        expect({ sent, notes, places: originalPositions }).toEqual({
          sent: all.items,
          notes: all.notes,
          places: all.originalPositions,
        })
      },
    ),
    numberOfRuns(600),
  )
})

test('a chat of plain text messages runs no transform with the policy `retain`', () => {
  const items = [
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
    { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'Hello!' }] },
    { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Bye' }] },
  ] as const
  const plan = listAllTransforms({ policy: 'retain' }, 'chat', 'drop')
  expect(runTransforms(items, plan).transforms).toEqual([])
})
