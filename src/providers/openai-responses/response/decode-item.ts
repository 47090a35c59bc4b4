/**
 * An item as an upstream sent it. It is the very object where its fields are what they should be;
 * what is missing or mistyped is mended on a copy, for there is nobody to refuse it to.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'

/** `callId` stands in where a call came without one. */
export function decodeItem(raw: JsonObject, callId: string): Item {
  const { type } = raw
  const mend = typeof type === 'string' ? MENDERS.get(type) : undefined
  if (mend === undefined) return { type: 'opaque', raw }
  return patchObject(raw, { ...mend(raw, callId), ...commonOf(raw) }) as unknown as Item
}

type Fields = Readonly<Record<string, Json | undefined>>
type Mender = (raw: JsonObject, callId: string) => Fields

const MENDERS: ReadonlyMap<string, Mender> = new Map<string, Mender>([
  ['message', message],
  ['reasoning', reasoning],
  ['function_call', call('arguments')],
  ['custom_tool_call', call('input')],
  ['function_call_output', callOutput],
  ['custom_tool_call_output', callOutput],
])

/** `native` and `origin` are words of ours, and not for an upstream to say. */
function commonOf({ id, status }: JsonObject): Fields {
  return {
    id: stringOr(undefined, id),
    status: stringOr(undefined, status),
    native: undefined,
    origin: undefined,
  }
}

const ROLES: ReadonlySet<Json | undefined> = new Set(['assistant', 'user', 'system', 'developer'])

function message({ role, content, phase }: JsonObject): Fields {
  return {
    role: ROLES.has(role) ? role : 'assistant',
    content: typeof content === 'string' ? [outputText(content)] : listOf(content, partOf),
    phase: stringOr(undefined, phase),
  }
}

function reasoning({ summary, content, encrypted_content: sealed }: JsonObject): Fields {
  return {
    summary: listOf(summary, (part) => thoughtOf(part, 'summary_text')),
    content: Array.isArray(content)
      ? listOf(content, (part) => thoughtOf(part, 'reasoning_text'))
      : undefined,
    encrypted_content: sealed === null ? null : stringOr(undefined, sealed),
  }
}

function call(given: 'arguments' | 'input'): Mender {
  return (raw, callId) => {
    const text = raw[given]
    return {
      call_id: stringOr('', raw['call_id']) || callId,
      name: stringOr('', raw['name']),
      // Some servers send the object that the JSON should be.
      [given]: isObject(text) ? JSON.stringify(text) : stringOr('', text),
    }
  }
}

function callOutput({ call_id: callId, output }: JsonObject, standIn: string): Fields {
  return {
    call_id: stringOr('', callId) || standIn,
    output: Array.isArray(output) ? listOf(output, partOf) : stringOr('', output),
  }
}

/** The very list, if every entry is fine. */
function listOf(
  value: unknown,
  entryOf: (entry: unknown) => JsonObject | null,
): readonly JsonObject[] {
  if (!Array.isArray(value)) return []
  const list: readonly unknown[] = value
  const entries = list.map(entryOf).filter((entry) => entry !== null)
  const isSame = entries.length === list.length && entries.every((entry, at) => entry === list[at])
  return isSame ? (list as readonly JsonObject[]) : entries
}

function partOf(part: unknown): JsonObject | null {
  if (typeof part === 'string') return outputText(part)
  if (!isObject(part)) return null
  switch (part['type']) {
    case 'output_text':
    case 'input_text':
      return patchObject(part, {
        text: stringOr('', part['text']),
        annotations: listOrNone(part['annotations']),
        logprobs: listOrNone(part['logprobs']),
      })
    case 'refusal':
      return patchObject(part, { refusal: stringOr('', part['refusal']) })
    case 'input_image':
    case 'input_file':
      return part
    default:
      return { type: 'opaque', raw: part }
  }
}

function thoughtOf(part: unknown, type: string): JsonObject | null {
  if (typeof part === 'string') return { type, text: part }
  return isObject(part) ? patchObject(part, { type, text: stringOr('', part['text']) }) : null
}

function outputText(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [] }
}

function listOrNone(value: Json | undefined): Json | undefined {
  return Array.isArray(value) ? value : undefined
}

function stringOr<Other extends string | undefined>(
  other: Other,
  value: Json | undefined,
): string | Other {
  return typeof value === 'string' ? value : other
}
