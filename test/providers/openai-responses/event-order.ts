/** Checks the order of an answer's events, and that each text is the sum of its deltas (`core/stream-event.ts`). */
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item } from '../../../src/core/item.ts'

/** Returns one sentence for each fault in the events of an ended answer. */
export function eventFaults(events: readonly StreamEvent[]): readonly string[] {
  const faults: string[] = []
  const textsByItem = new Map<number, Map<string, string>>()
  const open = new Set<number>()
  if (events[0]?.type !== 'answer-started') faults.push('does not begin with answer-started')
  const last = events.at(-1)?.type
  if (last !== 'answer-ended' && last !== 'answer-failed') faults.push('does not end')
  for (const [at, event] of events.entries()) {
    const report = (fault: string) => faults.push(`${at} ${event.type}: ${fault}`)
    if (event.type === 'answer-started' && at > 0) report('is not the first event')
    if (/answer-(ended|failed)/.test(event.type) && at < events.length - 1)
      report('is not the last event')
    if (!('index' in event)) continue
    const { index } = event
    if (event.type === 'item-started') {
      if (index !== textsByItem.size) report('does not have the next index')
      textsByItem.set(index, new Map())
      open.add(index)
      continue
    }
    if (event.type === 'item-amended') {
      if (open.has(index) || !textsByItem.has(index)) report('is about an item that has not ended')
      continue
    }
    if (!open.has(index)) report('is about an item that is not open')
    const texts = textsByItem.get(index) ?? new Map<string, string>()
    if (event.type === 'item-ended') {
      open.delete(index)
      for (const [key, text] of textsOf(event.item)) {
        if ((texts.get(key) ?? '') !== text) report(`${key} is not the sum of its deltas`)
      }
    } else if ('text' in event) {
      if (event.text === '') report('has no text')
      const key = keyOf(event)
      texts.set(key, (texts.get(key) ?? '') + event.text)
    }
  }
  if (open.size > 0) faults.push(`items ${[...open].join()} never end`)
  return faults
}

function keyOf(event: Extract<StreamEvent, { text: string }>): string {
  if (event.type === 'arguments-delta') return 'arguments'
  return event.type === 'reasoning-delta'
    ? `${event.channel} ${event.part}`
    : `content ${event.part}`
}

function textsOf(item: Item): readonly (readonly [string, string])[] {
  switch (item.type) {
    case 'message':
      return item.content.map((part, partIndex) => [
        `content ${partIndex}`,
        'text' in part ? part.text : 'refusal' in part ? part.refusal : '',
      ])
    case 'reasoning':
      return [
        ...item.summary.map(({ text }, at) => [`summary ${at}`, text] as const),
        ...(item.content ?? []).map(({ text }, at) => [`content ${at}`, text] as const),
      ]
    case 'function_call':
      return [['arguments', item.arguments]]
    case 'custom_tool_call':
      return [['arguments', item.input]]
    default:
      return []
  }
}
