/**
 * Decodes an item of a Responses answer. A valid item is returned as the same object; missing and
 * mistyped fields are corrected on a copy, because an answer cannot be rejected like a request.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, type Json, type JsonObject } from '../../../core/json/json.ts'

/** `fallbackCallId` is used for a call without an id. */
export function decodeItem(raw: JsonObject, fallbackCallId: string): Item {
  const { type } = raw
  const normalize = typeof type === 'string' ? NORMALIZERS.get(type) : undefined
  if (normalize === undefined) return { type: 'opaque', raw }
  return patchObject(raw, {
    ...normalize(raw, fallbackCallId),
    ...normalizeCommonFields(raw),
  }) as unknown as Item
}

type ItemFields = Readonly<Record<string, Json | undefined>>
type Normalizer = (raw: JsonObject, fallbackCallId: string) => ItemFields

const NORMALIZERS: ReadonlyMap<string, Normalizer> = new Map<string, Normalizer>([
  ['message', normalizeMessage],
  ['reasoning', normalizeReasoning],
  ['function_call', normalizeCall('arguments')],
  ['custom_tool_call', normalizeCall('input')],
  ['function_call_output', normalizeCallOutput],
  ['custom_tool_call_output', normalizeCallOutput],
])

/** Removes `native` and `origin`, which only the gateway sets. */
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
  encrypted_content: encrypted,
}: JsonObject): ItemFields {
  return {
    summary: normalizeList(summary, (part) => normalizeReasoningPart(part, 'summary_text')),
    content: Array.isArray(content)
      ? normalizeList(content, (part) => normalizeReasoningPart(part, 'reasoning_text'))
      : undefined,
    encrypted_content: encrypted === null ? null : readStringOr(undefined, encrypted),
  }
}

function normalizeCall(inputField: 'arguments' | 'input'): Normalizer {
  return (raw, fallbackCallId) => {
    const input = raw[inputField]
    return {
      call_id: readStringOr('', raw['call_id']) || fallbackCallId,
      name: readStringOr('', raw['name']),
      // Some servers send arguments as an object instead of its JSON text.
      [inputField]: isObject(input) ? JSON.stringify(input) : readStringOr('', input),
    }
  }
}

function normalizeCallOutput(
  { call_id: callId, output }: JsonObject,
  fallbackCallId: string,
): ItemFields {
  return {
    call_id: readStringOr('', callId) || fallbackCallId,
    output: Array.isArray(output) ? normalizeList(output, normalizePart) : readStringOr('', output),
  }
}

/** Drops entries that `normalizeEntry` rejects; returns the same list if no entry changes. */
function normalizeList(
  value: unknown,
  normalizeEntry: (entry: unknown) => JsonObject | null,
): readonly JsonObject[] {
  if (!Array.isArray(value)) return []
  const list: readonly unknown[] = value
  const entries = list.map(normalizeEntry).filter((entry) => entry !== null)
  const isSame =
    entries.length === list.length && entries.every((entry, index) => entry === list[index])
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

function readStringOr<Fallback extends string | undefined>(
  fallback: Fallback,
  value: Json | undefined,
): string | Fallback {
  return typeof value === 'string' ? value : fallback
}
