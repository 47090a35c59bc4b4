/** What fills a request, in the words of people, the largest first. */
import type { Item } from '../../../core/item.ts'
import { estimateItemTokens } from '../../../core/items/item-tokens.ts'
import { isInstruction } from '../../../core/items/leading-instructions.ts'
import {
  countHeadItems,
  isPinned,
  findQuestionEnd,
  findRoundStarts,
} from '../../../core/items/rounds-and-pinned-items.ts'
import { estimateTokens } from '../../../core/text/estimate-tokens.ts'
import type { PreparedRequest } from '../planned-request.ts'

export interface CategoryTokens {
  readonly what: string
  readonly is: 'is' | 'are'
  readonly tokens: number
  /** Where it stands in the request, if that is not the list of what was said. */
  readonly param?: string
  /** Whether some of it may be left out. */
  readonly mayGo: boolean
}

export function countTokensByCategory({
  prompt,
  originalPositions,
  items: asked,
  clientRequest,
}: PreparedRequest): readonly CategoryTokens[] {
  const { items, params } = prompt
  // By what there was before anything was left out in between.
  const head = countHeadItems(asked)
  const question = findRoundStarts(asked).at(-1) ?? head
  const behind = findQuestionEnd(asked, question)
  const partOf = (item: Item, place: number | null): string => {
    if (place === null) return 'added'
    if (place >= question && place < behind) return 'question'
    if (place < head && isInstruction(item)) return 'instructions'
    if (isPinned(item)) return 'pinned'
    return place >= behind ? 'work' : 'earlier'
  }
  const weights = new Map<string, number>()
  for (const [at, item] of items.entries()) {
    const part = partOf(item, originalPositions[at] ?? null)
    weights.set(part, (weights.get(part) ?? 0) + estimateItemTokens(item))
  }
  const of = (part: string) => weights.get(part) ?? 0
  const instructions = estimateTokens([params.instructions])
  const byField = clientRequest.dialect === 'responses' && instructions > 0
  const all: readonly CategoryTokens[] = [
    {
      what: 'the instructions',
      is: 'are',
      tokens: instructions + of('instructions'),
      mayGo: false,
      ...(byField ? { param: 'instructions' } : {}),
    },
    {
      what: 'the tools',
      is: 'are',
      tokens: toolTokens(params.tools),
      mayGo: false,
      param: 'tools',
    },
    { what: 'what is pinned', is: 'is', tokens: of('pinned'), mayGo: false },
    { what: 'what is told beside it', is: 'is', tokens: of('added'), mayGo: false },
    { what: 'the newest question', is: 'is', tokens: of('question'), mayGo: false },
    { what: 'what was done about it', is: 'is', tokens: of('work'), mayGo: true },
    { what: 'what was said before', is: 'is', tokens: of('earlier'), mayGo: true },
  ]
  return all.filter(({ tokens }) => tokens > 0).toSorted((a, b) => b.tokens - a.tokens)
}

function toolTokens(tools: readonly unknown[]): number {
  return tools.length === 0 ? 0 : estimateTokens(tools)
}
