/** The content of a chat message, text or a list of parts, in the waist's words. */
import type { Part } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import {
  asList,
  asObject,
  asString,
  readOptional,
  createWrongTypeError,
} from '../../checks/check-json-types.ts'
import { pickUnknownFields } from './pick-unknown-fields.ts'

export interface ParsedContent {
  readonly parts: readonly Part[]
  /**
   * Fields of the parts that the waist has no word for, by place. It is there as well when several
   * texts were kept apart, so that they are kept apart on the way back.
   */
  readonly extras: readonly (JsonObject | null)[] | undefined
}

type TextType = 'input_text' | 'output_text'

export function parseMessageContent(value: unknown, path: string, text: TextType): ParsedContent {
  if (typeof value === 'string') return { parts: [{ type: text, text: value }], extras: undefined }
  if (!Array.isArray(value)) throw createWrongTypeError(value, path, 'a string or an array')
  const parts: Part[] = []
  const extras: (JsonObject | null)[] = []
  for (const [place, entry] of asList(value, path).entries()) {
    const at = `${path}[${place}]`
    const raw = asObject(entry, at)
    const { part, extra } = parsePart(raw, at, text)
    parts.push(part)
    extras.push(extra)
  }
  const isKeptApart = parts.length > 1 && parts.every((part) => part.type === text)
  return { parts, extras: isKeptApart || extras.some((one) => one !== null) ? extras : undefined }
}

interface Parsed {
  readonly part: Part
  readonly extra: JsonObject | null
}

function parsePart(raw: JsonObject, path: string, text: TextType): Parsed {
  const type = asString(raw['type'], `${path}.type`)
  switch (type) {
    case 'text': {
      const said = asString(raw['text'], `${path}.text`)
      return { part: { type: text, text: said }, extra: pickUnknownFields(raw, TEXT) }
    }
    case 'refusal': {
      const refusal = asString(raw['refusal'], `${path}.refusal`)
      return { part: { type: 'refusal', refusal }, extra: null }
    }
    case 'image_url':
      return parseImage(raw, path)
    case 'input_audio':
      return parseAudio(raw, path)
    case 'file':
      return parseFile(raw, path)
    default:
      return { part: { type: 'opaque', raw }, extra: null }
  }
}

const TEXT = new Set(['type', 'text'])

function parseImage(raw: JsonObject, path: string): Parsed {
  const at = `${path}.image_url`
  const image = asObject(raw['image_url'], at)
  const image_url = asString(image['url'], `${at}.url`)
  const detail = readOptional(asString, image['detail'], `${at}.detail`)
  return {
    part: { type: 'input_image', image_url, ...(detail === null ? {} : { detail }) },
    extra: extraOf(raw, 'image_url', IMAGE),
  }
}

const IMAGE = new Set(['url', 'detail'])

function parseAudio(raw: JsonObject, path: string): Parsed {
  const at = `${path}.input_audio`
  const audio = asObject(raw['input_audio'], at)
  const data = asString(audio['data'], `${at}.data`)
  const format = asString(audio['format'], `${at}.format`)
  return {
    part: { type: 'input_audio', input_audio: { data, format } },
    extra: extraOf(raw, 'input_audio', AUDIO),
  }
}

const AUDIO = new Set(['data', 'format'])

function parseFile(raw: JsonObject, path: string): Parsed {
  const at = `${path}.file`
  const file = asObject(raw['file'], at)
  const file_data = readOptional(asString, file['file_data'], `${at}.file_data`)
  const file_id = readOptional(asString, file['file_id'], `${at}.file_id`)
  const filename = readOptional(asString, file['filename'], `${at}.filename`)
  return {
    part: {
      type: 'input_file',
      ...(file_data === null ? {} : { file_data }),
      ...(file_id === null ? {} : { file_id }),
      ...(filename === null ? {} : { filename }),
    },
    extra: extraOf(raw, 'file', FILE),
  }
}

const FILE = new Set(['file_data', 'file_id', 'filename'])

/** What is left over of a part and of the object inside it. */
function extraOf(raw: JsonObject, name: string, known: ReadonlySet<string>): JsonObject | null {
  const outside = pickUnknownFields(raw, new Set(['type', name]))
  const inside = pickUnknownFields(asObject(raw[name], name), known)
  return inside === null ? outside : { ...outside, [name]: raw[name] }
}
