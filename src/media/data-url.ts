/** A medium inside a URL: `data:<type>[;parameters];base64,<data>`. The data is never looked through. */
import { SNIFFED_BYTES } from './sniff-media.ts'

export interface DataUrl {
  /** In lower case; empty if it does not say. */
  readonly type: string
  readonly base64: string
}

/** `null` for what is no such URL. */
export function readDataUrl(url: string): DataUrl | null {
  if (!url.startsWith('data:')) return null
  const comma = url.indexOf(',')
  const head = url.slice('data:'.length, Math.max(comma, 0))
  if (!head.endsWith(';base64')) return null
  const [type = ''] = head.split(';', 1)
  return { type: type.toLowerCase(), base64: url.slice(comma + 1) }
}

export function dataUrl(type: string, base64: string): string {
  return `data:${type};base64,${base64}`
}

/** What it begins with; nothing, if that is not base64. */
export function firstBytes(base64: string): Uint8Array {
  try {
    const text = atob(base64.slice(0, (SNIFFED_BYTES / 3) * 4))
    return Uint8Array.from(text, (letter) => letter.charCodeAt(0))
  } catch {
    return NOTHING
  }
}

const NOTHING = new Uint8Array()

/** Whether nothing can be in it: it is empty, or begins with what base64 has no letters for. */
export function holdsNothing(base64: string): boolean {
  return !/^\s*[\w+/-][\w+/=\s-]*$/.test(base64.slice(0, LOOKED_AT))
}

const LOOKED_AT = 64
