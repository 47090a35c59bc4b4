/**
 * Shortens one tool output to its beginning and end, with a note about the number of missing characters in
 * between. JSON stays JSON (`shorten-json.ts`). The result depends on the output alone, not on its age.
 */
import {
  isToolOutput,
  type Item,
  type Part,
  type TextPart,
  type ToolOutput,
} from '../../core/item.ts'
import type { OutputRules } from '../../core/context-policy.ts'
import { countItemChars } from '../cost/count-item-chars.ts'
import { cutMiddle } from './split-head-and-tail.ts'
import { shortenJson } from './shorten-json.ts'

/** Lengths in UTF-16 code units. Texts of at most `longerThanChars` stay unchanged. */
export interface OutputLengths {
  readonly longerThanChars: number
  readonly headChars: number
  readonly tailChars: number
}

/** Reads from the policy to which lengths old outputs are shortened. */
export function readOutputLengths({ longerThan, head, tail }: OutputRules): OutputLengths {
  return { longerThanChars: longerThan, headChars: head, tailChars: tail }
}

/**
 * Returns a function that shortens a long tool output. For a short output or another item, it returns the item itself.
 */
export function createOutputShortener(lengths: OutputLengths): (item: Item) => Item {
  const { longerThanChars, headChars, tailChars } = lengths
  const settings = `${longerThanChars} ${headChars} ${tailChars}`
  const shorten = (text: string) => shortenText(text, lengths)
  return (item) => {
    if (!isToolOutput(item)) return item
    return cached(item, settings, () => {
      const shortened = replaceOutputTexts(item, isTextPart, shorten)
      if (shortened !== item) ORIGINAL_CHARS.set(shortened, countItemCharsBeforeShortening(item))
      return shortened
    })
  }
}

/**
 * Returns the size of an item in characters before it was shortened. A decision that depends on it remains the same in
 * a second run, which gets the shortened items.
 */
export function countItemCharsBeforeShortening(item: Item): number {
  return ORIGINAL_CHARS.get(item) ?? countItemChars(item)
}

const ORIGINAL_CHARS = new WeakMap<Item, number>()

const cached = createItemEditCache()

/**
 * Returns a function that caches the result of `edit` for each item, because several requests of a conversation edit
 * the same item objects. A result is cached as long as its item exists, and only for the latest settings.
 */
export function createItemEditCache() {
  const results = new WeakMap<Item, { readonly settings: string; readonly edited: Item }>()
  return (item: Item, settings: string, edit: () => Item): Item => {
    const result = results.get(item)
    if (result?.settings === settings) return result.edited
    const edited = edit()
    results.set(item, { settings, edited })
    return edited
  }
}

function isTextPart(part: Part): part is TextPart {
  return part.type === 'input_text' || part.type === 'output_text'
}

/** Replaces the text of an output, or the texts of those parts that `isText` accepts. Images and files stay. */
export function replaceOutputTexts(
  item: ToolOutput,
  isText: (part: Part) => part is TextPart,
  change: (text: string) => string,
): ToolOutput {
  const { output } = item
  if (typeof output === 'string') {
    const text = change(output)
    return text === output ? item : { ...item, output: text }
  }
  const parts = output.map((part) => {
    if (!isText(part)) return part
    const text = change(part.text)
    return text === part.text ? part : { ...part, text }
  })
  return parts.every((part, index) => part === output[index]) ? item : { ...item, output: parts }
}

function shortenText(
  text: string,
  { longerThanChars, headChars, tailChars }: OutputLengths,
): string {
  if (text.length <= Math.max(longerThanChars, headChars + tailChars)) return text
  const json = shortenJson(text, headChars + MAX_NOTE_CHARS + tailChars)
  if (json !== null) return json
  if (isShortened(text, headChars, tailChars)) return text
  const short = cutMiddle(text, headChars, tailChars, createOmissionNote)
  return short.length < text.length ? short : text
}

/**
 * Returns the note in the place of the omitted characters: `[512 characters of this tool output were left out here]`.
 * The text `hint` comes before the `]`.
 */
export function createOmissionNote(omittedChars: number, hint = ''): string {
  return `[${omittedChars} characters of this tool output were left out here${hint}]`
}

/** Max length of the note about omitted characters without a hint, including the line breaks around it. */
const MAX_NOTE_CHARS = createOmissionNote(Number.MAX_SAFE_INTEGER).length + 2

/** Matches the note about omitted characters without a hint, including the line breaks around it. */
const NOTE_LINE = new RegExp(`\\n\\[\\d+${createOmissionNote(0).slice(2, -1)}\\]\\n`, 'g')

/**
 * True if the text has been shortened with these lengths before. Without this check, a `longerThanChars` below the length
 * of the result, e.g. `longerThanChars: 100, headChars: 256`, would shorten the output again in a second run.
 */
function isShortened(text: string, headChars: number, tailChars: number): boolean {
  if (text.length > headChars + MAX_NOTE_CHARS + tailChars) return false
  // Head and tail are one character shorter if the cut would have split a surrogate pair.
  NOTE_LINE.lastIndex = Math.max(0, headChars - 1)
  const match = NOTE_LINE.exec(text)
  if (match === null || match.index > headChars) return false
  const tail = text.length - NOTE_LINE.lastIndex
  return tail === tailChars || tail === tailChars - 1
}
