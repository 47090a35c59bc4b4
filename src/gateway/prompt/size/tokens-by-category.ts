/** Counts the tokens of a request by category, e.g. instructions, tools, latest question. */
import type { Item } from '../../../core/item.ts'
import { estimateItemTokens } from '../../../core/items/item-tokens.ts'
import { isInstruction } from '../../../core/items/leading-instructions.ts'
import {
  countItemsBeforeFirstRound,
  isKeptInEveryWindow,
  findQuestionEnd,
  findRoundStarts,
} from '../../../core/items/rounds-and-pinned-items.ts'
import { estimateTokens } from '../../../core/text/estimate-tokens.ts'
import type { PreparedRequest } from '../planned-request.ts'

export interface CategoryTokens {
  readonly label: string
  readonly verb: 'is' | 'are'
  readonly tokens: number
  /** The request field of the category, e.g. `tools`; undefined if it is the list of items. */
  readonly param?: string
  readonly canBeCut: boolean
}

/** Returns the categories that have tokens, largest first. */
export function countTokensByCategory({
  prompt,
  originalPositions,
  items: conversation,
  clientRequest,
}: PreparedRequest): readonly CategoryTokens[] {
  const { items, params } = prompt
  // Positions are those in the complete conversation, because transforms may have dropped items from the prompt.
  const head = countItemsBeforeFirstRound(conversation)
  const question = findRoundStarts(conversation).at(-1) ?? head
  const questionEnd = findQuestionEnd(conversation, question)
  const selectCategory = (item: Item, position: number | null): string => {
    if (position === null) return 'added'
    if (position >= question && position < questionEnd) return 'question'
    if (position < head && isInstruction(item)) return 'instructions'
    if (isKeptInEveryWindow(item)) return 'pinned'
    return position >= questionEnd ? 'work' : 'earlier'
  }
  const totals = new Map<string, number>()
  for (const [index, item] of items.entries()) {
    const category = selectCategory(item, originalPositions[index] ?? null)
    totals.set(category, (totals.get(category) ?? 0) + estimateItemTokens(item))
  }
  const totalOf = (category: string) => totals.get(category) ?? 0
  const instructions = estimateTokens([params.instructions])
  const isField = clientRequest.dialect === 'responses' && instructions > 0
  const all: readonly CategoryTokens[] = [
    {
      label: 'the instructions',
      verb: 'are',
      tokens: instructions + totalOf('instructions'),
      canBeCut: false,
      ...(isField ? { param: 'instructions' } : {}),
    },
    {
      label: 'the tools',
      verb: 'are',
      tokens: params.tools.length === 0 ? 0 : estimateTokens(params.tools),
      canBeCut: false,
      param: 'tools',
    },
    { label: 'what is pinned', verb: 'is', tokens: totalOf('pinned'), canBeCut: false },
    { label: 'what the gateway adds', verb: 'is', tokens: totalOf('added'), canBeCut: false },
    { label: 'the newest question', verb: 'is', tokens: totalOf('question'), canBeCut: false },
    { label: 'the work on it so far', verb: 'is', tokens: totalOf('work'), canBeCut: true },
    { label: 'the earlier conversation', verb: 'is', tokens: totalOf('earlier'), canBeCut: true },
  ]
  return all.filter(({ tokens }) => tokens > 0).toSorted((a, b) => b.tokens - a.tokens)
}
