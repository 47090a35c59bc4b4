/** The keys by which the old databases are sealed, one after the other; some rows are older than any. */
import type { Plot } from './stories.ts'

const keyed = (kid: string, byte: number): string =>
  `${kid}:${Buffer.alloc(32, byte).toString('base64')}`

const CLAUDE = 'claude-opus-5-5'
const GEMINI = 'gemini-3.8-flash'

const [OLDER, NEWER, NEWEST] = [keyed('2024', 1), keyed('2025', 2), keyed('2026', 3)] as const

/** What was told with which keys, and of which models: of all with sealed reasoning at least once sealed. */
export const TELLINGS: readonly (readonly [plot: Plot, keys: string])[] = [
  [{ name: 'the unsealed telling', models: ['gpt-5', CLAUDE, GEMINI, 'chat-model'] }, ''],
  [{ name: 'the early telling', models: ['gpt-5', GEMINI] }, OLDER],
  [{ name: 'the later one', models: [CLAUDE, 'chat-model'] }, `${NEWER},${OLDER}`],
]

/** All by which a row may be sealed. */
export const OLD_KEYS = `${NEWER},${OLDER}`

/** For whoever seals anew, and by that key alone for afterwards. */
export const RESEALING_KEYS = `${NEWEST},${OLD_KEYS}`
export const NEWEST_KEY = NEWEST
