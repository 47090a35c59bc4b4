/**
 * What an upstream takes of media: which addresses it loads by itself, and how many bytes. What is
 * not known to be refused is sent.
 */
import type { Part } from '../conversation/item.ts'
import { mediaOf } from '../provider/gemini/media.ts'
import { readQuirks } from '../provider/gemini/quirks.ts'
import type { Account } from '../provider/provider.ts'

export interface MediaReader {
  /** Whether it loads the medium that this part names by an address. */
  readonly loads: (part: Part, url: string) => boolean
  /** What its addresses may begin with, beside those of the web. */
  readonly schemes: readonly string[]
  /** How much base64 one image may be; `null` if nobody knows of a limit. */
  readonly imageChars: number | null
  /** How much base64 a request may hold. */
  readonly requestChars: number | null
}

export function mediaReader(account: Account): MediaReader {
  const { wire, quirks } = account
  const loadsAny = quirks['mediaUrls'] ?? quirks['profile'] !== 'ollama'
  const imageChars = numberOr(quirks['imageLimitBytes'], null)
  const requestChars = numberOr(quirks['mediaLimitBytes'], null)
  const common = { schemes: [] as const, imageChars, requestChars }
  switch (wire) {
    case 'anthropic':
      return {
        loads: (_, url) => loadsAny === true && url.startsWith('https:'),
        schemes: [],
        imageChars: imageChars ?? ANTHROPIC_IMAGE,
        requestChars: requestChars ?? ANTHROPIC_REQUEST,
      }
    case 'gemini': {
      const { remoteUrls, inlineLimitBytes } = readQuirks(quirks)
      const loads = (part: Part): boolean =>
        loadsAny === true && mediaOf(part, remoteUrls)?.kind === 'remote'
      return {
        ...common,
        loads,
        // Of Google's own storage.
        schemes: ['gs://'],
        requestChars: requestChars ?? inlineLimitBytes,
      }
    }
    case 'chat':
      // Chat Completions has no word for the address of a file.
      return { ...common, loads: ({ type }) => loadsAny === true && type !== 'input_file' }
    case 'responses':
    case 'demo':
      return { ...common, loads: () => loadsAny === true }
  }
}

function numberOr<Other>(value: unknown, other: Other): number | Other {
  return typeof value === 'number' ? value : other
}

/** Counted as base64: https://platform.claude.com/docs/en/build-with-claude/vision */
const ANTHROPIC_IMAGE = 5 * 1024 * 1024

/** Of 32 MB, with room for what is said. */
const ANTHROPIC_REQUEST = 30_000_000
