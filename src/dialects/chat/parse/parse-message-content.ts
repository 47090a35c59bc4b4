/** Parses the content of a chat message, a string or a list of parts, into the parts of an item. */
import type { Part } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import {
  asListOf,
  asObject,
  asString,
  readOptional,
  createWrongTypeError,
} from '../../checks/check-json-types.ts'
import { pickUnknownFields } from './pick-unknown-fields.ts'

export interface ParsedMessageContent {
  readonly parts: readonly Part[]
  /**
   * The unknown fields of each part (`null` for a part without any), by index. `undefined` if no
   * part has any, except for a list of several texts: its value is then e.g. `[null, null]`, to
   * record that the texts were sent as separate parts.
   */
  readonly unknownFields: readonly (JsonObject | null)[] | undefined
}

type TextType = 'input_text' | 'output_text'

export function parseMessageContent(
  value: unknown,
  path: string,
  textType: TextType,
): ParsedMessageContent {
  if (typeof value === 'string')
    return { parts: [{ type: textType, text: value }], unknownFields: undefined }
  if (!Array.isArray(value)) throw createWrongTypeError(value, path, 'a string or an array')
  const asPart = (entry: unknown, partPath: string) =>
    parsePart(asObject(entry, partPath), partPath, textType)
  const parsed = asListOf(asPart)(value, path)
  const parts = parsed.map(({ part }) => part)
  const fields = parsed.map(({ unknownFields }) => unknownFields)
  const hasSeparateTexts = parts.length > 1 && parts.every((part) => part.type === textType)
  const isNeeded = hasSeparateTexts || fields.some((unknown) => unknown !== null)
  return { parts, unknownFields: isNeeded ? fields : undefined }
}

interface ParsedPart {
  readonly part: Part
  readonly unknownFields: JsonObject | null
}

function parsePart(raw: JsonObject, path: string, textType: TextType): ParsedPart {
  const type = asString(raw['type'], `${path}.type`)
  switch (type) {
    case 'text': {
      const part = { type: textType, text: asString(raw['text'], `${path}.text`) }
      return { part, unknownFields: pickUnknownFields(raw, TEXT_FIELDS) }
    }
    case 'refusal': {
      const refusal = asString(raw['refusal'], `${path}.refusal`)
      return { part: { type: 'refusal', refusal }, unknownFields: null }
    }
    case 'image_url':
      return parseImage(raw, path)
    case 'input_audio':
      return parseAudio(raw, path)
    case 'file':
      return parseFile(raw, path)
    default:
      return { part: { type: 'opaque', raw }, unknownFields: null }
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
    unknownFields: pickPartFields(raw, 'image_url', IMAGE_FIELDS),
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
    unknownFields: pickPartFields(raw, 'input_audio', AUDIO_FIELDS),
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
    unknownFields: pickPartFields(raw, 'file', FILE_FIELDS),
  }
}

const FILE_FIELDS = new Set(['file_data', 'file_id', 'filename'])

/**
 * Returns the unknown fields of a part. If its nested object, e.g. `image_url`, contains an unknown
 * field, the result contains the complete nested object.
 */
function pickPartFields(
  part: JsonObject,
  objectName: string,
  knownInObject: ReadonlySet<string>,
): JsonObject | null {
  const unknown = pickUnknownFields(part, new Set(['type', objectName]))
  const nested = pickUnknownFields(asObject(part[objectName], objectName), knownInObject)
  return nested === null ? unknown : { ...unknown, [objectName]: part[objectName] }
}
