/**
 * Makes a conversation fit the room that its model has, as `plan-token-budget.ts` says. It stands where the
 * other windows do: before media are hidden, outputs shortened and reasoning dropped, for what these
 * leave over depends on how far the conversation has come.
 */
import type { Item } from '../../core/item.ts'
import type { Note } from '../../core/note.ts'
import type { ContextPolicy } from '../../core/context-policy.ts'
import { outputCapper } from '../tool-outputs/cap-outputs.ts'
import { alwaysSentWhole } from './item-weights.ts'
import { planRoom, type Room, type RoomPlan } from './plan-token-budget.ts'
import { mostIn } from './token-budget-weights.ts'
import { outputShortener } from '../tool-outputs/shorten-output.ts'
import type { Transform } from '../transform-interface.ts'

export interface FitRoom {
  /** In tokens, as items are weighed. At least 1. */
  readonly most: number
  readonly policy: Pick<ContextPolicy, 'outputs' | 'reasoning' | 'media'>
  readonly seesImages?: boolean
}

export function fitRoom(fit: FitRoom): Transform {
  const room = roomOf(fit)
  return {
    name: 'window-room',
    steps: 'lasting',
    run(items) {
      if (mostIn(items) <= room.most) return { items, notes: [] }
      const stays = alwaysSentWhole(items)
      const plan = planRoom(items, stays, room)
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

export function roomOf({ most, policy, seesImages = true }: FitRoom): Room {
  const { keepTurns, step, longerThan, head, tail } = policy.outputs
  return {
    most,
    keepTurns,
    step,
    shortened: outputShortener({ minChars: longerThan, headChars: head, tailChars: tail }),
    capped: outputCapper({ maxChars: 500, expand: false }),
    keepsReasoning: policy.reasoning.keep !== 'open_turn',
    images: seesImages ? (policy.media.images ?? Infinity) : 0,
  }
}

function fitted(item: Item, at: number, { hard, shortened }: RoomPlan, room: Room) {
  if (hard[at] === 1) return { item: room.capped(item), why: 'output-capped' }
  const isOld = at < shortened
  return { item: isOld ? room.shortened(item) : item, why: 'output-too-old' }
}
