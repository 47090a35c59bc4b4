/**
 * Encodes the parts of a message or tool output with the part types of its role. Returns the same
 * list if nothing changes.
 */
import { sanitizeNoticeName, formatNotice } from '../../../core/text/gateway-notice.ts'
import type { Part } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { DialectName } from '../../../core/prompt.ts'
import type { NoteCode } from '../encoding-notes.ts'

export interface PartSource {
  readonly isAssistant: boolean
  /** The client's dialect. Parts of unknown types are valid only from a Responses client. */
  readonly dialect: DialectName
}

export function encodeParts(
  parts: readonly Part[],
  source: PartSource,
  writeNote: (code: NoteCode) => void,
): readonly JsonObject[] {
  const encoded: JsonObject[] = []
  let isChanged = false
  for (const part of parts) {
    const encodedPart = encodePart(part, source, writeNote)
    if (encodedPart !== null) encoded.push(encodedPart)
    isChanged ||= encodedPart !== (part as unknown)
  }
  // A message without parts becomes empty text, so that roles still alternate.
  if (encoded.length === 0 && isChanged) return [createTextPart('', source)]
  return isChanged ? encoded : (parts as readonly unknown[] as readonly JsonObject[])
}

function encodePart(
  part: Part,
  source: PartSource,
  writeNote: (code: NoteCode) => void,
): JsonObject | null {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      if ((part.type === 'output_text') === source.isAssistant) return castPart(part)
      writeNote('part-renamed')
      return createTextPart(part.text, source)
    case 'refusal':
      if (source.isAssistant) return castPart(part)
      writeNote('part-renamed')
      return createTextPart(part.refusal, source)
    case 'input_image':
    case 'input_file':
    case 'input_audio':
      if (!source.isAssistant) return castPart(part)
      writeNote('media-of-assistant')
      return null
    case 'opaque':
      if (source.dialect === 'responses') return part.raw
      writeNote('part-without-word')
      return source.isAssistant ? null : createNotice(part.raw)
  }
}

/** Creates a notice such as "Something (video_url) was here, which cannot be shown." */
function createNotice({ type }: JsonObject): JsonObject {
  const name = sanitizeNoticeName(typeof type === 'string' ? type : '?')
  const text = formatNotice(`Something (${name}) was here, which cannot be shown.`)
  return { type: 'input_text', text }
}

function createTextPart(text: string, { isAssistant }: PartSource): JsonObject {
  return { type: isAssistant ? 'output_text' : 'input_text', text }
}

function castPart(part: Part): JsonObject {
  return part as unknown as JsonObject
}
