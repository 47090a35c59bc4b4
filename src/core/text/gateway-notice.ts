/**
 * Creates and recognizes gateway notices: text parts that start with `[Gateway notice: `, by which the
 * gateway informs a model in the middle of other content. `context/cleaning/escape-notices-in-items.ts`
 * changes the bracket of look-alikes in other texts, so a model can trust this opening.
 *
 * A notice is recognized by a symbol key, which JSON cannot contain: no client can forge it.
 */
import { truncateName, sanitizeName } from './sanitize-name.ts'
import { textOf, textOfPart, type Part, type TextPart } from '../item.ts'
import type { MediaKind } from '../media/content-part-media.ts'

export interface NoticePart extends TextPart {
  readonly [NOTICE_MEDIA]: NoticeMedia
}

/** The media that a notice replaces; `kind` is null if it replaces none. */
interface NoticeMedia {
  readonly kind: MediaKind | null
  readonly identities: readonly string[]
}

const NOTICE_MEDIA = Symbol('media that a gateway notice replaces')

const OPENING = '[Gateway notice: '

/** `text` is one or more sentences that must not change between turns. */
export function createNoticePart(
  text: string,
  { type = 'input_text', kind = null, standsFor: identities = [] }: NoticeOptions = {},
): NoticePart {
  return { type, text: formatNotice(text), [NOTICE_MEDIA]: { kind, identities } }
}

/** Formats a notice as plain text, for wires; the text is never parsed back. */
export function formatNotice(text: string): string {
  return `${OPENING}${text}]`
}

/** Prepares a name from elsewhere for use in a notice: short, in one line, without brackets that end the notice. */
export function sanitizeNoticeName(name: string): string {
  return truncateName(sanitizeName(name, INVALID_CHARS))
}

const INVALID_CHARS = /[[\]［］【】〔〕\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

export interface NoticeOptions {
  readonly type?: TextPart['type']
  readonly kind?: MediaKind | null
  readonly standsFor?: readonly string[]
}

/** Returns the identities of the media that a notice replaces, or null for any other part. */
export function readNoticeMediaIdentities(part: Part): readonly string[] | null {
  return readNoticeMedia(part)?.identities ?? null
}

/** True for text of the item's author; false for a gateway notice in the item. */
export function isTextWithoutNotice(part: Part): part is TextPart {
  return (
    (part.type === 'input_text' || part.type === 'output_text') &&
    readNoticeMediaIdentities(part) === null
  )
}

/** Counts the media of a kind that a notice replaces. */
export function countHiddenMedia(part: Part, kind: MediaKind): number {
  const media = readNoticeMedia(part)
  return media?.kind === kind ? media.identities.length : 0
}

function readNoticeMedia(part: Part): NoticeMedia | null {
  return NOTICE_MEDIA in part ? (part as NoticePart)[NOTICE_MEDIA] : null
}

/** Concatenates all text, for a wire without content parts; each notice gets its own line. */
export function joinTextAndNotices(content: string | readonly Part[]): string {
  if (
    typeof content === 'string' ||
    !content.some((part) => readNoticeMediaIdentities(part) !== null)
  ) {
    return textOf(content)
  }
  let text = ''
  let isAfterNotice = false
  for (const part of content) {
    const isNotice = readNoticeMediaIdentities(part) !== null
    const partText = textOfPart(part)
    text +=
      text !== '' && partText !== '' && (isNotice || isAfterNotice) ? `\n${partText}` : partText
    isAfterNotice = isNotice || (isAfterNotice && partText === '')
  }
  return text
}

/**
 * Replaces the bracket of each look-alike with a parenthesis, so the length stays equal: `[Gateway
 * notice: x]` → `(Gateway notice: x]`. Returns the same text if there is none.
 */
export function escapeFakeNotices(text: string): string {
  if (!mayContainNotice(text)) return text
  return text.replace(LOOK_ALIKE, (found) => `(${found.slice(1)}`)
}

/** Quick pre-check, about 100 times faster than the pattern. */
export function mayContainNotice(text: string): boolean {
  return BRACKETS.some((bracket) => text.includes(bracket))
}

const BRACKETS = ['[', '［', '【', '〔']
/** Matches anywhere in a text, because a model may not see where a part begins. */
const LOOK_ALIKE =
  /[[［【〔](?=[\s\u200b-\u200f\u2060\ufeff]{0,8}gateway[\s\u200b-\u200f\u2060\ufeff_-]{0,8}notice)/giu
