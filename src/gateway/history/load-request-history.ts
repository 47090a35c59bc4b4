/**
 * What the gateway remembers for a request, by whatever the turns can be found: the client names one
 * (`load-history-by-id.ts`), or it sends its whole chat, in which what it has forgotten is put back
 * (`load-history-by-recall.ts`). By itself it is what a dry run begins with.
 */
import type { Caller } from '../../core/client/caller.ts'
import { ownValue } from '../../core/json/json.ts'
import type { Inbound } from '../../core/client-request.ts'
import { dropCovered } from '../../recall/drop-repeated-history.ts'
import { planRecall } from '../../recall/split-and-fingerprint-segments.ts'
import type { World } from '../dependencies-interface.ts'
import type { Hold } from './lock-conversation.ts'
import { loadHistory, type History } from './load-history-by-id.ts'
import { recall } from './load-history-by-recall.ts'
import { resolveReferences } from './resolve-item-references.ts'

export interface Remembered {
  /** As the client means it. */
  readonly asked: Inbound
  /** The same, with what it has forgotten put back: the very same, if that is nothing. */
  readonly inbound: Inbound
  readonly history: History
}

/** `hold` is the conversation of the request, if it is to be added to. */
export async function remember(
  given: Inbound,
  caller: Caller,
  world: World,
  hold: Hold | null = null,
): Promise<Remembered> {
  const askedAtMs = world.nowMs()
  const remembered = await rememberedFor(given, caller, world, hold)
  const ofKey = ownValue(world.settings.CONTEXT.keys, caller.tenant)
  const history = { ...remembered.history, askedAtMs }
  if (ofKey === undefined) return { ...remembered, history }
  return { ...remembered, history: { ...history, wishes: [ofKey, ...history.wishes] } }
}

async function rememberedFor(
  given: Inbound,
  caller: Caller,
  world: World,
  hold: Hold | null,
): Promise<Remembered> {
  const asked = await resolveReferences(given, caller, world)
  const history = await loadHistory(asked, caller, world, hold)
  const { previousResponseId, conversationId } = asked.memory
  if (previousResponseId !== null) return toBeFound(withoutCovered(asked, history))
  if (conversationId !== null) return { asked, inbound: asked, history }
  return recall(asked, caller, world)
}

/**
 * Open WebUI names a response within a tool loop only, and sends its text with the next question. So
 * does whoever repeats what the response holds.
 */
function toBeFound(remembered: Remembered): Remembered {
  const { inbound, history } = remembered
  if (!inbound.client.isOpenWebUi && inbound.given === undefined) return remembered
  const { next } = planRecall([...history.items, ...inbound.items])
  return { ...remembered, history: { ...history, plan: { next } } }
}

/** Who names a response need not repeat what it holds, but some do. */
function withoutCovered(asked: Inbound, history: History): Remembered {
  const { items, notes } = dropCovered(history.items, asked.items)
  if (items === asked.items) return { asked, inbound: asked, history }
  const inbound = { ...asked, items, given: asked.given ?? asked.items }
  const placed = notes.map((note) =>
    note.at === undefined ? note : { ...note, at: note.at + history.items.length },
  )
  return { asked: inbound, inbound, history: { ...history, notes: [...history.notes, ...placed] } }
}
