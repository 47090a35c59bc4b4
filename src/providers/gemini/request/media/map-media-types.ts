/** Maps media types to those that Gemini supports, and file names to media types. */
import { readOwnValue } from '../../../../core/json/json.ts'

const IMAGE_TYPES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'])

const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/mpeg': 'audio/mp3',
  'audio/x-wav': 'audio/wav',
  'audio/pcm16': 'audio/pcm',
}

/** Media types of text that do not begin with `text/`. */
const TEXT_TYPES = /^application\/(?:json|xml|yaml|x-yaml|javascript|typescript|sql|toml|x-sh|rtf)$/

/**
 * Returns the media type that Gemini supports, e.g. `image/jpg` → `image/jpeg`, `application/json`
 * → `text/plain`; `null` if there is none.
 */
export function toReadableMediaType(mimeType: string): string | null {
  const lower = mimeType.toLowerCase()
  const type = ALIASES[lower] ?? lower
  if (type.startsWith('image/')) return IMAGE_TYPES.has(type) ? type : null
  if (type.startsWith('audio/') || type.startsWith('video/')) return type
  if (type === 'application/pdf' || type.startsWith('text/')) return type
  return TEXT_TYPES.test(type) ? 'text/plain' : null
}

const BY_EXTENSION: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  webp: 'image/webp',
  heic: 'image/heic',
  heif: 'image/heif',
  gif: 'image/gif',
  svg: 'image/svg+xml',
  mp3: 'audio/mp3',
  wav: 'audio/wav',
  ogg: 'audio/ogg',
  flac: 'audio/flac',
  aac: 'audio/aac',
  m4a: 'audio/m4a',
  mp4: 'video/mp4',
  mov: 'video/quicktime',
  mpeg: 'video/mpeg',
  mpg: 'video/mpeg',
  webm: 'video/webm',
  avi: 'video/x-msvideo',
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  html: 'text/html',
  xml: 'application/xml',
  json: 'application/json',
  yaml: 'application/yaml',
  yml: 'application/yaml',
  js: 'application/javascript',
  ts: 'application/typescript',
  py: 'text/x-python',
}

/**
 * Guesses the media type from the extension of a file name or URL; returns `null` for an unknown
 * extension or none, e.g. of the name `csv` or the URL `https://example.md`.
 */
export function guessMediaType(fileNameOrUrl: string): string | null {
  const bare = fileNameOrUrl.replace(/[?#].*$/s, '').replace(/^[a-z]+:\/\/[^/]*/i, '')
  const extension = /\.([^./]+)$/.exec(bare)?.[1] ?? ''
  return readOwnValue(BY_EXTENSION, extension.toLowerCase()) ?? null
}
