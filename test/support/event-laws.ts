/**
 * Checks the order of an answer's events as `core/stream-event.ts` states it, independently of any wire. Runs
 * on every decoder and on generated events for renderers.
 */
import type { StreamEvent } from '../../src/core/stream-event.ts'
import type { CustomCall, FunctionCall, Item, Part } from '../../src/core/item.ts'

/** Returns a sentence for every violation in the events. */
export function findEventFaults(events: readonly StreamEvent[]): readonly string[] {
  const faults: string[] = []
  if (events[0]?.type !== 'answer-started') faults.push('An answer starts with answer-started.')
  if (events.filter(({ type }) => type === 'answer-started').length > 1) {
    faults.push('An answer starts once.')
  }
  const ends = events.flatMap(({ type }, at) => (isTerminal(type) ? [at] : []))
  if (ends.length !== 1 || ends[0] !== events.length - 1) {
    faults.push('Exactly one terminal event, and nothing behind it.')
  }
  return [...faults, ...itemFaults(events), ...callFaults(events)]
}

/** Clients answer a call by its id, so ids must be present and unique. */
function callFaults(events: readonly StreamEvent[]): readonly string[] {
  const ids = events.flatMap((event) =>
    event.type === 'item-started' && isCall(event.item) ? [event.item.call_id] : [],
  )
  return [
    ...(ids.includes('') ? ['A call without an id.'] : []),
    ...(new Set(ids).size < ids.length ? ['Two calls with one id.'] : []),
  ]
}

function isCall(item: Item): item is FunctionCall | CustomCall {
  return item.type === 'function_call' || item.type === 'custom_tool_call'
}

function isTerminal(type: StreamEvent['type']): boolean {
  return type === 'answer-ended' || type === 'answer-failed'
}

/** The text of one item's deltas so far, by part. */
interface Open {
  readonly item: Item
  readonly said: Map<string, string>
  readonly annotated: Map<string, number>
}

function itemFaults(events: readonly StreamEvent[]): readonly string[] {
  const faults: string[] = []
  const open = new Map<number, Open>()
  const ended = new Map<number, Item>()
  let next = 0
  for (const event of events) {
    if (!('index' in event)) continue
    const { index, type } = event
    if (type === 'item-started') {
      if (index !== next) faults.push(`Item ${index} started where ${next} was next.`)
      next = Math.max(next, index + 1)
      open.set(index, { item: event.item, said: new Map(), annotated: new Map() })
      continue
    }
    if (type === 'item-amended') {
      const before = ended.get(index)
      if (
        before === undefined ||
        JSON.stringify([...textsOf(before)]) !== JSON.stringify([...textsOf(event.item)])
      )
        faults.push(`Item ${index} is amended before its end or in its texts.`)
      continue
    }
    const item = open.get(index)
    if (item === undefined) {
      faults.push(`${type} of item ${index}, which is not open.`)
    } else if (type === 'item-ended') {
      faults.push(...endFaults(item, event.item, index))
      open.delete(index)
      ended.set(index, event.item)
    } else faults.push(...deltaFaults(item, event))
  }
  for (const index of open.keys()) faults.push(`Item ${index} never ended.`)
  return faults
}

type Delta = Extract<
  StreamEvent,
  {
    readonly type:
      | 'text-delta'
      | 'refusal-delta'
      | 'reasoning-delta'
      | 'arguments-delta'
      | 'annotation-added'
  }
>

const FITS: Readonly<Record<Delta['type'], readonly Item['type'][]>> = {
  'text-delta': ['message'],
  'refusal-delta': ['message'],
  'annotation-added': ['message'],
  'reasoning-delta': ['reasoning'],
  'arguments-delta': ['function_call', 'custom_tool_call'],
}

function deltaFaults({ item, said, annotated }: Open, delta: Delta): readonly string[] {
  if (!FITS[delta.type].includes(item.type)) return [`${delta.type} on a ${item.type}.`]
  const place = placeOf(delta)
  if (delta.type === 'annotation-added') {
    annotated.set(place, (annotated.get(place) ?? 0) + 1)
    return said.has(place) ? [] : ['An annotation in front of the part that it is about.']
  }
  said.set(place, (said.get(place) ?? '') + delta.text)
  return []
}

function placeOf(delta: Delta): string {
  switch (delta.type) {
    case 'text-delta':
    case 'annotation-added':
      return `text ${delta.part}`
    case 'refusal-delta':
      return `refusal ${delta.part}`
    case 'reasoning-delta':
      return `${delta.channel} ${delta.part}`
    case 'arguments-delta':
      return 'input'
  }
}

function endFaults({ item, said, annotated }: Open, final: Item, index: number): readonly string[] {
  const faults: string[] = []
  if (final.type !== item.type) faults.push(`Item ${index} changed its type.`)
  if (identityOf(final) !== identityOf(item)) faults.push(`Item ${index} changed its identity.`)
  const texts = textsOf(final)
  for (const place of new Set([...texts.keys(), ...said.keys()])) {
    const whole = texts.get(place) ?? ''
    const sum = said.get(place) ?? ''
    if (whole !== sum) faults.push(`${place} of item ${index} is not the sum of its deltas.`)
  }
  const parts = final.type === 'message' ? final.content : []
  for (const [at, part] of parts.entries()) {
    const added = annotated.get(`text ${at}`) ?? 0
    if (part.type === 'output_text' && (part.annotations?.length ?? 0) !== added) {
      faults.push(`Annotations of item ${index} are not those that were added.`)
    }
  }
  return faults
}

/** Returns the fields that must be known at the start of an item and not change. */
function identityOf(item: Item): string {
  if (item.type === 'message') return item.role
  if (item.type === 'function_call' || item.type === 'custom_tool_call') {
    return `${item.call_id} ${item.name}`
  }
  return ''
}

function textsOf(item: Item): ReadonlyMap<string, string> {
  switch (item.type) {
    case 'message':
      return new Map(item.content.flatMap(textOfPart))
    case 'function_call':
      return new Map([['input', item.arguments]])
    case 'custom_tool_call':
      return new Map([['input', item.input]])
    case 'reasoning':
      return new Map([
        ...item.summary.map(({ text }, at): [string, string] => [`summary ${at}`, text]),
        ...(item.content ?? []).map(({ text }, at): [string, string] => [`content ${at}`, text]),
      ])
    case 'function_call_output':
    case 'custom_tool_call_output':
    case 'opaque':
      return new Map()
  }
}

function textOfPart(part: Part, at: number): [string, string][] {
  if (part.type === 'output_text' || part.type === 'input_text') return [[`text ${at}`, part.text]]
  return part.type === 'refusal' ? [[`refusal ${at}`, part.refusal]] : []
}
