/** A request to Gemini. The same prompt gives the same bytes, notes included. */
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
  const { path, hasSystem } = context.model
  const { declarations, toolConfig } = encodeTools(params, context)
  const hasTools = declarations.length > 0
  const format = encodeStructuredOutput(params.format, hasTools, context)
  const system = encodeSystemPrompt(items, [params.instructions, format.instruction], context)
  const contents = encodeMessages(items, system.taken, context)
  const extra = encodeExtraParameters(params, context)
  const stops = planStopSequences(params)
  const config = { ...encodeParameters(params, stops, format.config, context), ...extra.config }
  noteUnsupportedParameters(params, context)

  const isInstructed = hasSystem && system.parts.length > 0
  const body: JsonObject = {
    ...(isInstructed ? { systemInstruction: { parts: system.parts } } : {}),
    ...(hasTools ? { tools: [{ functionDeclarations: declarations }] } : {}),
    ...(toolConfig === null ? {} : { toolConfig }),
    contents: hasSystem ? contents : moveSystemPromptToUser(system.parts, contents, context),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    ...extra.body,
  }
  const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const { notes } = context.notebook
  return { path: `/${path}:${verb}`, body, notes, unsentStopSequences: stops.unsent }
}
