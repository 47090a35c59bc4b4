/** Which kinds of media Gemini reads, and what a file's name says about its kind. */

const IMAGES = new Set(['image/png', 'image/jpeg', 'image/webp', 'image/heic', 'image/heif'])

const ALIASES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'audio/mpeg': 'audio/mp3',
  'audio/x-wav': 'audio/wav',
  'audio/pcm16': 'audio/pcm',
}

/** Text under another name. */
const TEXTUAL = /^application\/(?:json|xml|yaml|x-yaml|javascript|typescript|sql|toml|x-sh|rtf)$/

/** The name under which Gemini reads this kind, `null` if it does not. */
export function toReadableMediaType(mimeType: string): string | null {
  const lower = mimeType.toLowerCase()
  const type = ALIASES[lower] ?? lower
  if (type.startsWith('image/')) return IMAGES.has(type) ? type : null
  if (type.startsWith('audio/') || type.startsWith('video/')) return type
  if (type === 'application/pdf' || type.startsWith('text/')) return type
  return TEXTUAL.test(type) ? 'text/plain' : null
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

/** Of a file's name or an address; `null` if it does not say. */
export function guessMediaType(name: string): string | null {
  const bare = name.split(/[?#]/, 1)[0] ?? ''
  const extension = bare.slice(bare.lastIndexOf('.') + 1).toLowerCase()
  return BY_EXTENSION[extension] ?? null
}
