/** The phases in which an old database was written: by when, for whom, and with which storage keys. */
import { ADA, CAROL, type Phase } from './write-phase.ts'

const CLAUDE = 'claude-opus-5-5'
const GEMINI = 'gemini-3.8-flash'

const OLDER = storageKey('2024', 1)
const NEWER = storageKey('2025', 2)

function storageKey(kid: string, byte: number): string {
  return `${kid}:${Buffer.alloc(32, byte).toString('base64')}`
}

const HOUR_MS = 60 * 60 * 1000
const FIRST_AT_MS = Date.UTC(2026, 0, 1)

/** Every upstream that seals its reasoning is used twice: without storage keys, and with one. */
export const PHASES: readonly Phase[] = [
  {
    name: 'no key',
    storageKeys: '',
    startsAtMs: FIRST_AT_MS,
    models: ['gpt-5', CLAUDE, GEMINI, 'chat-model'],
    visitors: [ADA, CAROL],
  },
  {
    name: 'key of 2024',
    storageKeys: OLDER,
    startsAtMs: FIRST_AT_MS + HOUR_MS,
    models: ['gpt-5', GEMINI],
    visitors: [CAROL],
  },
  {
    name: 'both keys',
    storageKeys: `${NEWER},${OLDER}`,
    startsAtMs: FIRST_AT_MS + 2 * HOUR_MS,
    models: [CLAUDE],
    visitors: [ADA],
  },
]

/**
 * The clock of the gateway that reads. A gateway runs an open run again within one hour, and deletes
 * the events of streams after 24 hours; 8 hours are between both.
 */
export const READ_AT_MS = FIRST_AT_MS + 8 * HOUR_MS

/** Every key that sealed a row. */
export const OLD_KEYS = `${NEWER},${OLDER}`

/** The key for `reseal`, and the only key afterwards. */
export const NEWEST_KEY = storageKey('2026', 3)
