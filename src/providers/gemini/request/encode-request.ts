/**
 * Encodes a prompt as a request to `generateContent` or `streamGenerateContent`. Equal prompts give
 * equal requests and notes.
 */
import { type Item, textOf, isTextOrRefusal } from '../../../core/item.ts'
import { countLeadingInstructions } from '../../../core/items/leading-instructions.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { Prompt } from '../../../core/prompt.ts'
import type { Account, EncodedRequest } from '../../provider-interface.ts'
import type { GeminiPart, GeminiContent } from '../api-types.ts'
import { encodeMessages } from './encode-messages.ts'
import { encodeParameters, planStopSequences } from './encode-parameters.ts'
import { encodeStructuredOutput } from './encode-structured-output.ts'
import { encodeTools } from './encode-tools.ts'
import { createEncodingContext, type EncodingContext } from './encoding-context.ts'

export function encodeRequest({ items, params, stream }: Prompt, account: Account): EncodedRequest {
  const context = createEncodingContext(params.model, account)
  const { path, hasSystemInstruction } = context.model
  const { declarations, toolConfig } = encodeTools(params, context)
  const hasTools = declarations.length > 0
  const format = encodeStructuredOutput(params.format, hasTools, context)
  const start = countLeadingInstructions(items)
  const instructions = [params.instructions, format.instruction]
  const systemParts = encodeSystemPrompt(items.slice(0, start), instructions, context)
  const contents = encodeMessages(items, start, context)
  const stops = planStopSequences(params)
  const parameters = encodeParameters(params, stops, format.generationConfig, context)
  const { generationConfig, rootFields } = parameters

  const isInstructed = hasSystemInstruction && systemParts.length > 0
  const body: JsonObject = {
    ...(isInstructed ? { systemInstruction: { parts: systemParts } } : {}),
    ...(hasTools ? { tools: [{ functionDeclarations: declarations }] } : {}),
    ...(toolConfig === null ? {} : { toolConfig }),
    contents: hasSystemInstruction
      ? contents
      : moveSystemPromptToUser(systemParts, contents, context),
    ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }),
    ...rootFields,
  }
  const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const { notes } = context.notes
  return { path: `/${path}:${verb}`, body, notes, unsentStopSequences: stops.unsent }
}

/** Encodes the instructions of the request and the leading system messages. */
function encodeSystemPrompt(
  leadingItems: readonly Item[],
  instructions: readonly (string | null)[],
  { notes }: EncodingContext,
): readonly GeminiPart[] {
  const parts: GeminiPart[] = []
  for (const text of instructions) if (text !== null && text !== '') parts.push({ text })
  for (const [itemIndex, item] of leadingItems.entries()) {
    if (item.type !== 'message') continue
    const text = textOf(item.content)
    if (text !== '') parts.push({ text })
    if (!item.content.every(isTextOrRefusal)) notes.write('media-in-system', { itemIndex })
  }
  return parts
}

/** Moves the system prompt to the first user turn, for a model without a system instruction. */
function moveSystemPromptToUser(
  parts: readonly GeminiPart[],
  contents: readonly GeminiContent[],
  context: EncodingContext,
): readonly GeminiContent[] {
  if (parts.length === 0) return contents
  context.notes.write('system-as-user')
  const [first, ...rest] = contents
  return [{ role: 'user', parts: [...parts, ...(first?.parts ?? [])] }, ...rest]
}
