/** Checks that fetched bytes are media of the expected kind, and determines their type. */
import type { FetchedMedia } from './follow-media-redirects.ts'
import type { LoadFault } from './load-result-types.ts'
import type { RemoteMediaKind, InlineMedia } from '../find-and-embed-remote-media.ts'
import { looksLikeMarkup, sniffMediaType } from '../sniff-media-type.ts'

export function verifyFetchedMedia(
  kind: RemoteMediaKind,
  url: string,
  fetched: FetchedMedia,
): InlineMedia | LoadFault {
  const { bytes } = fetched
  if (bytes.length === 0) return { fault: 'media-gone' }
  const type = detectMediaType(kind, url, fetched)
  if (type === null) return { fault: 'media-mislabelled' }
  return {
    type,
    base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
  }
}

/**
 * Returns the media type of the bytes, or `null` if they are of another kind. The bytes take
 * precedence over the `content-type` header.
 */
function detectMediaType(
  kind: RemoteMediaKind,
  url: string,
  { bytes, contentType }: FetchedMedia,
): string | null {
  const sniffedType = sniffMediaType(bytes)
  const declaredType = (contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  switch (kind) {
    case 'image':
      return sniffedType?.startsWith('image/') === true ? sniffedType : null
    case 'video':
      if (sniffedType?.startsWith('video/') === true) return sniffedType
      return declaredType.startsWith('video/') && !looksLikeMarkup(bytes) ? declaredType : null
    case 'file':
      if (sniffedType !== null) return sniffedType
      // An HTML response to a URL such as `/report.pdf` is an error page.
      if (declaredType.startsWith('text/html') && !isPageUrl(url)) return null
      return declaredType === '' ? 'application/octet-stream' : declaredType
  }
}

function isPageUrl(url: string): boolean {
  const path = URL.parse(url)?.pathname ?? ''
  const name = path.slice(path.lastIndexOf('/') + 1)
  return !name.includes('.') || /\.(x?html?|php|aspx?)$/i.test(name)
}
