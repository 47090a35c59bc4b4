/** A request to Gemini. The same prompt gives the same bytes, notes included. */
import type { JsonObject } from '../../../core/json/json.ts'
import type { Prompt } from '../../../core/prompt.ts'
import type { Account, Encoded } from '../../provider-interface.ts'
import { newContext } from './encoding-context.ts'
import { encodeConfig, noteLostParams, stopsFor } from './encode-parameters.ts'
import { encodeContents } from './encode-messages.ts'
import { encodeExtra } from './encode-extra-parameters.ts'
import { encodeFormat } from './encode-structured-output.ts'
import { encodeSystem, systemAsUser } from './encode-system-prompt.ts'
import { encodeTools } from './encode-tools.ts'

export function encode({ items, params, stream }: Prompt, account: Account): Encoded {
  const context = newContext(params.model, account)
  const { path, hasSystem } = context.model
  const { declarations, toolConfig } = encodeTools(params, context)
  const hasTools = declarations.length > 0
  const format = encodeFormat(params.format, hasTools, context)
  const system = encodeSystem(items, [params.instructions, format.instruction], context)
  const contents = encodeContents(items, system.taken, context)
  const extra = encodeExtra(params, context)
  const stops = stopsFor(params)
  const config = { ...encodeConfig(params, stops, format.config, context), ...extra.config }
  noteLostParams(params, context)

  const isInstructed = hasSystem && system.parts.length > 0
  const body: JsonObject = {
    ...(isInstructed ? { systemInstruction: { parts: system.parts } } : {}),
    ...(hasTools ? { tools: [{ functionDeclarations: declarations }] } : {}),
    ...(toolConfig === null ? {} : { toolConfig }),
    contents: hasSystem ? contents : systemAsUser(system.parts, contents, context),
    ...(Object.keys(config).length === 0 ? {} : { generationConfig: config }),
    ...extra.body,
  }
  const verb = stream ? 'streamGenerateContent?alt=sse' : 'generateContent'
  const { notes } = context.notebook
  return { path: `/${path}:${verb}`, body, notes, unsentStops: stops.unsent }
}
