/** A function call, and the answer to it. */
import { sanitizeNoticeName, formatNotice } from '../../../core/text/gateway-notice.ts'
import type { ToolCall } from '../../../core/item.ts'
import { isObject, type JsonObject, tryParseJson } from '../../../core/json/json.ts'
import { UNPAIRED } from '../../../core/items/tool-call-pairs.ts'
import type { ContentsBuilder } from './contents-builder.ts'
import { hasReadableOrigin, selectCallSignature } from './select-signatures.ts'
import { createSignatureParts, parseTrailingSignatures } from '../text-signatures.ts'
import { encodeToolName } from '../tool-names.ts'
import { encodeToolOutput } from './encode-tool-output.ts'
import type { GeminiPart } from '../api-types.ts'

/**
 * Documented for calls whose signature nobody knows: those of another model, or made up.
 * https://ai.google.dev/gemini-api/docs/thought-signatures
 */
const STAND_IN = 'skip_thought_signature_validator'

/** Nothing for a call that cannot be sent. */
export function encodeToolCall(
  call: ToolCall,
  at: number,
  draft: ContentsBuilder,
): readonly GeminiPart[] {
  const { context, sealed } = draft
  draft.sealed = null
  if (call.name === '') {
    context.notebook.write('call-without-name', { at })
    return []
  }
  const name = encodeToolName(call.name)
  if (name !== call.name) context.notebook.write('tool-name-changed', { at })
  const functionCall = { ...idOf(call, draft), name, args: argsOf(call, at, draft) }
  const signature = selectCallSignature(call, sealed, at, context)
  const behind = hasReadableOrigin(call, context)
    ? createSignatureParts(parseTrailingSignatures(call.native?.['gemini']))
    : []
  if (signature !== null) return [{ functionCall, thoughtSignature: signature }, ...behind]
  // Of a batch only the first call is signed.
  if (!context.model.isThird || draft.calls.length > 0) return [{ functionCall }, ...behind]
  context.notebook.write('signature-stand-in', { at })
  return [{ functionCall, thoughtSignature: STAND_IN }]
}

export function encodeToolResponse(
  at: number,
  draft: ContentsBuilder,
): { readonly part: GeminiPart; readonly behind: readonly GeminiPart[] } {
  const call = draft.items[at] as ToolCall
  const place = draft.partners[at] ?? UNPAIRED
  const output = draft.items[place]
  const head = { ...idOf(call, draft), name: encodeToolName(call.name) }
  if (output?.type !== 'function_call_output' && output?.type !== 'custom_tool_call_output') {
    draft.context.notebook.write('call-without-output', { at })
    const response = { error: 'There is no output of this call.' }
    return { part: { functionResponse: { ...head, response } }, behind: [] }
  }
  const { response, inside, behind } = encodeToolOutput(
    output.output,
    draft.context.model.isThird,
    (part) => draft.encodeMedia(part, place),
  )
  return {
    part: {
      functionResponse: { ...head, response, ...(inside.length === 0 ? {} : { parts: inside }) },
    },
    behind: behind.length === 0 ? [] : [returnedBy(call.name), ...behind],
  }
}

function returnedBy(tool: string): GeminiPart {
  return { text: formatNotice(`What follows was returned by ${sanitizeNoticeName(tool)}.`) }
}

/** The upstream's own id; one that we made up means nothing to it. */
function idOf(call: ToolCall, draft: ContentsBuilder): { readonly id?: string } {
  const id = call.native?.['gemini']?.['id']
  return typeof id === 'string' && draft.context.quirks.callIds ? { id } : {}
}

function argsOf(call: ToolCall, at: number, draft: ContentsBuilder): JsonObject {
  if (call.type === 'custom_tool_call') {
    draft.context.notebook.write('custom-call', { at })
    return { input: call.input }
  }
  if (call.arguments.trim() === '') return {}
  const value = tryParseJson(call.arguments)
  if (isObject(value)) return value
  draft.context.notebook.write('arguments-not-an-object', { at })
  return { arguments: call.arguments }
}
