/**
 * Makes a conversation fit the room that its model has, as `plan-token-budget.ts` says. It stands where the
 * other windows do: before media are hidden, outputs shortened and reasoning dropped, for what these
 * leave over depends on how far the conversation has come.
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import { createOutputCapper } from '../tool-outputs/cap-outputs.ts'
import { createAlwaysSentGroupPredicate } from './item-weights.ts'
import {
  planTokenBudget,
  type TokenBudgetOptions,
  type TokenBudgetPlan,
} from './plan-token-budget.ts'
import { estimateMaxTokens } from './token-budget-weights.ts'
import { createOutputShortener } from '../tool-outputs/shorten-output.ts'
import type { Transform } from '../transform-interface.ts'

export interface TokenBudgetFitOptions {
  /** In tokens, as items are weighed. At least 1. */
  readonly most: number
  readonly policy: Pick<ContextPolicy, 'outputs' | 'reasoning' | 'media'>
  readonly seesImages?: boolean
}

export function fitTokenBudget(fit: TokenBudgetFitOptions): Transform {
  const room = createTokenBudgetOptions(fit)
  return {
    name: 'window-room',
    prefixStability: 'lasting',
    run(items) {
      if (estimateMaxTokens(items) <= room.most) return { items, notes: [] }
      const stays = createAlwaysSentGroupPredicate(items)
      const plan = planTokenBudget(items, stays, room)
      const notes: Note[] = []
      const rebuilt: Item[] = []
      for (const [at, item] of items.entries()) {
        const isWhole = stays(at, item)
        if (at < plan.cut && !isWhole) {
          notes.push({ did: 'dropped', at, why: 'over-window' })
          continue
        }
        const { item: fitting, why } = isWhole ? { item, why: '' } : fitted(item, at, plan, room)
        rebuilt.push(fitting)
        if (fitting !== item) notes.push({ did: 'changed', at, why })
      }
      return notes.length === 0 ? { items, notes } : { items: rebuilt, notes }
    },
  }
}

export function createTokenBudgetOptions({
  most,
  policy,
  seesImages = true,
}: TokenBudgetFitOptions): TokenBudgetOptions {
  const { keepTurns, step, longerThan, head, tail } = policy.outputs
  return {
    most,
    keepTurns,
    step,
    shortened: createOutputShortener({ minChars: longerThan, headChars: head, tailChars: tail }),
    capped: createOutputCapper({ maxChars: 500, expand: false }),
    keepsReasoning: policy.reasoning.keep !== 'open_turn',
    images: seesImages ? (policy.media.images ?? Infinity) : 0,
  }
}

function fitted(
  item: Item,
  at: number,
  { hard, shortened }: TokenBudgetPlan,
  room: TokenBudgetOptions,
) {
  if (hard[at] === 1) return { item: room.capped(item), why: 'output-capped' }
  const isOld = at < shortened
  return { item: isOld ? room.shortened(item) : item, why: 'output-too-old' }
}
