/** What was fetched, as the medium that it was asked for as. */
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
  const type = typeOf(kind, url, fetched)
  if (type === null) return { fault: 'media-mislabelled' }
  return {
    type,
    base64: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('base64'),
  }
}

/** `null` if it is none of its kind. Its bytes go before what its server says. */
function typeOf(kind: RemoteMediaKind, url: string, { bytes, type }: FetchedMedia): string | null {
  const sniffed = sniffMediaType(bytes)
  const said = (type ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? ''
  switch (kind) {
    case 'image':
      return sniffed?.startsWith('image/') === true ? sniffed : null
    case 'video':
      if (sniffed?.startsWith('video/') === true) return sniffed
      return said.startsWith('video/') && !looksLikeMarkup(bytes) ? said : null
    case 'file':
      if (sniffed !== null) return sniffed
      // A page that says that the file is not there is not the file.
      if (said.startsWith('text/html') && !isPage(url)) return null
      return said === '' ? 'application/octet-stream' : said
  }
}

function isPage(url: string): boolean {
  const path = URL.parse(url)?.pathname ?? ''
  const name = path.slice(path.lastIndexOf('/') + 1)
  return !name.includes('.') || /\.(x?html?|php|aspx?)$/i.test(name)
}
