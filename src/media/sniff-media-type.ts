/**
 * What a medium is by its first bytes, which do not lie as names and headers do. `null` for what is
 * none of the kinds that models are shown, or cannot be told by its beginning.
 */
export function sniffMediaType(bytes: Uint8Array): string | null {
  for (const [type, at, magic] of MAGIC) {
    if (holds(bytes, at, magic)) return type
  }
  if (holds(bytes, 0, 'RIFF')) return inRiff(bytes)
  if (holds(bytes, 4, 'ftyp')) return inIsoMedia(bytes)
  return isMp3Frame(bytes) ? 'audio/mpeg' : null
}

/** So many bytes are enough. */
export const SNIFF_LENGTH_BYTES = 48

type Magic = readonly [type: string, at: number, magic: string]

/** Each character stands for one byte. */
const MAGIC: readonly Magic[] = [
  ['image/png', 0, '\x89PNG\r\n\x1a\n'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF87a'],
  ['image/gif', 0, 'GIF89a'],
  ['image/tiff', 0, 'II*\0'],
  ['image/tiff', 0, 'MM\0*'],
  ['image/tiff', 0, 'II+\0'],
  ['image/tiff', 0, 'MM\0+'],
  ['application/pdf', 0, '%PDF-'],
  ['audio/ogg', 0, 'OggS'],
  ['audio/flac', 0, 'fLaC'],
  ['audio/mpeg', 0, 'ID3'],
  ['video/webm', 0, '\x1a\x45\xdf\xa3'],
  // Two letters are little; behind the size of the file the format has four zeros.
  ['image/bmp', 6, '\0\0\0\0'],
]

/** Whether an image that is said to be of this type is told by its beginning. */
export function isSniffableType(type: string): boolean {
  return SNIFFED.has(type)
}

const SNIFFED: ReadonlySet<string> = new Set([
  ...MAGIC.flatMap(([type]) => (type.startsWith('image/') ? [type] : [])),
  'image/jpg',
  'image/webp',
  'image/avif',
  'image/heic',
  'image/heif',
])

function holds(bytes: Uint8Array, at: number, magic: string): boolean {
  if (at === 6 && !(bytes[0] === 0x42 && bytes[1] === 0x4d)) return false
  if (bytes.length < at + magic.length) return false
  for (let index = 0; index < magic.length; index++) {
    if (bytes[at + index] !== magic.charCodeAt(index)) return false
  }
  return true
}

function inRiff(bytes: Uint8Array): string | null {
  if (holds(bytes, 8, 'WEBP')) return 'image/webp'
  if (holds(bytes, 8, 'WAVE')) return 'audio/wav'
  return holds(bytes, 8, 'AVI ') ? 'video/x-msvideo' : null
}

/** The brand tells which of the many that are built alike. */
function inIsoMedia(bytes: Uint8Array): string {
  const brand = String.fromCharCode(...bytes.subarray(8, 12))
  if (brand === 'avif' || brand === 'avis') return 'image/avif'
  if (brand === 'heic' || brand === 'heix' || brand === 'hevc') return 'image/heic'
  if (brand === 'mif1' || brand === 'msf1') return 'image/heif'
  if (brand.startsWith('M4A')) return 'audio/mp4'
  return brand === 'qt  ' ? 'video/quicktime' : 'video/mp4'
}

/** Sync bits and a layer: without the layer it is AAC. */
function isMp3Frame([first, second = 0]: Uint8Array): boolean {
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0
}

/** Whether it begins as HTML, XML or SVG do. */
export function looksLikeMarkup(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes.subarray(0, SNIFF_LENGTH_BYTES))
  return /^\s*<[!?a-z]/i.test(text)
}

/** Markup, or nothing but printable ASCII: an error that was saved as a picture. */
export function looksLikeText(bytes: Uint8Array): boolean {
  if (looksLikeMarkup(bytes)) return true
  return bytes.length > 0 && bytes.every((byte) => (byte >= 9 && byte <= 13) || isPrintable(byte))
}

function isPrintable(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f
}
