/**
 * Checks a stream of Responses events against the published rules: the fields of each event, the order of
 * events, and that repeated data is equal. Written from the rules, independently of the renderer.
 */
import { isObject, type JsonObject } from '../../src/core/json/json.ts'
import type { SseMessage } from '../../src/core/stream/sse.ts'
import {
  faultsInAdded,
  faultsInDone,
  faultsInPart,
  type ItemState,
} from './responses-item-rules.ts'

export interface Strictness {
  /** `[DONE]` must come last. OpenAI itself does not send it. */
  readonly sentinel?: boolean
  /** Response objects must have every field that strict clients expect, non-null where required. */
  readonly wholeResponses?: boolean
}

/** Returns a sentence for every violation; empty for a valid stream. */
export function responsesFaults(
  messages: readonly SseMessage[],
  { sentinel = true, wholeResponses = true }: Strictness = {},
): readonly string[] {
  const faults: string[] = []
  const sentinels = messages.filter(({ data }) => data === '[DONE]')
  const isLast = messages.at(-1) === sentinels[0] && sentinels[0]?.event === undefined
  if (sentinel && (sentinels.length !== 1 || !isLast)) {
    faults.push('the stream does not end with one [DONE]')
  }
  const told = messages.filter(({ data }) => data !== '[DONE]')
  const events = told.map(({ data }) => JSON.parse(data) as JsonObject)
  const stream = newStream(wholeResponses)
  for (const [at, event] of events.entries()) {
    const name = told[at]?.event
    const found = [
      ...(name !== undefined && name !== event['type'] ? [`is framed as ${name}`] : []),
      ...faultsInFields(event),
      ...stream.read(event, at),
    ]
    faults.push(...found.map((fault) => `${at} ${String(event['type'])}: ${fault}`))
  }
  return [...faults, ...stream.end()]
}

const ITEM = ['item_id', 'output_index']
const PART = [...ITEM, 'content_index']
const SUMMARY = [...ITEM, 'summary_index']

/** Required fields by event type. Every event also has `type` and `sequence_number`. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  'response.created': ['response'],
  'response.queued': ['response'],
  'response.in_progress': ['response'],
  'response.completed': ['response'],
  'response.incomplete': ['response'],
  'response.failed': ['response'],
  error: ['error', 'code', 'message', 'param'],
  'response.output_item.added': ['output_index', 'item'],
  'response.output_item.done': ['output_index', 'item'],
  'response.content_part.added': [...PART, 'part'],
  'response.content_part.done': [...PART, 'part'],
  'response.output_text.delta': [...PART, 'delta', 'logprobs'],
  'response.output_text.done': [...PART, 'text', 'logprobs'],
  'response.output_text.annotation.added': [...PART, 'annotation_index', 'annotation'],
  'response.refusal.delta': [...PART, 'delta'],
  'response.refusal.done': [...PART, 'refusal'],
  'response.reasoning_text.delta': [...PART, 'delta'],
  'response.reasoning_text.done': [...PART, 'text'],
  'response.reasoning_summary_part.added': [...SUMMARY, 'part'],
  'response.reasoning_summary_part.done': [...SUMMARY, 'part'],
  'response.reasoning_summary_text.delta': [...SUMMARY, 'delta'],
  'response.reasoning_summary_text.done': [...SUMMARY, 'text'],
  'response.function_call_arguments.delta': [...ITEM, 'delta'],
  'response.function_call_arguments.done': [...ITEM, 'arguments'],
  'response.custom_tool_call_input.delta': [...ITEM, 'delta'],
  'response.custom_tool_call_input.done': [...ITEM, 'input'],
}

/** Events of provider tools, to which the rules for parts do not apply. */
const HOSTED =
  /^response\.(web_search_call|file_search_call|code_interpreter_call|code_interpreter_call_code|image_generation_call|mcp_list_tools|mcp_call|mcp_call_arguments|shell_call_command|shell_call_output_content|compaction)\./

function faultsInFields(event: JsonObject): readonly string[] {
  const type = String(event['type'])
  if (HOSTED.test(type)) return []
  const fields = FIELDS[type]
  if (fields === undefined) return ['is not in the published list']
  const missing = [...fields, 'sequence_number'].filter((field) => !(field in event))
  return missing.map((field) => `has no ${field}`)
}

/** Fields that must not be null in a response object. */
const WHOLE = `id object created_at status background frequency_penalty metadata model output
  parallel_tool_calls presence_penalty service_tier store temperature text tool_choice tools
  top_logprobs top_p truncation`.split(/\s+/)
/** Fields that must be present but may be null. */
const PRESENT = `completed_at error incomplete_details instructions max_output_tokens max_tool_calls
  previous_response_id prompt_cache_key reasoning safety_identifier usage`.split(/\s+/)

