/**
 * Maximum length of JSON, in characters or bytes, that is processed in one step, which takes a few milliseconds. Longer
 * texts, bodies and histories are called *large*: they are processed in several steps, between which other requests are
 * served (`yield-to-event-loop.ts`).
 */
export const MAX_STEP_CHARS = 1_000_000
