/**
 * Computes a short fingerprint of an image, recording or file from its length and samples of its data.
 * Reading all data would be too slow, because it is done for all media of every request. So different
 * media can have the same fingerprint in rare cases.
 */
import type { Part } from '../item.ts'
import type { Json } from '../json/json.ts'

/** Creates a placeholder for a content part, with the fingerprint instead of the data. */
export function createFingerprintPart(part: Part): Part {
  return { type: 'opaque', raw: { type: FINGERPRINT_TYPE, name: sampleMedia(part) } }
}

/** Returns the fingerprint of a content part; `''` for text. */
export function sampleMedia(part: Part): string {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return ''
    case 'input_image':
      return joinSamples(part.type, [part.image_url, part.file_id])
    case 'input_audio':
      return joinSamples(part.type, [part.input_audio.format, part.input_audio.data])
    case 'input_file':
      return joinSamples(part.type, [part.filename, part.file_id, part.file_url, part.file_data])
    case 'opaque': {
      const { type, name } = part.raw
      return type === FINGERPRINT_TYPE && typeof name === 'string'
        ? name
        : joinSamples('opaque', [JSON.stringify(part.raw)])
    }
  }
}

function joinSamples(type: string, texts: readonly (Json | undefined)[]): string {
  return [type, ...texts.map((text) => (typeof text === 'string' ? sampleText(text) : ''))].join(
    ' ',
  )
}

/**
 * Returns the length and four samples of a long text; a text of at most 256 characters is returned as it
 * is. The last sample is the end of the text, where most formats store a checksum.
 */
export function sampleText(text: string): string {
  const { length } = text
  if (length <= 4 * SAMPLE_CHARS) return text
  const samples = [0, length / 3, (2 * length) / 3, length - SAMPLE_CHARS].map((start) =>
    text.slice(Math.floor(start), Math.floor(start) + SAMPLE_CHARS),
  )
  return `${length} ${samples.join('')}`
}

const SAMPLE_CHARS = 64

const FINGERPRINT_TYPE = 'backstory:media'
