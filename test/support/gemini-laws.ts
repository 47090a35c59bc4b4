/**
 * Rules of the Gemini API: returns the error that it would send for a request. Written from its documentation
 * and reported errors, independently of the gateway's encoder.
 */
import { isObject, type Json, type JsonObject } from '../../src/core/json/json.ts'
import { schemaFaults } from './gemini-schema-laws.ts'
import {
  contents,
  isThird,
  listOf,
  checkName,
  unknownFields,
  type Request,
} from './gemini-turn-laws.ts'

/** Returns the body of a 400 error; null for a valid request. `path` is relative to the base URL. */
export function findGeminiRefusal(path: string, body: JsonObject): JsonObject | null {
  const [fault] = findGeminiFaults(path, body)
  if (fault === undefined) return null
  return { error: { code: 400, message: fault, status: 'INVALID_ARGUMENT' } }
}

/** Returns a message for every violation in a request. */
export function findGeminiFaults(path: string, body: JsonObject): readonly string[] {
  const match = /^\/models\/([^/:]+):(?:streamGenerateContent\?alt=sse|generateContent)$/.exec(path)
  if (match?.[1] === undefined) return [`Not found: ${path}`]
  const request: Request = { model: decodeURIComponent(match[1]), body, faults: [] }
  unknownFields(body, '', FIELDS.body, request)
  contents(request)
  system(request)
  tools(request)
  config(request)
  return request.faults
}

const FIELDS = {
  body: [
    'contents',
    'systemInstruction',
    'tools',
    'toolConfig',
    'generationConfig',
    'safetySettings',
    'cachedContent',
    'serviceTier',
  ],
  declaration: ['name', 'description', 'parameters', 'parametersJsonSchema'],
  config: [
    'maxOutputTokens',
    'temperature',
    'topP',
    'topK',
    'stopSequences',
    'seed',
    'presencePenalty',
    'frequencyPenalty',
    'responseMimeType',
    'responseSchema',
    'responseJsonSchema',
    'responseLogprobs',
    'logprobs',
    'responseModalities',
    'thinkingConfig',
  ],
} as const

function system({ body, faults, model }: Request): void {
  const instruction = body['systemInstruction']
  if (instruction === undefined) return
  if (model.startsWith('gemma-3'))
    faults.push('Developer instruction is not enabled for this model')
  const parts = isObject(instruction) ? listOf(instruction['parts']) : []
  if (parts.length === 0 || parts.some(({ text }) => typeof text !== 'string' || text === '')) {
    faults.push('GenerateContentRequest.system_instruction: only text is supported.')
  }
}

function tools(request: Request): void {
  const { body, faults } = request
  const declarations = listOf(body['tools']).flatMap((tool) => listOf(tool['functionDeclarations']))
  declarations.forEach((declaration, at) => {
    const where = `tools[0].function_declarations[${at}]`
    unknownFields(declaration, where, FIELDS.declaration, request)
    checkName(declaration, where, request)
    const { parameters } = declaration
    if (isObject(parameters)) faults.push(...schemaFaults(parameters, `${where}.parameters`))
    if (isObject(parameters) && parameters['type'] !== 'object') {
      faults.push(`${where}.parameters: schema type must be OBJECT`)
    }
  })
  const calling = (body['toolConfig'] as JsonObject | undefined)?.['functionCallingConfig']
  if (!isObject(calling)) return
  if (declarations.length === 0) {
    faults.push('Function calling config is set without function_declarations.')
  }
  const names = declarations.map(({ name }) => name)
  const allowed = calling['allowedFunctionNames'] as readonly Json[] | undefined
  if (allowed !== undefined && calling['mode'] !== 'ANY') {
    faults.push('allowed_function_names should only be set when the mode is ANY.')
  }
  if (allowed?.some((name) => !names.includes(name)) === true) {
    faults.push('Allowed function name is not in function_declarations.')
  }
}

function config(request: Request): void {
  const { body, faults, model } = request
  const settings = body['generationConfig'] ?? {}
  if (!isObject(settings)) return
  unknownFields(settings, 'generation_config', FIELDS.config, request)
  const { stopSequences, temperature, thinkingConfig, responseSchema, responseMimeType } = settings
  if (Array.isArray(stopSequences) && (stopSequences.length > 5 || stopSequences.includes(''))) {
    faults.push('stop_sequences must have at most 5 entries, none of them empty.')
  }
  if (typeof temperature === 'number' && (temperature < 0 || temperature > 2)) {
    faults.push('temperature must be in the range [0.0, 2.0].')
  }
  if (isObject(responseSchema)) faults.push(...schemaFaults(responseSchema, 'response_schema'))
  if (responseMimeType !== undefined && body['tools'] !== undefined && !isThird(model)) {
    faults.push("Function calling with a response mime type: 'application/json' is unsupported")
  }
  const penalised = 'presencePenalty' in settings || 'frequencyPenalty' in settings
  if (penalised && model.startsWith('gemini-2.5')) {
    faults.push(`Penalty is not enabled for models/${model}`)
  }
  if (isObject(thinkingConfig)) thinking(thinkingConfig, request)
}

function thinking(config: JsonObject, { faults, model }: Request): void {
  const { thinkingBudget: budget, thinkingLevel: level } = config
  if (budget !== undefined && level !== undefined) {
    faults.push('You can only set only one of thinking budget and thinking level.')
  }
  if (!/^gemini-(?:2\.5|[3-9]|flash|pro)/.test(model) || /tts|2\.5-flash-image/.test(model)) {
    faults.push(`Thinking is not enabled for models/${model}`)
  }
  if (level !== undefined && model.startsWith('gemini-2.5')) {
    faults.push('Thinking level is not supported for this model.')
  }
  if (level === 'MINIMAL' && /pro|latest$|3\.[7-9]-flash$/.test(model)) {
    faults.push('Thinking level MINIMAL is not supported for this model.')
  }
  if (typeof budget !== 'number' || budget === -1) return
  const least = model.includes('pro') ? 128 : model.includes('lite') && budget > 0 ? 512 : 0
  if (budget < least || budget > 24_576) {
    faults.push(`The thinking budget ${budget} is invalid.`)
  }
}
