/**
 * Media are what their first bytes say. A type that is wrong is put right, and what is no medium at
 * all becomes a notice: an upstream that looks would refuse the whole request for it.
 */
import type { AudioPart, FilePart, ImagePart, Part } from '../conversation/item.ts'
import { partsOf } from '../conversation/media-handles.ts'
import type { Note } from '../conversation/note.ts'
import type { Transform } from '../rebuild/transform.ts'
import { dataUrl, readDataUrl } from '../conversation/data-url.ts'
import { firstBytes, holdsNothing } from './base64.ts'
import { mediaNotice } from './media-notice.ts'
import { withParts } from './remote-medium.ts'
import { looksLikeMarkup, looksLikeText, sniffMedia } from './sniff-media.ts'

export function correctTypes(): Transform {
  return {
    name: 'media',
    run(items) {
      const notes: Note[] = []
      const corrected = items.map((item, at) => {
        const parts = partsOf(item)
        // Each part is looked at once; most have nothing to look at.
        let changed: Part[] | null = null
        for (const [place, part] of parts.entries()) {
          const right = partOf(part)
          if (right === part) continue
          changed ??= [...parts]
          changed[place] = right
          notes.push(noteOf(part, right, at))
        }
        return changed === null ? item : withParts(item, changed)
      })
      return notes.length === 0 ? { items, notes } : { items: corrected, notes }
    },
  }
}

function partOf(part: Part): Part {
  switch (part.type) {
    case 'input_image':
      return imageOf(part)
    case 'input_file':
      return fileOf(part)
    case 'input_audio':
      return audioOf(part)
    case 'input_text':
    case 'output_text':
    case 'refusal':
    case 'opaque':
      return part
  }
}

function imageOf(part: ImagePart): Part {
  const data = typeof part.image_url === 'string' ? readDataUrl(part.image_url) : null
  if (data === null) return part
  if (holdsNothing(data.base64)) return notShown('image')
  const bytes = firstBytes(data.base64)
  const type = sniffMedia(bytes)
  if (type === null) return looksLikeText(bytes) ? notShown('image') : part
  if (!type.startsWith('image/')) return notShown('image')
  return isSame(type, data.type) ? part : { ...part, image_url: dataUrl(type, data.base64) }
}

/** Only of a file that says it is one of the kinds that can be told. */
function fileOf(part: FilePart): Part {
  const data = part.file_data === undefined ? null : readDataUrl(part.file_data)
  if (data === null || !/^(image\/|application\/pdf)/.test(data.type)) return part
  if (holdsNothing(data.base64)) return notShown('file')
  const bytes = firstBytes(data.base64)
  const type = sniffMedia(bytes)
  if (type === null) {
    const isSvg = data.type === 'image/svg+xml'
    return looksLikeMarkup(bytes) && !isSvg ? notShown('file') : part
  }
  return isSame(type, data.type) ? part : { ...part, file_data: dataUrl(type, data.base64) }
}

function audioOf(part: AudioPart): Part {
  const { data, format } = part.input_audio
  const type = sniffMedia(firstBytes(data))
  const right = type === null ? undefined : AUDIO.get(type)
  if (right === undefined || right.includes(format.toLowerCase())) return part
  return { ...part, input_audio: { ...part.input_audio, format: right[0] ?? format } }
}

const AUDIO: ReadonlyMap<string, readonly string[]> = new Map([
  ['audio/wav', ['wav', 'x-wav', 'wave']],
  ['audio/mpeg', ['mp3', 'mpeg']],
  ['audio/ogg', ['ogg', 'opus']],
  ['audio/flac', ['flac']],
])

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['image/jpg', 'image/jpeg'],
  ['image/heic', 'image/heif'],
])

function isSame(one: string, other: string): boolean {
  return (ALIASES.get(one) ?? one) === (ALIASES.get(other) ?? other)
}

function notShown(what: string): Part {
  return mediaNotice(what, `it is no ${what} of a kind that can be read`)
}

function noteOf(part: Part, right: Part, at: number): Note {
  return right.type === part.type
    ? {
        did: 'changed',
        at,
        why: 'media-type-corrected',
        detail: 'The medium is of another type than it was said to be; its bytes tell.',
      }
    : {
        did: 'changed',
        at,
        why: 'media-mislabelled',
        detail: 'The medium is not what it was said to be; a notice stands in its place.',
      }
}
