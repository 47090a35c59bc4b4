/**
 * Reads what an account's settings say of its upstream. A value that makes no sense is passed over
 * here, so that no request fails on it; `quirkFaults` says it to whoever wrote the settings.
 */
import type { JsonObject } from '../../conversation/json.ts'
import type { Account } from '../provider.ts'
import { PROFILES, type ChatQuirks } from './profiles.ts'
import { textIn } from './wire.ts'

export function quirksOf(account: Account): ChatQuirks {
  const set: Record<string, unknown> = { ...PROFILES[textIn(account.quirks['profile'])] }
  for (const [name, value] of Object.entries(account.quirks)) {
    const read = readerOf(name)?.read(value)
    if (read !== undefined) set[name] = read
  }
  return set
}

/** A sentence for each value that is passed over. */
export function quirkFaults(quirks: JsonObject): readonly string[] {
  const faults: string[] = []
  for (const [name, value] of Object.entries(quirks)) {
    if (name === 'profile') {
      if (typeof value === 'string' && Object.hasOwn(PROFILES, value)) continue
      faults.push(`quirks.profile must be one of: ${Object.keys(PROFILES).join(', ')}.`)
      continue
    }
    const reader = readerOf(name)
    if (reader === undefined) faults.push(`quirks.${name} is not known to the chat wire.`)
    else if (reader.read(value) === undefined) faults.push(`quirks.${name} must be ${reader.what}.`)
  }
  return faults
}

function readerOf(name: string): Reader<unknown> | undefined {
  return Object.hasOwn(READERS, name) ? READERS[name as keyof ChatQuirks] : undefined
}

/** `read` gives `undefined` for a value that it cannot mean. */
interface Reader<Value> {
  readonly what: string
  readonly read: (value: unknown) => Value | undefined
}

const flag: Reader<boolean> = {
  what: 'true or false',
  read: (value) => (typeof value === 'boolean' ? value : undefined),
}

const text: Reader<string> = {
  what: 'a string',
  read: (value) => (typeof value === 'string' ? value : undefined),
}

function oneOf<const Word extends string | true>(...words: readonly Word[]): Reader<Word> {
  return {
    what: `one of: ${words.join(', ')}`,
    read: (value) => words.find((word) => word === value),
  }
}

const count: Reader<number> = {
  what: 'a whole number',
  read: (value) =>
    Number.isInteger(value) && (value as number) >= 0 ? (value as number) : undefined,
}

const names: Reader<readonly string[]> = {
  what: 'a list of field names',
  read: (value) =>
    Array.isArray(value) && value.every((name) => typeof name === 'string') ? value : undefined,
}

const pattern: Reader<RegExp> = {
  what: 'a regular expression',
  read(value) {
    if (typeof value !== 'string') return undefined
    try {
      return new RegExp(value)
    } catch {
      return undefined
    }
  },
}

const READERS: {
  readonly [Name in keyof Required<ChatQuirks>]: Reader<NonNullable<ChatQuirks[Name]>>
} = {
  developerRole: flag,
  systemRole: flag,
  reasoningField: oneOf(
    'reasoning_content',
    'reasoning',
    'reasoning_details',
    'thinking-part',
    'none',
  ),
  reasoningOn: oneOf('all', 'calls'),
  reasoningDemanded: flag,
  customTools: flag,
  allowedTools: flag,
  messageNames: flag,
  toolMedia: flag,
  maxStops: count,
  maxTokensField: oneOf('max_completion_tokens', 'max_tokens'),
  effortField: oneOf('reasoning_effort', 'reasoning', 'none'),
  strictAlternation: flag,
  userAfterTool: flag,
  prefixCompletion: flag,
  callIdPattern: pattern,
  refuses: names,
  retell: flag,
  thinkTags: oneOf<true | 'unopened'>(true, 'unopened'),
  keyHeader: oneOf('authorization', 'api-key'),
  query: text,
}
