/**
 * Creates and recognizes gateway notices: text parts that start with `[Gateway notice: `, with which the
 * gateway informs a model, e.g. that an image was hidden. A model can trust this start, because the gateway
 * replaces the bracket in all other texts with words that look like it (`notice-words.ts`), except instructions:
 * in items (`context/cleaning/escape-fake-notices-in-items.ts`), tools and memories.
 *
 * The gateway recognizes its notices by a symbol key, which a client cannot send in JSON.
 */
import { isObject, type Json } from '../json/json.ts'
import { patchList } from '../json/patch-object.ts'
import { findNoticeBrackets } from './notice-words.ts'
import { truncateName, sanitizeName } from './sanitize-name.ts'
import { textOf, textOfPart, type Part, type TextPart } from '../item.ts'
import type { MediaKind } from '../media/content-part-media.ts'

export interface NoticePart extends TextPart {
  readonly [NOTICE_MEDIA]: NoticeMedia
}

/** The media that a notice replaces; `kind` is null for a notice that replaces no media. */
interface NoticeMedia {
  readonly kind: MediaKind | null
  readonly identities: readonly string[]
}

const NOTICE_MEDIA = Symbol('media that a gateway notice replaces')

const OPENING = '[Gateway notice: '

/** Creates a notice. Its text must be the same in all later requests, or the prompt cache is lost. */
export function createNoticePart(
  text: string,
  { partType = 'input_text', mediaKind = null, mediaIdentities = [] }: NoticeOptions = {},
): NoticePart {
  const media = { kind: mediaKind, identities: mediaIdentities }
  return { type: partType, text: formatNotice(text), [NOTICE_MEDIA]: media }
}

/** Formats a notice as plain text, e.g. `[Gateway notice: An image was here.]`. */
export function formatNotice(text: string): string {
  return `${OPENING}${text}]`
}

/** Makes a name from a client safe for a notice: one short line without brackets, which could end the notice. */
export function sanitizeNoticeName(name: string): string {
  return truncateName(sanitizeName(name, INVALID_CHARS))
}

const INVALID_CHARS = /[[\]［］【】〔〕\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

export interface NoticeOptions {
  readonly partType?: TextPart['type']
  readonly mediaKind?: MediaKind | null
  readonly mediaIdentities?: readonly string[]
}

/** Returns the identities of the media that a notice replaces; null if the part is no notice. */
export function readNoticeMediaIdentities(part: Part): readonly string[] | null {
  return isNotice(part) ? part[NOTICE_MEDIA].identities : null
}

/** True for a text part that is no gateway notice. */
export function isTextWithoutNotice(part: Part): part is TextPart {
  return (part.type === 'input_text' || part.type === 'output_text') && !isNotice(part)
}

/** Returns how many media of this kind the part replaces; 0 if it is no notice. */
export function countHiddenMedia(part: Part, kind: MediaKind): number {
  const media = isNotice(part) ? part[NOTICE_MEDIA] : null
  return media?.kind === kind ? media.identities.length : 0
}

function isNotice(part: Part): part is NoticePart {
  return NOTICE_MEDIA in part
}

/** Concatenates all text parts, for an API without content parts. Each notice gets its own line. */
export function joinTextAndNotices(content: string | readonly Part[]): string {
  if (typeof content === 'string' || !content.some(isNotice)) return textOf(content)
  let text = ''
  let isAfterNotice = false
  for (const part of content) {
    const partText = textOfPart(part)
    const needsBreak = text !== '' && partText !== '' && (isNotice(part) || isAfterNotice)
    text += needsBreak ? `\n${partText}` : partText
    isAfterNotice = isNotice(part) || (isAfterNotice && partText === '')
  }
  return text
}

/**
 * Replaces the bracket of each text that looks like a notice: `[Gateway notice: x]` → `(Gateway notice:
 * x]`. The length stays the same. Returns the same text if nothing looks like a notice.
 */
export function escapeFakeNotices(text: string): string {
  const brackets = findNoticeBrackets(text)
  if (brackets.length === 0) return text
  // Joined in groups, which takes a fraction of the time if there are millions of them.
  const groups: string[] = []
  let pieces: string[] = []
  let end = 0
  for (const start of brackets) {
    const replacement = text[start] === '\\' ? ESCAPED_PARENTHESIS : '('
    pieces.push(text.slice(end, start), replacement)
    end = start + replacement.length
    if (pieces.length >= MAX_PIECES) {
      groups.push(pieces.join(''))
      pieces = []
    }
  }
  groups.push(pieces.join(''), text.slice(end))
  return groups.join('')
}

const MAX_PIECES = 4_000
const ESCAPED_PARENTHESIS = String.raw`\u0028`

/** Escapes all texts and names of fields in a value that consists of JSON. Returns the same value if nothing looks like a notice. */
export function escapeFakeNoticesInJson<Value>(value: Value): Value {
  return escapeJson(value as Json) as Value
}

function escapeJson(value: Json): Json {
  if (typeof value === 'string') return escapeFakeNotices(value)
  if (Array.isArray(value)) return patchList(value as readonly Json[], escapeJson)
  if (!isObject(value)) return value
  let isChanged = false
  const entries = Object.entries(value).map(([name, field]) => {
    const entry = [
      escapeFakeNotices(name),
      field === undefined ? field : escapeJson(field),
    ] as const
    isChanged ||= entry[0] !== name || entry[1] !== field
    return entry
  })
  return isChanged ? Object.fromEntries(entries) : value
}
