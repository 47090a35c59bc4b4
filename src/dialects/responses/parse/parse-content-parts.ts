/**
 * Parses the content of a message or a tool output. A string as content becomes one part; a string
 * as output stays a string. A part of an unknown type is stored unchanged. Returns the client's own
 * list if no part has to be changed.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import {
  asList,
  asListOf,
  asObject,
  asString,
  readOptional,
  createWrongTypeError,
} from '../../checks/check-json-types.ts'
import { patchList, patchObject } from '../../../core/json/patch-object.ts'

type TextType = 'input_text' | 'output_text'

export function parseResponsesContent(
  content: unknown,
  textType: TextType,
  path: string,
): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: textType, text: content }]
  if (!Array.isArray(content)) throw createWrongTypeError(content, path, 'a string or an array')
  return patchList<JsonObject>(content, (part, index) =>
    parsePart(part, textType, `${path}[${index}]`),
  )
}

export function parseToolOutput(output: unknown, path: string): string | readonly JsonObject[] {
  return typeof output === 'string' ? output : parseResponsesContent(output, 'input_text', path)
}

function parsePart(value: unknown, textType: TextType, path: string): JsonObject {
  const part = asObject(value, path)
  const type = asString(part['type'], `${path}.type`)
  const read = PART_READERS.get(type)
  return read === undefined
    ? { type: 'opaque', raw: part }
    : patchObject(part, read(part, path, textType))
}

/**
 * A function that checks a part and returns the fields to correct in it, e.g. `annotations:
 * undefined` to remove `annotations: null`. Fields that are already correct may be among them.
 */
type PartReader = (part: JsonObject, path: string, textType: TextType) => PartFields
type PartFields = Readonly<Record<string, Json | undefined>>

const PART_READERS: ReadonlyMap<string, PartReader> = new Map<string, PartReader>([
  ['input_text', readTextPart],
  ['output_text', readTextPart],
  // Some clients send the type `text`, which text parts have in Chat Completions.
  ['text', (part, path, textType) => ({ type: textType, ...readTextPart(part, path) })],
  ['refusal', readRefusalPart],
  [
    'input_image',
    (part, path) => readOptionalTexts(part, ['image_url', 'file_id', 'detail'], path),
  ],
  ['input_file', (part, path) => readOptionalTexts(part, FILE_FIELDS, path)],
  ['input_audio', readAudioPart],
])

function readTextPart(part: JsonObject, path: string): PartFields {
  const { annotations, logprobs } = part
  asString(part['text'], `${path}.text`)
  readOptional(asListOf(asObject), annotations, `${path}.annotations`)
  readOptional(asList, logprobs, `${path}.logprobs`)
  return { annotations: annotations ?? undefined, logprobs: logprobs ?? undefined }
}

function readRefusalPart(part: JsonObject, path: string): PartFields {
  return { refusal: asString(part['refusal'], `${path}.refusal`) }
}

const FILE_FIELDS = ['file_data', 'file_id', 'file_url', 'filename']

/** Checks optional text fields. A field that is absent or `null` is `undefined` in the result. */
export function readOptionalTexts(
  object: JsonObject,
  names: readonly string[],
  path: string,
): PartFields {
  const texts = names.map((name) => {
    return [name, readOptional(asString, object[name], `${path}.${name}`) ?? undefined] as const
  })
  return Object.fromEntries(texts)
}

function readAudioPart(part: JsonObject, path: string): PartFields {
  const audio = asObject(part['input_audio'], `${path}.input_audio`)
  asString(audio['data'], `${path}.input_audio.data`)
  asString(audio['format'], `${path}.input_audio.format`)
  return {}
}
