/**
 * Rejects a request that exceeds the context window, if the operator has configured the window and the policy does
 * not say `send`. The error message lists what fills the window, or says how the request can be shortened.
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { isToolOutput, type Item } from '../../../core/item.ts'
import { isItemOfAnswer } from '../../../core/items/is-item-of-answer.ts'
import { listContentParts } from '../../../core/media/media-handles.ts'
import { countMinTextTokens } from '../../../core/text/estimate-text-tokens.ts'
import type { PreparedRequest } from '../planned-request.ts'
import { getItemListField } from '../request-item-path.ts'
import {
  readConfiguredWindow,
  estimateRequestTokens,
  resolveTokenCorrection,
} from './estimate-tokens-and-window.ts'
import { countTokensByCategory, type CategoryTokens } from './tokens-by-category.ts'

/** The treatment of a request over the window. A request is hopeless if its latest input alone exceeds the window. */
export type OverflowRule = 'cut' | 'refuse' | 'send' | 'send unless hopeless'

export function rejectOverWindow(prepared: PreparedRequest, overflow: OverflowRule): void {
  const window = resolveWindow(prepared)
  if (window === null || !isOverWindow(prepared, overflow)) return
  const all = countTokensByCategory(prepared)
  // With the rule `cut`, the request has been cut already, so nothing more can be dropped from it.
  const fixed = overflow === 'cut' ? all : all.filter(({ canBeCut }) => !canBeCut)
  const fixedTokens = fixed.reduce((sum, { tokens }) => sum + tokens, 0)
  const cannotFit = overflow !== 'refuse' || fixedTokens > window
  const listed = overflow === 'send unless hopeless' ? all : fixed
  throw new GatewayError(
    'context_length_exceeded',
    `Your input exceeds the context window of this model: it is about ${estimateRequestTokens(prepared)} tokens, and the model takes ${window}. ${cannotFit ? describeCategories(listed, window) : ADVICE}`,
    {
      param: (cannotFit ? listed[0]?.param : undefined) ?? getItemListField(prepared.clientRequest),
    },
  )
}

/**
 * True if the estimated tokens exceed the window by more than 20 %, because less may be an error of the estimate.
 * With the rule `send unless hopeless`, the minimum tokens of the latest input must exceed the window too.
 */
export function isOverWindow(prepared: PreparedRequest, overflow: OverflowRule): boolean {
  const window = overflow === 'send' ? null : resolveWindow(prepared)
  if (window === null) return false
  const isOver = estimateRequestTokens(prepared) > window * REJECTION_FACTOR
  if (overflow !== 'send unless hopeless') return isOver
  return isOver && computeMinTokens(prepared) > window
}

function resolveWindow({ account, prompt, policy }: PreparedRequest): number | null {
  return readConfiguredWindow(account, prompt.params.model, policy)
}

const REJECTION_FACTOR = 1.2

const ADVICE =
  'Send less, let the oldest turns be left out with `backstory: {"budget": {"overflow": "cut"}}` or `truncation: "auto"`, or have them summed up with `context_management`.'

/**
 * Returns the minimum tokens of the latest input, whatever the tokenizer: one per eight characters, because tokens
 * rarely have more than six. Shortens whitespace and repeated characters (`======`) first, because some tokenizers
 * make one token of them. Does not count media.
 */
function computeMinTokens(prepared: PreparedRequest): number {
  const { items } = prepared.prompt
  const latestInput = items.slice(items.findLastIndex(isItemOfAnswer) + 1)
  const texts = latestInput.flatMap(listTexts).map((text) => {
    return text.replaceAll(/\s+/g, ' ').replaceAll(/(.)\1{3,}/gu, '$1$1$1')
  })
  const correction = Math.min(1, resolveTokenCorrection(prepared))
  const tokens = texts.reduce((sum, text) => sum + countMinTextTokens(text), 0)
  return Math.floor(tokens * correction)
}

function listTexts(item: Item): readonly string[] {
  const parts = listContentParts(item).flatMap((part) => ('text' in part ? [part.text] : []))
  return isToolOutput(item) && typeof item.output === 'string' ? [...parts, item.output] : parts
}

function describeCategories(
  [largest, ...others]: readonly CategoryTokens[],
  window: number,
): string {
  if (largest === undefined) return 'Send less.'
  const { label, verb, tokens } = largest
  if (tokens > window) return `${capitalize(label)} alone ${verb} too long. Send less.`
  const rest = others.map((other) => `, ${other.label} about ${other.tokens}`).join('')
  const takes = verb === 'is' ? 'takes' : 'take'
  return `Nothing more can be left out: ${label} ${takes} about ${tokens} of them${rest}.`
}

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
