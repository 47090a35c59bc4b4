/** The shortest recognizable starts of files of every kind. */
const BEGINNINGS = {
  'image/png': '\x89PNG\r\n\x1a\n\0\0\0\rIHDR',
  'image/jpeg': '\xff\xd8\xff\xe0\0\x10JFIF',
  'image/gif': 'GIF89a\x01\0\x01\0',
  'image/webp': 'RIFF\x24\0\0\0WEBPVP8 ',
  'image/bmp': 'BM\x46\0\0\0\0\0\0\0\x36\0\0\0',
  'image/tiff': 'II*\0\x08\0\0\0',
  'image/heic': '\0\0\0\x18ftypheic\0\0\0\0',
  'image/avif': '\0\0\0\x18ftypavif\0\0\0\0',
  'application/pdf': '%PDF-1.7\n%',
  'audio/wav': 'RIFF\x24\0\0\0WAVEfmt ',
  'audio/mpeg': 'ID3\x04\0\0\0\0\0\0',
  'audio/ogg': 'OggS\0\x02\0\0',
  'audio/flac': 'fLaC\0\0\0\x22',
  'video/mp4': '\0\0\0\x20ftypisom\0\0\x02\0',
  'video/webm': '\x1a\x45\xdf\xa3\x9f\x42\x86\x81',
} as const

export type Kind = keyof typeof BEGINNINGS

export const KINDS = Object.keys(BEGINNINGS) as readonly Kind[]

/** Creates a file of this kind, padded to `bytes`. */
export function createFileBytes(kind: Kind, bytes = 64): Buffer {
  const file = Buffer.alloc(bytes, 1)
  file.write(BEGINNINGS[kind], 'latin1')
  return file
}

/** Creates the file as a data URL, with another declared type if `said` is set. */
export function createDataUrl(kind: Kind, said: string = kind, bytes = 64): string {
  return `data:${said};base64,${createFileBytes(kind, bytes).toString('base64')}`
}
