/** What was told when, of whom, and the keys by which it is sealed; some rows are older than any key. */
import { ADA, CAROL, type Plot } from './stories.ts'

const keyed = (kid: string, byte: number): string =>
  `${kid}:${Buffer.alloc(32, byte).toString('base64')}`

const CLAUDE = 'claude-opus-5-5'
const GEMINI = 'gemini-3.8-flash'

const [OLDER, NEWER, NEWEST] = [keyed('2024', 1), keyed('2025', 2), keyed('2026', 3)] as const

/** What was told with which keys: of each upstream with sealed reasoning once without and once with. */
export const TELLINGS: readonly (readonly [plot: Plot, keys: string])[] = [
  [
    {
      name: 'the unsealed telling',
      models: ['gpt-5', CLAUDE, GEMINI, 'chat-model'],
      visitors: [ADA, CAROL],
    },
    '',
  ],
  [{ name: 'the early telling', models: ['gpt-5', GEMINI], visitors: [CAROL] }, OLDER],
  [{ name: 'the later one', models: [CLAUDE], visitors: [ADA] }, `${NEWER},${OLDER}`],
]

const HOUR_MS = 60 * 60 * 1000

/** What the clock said when each of them was told. */
export const TOLD_AT_MS = TELLINGS.map((_, at) => Date.UTC(2026, 0, 1) + at * HOUR_MS)

/**
 * When they are read: so late that no run is worth to be made again, which is an hour, and before the
 * events of streams go, which is a day.
 */
export const READ_AT_MS = Date.UTC(2026, 0, 1) + 8 * HOUR_MS

/** All by which a row may be sealed. */
export const OLD_KEYS = `${NEWER},${OLDER}`

/** By which everything is sealed anew, and read alone from then on. */
export const NEWEST_KEY = NEWEST
