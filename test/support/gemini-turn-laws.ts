/** Rules for the contents of a Gemini request: roles, parts, calls with their responses, and signatures. */
import { isObject, type Json, type JsonObject } from '../../src/core/json/json.ts'

export interface Request {
  readonly model: string
  readonly body: JsonObject
  readonly faults: string[]
}

const FIELDS = {
  content: ['role', 'parts'],
  part: [
    'text',
    'thought',
    'thoughtSignature',
    'inlineData',
    'fileData',
    'functionCall',
    'functionResponse',
    'executableCode',
    'codeExecutionResult',
  ],
  inlineData: ['mimeType', 'data'],
  fileData: ['fileUri', 'mimeType'],
  functionCall: ['id', 'name', 'args'],
  functionResponse: ['id', 'name', 'response', 'parts'],
} as const

const CONTENT_OF_A_PART = FIELDS.part.filter(
  (field) => field !== 'thought' && field !== 'thoughtSignature',
)

export function contents(request: Request): void {
  const { body, faults, model } = request
  const turns = listOf(body['contents'])
  if (turns.length === 0) faults.push('GenerateContentRequest.contents: contents is not specified')
  turns.forEach((turn, at) => {
    const where = `contents[${at}]`
    unknownFields(turn, where, FIELDS.content, request)
    if (turn['role'] !== 'user' && turn['role'] !== 'model') {
      faults.push('Please use a valid role: user, model.')
    }
    const before = turns[at - 1]
    if (at === 0 && turn['role'] !== 'user') faults.push('The first turn must be of the user.')
    if (before?.['role'] === turn['role']) {
      faults.push(
        `${where}: Please ensure that multiturn requests alternate between user and model.`,
      )
    }
    const parts = listOf(turn['parts'])
    if (parts.length === 0) faults.push(`GenerateContentRequest.${where}.parts: must not be empty.`)
    parts.forEach((each, place) => part(each, `${where}.parts[${place}]`, request))
    pairs(turn, turns[at + 1], before, request)
  })
  const last = turns.at(-1)
  if (
    last?.['role'] === 'model' &&
    !/^(?:gemma|gemini-(?:[12]\b|2\.|3-|3\.1-|3\.5-flash$))/.test(model)
  ) {
    faults.push('Requests ending with a model turn are not supported.')
  }
  if (isThird(model)) signatures(turns, faults)
  const inline = JSON.stringify(body).match(/"data":"[^"]*"/g) ?? []
  if (inline.reduce((sum, data) => sum + data.length, 0) > 20 * 1024 * 1024) {
    faults.push('Request payload size exceeds the limit: 20971520 bytes.')
  }
}

function part(value: JsonObject, where: string, request: Request): void {
  const { faults } = request
  unknownFields(value, where, FIELDS.part, request)
  const kinds = CONTENT_OF_A_PART.filter((field) => value[field] !== undefined)
  if (kinds.length !== 1) {
    faults.push(`${where}.data: required oneof field 'data' must have one initialized field`)
  }
  if (value['text'] === '' && value['thoughtSignature'] === undefined) {
    faults.push(
      `Unable to submit request because ${where} must have a text field that is not empty.`,
    )
  }
  if (value['thoughtSignature'] === '') faults.push(`${where}: Corrupted thought signature.`)
  for (const kind of ['inlineData', 'fileData', 'functionCall', 'functionResponse'] as const) {
    const inner = value[kind]
    if (isObject(inner)) unknownFields(inner, `${where}.${kind}`, FIELDS[kind], request)
  }
  const { inlineData, functionCall, functionResponse } = value
  if (isObject(inlineData)) blob(inlineData, where, request)
  if (isObject(functionCall)) {
    checkName(functionCall, `${where}.function_call`, request)
    if (!isObject(functionCall['args'])) faults.push(`${where}.function_call.args: not an object`)
  }
  if (isObject(functionResponse)) {
    checkName(functionResponse, `${where}.function_response`, request)
    if (!isObject(functionResponse['response'])) {
      faults.push(`${where}.function_response.response: not an object`)
    }
    const media = listOf(functionResponse['parts'])
    if (media.length > 0 && !isThird(request.model)) {
      faults.push('Multimodal function responses are not supported by this model.')
    }
    for (const each of media) blob(each['inlineData'] as JsonObject, where, request)
  }
}

