/**
 * How far two requests are the same for the model that reads them: as much of the second is likely to
 * be in its provider's cache, and from there on everything is read anew.
 */
import { isObject, type Json, type JsonObject } from '../../core/json/json.ts'
import { estimateTokens } from '../../core/text/estimate-tokens.ts'
import { CACHE_CONTROL_FIELD, PROMPT_FIELDS } from './prompt-field-order.ts'

export interface RequestComparison {
  readonly sameBytes: number
  readonly sameTokens: number
  /** Where the first difference stands; `null` if there is none. */
  readonly path: JsonPath | null
  /** How many characters of the text at that path are the same. */
  readonly offset: number
  /** Whether the first request had nothing there: the second goes on where it ended. */
  readonly isNew: boolean
  /** Whether what the first ended with is there, too, and only goes on. */
  readonly isGrown: boolean
  /** Whether it is in what the first ended with. */
  readonly isOfLast: boolean
  /** The text in the second at that path, if it is one. */
  readonly text: string | null
}

export type JsonPath = readonly (string | number)[]

export function compareRequests(before: JsonObject, now: JsonObject): RequestComparison {
  let [bytes, tokens] = [0, 0]
  for (const field of PROMPT_FIELDS) {
    const [old, own] = [before[field], now[field]]
    const oldList = listOf(old)
    const ownList = listOf(own)
    for (const [at, entry] of ownList.entries()) {
      const former = oldList[at]
      const text = stillText(entry)
      if (former !== undefined && stillText(former) === text) {
        bytes += encoder.encode(text).length
        tokens += estimateTokens(entry)
        continue
      }
      const root = Array.isArray(own) ? [field, at] : [field]
      const same = { sameBytes: bytes, sameTokens: tokens }
      if (former === undefined) return { ...same, ...NOTHING_THERE, path: root, isNew: true }
      const { path, ...rest } = differenceOf(former, entry)
      const isOfLast = at === oldList.length - 1
      const isGrown = isOfLast && rest.isGrown
      return { ...same, ...rest, path: [...root, ...path], isNew: false, isGrown, isOfLast }
    }
    // What is not there any more is missing where it stood.
    if (oldList.length > ownList.length) {
      const path = [field, ownList.length]
      return { sameBytes: bytes, sameTokens: tokens, path, ...NOTHING_THERE }
    }
  }
  return { sameBytes: bytes, sameTokens: tokens, path: null, ...NOTHING_THERE }
}

const NOTHING_THERE = { offset: 0, isNew: false, isGrown: false, isOfLast: false, text: null }

/** As in `messages[3].content[0].text`. */
export function formatJsonPath(path: JsonPath): string {
  return path.reduce<string>(
    (text, step) =>
      typeof step === 'number' ? `${text}[${step}]` : text === '' ? step : `${text}.${step}`,
    '',
  )
}

const encoder = new TextEncoder()

function listOf(value: Json | undefined): readonly Json[] {
  if (value === undefined || value === null) return []
  return Array.isArray(value) ? (value as readonly Json[]) : [value]
}

function stillText(value: Json): string {
  return JSON.stringify(value, (key, inner: Json) =>
    key === CACHE_CONTROL_FIELD ? undefined : inner,
  )
}

type Difference = Pick<RequestComparison, 'offset' | 'isGrown' | 'text'> & {
  readonly path: JsonPath
}

/** Down to the deepest value that is not the same. */
function differenceOf(before: Json, now: Json): Difference {
  const path: (string | number)[] = []
  let [old, own]: [Json | undefined, Json | undefined] = [before, now]
  for (;;) {
    const step: string | number | null = stepInto(old, own)
    if (step === null) break
    path.push(step)
    old = childOf(old, step)
    own = childOf(own, step)
  }
  const offset = sameChars(old, own)
  const isGrown = old === undefined || (typeof old === 'string' && offset === old.length)
  return { path, offset, isGrown, text: typeof own === 'string' ? own : null }
}

function childOf(value: Json | undefined, step: string | number): Json | undefined {
  if (Array.isArray(value)) return (value as readonly Json[])[Number(step)]
  return isObject(value) ? value[step] : undefined
}

/** `null` where there is nothing in common to go down into. */
function stepInto(old: Json | undefined, own: Json | undefined): string | number | null {
  const differs = (step: string | number): boolean => {
    const [one, other] = [childOf(old, step), childOf(own, step)]
    if (one === undefined || other === undefined) return one !== other
    return stillText(one) !== stillText(other)
  }
  if (Array.isArray(old) && Array.isArray(own)) {
    const at = own.findIndex((_, place) => differs(place))
    return at < 0 ? null : at
  }
  if (!isObject(old) || !isObject(own)) return null
  return Object.keys(own).find((name) => name !== CACHE_CONTROL_FIELD && differs(name)) ?? null
}

function sameChars(old: Json | undefined, own: Json | undefined): number {
  if (typeof old !== 'string' || typeof own !== 'string') return 0
  let at = 0
  while (at < old.length && at < own.length && old.charCodeAt(at) === own.charCodeAt(at)) at += 1
  return at
}
