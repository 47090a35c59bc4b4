/** Encodes tool calls as function calls, and their outputs as function responses. */
import { sanitizeNoticeName, formatNotice } from '../../../core/text/gateway-notice.ts'
import type { ToolCall } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import { tryParseLimitedJsonObject } from '../../../core/json/limited-json.ts'
import { UNPAIRED } from '../../../core/items/tool-call-pairs.ts'
import type { ContentsBuilder } from './contents-builder.ts'
import { hasReadableOrigin, selectCallSignature } from './select-signatures.ts'
import { createSignatureParts, parseTrailingSignatures } from '../text-signatures.ts'
import { encodeToolName } from '../encode-tool-name.ts'
import { encodeToolOutput } from './encode-tool-output.ts'
import type { GeminiPart } from '../api-types.ts'

/**
 * A text that Google accepts instead of a signature, for calls that another model made or that have
 * no signature. https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const SIGNATURE_STAND_IN = 'skip_thought_signature_validator'

/** Encodes a tool call; returns no parts if the call has no name. */
export function encodeToolCall(
  call: ToolCall,
  itemIndex: number,
  builder: ContentsBuilder,
): readonly GeminiPart[] {
  const { context, reasoningBefore } = builder
  builder.reasoningBefore = null
  if (call.name === '') {
    context.notes.write('call-without-name', { itemIndex })
    return []
  }
  const name = encodeToolName(call.name)
  if (name !== call.name) context.notes.write('tool-name-changed', { itemIndex })
  const args = encodeArguments(call, itemIndex, builder)
  const functionCall = { ...encodeId(call, builder), name, args }
  const signature = selectCallSignature(call, reasoningBefore, itemIndex, context)
  const after = hasReadableOrigin(call, context)
    ? createSignatureParts(parseTrailingSignatures(call.native?.['gemini']))
    : []
  if (signature !== null) return [{ functionCall, thoughtSignature: signature }, ...after]
  // Gemini 3 requires a signature on the first of parallel calls; older models require none.
  if (!context.model.isGeneration3OrLater || builder.unansweredCalls.length > 0)
    return [{ functionCall }, ...after]
  context.notes.write('signature-stand-in', { itemIndex })
  return [{ functionCall, thoughtSignature: SIGNATURE_STAND_IN }]
}

export function encodeResponseOfCall(
  callIndex: number,
  builder: ContentsBuilder,
): { readonly part: GeminiPart; readonly partsAfter: readonly GeminiPart[] } {
  const call = builder.items[callIndex] as ToolCall
  const outputIndex = builder.pairedIndexes[callIndex] ?? UNPAIRED
  const output = builder.items[outputIndex]
  const head = { ...encodeId(call, builder), name: encodeToolName(call.name) }
  if (output?.type !== 'function_call_output' && output?.type !== 'custom_tool_call_output') {
    builder.context.notes.write('call-without-output', { itemIndex: callIndex })
    const response = { error: 'There is no output of this call.' }
    return { part: { functionResponse: { ...head, response } }, partsAfter: [] }
  }
  const { response, mediaInside, partsAfter } = encodeToolOutput(
    output.output,
    builder.context.model.isGeneration3OrLater,
    (part) => builder.encodeMedia(part, outputIndex),
    builder.context.jsonBudget,
  )
  const media = mediaInside.length === 0 ? {} : { parts: mediaInside }
  return {
    part: { functionResponse: { ...head, response, ...media } },
    partsAfter: partsAfter.length === 0 ? [] : [createOriginNotice(call.name), ...partsAfter],
  }
}

function createOriginNotice(tool: string): GeminiPart {
  return { text: formatNotice(`What follows was returned by ${sanitizeNoticeName(tool)}.`) }
}

/**
 * Returns the field `id` if Gemini itself gave the call an id and the upstream accepts ids (quirk
 * `callIds`). Gemini does not need ids that the gateway generated, so they are not sent.
 */
function encodeId(call: ToolCall, builder: ContentsBuilder): { readonly id?: string } {
  const id = call.native?.['gemini']?.['id']
  return typeof id === 'string' && builder.context.quirks.callIds ? { id } : {}
}

function encodeArguments(call: ToolCall, itemIndex: number, builder: ContentsBuilder): JsonObject {
  if (call.type === 'custom_tool_call') {
    builder.context.notes.write('custom-call', { itemIndex })
    return { input: call.input }
  }
  if (call.arguments.trim() === '') return {}
  const value = tryParseLimitedJsonObject(call.arguments, builder.context.jsonBudget)
  if (value !== null) return value
  builder.context.notes.write('arguments-not-an-object', { itemIndex })
  return { arguments: call.arguments }
}
