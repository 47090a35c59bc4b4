/**
 * Computes a short fingerprint of an image, recording or file from its length and samples of its
 * data, so different media can share one in rare cases. Every request fingerprints all of its media,
 * so the function must not read megabytes.
 */
import type { Part } from '../item.ts'
import type { Json } from '../json/json.ts'

/** Creates a placeholder part that has only the fingerprint of the original part. */
export function createFingerprintPart(part: Part): Part {
  return { type: 'opaque', raw: { type: FINGERPRINT_TYPE, name: fingerprintMedia(part) } }
}

/** Returns `''` for text. */
export function fingerprintMedia(part: Part): string {
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
  return [type, ...texts.map((text) => (typeof text === 'string' ? sample(text) : ''))].join(' ')
}

function sample(text: string): string {
  const { length } = text
  if (length <= 4 * SAMPLE_CHARS) return text
  const samples = [0, length / 3, (2 * length) / 3, length - SAMPLE_CHARS].map((start) =>
    text.slice(Math.floor(start), Math.floor(start) + SAMPLE_CHARS),
  )
  return `${length} ${samples.join('')}`
}

const SAMPLE_CHARS = 64

const FINGERPRINT_TYPE = 'backstory:media'
