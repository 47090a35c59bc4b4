/** Encodes a prompt as a request to Gemini. Equal prompts give equal requests and notes. */
import type { JsonObject } from '../../../core/json/json.ts'
import type { Prompt } from '../../../core/prompt.ts'
import type { Account, EncodedRequest } from '../../provider-interface.ts'
import { createEncodingContext } from './encoding-context.ts'
import {
  encodeParameters,
  noteUnsupportedParameters,
  planStopSequences,
} from './encode-parameters.ts'
import { encodeMessages } from './encode-messages.ts'
import { encodeExtraParameters } from './encode-extra-parameters.ts'
import { encodeStructuredOutput } from './encode-structured-output.ts'
import { encodeSystemPrompt, moveSystemPromptToUser } from './encode-system-prompt.ts'
import { encodeTools } from './encode-tools.ts'

export function encodeRequest({ items, params, stream }: Prompt, account: Account): EncodedRequest {
  const context = createEncodingContext(params.model, account)
  const { path, hasSystemInstruction } = context.model
  const { declarations, toolConfig } = encodeTools(params, context)
  const hasTools = declarations.length > 0
  const format = encodeStructuredOutput(params.format, hasTools, context)
  const system = encodeSystemPrompt(items, [params.instructions, format.instruction], context)
  const contents = encodeMessages(items, system.itemCount, context)
  const extra = encodeExtraParameters(params, context)
  const stops = planStopSequences(params)
  const config = { ...encodeParameters(params, stops, format.config, context), ...extra.config }
  noteUnsupportedParameters(params, context)

  const isInstructed = hasSystemInstruction && system.parts.length > 0
  const body: JsonObject = {
    ...(isInstructed ? { systemInstruction: { parts: system.parts } } : {}),
    ...(hasTools ? { tools: [{ functionDeclarations: declarations }] } : {}),
    ...(toolConfig === null ? {} : { toolConfig }),
    contents: hasSystemInstruction
      ? contents
      : moveSystemPromptToUser(system.parts, contents, context),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    ...extra.body,
  }
  const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const { notes } = context.notes
  return { path: `/${path}:${verb}`, body, notes, unsentStopSequences: stops.unsent }
}
