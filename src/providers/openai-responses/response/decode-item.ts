/**
 * Decodes an item of a Responses answer. Corrects missing and mistyped fields in a copy, because
 * the gateway must accept any answer. Returns a valid item as the same object.
 */
import { patchObject } from '../../../core/json/patch-object.ts'
import type { Item } from '../../../core/item.ts'
import { isObject, textOrEmpty, type Json, type JsonObject } from '../../../core/json/json.ts'

/** Decodes an item. `fallbackCallId` is used for a tool call without an id. */
export function decodeItem(raw: JsonObject, fallbackCallId: string): Item {
  const { type, id, status } = raw
  const decode = typeof type === 'string' ? DECODERS.get(type) : undefined
  if (decode === undefined) return { type: 'opaque', raw }
  return patchObject(raw, {
    ...decode(raw, fallbackCallId),
    id: readString(id),
    status: readString(status),
    // Only the gateway sets these fields.
    native: undefined,
    origin: undefined,
  }) as unknown as Item
}

type ItemDecoder = (raw: JsonObject, fallbackCallId: string) => JsonObject

const DECODERS: ReadonlyMap<string, ItemDecoder> = new Map<string, ItemDecoder>([
  ['message', decodeMessage],
  ['reasoning', decodeReasoning],
  ['function_call', decodeCall('arguments')],
  ['custom_tool_call', decodeCall('input')],
  ['function_call_output', decodeCallOutput],
  ['custom_tool_call_output', decodeCallOutput],
])

const ROLES: ReadonlySet<Json | undefined> = new Set(['assistant', 'user', 'system', 'developer'])

function decodeMessage({ role, content, phase }: JsonObject): JsonObject {
  return {
    role: ROLES.has(role) ? role : 'assistant',
    content:
      typeof content === 'string' ? [createTextPart(content)] : decodeList(content, decodePart),
    phase: readString(phase),
  }
}

function decodeReasoning({
  summary,
  content,
  encrypted_content: encrypted,
}: JsonObject): JsonObject {
  return {
    summary: decodeList(summary, (part) => decodeReasoningPart(part, 'summary_text')),
    content: Array.isArray(content)
      ? decodeList(content, (part) => decodeReasoningPart(part, 'reasoning_text'))
      : undefined,
    encrypted_content: encrypted === null ? null : readString(encrypted),
  }
}

function decodeCall(inputField: 'arguments' | 'input'): ItemDecoder {
  return (raw, fallbackCallId) => {
    const input = raw[inputField]
    return {
      call_id: textOrEmpty(raw['call_id']) || fallbackCallId,
      name: textOrEmpty(raw['name']),
      // Some servers send the arguments as an object instead of JSON text.
      [inputField]: isObject(input) ? JSON.stringify(input) : textOrEmpty(input),
    }
  }
}

function decodeCallOutput({ call_id, output }: JsonObject, fallbackCallId: string): JsonObject {
  return {
    call_id: textOrEmpty(call_id) || fallbackCallId,
    output: Array.isArray(output) ? decodeList(output, decodePart) : textOrEmpty(output),
  }
}

/**
 * Decodes the entries of a list; leaves out invalid ones. Returns the same list if no entry
 * changes.
 */
function decodeList(
  value: unknown,
  decodeEntry: (entry: unknown) => JsonObject | null,
): readonly JsonObject[] {
  if (!Array.isArray(value)) return []
  const list: readonly unknown[] = value
  const entries = list.map(decodeEntry).filter((entry) => entry !== null)
  const isSame =
    entries.length === list.length && entries.every((entry, index) => entry === list[index])
  return isSame ? (list as readonly JsonObject[]) : entries
}

function decodePart(part: unknown): JsonObject | null {
  if (typeof part === 'string') return createTextPart(part)
  if (!isObject(part)) return null
  const { type, text, annotations, logprobs, refusal } = part
  switch (type) {
    case 'output_text':
    case 'input_text':
      return patchObject(part, {
        text: textOrEmpty(text),
        annotations: Array.isArray(annotations) ? annotations : undefined,
        logprobs: Array.isArray(logprobs) ? logprobs : undefined,
      })
    case 'refusal':
      return patchObject(part, { refusal: textOrEmpty(refusal) })
    case 'input_image':
    case 'input_file':
      return part
    default:
      return { type: 'opaque', raw: part }
  }
}

function decodeReasoningPart(part: unknown, type: string): JsonObject | null {
  if (typeof part === 'string') return { type, text: part }
  return isObject(part) ? patchObject(part, { type, text: textOrEmpty(part['text']) }) : null
}

function createTextPart(text: string): JsonObject {
  return { type: 'output_text', text, annotations: [] }
}

function readString(value: Json | undefined): string | undefined {
  return typeof value === 'string' ? value : undefined
}
