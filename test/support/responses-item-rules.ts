/**
 * Rules for one item of a Responses stream: `added` has its known fields, deltas build its parts, and `done`
 * equals their sum.
 */
import { isObject, type JsonObject } from '../../src/core/json/json.ts'

/** A content part, or the arguments of a call as a single part. */
interface Part {
  state: 'open' | 'said' | 'closed'
  readonly type: string
  deltas: string
  said: string
  annotations: number
}

export interface ItemState {
  readonly id: unknown
  readonly type: unknown
  readonly callId: unknown
  done: JsonObject | null
  readonly content: Part[]
  readonly summary: Part[]
  readonly arguments: Part[]
}

export function faultsInAdded(
  event: JsonObject,
  items: ItemState[],
  ids: Set<unknown>,
): readonly string[] {
  const faults: string[] = []
  const want = (claim: boolean, fault: string) => void (claim || faults.push(fault))
  const item = isObject(event['item']) ? event['item'] : {}
  const { id, type, status } = item
  want(event['output_index'] === items.length, 'does not count output_index')
  want(typeof id === 'string' && id !== '', 'has no id')
  want(!ids.has(id), `takes the id ${String(id)} a second time`)
  ids.add(id)
  if (type === 'message') {
    want(Array.isArray(item['content']) && item['content'].length === 0, 'has content already')
    want(item['role'] === 'assistant', 'is not by the assistant')
  }
  if (type === 'function_call') want(item['arguments'] === '', 'has arguments already')
  if (type === 'custom_tool_call') want(item['input'] === '', 'has input already')
  if (type === 'function_call' || type === 'custom_tool_call') {
    want(typeof item['name'] === 'string', 'has no name')
    want(typeof item['call_id'] === 'string', 'has no call_id')
  }
  if (type === 'reasoning') want(Array.isArray(item['summary']), 'has no summary')
  if (type === 'message' || type === 'function_call') {
    want(status === 'in_progress', `has status ${String(status)}`)
  }
  const callId = item['call_id']
  items.push({ id, type, callId, done: null, content: [], summary: [], arguments: [] })
  return faults
}

export function faultsInDone(event: JsonObject, told: ItemState): readonly string[] {
  const faults: string[] = []
  const want = (claim: boolean, fault: string) => void (claim || faults.push(fault))
  const item = isObject(event['item']) ? event['item'] : {}
  told.done = item
  want(item['id'] === told.id, 'changes the id')
  want(item['type'] === told.type, 'changes the type')
  want(item['call_id'] === told.callId, 'changes the call_id')
  for (const part of [...told.content, ...told.summary, ...told.arguments]) {
    want(part.state === 'closed', `leaves a ${part.type} open`)
  }
  if (told.type === 'message') want(sameTexts(item['content'], told.content), 'differs in content')
  if (told.type === 'reasoning') {
    want(sameTexts(item['summary'], told.summary), 'differs in summary')
    want(sameTexts(item['content'] ?? [], told.content), 'differs in content')
  }
  const input = item['arguments'] ?? item['input']
  if (told.type === 'function_call' || told.type === 'custom_tool_call') {
    want(typeof input === 'string', 'has no arguments')
    want((told.arguments[0]?.said ?? '') === input, 'differs in arguments')
  }
  for (const [at, part] of told.content.entries()) {
    const final: unknown = Array.isArray(item['content']) ? item['content'][at] : null
    const annotations = isObject(final) ? final['annotations'] : null
    const count = Array.isArray(annotations) ? annotations.length : 0
    want(part.annotations === count, `told ${part.annotations} of ${count} annotations`)
  }
  return faults
}

function sameTexts(parts: unknown, told: readonly Part[]): boolean {
  if (!Array.isArray(parts) || parts.length !== told.length) return false
  return parts.every((part: unknown, at) => isObject(part) && textIn(part) === told[at]?.said)
}

function textIn(part: JsonObject): unknown {
  return part['text'] ?? part['refusal'] ?? ''
}

/**
 * For each kind of delta event: the list that it builds, and the field of its `done` event with the full
 * text.
 */
const DELTA_TARGETS: Readonly<
  Record<string, readonly [list: 'content' | 'summary' | 'arguments', whole: string]>
> = {
  output_text: ['content', 'text'],
  refusal: ['content', 'refusal'],
  reasoning_text: ['content', 'text'],
  reasoning_summary_text: ['summary', 'text'],
  function_call_arguments: ['arguments', 'arguments'],
  custom_tool_call_input: ['arguments', 'input'],
}

export function faultsInPart(type: string, event: JsonObject, item: ItemState): readonly string[] {
  const [, voice = '', step = ''] = /^response\.(.+)\.(added|delta|done)$/.exec(type) ?? []
  if (voice === 'content_part') return wholePart(step, event, item.content, event['content_index'])
  if (voice === 'reasoning_summary_part') {
    return wholePart(step, event, item.summary, event['summary_index'])
  }
  if (voice === 'output_text.annotation') {
    const part = item.content[Number(event['content_index'])]
    if (part?.state !== 'open') return ['is about a part that is not open']
    return event['annotation_index'] === part.annotations++ ? [] : ['does not count annotations']
  }
  const known = DELTA_TARGETS[voice]
  if (known === undefined) return []
  const [list, whole] = known
  if (list === 'arguments') item.arguments[0] ??= newPart('arguments')
  const index =
    list === 'content' ? event['content_index'] : list === 'summary' ? event['summary_index'] : 0
  const part = item[list][Number(index)]
  if (part?.state !== 'open') return ['is about a part that is not open']
  if (list === 'content' && part.type !== voice) return [`is told of a ${part.type}`]
  if (step === 'delta') {
    part.deltas += String(event['delta'])
    return []
  }
  part.said = String(event[whole])
  part.state = list === 'arguments' ? 'closed' : 'said'
  return part.said === part.deltas ? [] : [`says ${part.said} after ${part.deltas}`]
}

function wholePart(
  step: string,
  event: JsonObject,
  parts: Part[],
  index: unknown,
): readonly string[] {
  const given = isObject(event['part']) ? event['part'] : {}
  const type = String(given['type'])
  if (step === 'added') {
    parts.push(newPart(type))
    const hasText = textIn(given) !== '' && KNOWN_PARTS.has(type)
    return [
      ...(index === parts.length - 1 ? [] : ['does not count its index']),
      ...(hasText ? ['has text already'] : []),
    ]
  }
  const part = parts[Number(index)]
  if (part === undefined) return ['is about a part that was not announced']
  const isReady = part.state === (KNOWN_PARTS.has(type) ? 'said' : 'open')
  part.state = 'closed'
  return [
    ...(isReady ? [] : ['comes out of order']),
    ...(part.type === type ? [] : ['changes the type of the part']),
    ...(textIn(given) === part.said ? [] : ['differs from its text']),
  ]
}

const KNOWN_PARTS: ReadonlySet<string> = new Set([
  'output_text',
  'refusal',
  'reasoning_text',
  'summary_text',
])

function newPart(type: string): Part {
  return { state: 'open', type, deltas: '', said: '', annotations: 0 }
}
