/**
 * A short name for a picture, a recording or a file: the same for the same, and for others, as far as
 * their lengths and samples of them tell. It is asked for with every request, so that it does not
 * read all of what may be megabytes.
 */
import type { Part } from '../item.ts'
import type { Json } from '../json/json.ts'

/** Stands for one of which only the name is kept. */
export function createFingerprintPart(part: Part): Part {
  return { type: 'opaque', raw: { type: NAMED, name: fingerprintMedia(part) } }
}

/** Empty for what is text. */
export function fingerprintMedia(part: Part): string {
  switch (part.type) {
    case 'input_text':
    case 'output_text':
    case 'refusal':
      return ''
    case 'input_image':
      return nameOf(part.type, [part.image_url, part.file_id])
    case 'input_audio':
      return nameOf(part.type, [part.input_audio.format, part.input_audio.data])
    case 'input_file':
      return nameOf(part.type, [part.filename, part.file_id, part.file_url, part.file_data])
    case 'opaque': {
      const { type, name } = part.raw
      return type === NAMED && typeof name === 'string'
        ? name
        : nameOf('opaque', [JSON.stringify(part.raw)])
    }
  }
}

function nameOf(type: string, texts: readonly (Json | undefined)[]): string {
  return [type, ...texts.map((text) => (typeof text === 'string' ? sampled(text) : ''))].join(' ')
}

function sampled(text: string): string {
  if (text.length <= 4 * SAMPLE) return text
  const samples = [0, text.length / 3, (2 * text.length) / 3, text.length - SAMPLE].map((from) =>
    text.slice(Math.floor(from), Math.floor(from) + SAMPLE),
  )
  return `${text.length} ${samples.join('')}`
}

const SAMPLE = 64

const NAMED = 'backstory:media'
