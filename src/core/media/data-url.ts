/** A medium inside a URL: `data:<type>[;parameters];base64,<data>`. The data is never looked through. */
export interface DataUrl {
  /** In lower case; empty if it does not say. */
  readonly type: string
  readonly base64: string
}

/** `null` for what is no such URL. */
export function parseDataUrl(url: string): DataUrl | null {
  if (!isDataUrl(url)) return null
  const comma = url.indexOf(',')
  const head = url.slice('data:'.length, Math.max(comma, 0)).toLowerCase()
  if (!head.endsWith(';base64')) return null
  const [type = ''] = head.split(';', 1)
  return { type, base64: url.slice(comma + 1) }
}

/** Whether it holds what it names, in base64 or otherwise. */
export function isDataUrl(url: string): boolean {
  return url.startsWith('data:') || /^data:/i.test(url)
}

export function buildDataUrl(type: string, base64: string): string {
  return `data:${type};base64,${base64}`
}
