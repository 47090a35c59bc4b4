/**
 * What a message or a tool's output consists of, in the words that its speaker may use. The very
 * list, if every part may be sent as it is.
 */
import { sanitizeNoticeName, formatNotice } from '../../../core/text/gateway-notice.ts'
import type { Part } from '../../../core/item.ts'
import type { JsonObject } from '../../../core/json/json.ts'
import type { DialectName } from '../../../core/prompt.ts'
import type { NoteCode } from '../encoding-notes.ts'

export interface PartSource {
  readonly isAssistant: boolean
  /** The language of the parts that nobody understands. */
  readonly dialect: DialectName
}

export function encodeParts(
  parts: readonly Part[],
  speaker: PartSource,
  note: (why: NoteCode) => void,
): readonly JsonObject[] {
  const encoded: JsonObject[] = []
  let changed = false
  for (const part of parts) {
    const sent = encodePart(part, speaker, note)
    if (sent !== null) encoded.push(sent)
    changed ||= sent !== (part as unknown)
  }
  // Whoever said something that cannot be told here has still said something.
  if (encoded.length === 0 && changed) return [createTextPart('', speaker)]
  return changed ? encoded : (parts as readonly unknown[] as readonly JsonObject[])
}

function encodePart(
  part: Part,
  speaker: PartSource,
  note: (why: NoteCode) => void,
): JsonObject | null {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
      if ((part.type === 'output_text') === speaker.isAssistant) return castPart(part)
      note('part-renamed')
      return createTextPart(part.text, speaker)
    case 'refusal':
      if (speaker.isAssistant) return castPart(part)
      note('part-renamed')
      return createTextPart(part.refusal, speaker)
    case 'input_image':
    case 'input_file':
    case 'input_audio':
      if (!speaker.isAssistant) return castPart(part)
      note('media-of-assistant')
      return null
    case 'opaque':
      if (speaker.dialect === 'responses') return part.raw
      note('part-without-word')
      return speaker.isAssistant ? null : createNotice(part.raw)
  }
}

/** The model is told that there was something; an assistant would say it itself. */
function createNotice({ type }: JsonObject): JsonObject {
  const what = sanitizeNoticeName(typeof type === 'string' ? type : '?')
  const text = formatNotice(`Something (${what}) was here, which cannot be shown.`)
  return { type: 'input_text', text }
}

function createTextPart(text: string, { isAssistant }: PartSource): JsonObject {
  return { type: isAssistant ? 'output_text' : 'input_text', text }
}

function castPart(part: Part): JsonObject {
  return part as unknown as JsonObject
}
