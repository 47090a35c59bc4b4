/**
 * Detects the media type from the first bytes, because names and headers are often wrong. Returns
 * `null` for types that models do not accept or that the first bytes do not reveal.
 */
export function sniffMediaType(bytes: Uint8Array): string | null {
  for (const [type, offset, magic] of MAGIC_BYTES) {
    if (hasBytesAt(bytes, offset, magic)) return type
  }
  if (hasBytesAt(bytes, 0, 'RIFF')) return detectRiffType(bytes)
  if (hasBytesAt(bytes, 4, 'ftyp')) return detectIsoMediaType(bytes)
  return isMp3Frame(bytes) ? 'audio/mpeg' : null
}

/** The number of first bytes that `sniffMediaType` needs. */
export const SNIFF_LENGTH_BYTES = 48

type MagicBytes = readonly [type: string, offset: number, magic: string]

/** The bytes that identify each media type, and their offset. Each character is one byte. */
const MAGIC_BYTES: readonly MagicBytes[] = [
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
  // The two letters `BM` alone are too weak; bytes 6 to 9 are reserved and always zero.
  ['image/bmp', 6, '\0\0\0\0'],
]

/** True if `sniffMediaType` recognizes every image of this type. */
export function isSniffableType(type: string): boolean {
  return SNIFFABLE_TYPES.has(type)
}

const SNIFFABLE_TYPES: ReadonlySet<string> = new Set([
  ...MAGIC_BYTES.flatMap(([type]) => (type.startsWith('image/') ? [type] : [])),
  'image/jpg',
  'image/webp',
  'image/avif',
  'image/heic',
  'image/heif',
])

function hasBytesAt(bytes: Uint8Array, offset: number, magic: string): boolean {
  if (offset === 6 && !(bytes[0] === 0x42 && bytes[1] === 0x4d)) return false
  if (bytes.length < offset + magic.length) return false
  for (let index = 0; index < magic.length; index++) {
    if (bytes[offset + index] !== magic.charCodeAt(index)) return false
  }
  return true
}

function detectRiffType(bytes: Uint8Array): string | null {
  if (hasBytesAt(bytes, 8, 'WEBP')) return 'image/webp'
  if (hasBytesAt(bytes, 8, 'WAVE')) return 'audio/wav'
  return hasBytesAt(bytes, 8, 'AVI ') ? 'video/x-msvideo' : null
}

/** Returns the media type of an ISO container, by the brand in bytes 8 to 11, e.g. `avif`. */
function detectIsoMediaType(bytes: Uint8Array): string {
  const brand = String.fromCharCode(...bytes.subarray(8, 12))
  if (brand === 'avif' || brand === 'avis') return 'image/avif'
  if (brand === 'heic' || brand === 'heix' || brand === 'hevc') return 'image/heic'
  if (brand === 'mif1' || brand === 'msf1') return 'image/heif'
  if (brand.startsWith('M4A')) return 'audio/mp4'
  return brand === 'qt  ' ? 'video/quicktime' : 'video/mp4'
}

/**
 * True if the bytes begin an MP3 frame: they have the sync bits and a layer. AAC has the sync bits
 * without a layer.
 */
function isMp3Frame([first, second = 0]: Uint8Array): boolean {
  return first === 0xff && (second & 0xe0) === 0xe0 && (second & 0x06) !== 0
}

/** True for the start of HTML, XML or SVG. */
export function looksLikeMarkup(bytes: Uint8Array): boolean {
  const text = new TextDecoder().decode(bytes.subarray(0, SNIFF_LENGTH_BYTES))
  return /^\s*<[!?a-z]/i.test(text)
}

/** True for markup and for printable ASCII, e.g. an error message that was saved as an image. */
export function looksLikeText(bytes: Uint8Array): boolean {
  if (looksLikeMarkup(bytes)) return true
  return bytes.length > 0 && bytes.every((byte) => (byte >= 9 && byte <= 13) || isPrintable(byte))
}

function isPrintable(byte: number): boolean {
  return byte >= 0x20 && byte < 0x7f
}
