/**
 * What a message or a tool's output consists of. A string is a single part; a part of an unknown
 * type is carried as it came. The list itself is returned when nothing in it had to be mended.
 */
import type { Json, JsonObject } from '../../../core/json/json.ts'
import {
  asList,
  asObject,
  asString,
  readOptional,
  createWrongTypeError,
} from '../../checks/check-json-types.ts'
import { patchObject } from '../../../core/json/patch-object.ts'

type Said = 'input_text' | 'output_text'

export function parseContentParts(
  content: unknown,
  said: Said,
  path: string,
): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: said, text: content }]
  if (!Array.isArray(content)) throw createWrongTypeError(content, path, 'a string or an array')
  const list = content as readonly JsonObject[]
  const parts = list.map((part, at) => parsePart(part, said, `${path}[${at}]`))
  return parts.every((part, at) => part === list[at]) ? list : parts
}

/** A tool's output stays a string if it is one. */
export function parseToolOutput(output: unknown, path: string): string | readonly JsonObject[] {
  return typeof output === 'string' ? output : parseContentParts(output, 'input_text', path)
}

function parsePart(value: unknown, said: Said, path: string): JsonObject {
  const part = asObject(value, path)
  const type = asString(part['type'], `${path}.type`)
  const read = READERS.get(type)
  return read === undefined
    ? { type: 'opaque', raw: part }
    : patchObject(part, read(part, path, said))
}

/** Which fields are to be set anew, and how; those that are fine may be among them. */
type Reader = (part: JsonObject, path: string, said: Said) => Fields
type Fields = Readonly<Record<string, Json | undefined>>

const READERS: ReadonlyMap<string, Reader> = new Map<string, Reader>([
  ['input_text', text],
  ['output_text', text],
  // What Chat Completions calls either of them.
  ['text', (part, path, said) => ({ type: said, ...text(part, path) })],
  ['refusal', refusal],
  ['input_image', maybeStrings(['image_url', 'file_id', 'detail'])],
  ['input_file', maybeStrings(['file_data', 'file_id', 'file_url', 'filename'])],
  ['input_audio', audio],
])

function text(part: JsonObject, path: string): Fields {
  const { annotations, logprobs } = part
  asString(part['text'], `${path}.text`)
  readOptional(asList, annotations, `${path}.annotations`)?.forEach((annotation, at) => {
    asObject(annotation, `${path}.annotations[${at}]`)
  })
  readOptional(asList, logprobs, `${path}.logprobs`)
  return { annotations: annotations ?? undefined, logprobs: logprobs ?? undefined }
}

function refusal(part: JsonObject, path: string): Fields {
  return { refusal: asString(part['refusal'], `${path}.refusal`) }
}

function maybeStrings(names: readonly string[]): Reader {
  return (part, path) =>
    Object.fromEntries(
      names.map((name) => [
        name,
        readOptional(asString, part[name], `${path}.${name}`) ?? undefined,
      ]),
    )
}

function audio(part: JsonObject, path: string): Fields {
  const heard = asObject(part['input_audio'], `${path}.input_audio`)
  asString(heard['data'], `${path}.input_audio.data`)
  asString(heard['format'], `${path}.input_audio.format`)
  return {}
}