function blob({ mimeType, data }: JsonObject, where: string, { faults }: Request): void {
  const readable =
    /^(?:image\/(?:png|jpeg|webp|heic|heif)|audio\/.+|video\/.+|application\/pdf|text\/.+)$/
  if (typeof mimeType !== 'string' || !readable.test(mimeType)) {
    faults.push(`Unsupported MIME type: ${String(mimeType)}`)
  }
  if (typeof data !== 'string' || data.startsWith('data:')) {
    faults.push(`${where}.inline_data.data: Base64 decoding failed`)
  }
}

export function checkName({ name }: JsonObject, where: string, { faults }: Request): void {
  if (typeof name !== 'string' || name === '') {
    faults.push(`GenerateContentRequest.${where}.name: Name cannot be empty.`)
  } else if (!/^[a-zA-Z_][\w.:-]{0,63}$/.test(name)) {
    faults.push(`${where}.name: [FIELD_INVALID] Invalid function name.`)
  }
}

function pairs(
  turn: JsonObject,
  next: JsonObject | undefined,
  before: JsonObject | undefined,
  { faults }: Request,
): void {
  const calls = callsIn(turn)
  const answers = answersIn(turn)
  if (answers.length > 0 && callsIn(before).length === 0) {
    faults.push(
      'Please ensure that function response turn comes immediately after a function call turn.',
    )
  }
  if (
    answers.length > 0 &&
    listOf(turn['parts'])[answers.length - 1]?.['functionResponse'] === undefined
  ) {
    faults.push('Function responses must come first in their turn.')
  }
  const given = answersIn(next)
  if (calls.length === 0) return
  if (given.length !== calls.length) {
    faults.push(
      'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.',
    )
  }
  calls.forEach((call, at) => {
    if (given[at]?.['name'] !== call['name'] || given[at]?.['id'] !== call['id']) {
      faults.push(`The function response at ${at} does not answer its call.`)
    }
  })
}

/** Gemini checks only the current turn, which begins with the user's last text. */
function signatures(turns: readonly JsonObject[], faults: string[]): void {
  const start = turns.findLastIndex(
    (turn) =>
      turn['role'] === 'user' &&
      listOf(turn['parts']).some((each) => each['functionResponse'] === undefined),
  )
  turns.forEach((turn, at) => {
    if (at <= start) return
    const place = listOf(turn['parts']).findIndex((each) => each['functionCall'] !== undefined)
    const first = listOf(turn['parts'])[place]
    if (first !== undefined && typeof first['thoughtSignature'] !== 'string') {
      faults.push(
        `Function call is missing a thought_signature in functionCall parts. Additional data, function call \`default_api:${String(callsIn(turn)[0]?.['name'])}\`, position ${at + 1}.`,
      )
    }
  })
}

export function unknownFields(
  value: JsonObject,
  at: string,
  known: readonly string[],
  { faults }: Request,
): void {
  for (const field of Object.keys(value)) {
    if (!known.includes(field)) {
      faults.push(
        `Invalid JSON payload received. Unknown name "${field}" at '${at}': Cannot find field.`,
      )
    }
  }
}

export function isThird(model: string): boolean {
  return /^gemini-(?:[3-9]|.*latest)/.test(model)
}

function callsIn(turn: JsonObject | undefined): readonly JsonObject[] {
  return listOf(turn?.['parts']).flatMap(({ functionCall }) => listOf([functionCall ?? null]))
}

function answersIn(turn: JsonObject | undefined): readonly JsonObject[] {
  return listOf(turn?.['parts']).flatMap(({ functionResponse }) =>
    listOf([functionResponse ?? null]),
  )
}

export function listOf(value: Json | undefined): readonly JsonObject[] {
  return Array.isArray(value) ? (value as readonly Json[]).filter(isObject) : []
}