/** Returns the missing fields of a response object; without `isWhole`, checks only the minimum. */
export function faultsInResponse(response: unknown, isWhole = true): readonly string[] {
  if (!isObject(response)) return ['has no response']
  const wanted = isWhole ? WHOLE : ['id', 'object', 'created_at', 'status', 'model', 'output']
  return [
    ...wanted
      .filter((field) => (response[field] ?? null) === null)
      .map((field) => `lacks ${field}`),
    ...(isWhole ? PRESENT.filter((field) => !(field in response)) : []).map((f) => `has no ${f}`),
    ...(response['object'] === 'response' ? [] : ['is not an object of type response']),
  ]
}

function newStream(wholeResponses: boolean) {
  const items: ItemState[] = []
  const ids = new Set<unknown>()
  const life: string[] = []
  let responseId: unknown = null
  let terminal: string | null = null

  const lifecycle = (type: string, response: JsonObject): readonly string[] => {
    const faults = [...faultsInResponse(response, wholeResponses)]
    const want = (claim: boolean, fault: string) => void (claim || faults.push(fault))
    responseId ??= response['id']
    want(response['id'] === responseId, 'names another response')
    const { status, output, usage, error, incomplete_details: details } = response
    const isBeginning = /created|queued|in_progress/.test(type)
    if (isBeginning) {
      const order = [...life, type].join(' > ')
      want(
        LIVES.some((lives) => lives.startsWith(order)),
        `comes out of order: ${order}`,
      )
      want(items.length === 0, 'comes after an item')
      want(Array.isArray(output) && output.length === 0, 'has output already')
      want((usage ?? null) === null, 'has usage already')
      want(status === 'in_progress' || status === 'queued', `has status ${String(status)}`)
    } else {
      terminal = type
      want(type === `response.${String(status)}`, `has status ${String(status)}`)
      want(life.includes('response.created'), 'comes without response.created')
      want((error !== null) === (type === 'response.failed'), 'has the wrong error')
      want(
        isObject(details) === (type === 'response.incomplete'),
        'has the wrong incomplete_details',
      )
      want(type !== 'response.failed' || life.at(-1) === 'error', 'is not preceded by error')
      want(
        type === 'response.completed' || (response['completed_at'] ?? null) === null,
        'completed',
      )
      faults.push(...faultsInOutput(output, items))
    }
    life.push(type)
    return faults
  }

  const read = (event: JsonObject, at: number): readonly string[] => {
    const type = String(event['type'])
    const faults: string[] = []
    if (terminal !== null) faults.push(`comes after ${terminal}`)
    if (event['sequence_number'] !== at)
      faults.push(`has number ${String(event['sequence_number'])}`)
    if (type === 'error') {
      life.push('error')
      return faults
    }
    if (isObject(event['response'])) return [...faults, ...lifecycle(type, event['response'])]
    if (life.length < 2) faults.push('comes before response.in_progress')
    if (type === 'response.output_item.added')
      return [...faults, ...faultsInAdded(event, items, ids)]
    const item = items[Number(event['output_index'])]
    if (item === undefined) return [...faults, 'is about an item that was not announced']
    if (item.done !== null) return [...faults, 'is about an item that is done']
    if (type === 'response.output_item.done') return [...faults, ...faultsInDone(event, item)]
    if ('item_id' in event && event['item_id'] !== item.id) faults.push('names another item')
    return [...faults, ...faultsInPart(type, event, item)]
  }

  return {
    read,
    end: () => [
      ...(terminal === null ? ['there is no terminal event'] : []),
      ...items.flatMap(({ done, id }) => (done === null ? [`item ${String(id)} is not done`] : [])),
      ...items.flatMap((item) => faultsInStatus(item, items, terminal)),
    ],
  }
}

const LIVES = [
  'response.created > response.in_progress',
  'response.created > response.queued > response.in_progress',
]

/** Ignores encrypted content, which is encrypted again for the terminal event. */
function faultsInOutput(output: unknown, items: readonly ItemState[]): readonly string[] {
  if (!Array.isArray(output)) return ['has no output']
  if (output.length !== items.length) return [`shows ${output.length} of ${items.length} items`]
  return output.flatMap((item: unknown, at) =>
    comparable(item) === comparable(items[at]?.done) ? [] : [`shows item ${at} otherwise`],
  )
}

function comparable(item: unknown): string {
  if (!isObject(item)) return 'nothing'
  const { encrypted_content: _sealed, fingerprint: _fingerprint, ...rest } = item
  return JSON.stringify(sortKeys(rest))
}

function sortKeys(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sortKeys)
  if (!isObject(value)) return value
  const entries = Object.entries(value).map(([name, field]) => [name, sortKeys(field)] as const)
  return Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)))
}

function faultsInStatus(
  { done: item, id }: ItemState,
  items: readonly ItemState[],
  terminal: string | null,
): readonly string[] {
  const status = item?.['status']
  if (item === null || terminal === null) return []
  if (item['type'] === 'message' && status !== 'completed' && status !== 'incomplete') {
    return [`item ${String(id)} ends as ${String(status)}`]
  }
  if (status !== 'incomplete' || terminal === 'response.failed') return []
  if (terminal === 'response.completed') return [`item ${String(id)} is cut off in a whole answer`]
  return items.at(-1)?.id === id ? [] : [`item ${String(id)} is cut off, and is not the last`]
}
