/**
 * What the gateway says to a model in the middle of what others say: a part of its own that begins
 * with words which nobody else can begin with. Look-alikes in other people's texts are defused
 * (`context/cleaning/escape-notices-in-items.ts`), so that a model may believe what begins like this.
 *
 * A notice of ours is known by a mark that no JSON can hold, so no client can forge it and no wire
 * sends it.
 */
import { truncateName, sanitizeName } from './sanitize-name.ts'
import { textOf, textOfPart, type Part, type TextPart } from '../item.ts'
import type { MediaKind } from '../media/content-part-media.ts'

export interface NoticePart extends TextPart {
  readonly [BY_GATEWAY]: StandsFor
}

/** What it stands for, by identity, and of which kind that is; `null` if it stands for no medium. */
interface StandsFor {
  readonly kind: MediaKind | null
  readonly identities: readonly string[]
}

const BY_GATEWAY = Symbol('by the gateway')

const OPENING = '[Gateway notice: '

/** `text` is made of sentences; nothing in it may change from turn to turn. */
export function createNoticePart(
  text: string,
  { type = 'input_text', kind = null, standsFor: identities = [] }: NoticeOptions = {},
): NoticePart {
  return { type, text: formatNotice(text), [BY_GATEWAY]: { kind, identities } }
}

/** The words alone, for a wire, behind which nobody looks for the mark. */
export function formatNotice(text: string): string {
  return `${OPENING}${text}]`
}

/**
 * What others call something, to stand within a notice: it cannot end it, begin another, or go on for
 * long.
 */
export function sanitizeNoticeName(name: string): string {
  return truncateName(sanitizeName(name, UNFIT))
}

const UNFIT = /[[\]［］【】〔〕\s\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu

export interface NoticeOptions {
  readonly type?: TextPart['type']
  readonly kind?: MediaKind | null
  readonly standsFor?: readonly string[]
}

/** What a notice of ours stands for; `null` for what others say. */
export function readNoticeMediaIdentities(part: Part): readonly string[] | null {
  return stoodFor(part)?.identities ?? null
}

/** Whether it is text of whoever the item is by, and not a notice of ours in the middle of that. */
export function isTextWithoutNotice(part: Part): part is TextPart {
  return (
    (part.type === 'input_text' || part.type === 'output_text') &&
    readNoticeMediaIdentities(part) === null
  )
}

/** How many media of a kind a notice of ours stands for. */
export function countHiddenMedia(part: Part, kind: MediaKind): number {
  const stood = stoodFor(part)
  return stood?.kind === kind ? stood.identities.length : 0
}

function stoodFor(part: Part): StandsFor | null {
  return BY_GATEWAY in part ? (part as NoticePart)[BY_GATEWAY] : null
}

/** All text in order, for a wire that has no parts: a notice stands in a line of its own. */
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
    const more = textOfPart(part)
    text += text !== '' && more !== '' && (isNotice || isAfterNotice) ? `\n${more}` : more
    isAfterNotice = isNotice || (isAfterNotice && more === '')
  }
  return text
}

/**
 * The same text with round brackets where it would begin like a notice, and of the same length; the
 * very text if it nowhere does.
 */
export function escapeFakeNotices(text: string): string {
  if (!mayContainNotice(text)) return text
  return text.replace(LOOK_ALIKE, (found) => `(${found.slice(1)}`)
}

/** Cheap pre-check, about a hundred times quicker than the pattern. */
export function mayContainNotice(text: string): boolean {
  return BRACKETS.some((bracket) => text.includes(bracket))
}

const BRACKETS = ['[', '［', '【', '〔']
/** However it is written, and wherever: the borders of parts are not always to be seen by a model. */
const LOOK_ALIKE =
  /[[［【〔](?=[\s\u200b-\u200f\u2060\ufeff]{0,8}gateway[\s\u200b-\u200f\u2060\ufeff_-]{0,8}notice)/giu
