/** The order and the sums that `core/stream-event.ts` promises, for any answer. */
import type { StreamEvent } from '../../../src/core/stream-event.ts'
import type { Item } from '../../../src/core/item.ts'

/** What is wrong with a finished answer, one sentence each. */
export function eventFaults(events: readonly StreamEvent[]): readonly string[] {
  const faults: string[] = []
  const said = new Map<number, Map<string, string>>()
  const open = new Set<number>()
  if (events[0]?.type !== 'answer-started') faults.push('does not begin with answer-started')
  const last = events.at(-1)?.type
  if (last !== 'answer-ended' && last !== 'answer-failed') faults.push('does not end')
  for (const [at, event] of events.entries()) {
    const say = (fault: string) => faults.push(`${at} ${event.type}: ${fault}`)
    if (event.type === 'answer-started' && at > 0) say('comes late')
    if (/answer-(ended|failed)/.test(event.type) && at < events.length - 1) say('is not the last')
    if (!('index' in event)) continue
    const { index } = event
    if (event.type === 'item-started') {
      if (index !== said.size) say('does not count')
      said.set(index, new Map())
      open.add(index)
      continue
    }
    if (!open.has(index)) say('is about an item that is not open')
    const texts = said.get(index) ?? new Map<string, string>()
    if (event.type === 'item-ended') {
      open.delete(index)
      for (const [place, text] of textsOf(event.item)) {
        if ((texts.get(place) ?? '') !== text) say(`${place} is not the sum of its deltas`)
      }
    } else if ('text' in event) {
      if (event.text === '') say('says nothing')
      const place = placeOf(event)
      texts.set(place, (texts.get(place) ?? '') + event.text)
    }
  }
  if (open.size > 0) faults.push(`items ${[...open].join()} never end`)
  return faults
}

function placeOf(event: Extract<StreamEvent, { text: string }>): string {
  if (event.type === 'arguments-delta') return 'arguments'
  return event.type === 'reasoning-delta'
    ? `${event.channel} ${event.part}`
    : `content ${event.part}`
}

function textsOf(item: Item): readonly (readonly [string, string])[] {
  switch (item.type) {
    case 'message':
      return item.content.map((part, at) => [
        `content ${at}`,
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
