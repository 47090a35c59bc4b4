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
  const mend = typeof type === 'string' ? NORMALIZERS.get(type) : undefined
  if (mend === undefined) return { type: 'opaque', raw }
  return patchObject(raw, {
    ...mend(raw, callId),
    ...normalizeCommonFields(raw),
  }) as unknown as Item
}

type ItemFields = Readonly<Record<string, Json | undefined>>
type Normalizer = (raw: JsonObject, callId: string) => ItemFields

const NORMALIZERS: ReadonlyMap<string, Normalizer> = new Map<string, Normalizer>([
  ['message', normalizeMessage],
  ['reasoning', normalizeReasoning],
  ['function_call', normalizeCall('arguments')],
  ['custom_tool_call', normalizeCall('input')],
  ['function_call_output', normalizeCallOutput],
  ['custom_tool_call_output', normalizeCallOutput],
])

/** `native` and `origin` are words of ours, and not for an upstream to say. */
function normalizeCommonFields({ id, status }: JsonObject): ItemFields {
  return {
    id: readStringOr(undefined, id),
    status: readStringOr(undefined, status),
    native: undefined,
    origin: undefined,
  }
}

const ROLES: ReadonlySet<Json | undefined> = new Set(['assistant', 'user', 'system', 'developer'])

function normalizeMessage({ role, content, phase }: JsonObject): ItemFields {
  return {
    role: ROLES.has(role) ? role : 'assistant',
    content:
      typeof content === 'string'
        ? [createOutputText(content)]
        : normalizeList(content, normalizePart),
    phase: readStringOr(undefined, phase),
  }
}

function normalizeReasoning({
  summary,
  content,
  encrypted_content: sealed,
}: JsonObject): ItemFields {
  return {
    summary: normalizeList(summary, (part) => normalizeReasoningPart(part, 'summary_text')),
    content: Array.isArray(content)
      ? normalizeList(content, (part) => normalizeReasoningPart(part, 'reasoning_text'))
      : undefined,
    encrypted_content: sealed === null ? null : readStringOr(undefined, sealed),
  }
}

function normalizeCall(given: 'arguments' | 'input'): Normalizer {
  return (raw, callId) => {
    const text = raw[given]
    return {
      call_id: readStringOr('', raw['call_id']) || callId,
      name: readStringOr('', raw['name']),
      // Some servers send the object that the JSON should be.
      [given]: isObject(text) ? JSON.stringify(text) : readStringOr('', text),
    }
  }
}

function normalizeCallOutput({ call_id: callId, output }: JsonObject, standIn: string): ItemFields {
  return {
    call_id: readStringOr('', callId) || standIn,
    output: Array.isArray(output) ? normalizeList(output, normalizePart) : readStringOr('', output),
  }
}

/** The very list, if every entry is fine. */
function normalizeList(
  value: unknown,
  entryOf: (entry: unknown) => JsonObject | null,
): readonly JsonObject[] {
  if (!Array.isArray(value)) return []
  const list: readonly unknown[] = value
  const entries = list.map(entryOf).filter((entry) => entry !== null)
  const isSame = entries.length === list.length && entries.every((entry, at) => entry === list[at])
  return isSame ? (list as readonly JsonObject[]) : entries
}

function normalizePart(part: unknown): JsonObject | null {
  if (typeof part === 'string') return createOutputText(part)
  if (!isObject(part)) return null
  switch (part['type']) {
    case 'output_text':
    case 'input_text':
      return patchObject(part, {
        text: readStringOr('', part['text']),
        annotations: readList(part['annotations']),
        logprobs: readList(part['logprobs']),
      })
    case 'refusal':
      return patchObject(part, { refusal: readStringOr('', part['refusal']) })
    case 'input_image':
    case 'input_file':
      return part
    default:
      return { type: 'opaque', raw: part }
  }
}

function normalizeReasoningPart(part: unknown, type: string): JsonObject | null {
  if (typeof part === 'string') return { type, text: part }
  return isObject(part) ? patchObject(part, { type, text: readStringOr('', part['text']) }) : null
}

function createOutputText(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [] }
}

function readList(value: Json | undefined): Json | undefined {
  return Array.isArray(value) ? value : undefined
}

function readStringOr<Other extends string | undefined>(
  other: Other,
  value: Json | undefined,
): string | Other {
  return typeof value === 'string' ? value : other
}
