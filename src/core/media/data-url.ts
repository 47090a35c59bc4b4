/** The parts of a data URL with base64, `data:<type>[;parameters];base64,<data>`. The base64 is not validated. */
export interface DataUrl {
  /** The type in lower case, e.g. `image/png`; empty if the URL has none. */
  readonly mimeType: string
  readonly base64: string
}

/** Returns the parts of a data URL with base64; null for any other URL. */
export function parseDataUrl(url: string): DataUrl | null {
  if (!isDataUrl(url)) return null
  const comma = url.indexOf(',')
  const head = url.slice('data:'.length, Math.max(comma, 0)).toLowerCase()
  if (!head.endsWith(';base64')) return null
  const [type = ''] = head.split(';', 1)
  return { mimeType: type, base64: url.slice(comma + 1) }
}

/** True if the URL contains its data, in base64 or percent-encoded. */
export function isDataUrl(url: string): boolean {
  return url.startsWith('data:') || /^data:/i.test(url)
}

export function buildDataUrl(mimeType: string, base64: string): string {
  return `data:${mimeType};base64,${base64}`
}
