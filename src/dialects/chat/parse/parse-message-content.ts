/** Parses the content of a chat message, a string or a list of parts, into the parts of an item. */
import type { Part } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import {
  asObject,
  asString,
  readOptional,
  createWrongTypeError,
} from '../../checks/check-json-types.ts'
import { pickUnknownFields } from './pick-unknown-fields.ts'

export interface ParsedContent {
  readonly parts: readonly Part[]
  /**
   * The unknown fields of each part, by the index of the part. Also set if several text parts have
   * no such fields, so that the parts are rendered separately again.
   */
  readonly extras: readonly (JsonObject | null)[] | undefined
}

type TextType = 'input_text' | 'output_text'

export function parseMessageContent(value: unknown, path: string, text: TextType): ParsedContent {
  if (typeof value === 'string') return { parts: [{ type: text, text: value }], extras: undefined }
  if (!Array.isArray(value)) throw createWrongTypeError(value, path, 'a string or an array')
  const parts: Part[] = []
  const extras: (JsonObject | null)[] = []
  for (const [index, entry] of (value as readonly unknown[]).entries()) {
    const partPath = `${path}[${index}]`
    const { part, extra } = parsePart(asObject(entry, partPath), partPath, text)
    parts.push(part)
    extras.push(extra)
  }
  const hasSeparateTexts = parts.length > 1 && parts.every((part) => part.type === text)
  const hasExtras = extras.some((extra) => extra !== null)
  return { parts, extras: hasSeparateTexts || hasExtras ? extras : undefined }
}

interface ParsedPart {
  readonly part: Part
  readonly extra: JsonObject | null
}

function parsePart(raw: JsonObject, path: string, text: TextType): ParsedPart {
  const type = asString(raw['type'], `${path}.type`)
  switch (type) {
    case 'text': {
      const part = { type: text, text: asString(raw['text'], `${path}.text`) }
      return { part, extra: pickUnknownFields(raw, TEXT_FIELDS) }
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

const TEXT_FIELDS = new Set(['type', 'text'])

function parseImage(raw: JsonObject, path: string): ParsedPart {
  const objectPath = `${path}.image_url`
  const image = asObject(raw['image_url'], objectPath)
  const image_url = asString(image['url'], `${objectPath}.url`)
  const detail = readOptional(asString, image['detail'], `${objectPath}.detail`)
  return {
    part: { type: 'input_image', image_url, ...(detail === null ? {} : { detail }) },
    extra: pickExtra(raw, 'image_url', IMAGE_FIELDS),
  }
}

const IMAGE_FIELDS = new Set(['url', 'detail'])

function parseAudio(raw: JsonObject, path: string): ParsedPart {
  const objectPath = `${path}.input_audio`
  const audio = asObject(raw['input_audio'], objectPath)
  const data = asString(audio['data'], `${objectPath}.data`)
  const format = asString(audio['format'], `${objectPath}.format`)
  return {
    part: { type: 'input_audio', input_audio: { data, format } },
    extra: pickExtra(raw, 'input_audio', AUDIO_FIELDS),
  }
}

const AUDIO_FIELDS = new Set(['data', 'format'])

function parseFile(raw: JsonObject, path: string): ParsedPart {
  const objectPath = `${path}.file`
  const file = asObject(raw['file'], objectPath)
  const file_data = readOptional(asString, file['file_data'], `${objectPath}.file_data`)
  const file_id = readOptional(asString, file['file_id'], `${objectPath}.file_id`)
  const filename = readOptional(asString, file['filename'], `${objectPath}.filename`)
  return {
    part: {
      type: 'input_file',
      ...(file_data === null ? {} : { file_data }),
      ...(file_id === null ? {} : { file_id }),
      ...(filename === null ? {} : { filename }),
    },
    extra: pickExtra(raw, 'file', FILE_FIELDS),
  }
}

const FILE_FIELDS = new Set(['file_data', 'file_id', 'filename'])

/**
 * Returns the unknown fields of a part. If the object in its field `name` has unknown fields, that
 * object is included completely.
 */
function pickExtra(raw: JsonObject, name: string, known: ReadonlySet<string>): JsonObject | null {
  const extra = pickUnknownFields(raw, new Set(['type', name]))
  const nested = pickUnknownFields(asObject(raw[name], name), known)
  return nested === null ? extra : { ...extra, [name]: raw[name] }
}
