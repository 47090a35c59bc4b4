/**
 * Rejects a request that exceeds the context window, if the operator has configured the window. The error
 * says which parts take how many tokens, and how to shorten the request.
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { isToolOutput, type Item } from '../../../core/item.ts'
import { isModelItem } from '../../../core/items/is-model-item.ts'
import { listContentParts } from '../../../core/media/media-handles.ts'
import { estimateTokens } from '../../../core/text/estimate-tokens.ts'
import type { PreparedRequest } from '../planned-request.ts'
import { itemListField } from '../request-item-path.ts'
import {
  readConfiguredWindow,
  estimateRequestTokens,
  resolveTokenCorrection,
} from './estimate-tokens-and-window.ts'
import { countTokensByCategory, type CategoryTokens } from './tokens-by-category.ts'

/** How a request over the window is treated. It is hopeless if its latest input alone is too long. */
export type OverflowRule = 'cut' | 'refuse' | 'send' | 'send unless hopeless'

export function rejectOverWindow(prepared: PreparedRequest, overflow: OverflowRule): void {
  const window = resolveWindow(prepared)
  if (window === null || !isOverWindow(prepared, overflow)) return
  const all = countTokensByCategory(prepared)
  // After a cut, none of the remaining items can be cut.
  const fixed = overflow === 'cut' ? all : all.filter(({ canBeCut }) => !canBeCut)
  const cannotFit = overflow !== 'refuse' || sumTokens(fixed) > window
  const listed = overflow === 'send unless hopeless' ? all : fixed
  throw new GatewayError(
    'context_length_exceeded',
    `Your input exceeds the context window of this model: it is about ${estimateRequestTokens(prepared)} tokens, and the model takes ${window}. ${cannotFit ? describeCategories(listed, window) : ADVICE}`,
    { param: (cannotFit ? listed[0]?.param : undefined) ?? itemListField(prepared.clientRequest) },
  )
}

/**
 * True if the estimate exceeds the window by more than 20 %, because estimates are inexact. If neither the
 * policy nor the request sets a rule, even the lowest possible count must exceed the window.
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
 * Returns a count that the latest input exceeds with any tokenizer. It counts eight characters per token,
 * where tokens of text rarely have more than six. Whitespace and repeated characters (`======`) are shortened,
 * because some tokenizers make one token of them; media are not counted.
 */
function computeMinTokens(prepared: PreparedRequest): number {
  const { items } = prepared.prompt
  const latestInput = items.slice(items.findLastIndex(isModelItem) + 1)
  const texts = latestInput.flatMap(listTexts).map((text) => {
    return text.replaceAll(/\s+/g, ' ').replaceAll(/(.)\1{3,}/gu, '$1$1$1')
  })
  const correction = Math.min(1, resolveTokenCorrection(prepared))
  return Math.floor((estimateTokens(texts) / 2) * correction)
}

function listTexts(item: Item): readonly string[] {
  const parts = listContentParts(item).flatMap((part) => ('text' in part ? [part.text] : []))
  return isToolOutput(item) && typeof item.output === 'string' ? [...parts, item.output] : parts
}

function sumTokens(categories: readonly CategoryTokens[]): number {
  return categories.reduce((sum, { tokens }) => sum + tokens, 0)
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
