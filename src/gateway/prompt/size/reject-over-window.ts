/**
 * Refuses what its model cannot take, where that is known for sure: the operator has said what it can
 * take. The sentence says what fills it, and what would help.
 */
import { GatewayError } from '../../../core/errors/gateway-error.ts'
import { isToolOutput, type Item } from '../../../core/item.ts'
import { isModelItem } from '../../../core/items/is-model-item.ts'
import { listContentParts } from '../../../core/media/media-handles.ts'
import { estimateTokens } from '../../../core/text/estimate-tokens.ts'
import type { PreparedRequest } from '../planned-request.ts'
import { itemListField } from '../request-item-path.ts'
import {
  resolveConfiguredWindow,
  computeTokenCorrection,
  estimateRequestTokens,
} from './estimate-tokens-and-window.ts'
import { countTokensByCategory, type CategoryTokens } from './tokens-by-category.ts'

/** What becomes of a request that is too long. It is hopeless if its newest input alone is too long. */
export type OverflowRule = 'cut' | 'refuse' | 'send' | 'send unless hopeless'

export function rejectOverWindow(prepared: PreparedRequest, overflow: OverflowRule): void {
  const window = resolveConfiguredWindow(prepared)
  if (window === null || !isOverWindow(prepared, overflow)) return
  const all = countTokensByCategory(prepared)
  // What was cut has nothing left that could go, and what nobody has cut yet has.
  const left = overflow === 'cut' ? all : all.filter(({ mayGo }) => !mayGo)
  const hasTooMuch = overflow !== 'refuse' || tokensIn(left) > window
  const told = overflow === 'send unless hopeless' ? all : left
  throw new GatewayError(
    'context_length_exceeded',
    `Your input exceeds the context window of this model: it is about ${estimateRequestTokens(prepared)} tokens, and the model takes ${window}. ${hasTooMuch ? whatFills(told, window) : WHAT_TO_DO}`,
    { param: (hasTooMuch ? told[0]?.param : undefined) ?? itemListField(prepared.clientRequest) },
  )
}

/** An estimate that is a little over refuses nobody; without a wish, no estimate does that can be wrong. */
export function isOverWindow(prepared: PreparedRequest, overflow: OverflowRule): boolean {
  const window = overflow === 'send' ? null : resolveConfiguredWindow(prepared)
  if (window === null) return false
  const isOver = estimateRequestTokens(prepared) > window * REFUSED_ABOVE
  if (overflow !== 'send unless hopeless') return isOver
  return isOver && leastTokensOf(prepared) > window
}

const REFUSED_ABOVE = 1.2

const WHAT_TO_DO =
  'Send less, let the oldest turns be left out with `backstory: {"budget": {"overflow": "cut"}}` or `truncation: "auto"`, or have them summed up with `context_management`.'

/**
 * What the newest input comes to with any tokeniser: a token of words has seldom more than six
 * characters, and here it has eight. Blanks and rows of one character, which some make one token of,
 * hardly count, and media not at all.
 */
function leastTokensOf({ prompt, history }: PreparedRequest): number {
  const newest = prompt.items.slice(prompt.items.findLastIndex(isModelItem) + 1)
  const texts = newest.flatMap(textsIn).map((text) => {
    return text.replaceAll(/\s+/g, ' ').replaceAll(/(.)\1{3,}/gu, '$1$1$1')
  })
  const correction = Math.min(1, computeTokenCorrection(history.parent?.usage ?? null))
  return Math.floor((estimateTokens(texts) / 2) * correction)
}

function textsIn(item: Item): readonly string[] {
  const parts = listContentParts(item).flatMap((part) => ('text' in part ? [part.text] : []))
  return isToolOutput(item) && typeof item.output === 'string' ? [...parts, item.output] : parts
}

function tokensIn(filling: readonly CategoryTokens[]): number {
  return filling.reduce((all, { tokens }) => all + tokens, 0)
}

function whatFills([largest, ...others]: readonly CategoryTokens[], window: number): string {
  if (largest === undefined) return 'Send less.'
  const { what, is, tokens } = largest
  if (tokens > window) return `${capital(what)} alone ${is} too long. Send less.`
  const rest = others.map((other) => `, ${other.what} about ${other.tokens}`).join('')
  const takes = is === 'is' ? 'takes' : 'take'
  return `Nothing more can be left out: ${what} ${takes} about ${tokens} of them${rest}.`
}

function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
